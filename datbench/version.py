"""Versions: of the package, and of the rules that decide a score."""

__version__ = "0.1.0"

SCORER_VERSION = "1"
"""Raised by every change that can move a number; part of every signature."""

REFERENCE = "DatBench library, main branch, commit bd2ecaf (28 April 2026)"
"""The published scorers whose scores are reproduced."""
