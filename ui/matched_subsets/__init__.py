"""Does accuracy really drop on the new test set?"""
