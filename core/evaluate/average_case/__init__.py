"""Which samples and classes are fragile under noise? (Han, Srinivas & Lakkaraju 2024)"""
