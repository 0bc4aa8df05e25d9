"""How do models fare on folds that are made to differ? (Wecker, Friedrich & Adel 2020, sections 4.3 and 5)"""
