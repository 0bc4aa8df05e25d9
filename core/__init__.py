"""Touchstone's engine: from data to verdicts, without a browser. Data flows one way: load, represent, ..., evaluate, draw."""
