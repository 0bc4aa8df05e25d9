"""What is in the data?"""
