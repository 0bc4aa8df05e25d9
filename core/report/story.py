"""What is said first of all answers? One number to expect and its design, what limits it, and what to do next."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.evaluate.metric_estimates import OF_ACCURACY, InWords
from touchstone.core.evaluate.metrics import ACCURACY
from touchstone.core.evaluate.source_robustness.held_out import noun
from touchstone.core.evaluate.wording import Verdict, count, plural
from touchstone.core.figures.overview import Mark
from touchstone.core.report.overview import Answered, metric_of
from touchstone.core.report.parts import Quantity
from touchstone.core.report.run_report import TITLES
from touchstone.core.trials.sources_plan import KNOWN_SOURCES

RANDOM_FOLDS = "random_folds"
OF_SOURCES = ("leave_one_group_out", "group_folds")
"""Folds that hold out known sources."""
NOT_ASKED = "How it does on new sources is unknown."


@dataclass(frozen=True)
class Expected:
    """What to expect `where`: a number of each model that was `tried` there, and its number on the `usual` test.

    That is empty where they were tried nowhere else, and may mix what `where` keeps apart (`mixes`). `answer` says so.
    """

    where: str
    tried: Mapping[str, tuple[Quantity | Mark, Quantity | None]]
    usual: str = ""
    mixes: str = ""
    answer: Answered | None = None

    def model(self, words: InWords) -> str:
        """The one that the usual test would choose: the best on what is held out would look better than it is."""
        best = max if words.metric.larger_is_better else min
        return best(self.tried, key=lambda model: (self.tried[model][1] or self.tried[model][0]).value)

    def sentence(self, words: InWords) -> str:
        """The number with its interval, and beside it what the usual test says."""
        model = self.model(words)
        number, usual = self.tried[model]
        value, mixing = words.value(number.value, number.interval), f", which mix {self.mixes}" if self.mixes else ""
        beside = f", against {words.value(usual.value, usual.interval)} on {self.usual}{mixing}" if usual else ""
        return f"{self.where}, expect {words.name} {value} with {model}{beside}."

    def note(self, words: InWords) -> str:
        """Of how many samples, over what, how the model was chosen, and whether new sources were asked about."""
        number, usual = self.tried[self.model(words)]
        over = f"n = {count(number.n)}, interval over {number.over}."
        among = f" Best of {count(len(self.tried))} models on {self.usual or 'these'}." if len(self.tried) > 1 else ""
        return f"{over}{among}{'' if usual else f' {NOT_ASKED}'}"


def expected(answers: Sequence[Answered], shown: Sequence[Mark] = (), words: InWords = OF_ACCURACY) -> Expected | None:
    """The number to plan for, on what differs most from training as far as anybody asked; None where none is known.

    Known sources that are held out come first, then found clusters, folds, new test sets, and a model's own test set.
    """
    ways = (_on_sources, _on_folds, _on_new_set, _on_same_samples)
    of_answers = (each for way in ways for each in way(answers, words) if each.tried)
    return next(of_answers, None) or _on_own_test_set(shown)


def _numbers(answer: Answered, name: str, words: InWords) -> dict[tuple[str, ...], Quantity]:
    """The numbers of this name that are of the metric, by what each is of."""
    known = (each for each in answer.quantities if each.name == name and not isnan(each.value))
    return {each.of: each for each in known if metric_of(each) == words.metric.name}


def _title(recipe: str) -> str:
    return TITLES.get(recipe, recipe)


def _on_sources(answers: Sequence[Answered], words: InWords) -> Iterator[Expected]:
    ends = ("exclusive", "random") if words.metric.name == ACCURACY else ("metric", "metric_random")
    for answer in answers:
        held_out, random = (_numbers(answer, f"source_robustness.{name}", words) for name in ends)
        finders = sorted({of[1] for of in held_out}, key=lambda finder: finder != KNOWN_SOURCES)
        for finder in finders:
            tried = {_title(of[0]): (held_out[of], random[of]) for of in held_out if of[1] == finder and of in random}
            known = finder == KNOWN_SOURCES and next((number.over for number, _ in tried.values()), "")
            yield Expected(f"On new {known or f'{noun(finder)}s'}", tried, "random splits", known or "", answer)


def _on_folds(answers: Sequence[Answered], words: InWords) -> Iterator[Expected]:
    name = "cluster_folds.accuracy" if words.metric.name == ACCURACY else "cluster_folds.metric"
    worst = min if words.metric.larger_is_better else max
    for answer in answers:
        by_scheme: dict[str, dict[str, Quantity]] = {}
        for of, number in _numbers(answer, name, words).items():
            by_scheme.setdefault(of[0], {})[_title(of[1])] = number
        random = by_scheme.pop(RANDOM_FOLDS, {})
        if not by_scheme:
            alone = {model: (number, None) for model, number in random.items()}
            yield Expected("On samples like these", alone, answer=answer)
            continue
        named = [scheme for scheme in OF_SOURCES if scheme in by_scheme]
        ends = {scheme: worst(each.value for each in by_scheme[scheme].values()) for scheme in by_scheme}
        scheme = named[0] if named else worst(ends, key=ends.__getitem__)
        tried = {model: (number, random[model]) for model, number in by_scheme[scheme].items() if model in random}
        where = "On new sources" if named else f"On {scheme_title(scheme)} folds"
        yield Expected(where, tried, "random folds", answer=answer)


def _on_new_set(answers: Sequence[Answered], words: InWords) -> Iterator[Expected]:
    for answer in answers:
        known = _numbers(answer, "matched_subsets.metric", words)
        pairs = {of[0]: (known[of], known.get((*of[:2], "reference"))) for of in known if of[2] == "target"}
        yield Expected("On the new test set", pairs, "the reference set", answer=answer)


def _on_same_samples(answers: Sequence[Answered], words: InWords) -> Iterator[Expected]:
    for answer in answers:
        known = _numbers(answer, "model_comparison.metric", words)
        tried = {of[0]: (number, None) for of, number in known.items()}
        yield Expected("On samples like these", tried, answer=answer)


def _on_own_test_set(shown: Sequence[Mark]) -> Expected | None:
    """Of the newest model that was trained here."""
    tested = next((mark for mark in shown if mark.role == "random" and not mark.is_recipe), None)
    if tested is None:
        return None
    return Expected("On samples like its test set", {tested.label.removesuffix(": test accuracy"): (tested, None)})


def limits(answers: Sequence[Answered], lead: Expected | None) -> list[tuple[Answered, str]]:
    """The other answers that say where the accuracy cannot be trusted, each with what its headline claims, in short."""
    others = [answer for answer in answers if lead is None or answer is not lead.answer]
    made = [(answer, answer.claim.of_kind) for answer in others if answer.claim and _limits(answer.claim)]
    return [(answer, f"{answer.question.name}: {kind.title[0].lower()}{kind.title[1:]}") for answer, kind in made]


def _limits(its: Claim) -> bool:
    return its.of_kind.limits and its.decision in its.of_kind.made


def summary(
    answers: Sequence[Answered],
    shown: Sequence[Mark],
    *,
    words: InWords = OF_ACCURACY,
    n_questions: int = 0,
    finished: bool = True,
) -> Verdict:
    """What to expect, what limits it, and what to do next, over all that was asked; there is no score of them all.

    `n_questions` are all that can be asked here, if that is known. There is no advice while a question is under way,
    as on its page.

    >>> summary((), ()).headline
    'No question has an answer yet.'
    """
    is_left = finished and n_questions > n_answered(answers)
    asking = "Next: ask the questions that have no answer yet." if is_left else ""
    if not answers and not shown:
        return Verdict("No question has an answer yet.", "", asking, ())
    lead, counted = expected(answers, shown, words), how_many(answers, n_questions)
    advised = [each.verdict.advice for each in leading(answers, lead) if each.verdict.advice and finished]
    advice = advised[0] if advised else asking
    words_of = [in_short for _, in_short in limits(answers, lead)]
    findings = (f"What limits it: {'; '.join(words_of)}.",) if words_of else ()
    if lead is None:
        return Verdict(counted, "", advice, findings)
    return Verdict(lead.sentence(words), f"{lead.note(words)} {counted}", advice, findings)


def leading(answers: Sequence[Answered], lead: Expected | None) -> list[Answered]:
    """The answers in the order in which their advice is taken: what the number rests on, what limits it, the rest."""
    first = [] if lead is None or lead.answer is None else [lead.answer]
    return [*first, *(answer for answer, _ in limits(answers, lead)), *answers]


def n_answered(answers: Sequence[Answered]) -> int:
    """How many questions have an answer, each counted once."""
    return len({answer.question.stem for answer in answers})


def how_many(answers: Sequence[Answered], n_questions: int = 0) -> str:
    """How many questions are answered, of how many, and how many answers are undecided.

    >>> how_many((), 6)
    '0 of 6 questions answered.'
    """
    n, undecided = n_answered(answers), sum(answer.undecided for answer in answers)
    of_all = f"{count(n)} of {plural(n_questions, 'question')}" if n_questions else plural(n, "question")
    several = f"{plural(len(answers), 'answer')} to {of_all}" if len(answers) > n else f"{of_all} answered"
    return f"{several}, {count(undecided)} of them undecided." if undecided else f"{several}."
