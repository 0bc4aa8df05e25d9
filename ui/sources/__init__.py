"""Runs that find sources by training networks, for the questions that draw from them."""
