"""Choosing, training and uploading a model."""
