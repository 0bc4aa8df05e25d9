"""Is the new model better, or does accuracy drop on a new set? Where is it weak? How many samples would show it?"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from touchstone.core.command import Command, given_files
from touchstone.core.command.checked import add_decision_options, check_compared, write, write_file
from touchstone.core.command.given_files import add_compare_options, compare_files
from touchstone.core.command.requirements import required
from touchstone.core.data import EXAMPLES, Dataset, load_example, read_dataset
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.evaluate.weak_slices import NO_COLUMNS
from touchstone.core.questions import QUESTIONS, how_to_read
from touchstone.core.report import sample_sizes, weak_slices
from touchstone.core.report.html import to_html
from touchstone.core.report.parts import Report


def stored_predictions(fingerprint: str) -> PredictionUpload | None:
    """The predictions of this fingerprint that this machine's workspace keeps, None where it keeps none such."""
    from touchstone.core.workspace.engine.runner import engine
    from touchstone.core.workspace.workspace import LOCAL_OWNER

    workspace = engine().workspace
    kept = {each.fingerprint for each in workspace.prediction_files(LOCAL_OWNER)}
    return workspace.predictions(LOCAL_OWNER, fingerprint) if fingerprint in kept else None


def names(files: Sequence[str]) -> str:
    """Files by their names.

    >>> names(["a/old.csv", "new.csv"])
    'old.csv and new.csv'
    """
    return " and ".join(Path(file).name for file in files)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_compare_options(parser)
    add_decision_options(parser)


def _compare(chosen: argparse.Namespace) -> int:
    compared = compare_files(chosen, stored_predictions)
    if chosen.require or chosen.report or chosen.json or chosen.junit or chosen.summary:
        checked = check_compared(compared, tuple(map(required, chosen.require)), dict(chosen.mute))
        return write(checked, chosen, names((chosen.reference, chosen.target)))
    for note in compared.notes:
        print(note, file=sys.stderr)
    next(iter(compared.answer.files.values()))().to_csv(sys.stdout, sep="\t", index=False)
    print(compared.verdict.text, file=sys.stderr)
    return 0


def _plan(chosen: argparse.Namespace) -> int:
    found = sample_sizes.answer(*given_files.sizes_planned(chosen))
    next(iter(found.files.values()))().to_csv(sys.stdout, sep="\t", index=False)
    assert found.verdict is not None
    print(found.verdict.text, file=sys.stderr)
    return 0


def _slices(chosen: argparse.Namespace) -> int:
    models = given_files.one_file(chosen, stored_predictions)
    columns = NO_COLUMNS if chosen.data is None else _dataset(chosen.data)
    about = {"model": chosen.of_model, "metric": chosen.metric, "positive": chosen.of_class, "seed": chosen.seed}
    found = weak_slices.answer(weak_slices.found_in(models, columns, **about))
    next(iter(found.files.values()))().to_csv(sys.stdout, sep="\t", index=False)
    assert found.verdict is not None
    print(found.verdict.text, file=sys.stderr)
    if chosen.report is not None:
        asked = QUESTIONS["weak_slices"]
        page = Report(asked.title, names([chosen.file]), found, how_to_read(asked.stem), (), "")
        write_file(chosen.report, to_html(page))
    return 0


def _dataset(name: str) -> Dataset:
    """The data set of this name: an example, a stored one, or a file."""
    from touchstone.core.workspace.engine.runner import engine
    from touchstone.core.workspace.workspace import LOCAL_OWNER

    if name in EXAMPLES:
        return load_example(name)
    workspace = engine().workspace
    kept = {each.fingerprint for each in workspace.datasets(LOCAL_OWNER)}
    return workspace.dataset(LOCAL_OWNER, name) if name in kept else read_dataset(Path(name))


COMMANDS = {
    "compare": Command(_add_options, _compare),
    "plan": Command(given_files.add_plan_options, _plan),
    "slices": Command(given_files.add_slice_options, _slices),
}
