"""Touchstone's engine: from data to verdicts, without a browser. Data flows one way, and so do imports."""
