"""Choosing and uploading a data set, and how its samples look."""
