"""Models for lmms-eval: an OCR baseline that runs anywhere, and the replay of stored answers."""
