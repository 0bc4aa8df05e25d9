"""Runs that train a network, which other questions then ask about."""
