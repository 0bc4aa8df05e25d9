"""What does a layout promise? Logs of evaluations, which are lists of objects."""

from touchstone.core.data.tables.logs import LOGS, Log


def layout_knows_its_own_log(name: str, log: Log) -> None:
    """Its example is seen as its own log by itself alone, and by one sample."""
    assert log.example, "it has no example: a few samples as its harness writes them"
    for other_name, other in LOGS.items():
        seen = all(map(other.is_it, log.example))
        assert seen == (other_name == name), f"its example is {'no' if other_name == name else 'also a'} {other_name}"
    for sample in ({}, {"id": 1, "label": "cat"}, {"scores": None, "doc": 3}, {"target": [], "choices": "x"}):
        assert not log.is_it(sample), f"it takes {sample} for its own"


def layout_gives_a_row_per_sample(name: str, log: Log) -> None:
    """Each row has an id, the truth (`gold`), and what was `predicted`."""
    rows = log.read([dict(sample) for sample in log.example])
    assert len(rows) == len(log.example), f"{len(log.example)} samples become {len(rows)} rows"
    for row in rows:
        assert {"id", "gold", "predicted"} <= row.keys(), f"a row has {', '.join(row)}, and needs id, gold, predicted"
        assert row.get("_right") in (True, False, None), "`_right` says whether a scorer took the answer as right"


LAWS = (
    layout_knows_its_own_log,
    layout_gives_a_row_per_sample,
)
"""What is asked of an entry."""
