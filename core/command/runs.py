"""What does a command compute that takes a workspace and workers? A plan, a sheet, a recreated run, or vectors."""

import argparse
import sys
import time
from pathlib import Path

from touchstone.core import COMMAND
from touchstone.core.command import Command, given_files
from touchstone.core.command.asked import ask
from touchstone.core.command.check import Sheet, of_files
from touchstone.core.command.checked import Checked
from touchstone.core.command.given_model import given_model
from touchstone.core.data import EXAMPLES, DataError, Dataset, load_example
from touchstone.core.data.tables.vectors import write_vectors
from touchstone.core.questions import QUESTIONS, of_kind
from touchstone.core.report.recreate import recreate
from touchstone.core.report.run_report import answer_of
from touchstone.core.represent.word_vectors import ON_DISK, add_vectors, sentence_vectors, with_word_vectors
from touchstone.core.trials import Plan
from touchstone.core.workspace import LOCAL_OWNER, Run, load_plan
from touchstone.core.workspace.engine.runner import engine

SECONDS_BETWEEN_LOOKS = 0.5
_WHAT = f"What each holds, field by field: {COMMAND} plans KIND."


def _kinds() -> str:
    """The kinds of plan, each with the question that it asks."""
    asked = {question.kind: question.title for question in QUESTIONS.values() if question.kind}
    width = max(len(kind) for kind in asked)
    return "\n".join(["kinds of plan:", *(f"  {kind:<{width}}  {title}" for kind, title in asked.items()), "", _WHAT])


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.epilog, parser.formatter_class = _kinds(), argparse.RawDescriptionHelpFormatter
    given_files.add_data_options(parser)
    parser.add_argument("--recreate", metavar="FILE.json", help="parameters as a page gives them, in place of a plan")
    parser.add_argument("plan", nargs="?", help="the plan as JSON, as a page's “copy as command” gives it")


def _add_vectors(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", required=True, help="texts: an example, a fingerprint or a file")
    given_files.add_dataset_options(parser)
    maker = parser.add_mutually_exclusive_group(required=True)
    maker.add_argument("--sentence-transformers", metavar="FOLDER", help="a model in a folder on this machine")
    maker.add_argument("--word-vectors", metavar="FILE", help="word2vec's or GloVe's format; their mean over each text")
    parser.add_argument("--out", required=True, metavar="FILE.parquet", help="where to write ids and vectors")


def _vectors(chosen: argparse.Namespace) -> int:
    dataset = _dataset(chosen)
    if dataset.kind != "text":
        raise DataError(f"{dataset.name}: vectors are made of texts here, and this is {dataset.kind} data.")
    out = Path(chosen.out)
    if out.suffix != ".parquet" or not out.parent.is_dir():
        raise DataError(f"{chosen.out}: give the name of a file that ends in .parquet, in a folder that exists.")
    if chosen.word_vectors:
        dataset = with_word_vectors(dataset, chosen.word_vectors, limits=ON_DISK)
    else:
        dataset = dataset.with_vectors(
            sentence_vectors(list(dataset.x), chosen.sentence_transformers),
            Path(chosen.sentence_transformers).name,
            notes=[f"sentence-transformers, {chosen.sentence_transformers}."],
        )
    out.write_bytes(write_vectors(list(dataset.ids), dataset.vectors))
    for note in dataset.notes:
        print(note, file=sys.stderr)
    return 0


def checked_data(chosen: argparse.Namespace, sheet: Sheet) -> Checked:
    """What data, a model of them and two files come to, and whether what a sheet requires of them holds."""
    workspace, dataset = engine().workspace, _stored(chosen)
    return ask(
        sheet,
        workspace,
        fingerprint=dataset.fingerprint,
        of_files=None if chosen.predictions is None else of_files(sheet, chosen.predictions, all_of_it=False),
        work_off=_finished_by_name,
        budget=chosen.budget,
        model=None if chosen.model is None else given_model(chosen, dataset, workspace, LOCAL_OWNER),
    )


def _finished_by_name(plan: Plan, fingerprint: str, until: float | None) -> Run:
    question = of_kind(plan.kind)
    print(question.name or question.title if question else plan.kind, file=sys.stderr)
    return _finished(plan, fingerprint, until)


def _run(chosen: argparse.Namespace) -> int:
    if chosen.recreate is not None:
        return _recreate(chosen)
    if chosen.data is None or chosen.plan is None:
        raise DataError("Say what to run: --data and a plan, or --recreate with a file of parameters.")
    plan = load_plan(chosen.plan)
    return _work_off(plan, _stored(chosen).fingerprint)


def _recreate(chosen: argparse.Namespace) -> int:
    """Run what a file of parameters says, under the same key, or say why that cannot be."""
    if chosen.plan is not None:
        raise DataError("--recreate takes its plan from the file: leave the other plan out.")
    if chosen.vectors and chosen.data is None:
        raise DataError("--vectors are joined to the data set of --data: name that, too.")
    try:
        text = Path(chosen.recreate).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{chosen.recreate}: cannot be read ({error}). Name a file of parameters.") from None
    given = None if chosen.data is None else _with_vectors(chosen)
    again = recreate(engine().workspace, LOCAL_OWNER, text, given=given)
    again.store(engine().workspace, LOCAL_OWNER)
    for note in again.notes:
        print(note, file=sys.stderr)
    return _work_off(again.plan, again.fingerprint)


def _work_off(plan: Plan, fingerprint: str) -> int:
    """Run a plan on stored data to its end, and print its rows; nothing of a run that came to no end."""
    workspace = engine().workspace
    run = _finished(plan, fingerprint)
    if run.state != "done":
        print("No rows are printed of a run that is not done. The same command goes on from here.", file=sys.stderr)
        return 1
    rows = workspace.rows(LOCAL_OWNER, run.id)
    rows.to_csv(sys.stdout, sep="\t", index=False)
    said = answer_of(rows, workspace.dataset(LOCAL_OWNER, fingerprint), plan).verdict
    if said is not None:
        print(said.text, file=sys.stderr)
    return 1 if run.n_failed else 0


def _finished(plan: Plan, fingerprint: str, until: float | None = None) -> Run:
    """Work on a plan, or wait for who does and take over where they leave it, until it is done or somebody stops it.

    `until` is a time of `time.monotonic`, at which it is stopped. How far it is stands in one line of a terminal;
    elsewhere, as in the log of a CI system, there is a line for each tenth and for whatever else it waits for.
    """
    workspace, last = engine().workspace, None
    run = workspace.create_run(LOCAL_OWNER, plan, fingerprint)
    while True:
        ours = engine().start(LOCAL_OWNER, run.id)
        while (run := workspace.run(LOCAL_OWNER, run.id)).state == "running":
            if sys.stderr.isatty():
                _say(run, end="\r")
            elif (now := (10 * run.n_done // max(1, run.n_trials), run.waits_for and run.waits_for.what)) != last:
                last = now
                _say(run, end="\n")
            if until is not None and time.monotonic() > until:
                workspace.cancel(LOCAL_OWNER, run.id)
                until = None
            time.sleep(SECONDS_BETWEEN_LOOKS)
        if ours or run.state in ("done", "cancelled"):
            break
        time.sleep(SECONDS_BETWEEN_LOOKS)
    _say(run, end="\n")
    for error in run.errors:
        print(error, file=sys.stderr)
    return run


def _stored(chosen: argparse.Namespace) -> Dataset:
    """The data set that was named, with its vectors, after it was stored; with other vectors it is no example."""
    dataset = _with_vectors(chosen)
    example = chosen.data if chosen.data in EXAMPLES and not chosen.vectors else None
    engine().workspace.add_dataset(LOCAL_OWNER, dataset, example=example)
    return dataset


def _with_vectors(chosen: argparse.Namespace) -> Dataset:
    dataset = _dataset(chosen)
    return add_vectors(dataset, chosen.vectors, limits=ON_DISK) if chosen.vectors else dataset


def _dataset(chosen: argparse.Namespace) -> Dataset:
    """The data set that was named: an example, a stored one, or a file, whose columns may be said to be something."""
    data, workspace = chosen.data, engine().workspace
    is_example = data in EXAMPLES
    if not is_example and data not in {stored.fingerprint for stored in workspace.datasets(LOCAL_OWNER)}:
        dataset = given_files.given_dataset(chosen)
        for note in dataset.notes:
            print(note, file=sys.stderr)
        return dataset
    if given_files.says_columns(chosen):
        raise DataError(f"{data} has no columns to say anything of. Name a file with --data, or leave the columns out.")
    return load_example(data) if is_example else workspace.dataset(LOCAL_OWNER, data)


def _say(run: Run, *, end: str) -> None:
    first = run.waits_for
    far = f" {first.n_done} of {first.n_steps}" if first is not None and first.n_steps else ""
    waits = "" if first is None else f"{first.what}{far}; "
    said = f"{waits}{run.state}: {run.n_done} of {run.n_trials} trials, {run.n_failed} failed"
    print(f"{said:<79}", end=end, file=sys.stderr)


COMMANDS = {
    "run": Command(_add_run, _run),
    "vectors": Command(_add_vectors, _vectors),
}
