"""The page of models on the same samples."""
