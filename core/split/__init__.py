"""Schemes that split samples into a training and a test part; write one and add it to its dict.

``DRAW_SCHEMES`` draw one split after another, ``FOLD_SCHEMES`` cut all samples into folds.
What they did to the data is told by ``core.split.describe_folds``. ``split_by_part`` draws
nothing: it is the split that a file marks itself.
"""
