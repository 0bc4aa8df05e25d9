"""Which tests are missing?"""
