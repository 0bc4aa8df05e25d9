"""Runs that lay samples out in two dimensions."""
