"""How do folds that are made to differ behave?"""
