"""How far does accuracy fall on unfamiliar sources?"""
