"""What did models say about test sets? Files of predictions, read by small steps, each with its reason."""
