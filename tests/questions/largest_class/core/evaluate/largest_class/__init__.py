"""How large is the largest class?"""
