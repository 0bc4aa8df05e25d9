"""Which samples and classes are fragile under noise?"""
