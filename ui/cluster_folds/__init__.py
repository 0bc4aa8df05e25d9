"""How do scores change when folds are made to differ?"""
