"""One question, one module: arrays, predictions or trials in, frozen results out."""
