"""Features of samples; write a representation and add it to ``REPRESENTATIONS``."""

from core.represent.encode import REPRESENTATIONS, Representation, default_representation, encode

__all__ = ["REPRESENTATIONS", "Representation", "default_representation", "encode"]
