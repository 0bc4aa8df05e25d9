"""Choosing, uploading and correcting files of predictions."""
