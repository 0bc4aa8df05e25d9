"""What did somebody name on the command line? A file, and what its columns are; what reading would ask is said here."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, get_args

from touchstone.core import COMMAND
from touchstone.core.data import EXAMPLES, DataError, Dataset, PredictionTable, Roles, RolesNeeded, read_dataset
from touchstone.core.data.errors import SizeNeeded
from touchstone.core.data.predictions.guess import said_of_predictions
from touchstone.core.data.predictions.record import Part, Predictions, models_in, pair_predictions
from touchstone.core.data.predictions.roles import ONE_EACH, TIES, UNANSWERED, Scores
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.predictions.upload import PredictionUpload, join_predictions, read_predictions
from touchstone.core.data.tables.datasets import name_of, open_table, table_dataset
from touchstone.core.data.tables.roles import NO_UNIT, SINGLE, propose_roles, roles_from_json, said_roles
from touchstone.core.data.tables.sources import SOURCELESS
from touchstone.core.data.tables.table import Table
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.matched_subsets import matched_verdict
from touchstone.core.evaluate.matched_subsets.plan import BINNING, MatchingPlan, TwoSets
from touchstone.core.evaluate.metrics import ACCURACY
from touchstone.core.evaluate.model_comparison import DESIGNS, ModelComparison, claims_of
from touchstone.core.evaluate.sample_sizes import SizePlan
from touchstone.core.evaluate.weak_slices import OneFile, SlicePlan
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.parameters import ANYTHING, answers_of, asked, values_of
from touchstone.core.report import model_comparison
from touchstone.core.report.card import card_of_predictions
from touchstone.core.report.matched_subsets import answer
from touchstone.core.report.parts import Answer
from touchstone.core.report.sample_sizes import planned
from touchstone.core.trials.training_plan import trainable

_HELP = {
    "label": "the column of the label",
    "text": "the column of the texts",
    "id": "the column that names each row; '' for none",
    "source": "the column of the person, site or device that a row comes from; '' for none",
    "unit": "the column of what was sampled independently, such as author; '' for each row; with --predictions, theirs",
    "part": "the column of train and test; '' for none",
    "image": "the column of the images",
    "sourceless": f"what rows without a source are: {', '.join(SOURCELESS)}",
}


def add_dataset_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what the columns of a data set's file are: one for each role, and all of them as JSON.

    >>> parser = argparse.ArgumentParser()
    >>> add_dataset_options(parser)
    >>> chosen = parser.parse_args(["--label", "status", "--id", ""])
    >>> chosen.label, chosen.id, chosen.source
    ('status', '', None)
    """
    columns = parser.add_argument_group("columns of the file of --data")
    columns.add_argument("--kind", choices=("text", "tabular", "image"), help="what a table holds")
    columns.add_argument("--image-size", nargs=2, type=int, metavar=("HEIGHT", "WIDTH"), help="resize all images")
    columns.add_argument("--roles", metavar="JSON", help="all roles as JSON, or a file of it")
    for role in SINGLE:
        columns.add_argument(f"--{role}", metavar="COLUMN", help=_HELP.get(role, f"the column of the {role}"))


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """The data of a run or a check, with what their columns are."""
    parser.add_argument("--data", help=f"an example ({', '.join(EXAMPLES)}), a fingerprint or a file")
    add_dataset_options(parser)
    parser.add_argument("--vectors", help="a file of vectors by id, or of word vectors, for the data set")


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """The options that name a trained model of the data set, and say what its file does not.

    >>> parser = argparse.ArgumentParser()
    >>> add_model_options(parser)
    >>> parser.parse_args(["--model", "mine.onnx", "--input-range", "0", "255"]).input_range
    [0.0, 255.0]
    """
    model = parser.add_argument_group("a trained model of --data")
    model.add_argument("--model", metavar="FILE", help="safetensors, ONNX or torch.export; or a fingerprint")
    model.add_argument("--network", choices=list(trainable()), help="which network safetensors are the weights of")
    model.add_argument(
        "--input-range",
        nargs=2,
        type=float,
        metavar=("BLACK", "WHITE"),
        help="what black and white were when it was trained, where not 0 and 1",
    )


def says_columns(chosen: argparse.Namespace) -> bool:
    """Whether anything was said of columns."""
    return bool(_said(chosen)) or any(getattr(chosen, name) is not None for name in ("kind", "image_size", "roles"))


def _said(chosen: argparse.Namespace) -> dict[str, str | None]:
    """The column that was said of each role; None where none has it. Beside predictions, their units are meant."""
    mine = [role for role in SINGLE if role != "unit" or getattr(chosen, "predictions", None) is None]
    said = {role: getattr(chosen, role) or None for role in mine if getattr(chosen, role) is not None}
    return {role: column or (NO_UNIT if role == "unit" else None) for role, column in said.items()}


def given_dataset(chosen: argparse.Namespace) -> Dataset:
    """The data set in the file of `--data`. DataError says what is wrong with it, or what to say of its columns."""
    file = Path(chosen.data)
    said = _said(chosen)
    size = tuple(chosen.image_size) if chosen.image_size else None
    try:
        if not said and chosen.roles is None:
            return read_dataset(file, kind=chosen.kind, image_size=size)
        table = open_table(file)
        if table is None:
            raise DataError(f"{file.name}: something was said of columns, but only tables have columns.")
        known = roles_from_json(json_or_file(chosen.roles)) if chosen.roles is not None else None
        roles = said_roles(table, said) if known is None else replace(known, **said)
        return table_dataset(
            table, name=name_of(file.name), kind=chosen.kind, roles=roles, image_size=size, for_good=True
        )
    except SizeNeeded as needed:
        height, width = needed.size
        raise DataError(f"{needed} Say it with --image-size {height} {width}.") from None
    except RolesNeeded as needed:
        raise DataError(_answer(needed, open_table(file))) from None


def json_or_file(text: str, *, remedy: str = "Give roles as JSON, or a file of it.") -> str:
    """JSON as it was given, or what stands in the file that was named; DataError where that cannot be read.

    >>> json_or_file('{"label": "status"}')
    '{"label": "status"}'
    """
    if text.lstrip().startswith("{"):
        return text
    try:
        return Path(text).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{text}: cannot be read ({error}). {remedy}") from None


def _answer(needed: RolesNeeded, table: Table) -> str:
    """A question, and the options that would answer it the likeliest way."""
    roles = propose_roles(table).roles
    likely = [(role, getattr(roles, role)) for role in SINGLE if getattr(roles, role) is not None]
    options = " ".join(shlex.join([f"--{role}", column]) for role, column in likely)
    if roles.text is None and roles.features:
        options = f"{options} --kind tabular"
    remedy = f"Likely: {options}" if options else "Say it with --label COLUMN"
    return f"{needed} {remedy} ({COMMAND} run --help)."


# Does accuracy drop from one file of predictions to another? The same answer as the page's, by a command.
#
# What the columns of the files are is said by options for both, or as JSON for each; what is not said is guessed.


SIDES = ("reference", "target")
_MOST_ANSWERS = 5
PARTS = tuple(each.name for each in fields(Part))
WORDS = {"scores": get_args(Scores), "unanswered": UNANSWERED, "sourceless": SOURCELESS, "ties": TIES}
_WORDS = {
    "positive": "the class whose probability the confidence is, or 'predicted'",
    "scores": f"what the scores are: {' or '.join(get_args(Scores))}",
    "unanswered": f"what rows without an answer are: {', '.join(UNANSWERED)}",
    "sourceless": f"what rows without a source are: {', '.join(SOURCELESS)}",
    "ties": f"which of several classes of the highest score is the answer: {', '.join(TIES)}",
    "join": "the column by which rows of two files belong together, or '(line)'",
}


Stored = Callable[[str], PredictionUpload | None]
"""What gives the stored predictions of a fingerprint, or None."""
_FINGERPRINT = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Compared:
    """What two files come to: the question, its answer, claims by what they are of; `notes` say how they were read."""

    stem: str
    answer: Answer
    claims: tuple[tuple[str, Claim], ...]
    notes: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """What they come to, in sentences."""
        assert self.answer.verdict is not None
        return self.answer.verdict


def add_compare_options(parser: argparse.ArgumentParser) -> None:
    """Two files, what their columns are, which of their rows, and how they are matched.

    >>> parser = argparse.ArgumentParser()
    >>> add_compare_options(parser)
    >>> chosen = parser.parse_args(["--reference", "old.csv", "--target", "new.csv", "--truth", "gold"])
    >>> chosen.target, chosen.truth, chosen.epsilon
    ('new.csv', 'gold', 0.005)
    """
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="the files, the reference first; or further ones, beside --reference and --target",
    )
    parser.add_argument(
        "--design", choices=DESIGNS, help="whether the files are of the same samples, where ids do not tell"
    )
    parser.add_argument("--margin", type=float, help="the loss that would be put up with, as a fraction")
    for side in SIDES:
        group = parser.add_argument_group(f"{side} set")
        group.add_argument(f"--{side}", metavar="FILE", help="predictions: a file or a fingerprint")
        group.add_argument(f"--{side}-truth", metavar="FILE", help="the truth, where it is in a file of its own")
        group.add_argument(f"--{side}-roles", metavar="JSON", help="all roles as JSON, or a file of it")
        for part in PARTS:
            group.add_argument(f"--{side}-{part}", metavar="NAME", help=f"the {part} to take of the file")
    columns = parser.add_argument_group("columns of both files")
    add_roles(columns, ONE_EACH)
    matching = parser.add_argument_group("matching")
    matching.add_argument("--of-task", metavar="NAME", help="the task, where files hold several")
    for one in asked(MatchingPlan):
        ask, choices = one.ask, one.ask.choices
        if one.field not in BINNING:
            names = None if choices is None else choices(ANYTHING)
            kind = {"choices": tuple(names)} if names else {} if choices else {"type": _from(ask.lowest)}
            matching.add_argument(
                f"--{ask.address.replace('_', '-')}", **kind, default=one.usual, help=f"{ask.label}: {ask.help}"
            )


def add_roles(group: Any, roles: Iterable[str]) -> None:
    """An option for each of these roles of a file of predictions, with its words where it takes no column."""
    for role in roles:
        names = {"choices": WORDS[role]} if role in WORDS else {"metavar": "COLUMN"}
        group.add_argument(f"--{role}", **names, help=_WORDS.get(role, f"the column of the {role}"))


def _from(lowest: int | float) -> Callable[[str], int | float]:
    """The type of an option that is a number of the type of `lowest`, and no less."""

    def number(text: str) -> int | float:
        value = type(lowest)(text)
        if not value >= lowest:
            raise argparse.ArgumentTypeError(f"{text} is less than {lowest}")
        return value

    return number


def compare_files(chosen: argparse.Namespace, stored: Stored) -> Compared:
    """Read and compare what was named: models on the same samples in pairs, others as test sets.

    `stored` gives the predictions of a fingerprint, None where none are stored; it is asked where there is no such
    file. DataError says what is wrong with a file, or what to say of its columns.
    """
    chosen.files = list(chosen.files)
    for side in SIDES:
        if not getattr(chosen, side) and chosen.files:
            setattr(chosen, side, chosen.files.pop(0))
    if not (chosen.reference and chosen.target):
        raise DataError("Name two files of predictions or more.")
    sources = [*(_source(chosen, side) for side in SIDES), *((file, None, None) for file in chosen.files)]
    read: dict[tuple[str | None, ...], PredictionTable] = {}
    for source, side in zip_longest(sources, SIDES):
        if source not in read:
            read[source] = _read(chosen, source, side, stored)
    reference, target, *further = tables = [read[source] for source in sources]
    parts = {f"{side}_part": Part(**{p: getattr(chosen, f"{side}_{p}") for p in PARTS}) for side in SIDES}
    plan = MatchingPlan(**values_of(MatchingPlan, vars(chosen), ANYTHING))
    notes, titles = tuple(_notes(*tables)), [Path(table.name).name for table in tables]
    about = {"metric": plan.metric, "positive": plan.positive}
    of_tables = zip(tables, (*parts.values(), *(Part() for _ in further)), strict=True)
    sides = [models_in(table, part, chosen.of_task) for table, part in of_tables]
    paired = model_comparison.compared_models(sides, titles, chosen.design, chosen.margin, **about)
    if paired is not None:
        return Compared("model_comparison", model_comparison.answer(paired), tuple(claims_of(paired)), notes)
    pairs = pair_predictions(reference, target, **parts, task=chosen.of_task)
    comparisons = plan.compare(pairs)
    claims = tuple((row.model, made) for row in comparisons.rows for made in matched_verdict(row).claims)
    return Compared("matched_subsets", answer(comparisons), claims, notes)


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """What shall be shown of two models, and what is guessed of their samples, or a pilot that says it.

    >>> parser = argparse.ArgumentParser()
    >>> add_plan_options(parser)
    >>> parser.parse_args(["--difference", ".02"]).difference
    0.02
    """
    parser.add_argument("pilot", nargs="*", metavar="FILE", help="two files of predictions on the same samples")
    for one in asked(SizePlan):
        help_, option = f"{one.ask.label}: {one.ask.help}", f"--{one.field.replace('_', '-')}"
        parser.add_argument(option, type=_from(float(one.ask.lowest or 0)), metavar="NUMBER", help=help_)


def sizes_planned(chosen: argparse.Namespace) -> tuple[SizePlan, ModelComparison | None]:
    """The plan of what was said. Raises DataError for what cannot be true together, and for files that are no pilot."""
    said = {one.field: getattr(chosen, one.field) for one in asked(SizePlan)}
    return planned(chosen.pilot, {name: value for name, value in said.items() if value is not None})


def add_slice_options(parser: argparse.ArgumentParser) -> None:
    """A file with columns beside its predictions, what they are, and what slices are judged by.

    >>> parser = argparse.ArgumentParser()
    >>> add_slice_options(parser)
    >>> chosen = parser.parse_args(["answers.csv", "--metric", "f1_macro"])
    >>> chosen.file, chosen.metric, chosen.seed
    ('answers.csv', 'f1_macro', 0)
    """
    parser.add_argument("file", metavar="FILE", help="predictions, with columns that describe the samples")
    parser.add_argument("--data", help="what holds the samples and describes them: an example, a fingerprint or a file")
    parser.add_argument("--of-model", metavar="NAME", help="which of the file's models, where it has several")
    parser.add_argument("--of-task", metavar="NAME", help="which of the file's tasks, where it has several")
    for part in PARTS:
        parser.add_argument(f"--in-{part}", metavar="NAME", help=f"only this {part} of the file")
    parser.add_argument("--metric", default=ACCURACY, help="what slices are weak in (accuracy)")
    parser.add_argument("--of-class", metavar="NAME", help="the class that the metric is about")
    parser.add_argument("--seed", type=int, default=0, help="what the halves are drawn from")
    parser.add_argument("--report", metavar="FILE.html", help="write a page that needs no network")
    add_roles(parser.add_argument_group("columns"), ONE_EACH)


def one_file(chosen: argparse.Namespace, stored: Stored) -> dict[str, Predictions]:
    """The models of a file, or of what is stored under a fingerprint, on the part of it that was named."""
    said = {role: getattr(chosen, role) for role in ONE_EACH if getattr(chosen, role) is not None}
    file, upload = Path(chosen.file), _stored_under(chosen.file, stored)
    if upload is None:
        table = read_predictions(file, roles=_roles(read_prediction_table(file), said, None) if said else None)
    elif said:
        raise DataError(
            f"{chosen.file} is stored with its columns. Leave out the options that name columns, or name the file "
            "instead."
        )
    else:
        table = upload.read()
    return models_in(table, Part(**{part: getattr(chosen, f"in_{part}") for part in PARTS}), chosen.of_task)


def slices_command(one: OneFile, plan: SlicePlan, data: str | None = None) -> str:
    """The command that finds the slices of stored predictions, by `data` beside them where these are named.

    >>> slices_command(OneFile("f00d", Part(fold="2"), model="svm"), SlicePlan(), "digits")
    'python -m core slices f00d --data=digits --in-fold=2 --of-model=svm --metric=accuracy --seed=0'
    """
    parts = {f"in_{what}": name for what, name in asdict(one.part).items()}
    chosen = {"data": data, **parts, "of_task": one.task, "of_model": one.model}
    chosen |= {"metric": plan.metric, "of_class": plan.positive, "seed": plan.seed}
    words = [f"--{name.replace('_', '-')}={value}" for name, value in chosen.items() if value is not None]
    return f"{COMMAND} slices {shlex.join([one.file, *words])}"


def settled(sets: TwoSets, plan: MatchingPlan) -> dict[str, object]:
    """Whatever is settled besides the files of a comparison, by option of the command.

    >>> settled(TwoSets("f00d", "beef", target_part=Part(set="new")), MatchingPlan(epsilon=0.01))["target_set"]
    'new'
    """
    answers = answers_of(plan).items()
    matching = {address: value for address, (one, value) in answers if one.field not in BINNING and value is not None}
    return sets.parts | ({} if sets.task is None else {"of_task": sets.task}) | matching


def compare_command(sides: Mapping[str, str], settings: Mapping[str, object], further: Sequence[str] = ()) -> str:
    """The command of two stored files, by side, and of further ones, with whatever else was settled, by option.

    >>> compare_command({"reference": "f00d", "target": "beef"}, {"epsilon": 0.01, "target_set": "new"})
    'python -m core compare --reference=f00d --target=beef --epsilon=0.01 --target-set=new'
    """
    said = {**sides, **settings}
    words = [f"--{name.replace('_', '-')}={value}" for name, value in said.items()]  # a name may begin with a dash
    return f"{COMMAND} compare {shlex.join([*words, *further])}"


def _source(chosen: argparse.Namespace, side: str) -> tuple[str | None, ...]:
    return tuple(getattr(chosen, f"{side}{more}") for more in ("", "_truth", "_roles"))


def _read(
    chosen: argparse.Namespace, source: tuple[str | None, ...], side: str | None, stored: Stored
) -> PredictionTable:
    """The predictions of a file; of a further one, of no `side`, the columns are called as those of all."""
    name, truth, given = source
    side = side or SIDES[-1]
    said = {role: getattr(chosen, role) for role in ONE_EACH if getattr(chosen, role) is not None}
    file = Path(str(name))
    upload = _stored_under(str(name), stored)
    if upload is not None:
        if said or truth is not None or given is not None:
            raise DataError(
                f"{name} is stored with its columns and its truth. Leave out the options that name columns, "
                f"--{side}-truth and --{side}-roles, or name the file instead."
            )
        return upload.read()
    try:
        roles = None if given is None and not said else _roles(read_prediction_table(file), said, given)
        return (
            read_predictions(file, roles=roles) if truth is None else join_predictions(Path(truth), file, roles=roles)
        )
    except RolesNeeded as needed:
        raise DataError(f"{needed} {_given_answer(needed, side)} ({COMMAND} compare --help).") from None
    except DataError as problem:
        if not said:
            raise
        remedy = f"Where the files' columns are called differently, say them with --{side}-roles."
        raise DataError(f"{problem} {remedy}") from None


def _stored_under(name: str, stored: Stored) -> PredictionUpload | None:
    """What is stored under a fingerprint, where that is no file."""
    return stored(name) if _FINGERPRINT.fullmatch(name) and not Path(name).is_file() else None


def _given_answer(needed: RolesNeeded, side: str) -> str:
    """The options that would answer a question."""
    if needed.role not in ONE_EACH:
        guess = "" if needed.guess is None else f", such as {shlex.quote(needed.guess.to_json(indent=None))}"
        return f"Say it with --{side}-roles{guess}"
    answers = " or ".join(shlex.quote(f"--{needed.role}={choice}") for choice in needed.choices[:_MOST_ANSWERS])
    return f"Say it with {answers or f'--{needed.role}'}"


def _roles(table: Table, said: Mapping[str, str], given: str | None) -> Roles:
    """The roles that were said, with what names and divides the rows guessed."""
    if given is not None:
        return replace(Roles.from_json(json_or_file(given)), **said)
    return said_of_predictions(table, said)


def _notes(*tables: PredictionTable) -> Iterator[str]:
    for table in dict.fromkeys(tables):
        card = card_of_predictions(table, file=table.name, n_given=table.n_rows)
        yield from (f"{table.name}: {line}" for line in (" ".join(card.in_short), *table.notes, *table.warnings))
