"""Draws the bundled sample: nine small parquet files in the schema of the benchmark.

Run ``python -m tools.draw_samples`` from the repository's root (``--png DIR`` also writes the pictures to
look at). Everything is drawn by code, with the fonts that come with matplotlib and nothing random, so the
same library versions give the same bytes.
"""
