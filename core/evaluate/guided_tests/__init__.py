"""Which tests are missing? (Mani et al. 2019, sections 4.1, 4.3 and 5.4)

`start(...)` makes ready, `generate_tests(...)` makes features in the regions that were asked for,
`accuracy_grid(...)` says how the head fares on them, `check_properties(...)` and `walk_between(...)` follow it along
lines through feature space, `label_next(...)` lists the real samples of least confidence, `round_trip(...)` sends
decoded images through the whole model.
"""
