"""How far does accuracy fall on held-out sources?"""
