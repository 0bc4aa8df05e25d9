"""Simulated worlds with known truth, through the real code with real fits: how often is a sentence wrong?

Each question has a file of its stem here with `WORLDS`. They are written down before what they judge is mended.
"""
