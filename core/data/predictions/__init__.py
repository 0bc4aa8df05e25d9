"""What did models say about test sets? Files of predictions, read by small steps, each with its reason.

Whoever follows a file walks from `upload` through `shapes` (labels that are spread over columns become one), `guess`
(what each column is, and what has to be asked) and `blocks` (codes and probabilities) to `record`. `roles` is the
immutable value that guessing hands on. The truth in a file of its own takes the way through `join`, which chooses among
the `ways` in which rows may belong together.
"""
