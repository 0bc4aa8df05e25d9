"""How hard are held-out clusters of data without groups?"""
