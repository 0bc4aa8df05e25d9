"""Where is the model weak? The page of slices of a file of predictions."""
