"""How hard are held-out clusters of clouds without groups?"""
