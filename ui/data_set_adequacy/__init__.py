"""Would more data help, or new sources?"""
