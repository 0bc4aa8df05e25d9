"""Does the test set cover the feature space?"""
