"""What a rule raises for an output that the benchmark itself cannot score."""

from __future__ import annotations


class OutputFault(Exception):
    """An output that cannot be worked with: the sample scores 0.0 and its ``error`` gives this reason."""
