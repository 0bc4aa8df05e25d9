"""Touchstone's engine: from data to verdicts, without a browser. Data flows one way, and so do imports."""

__version__ = "0.1.0"
