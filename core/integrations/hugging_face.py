"""How sure is the accuracy that a Hugging Face Trainer evaluates? Its interval in the log, and its predictions kept."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.integrations.evaluated import evaluated, needed, numbers, save


def hugging_face_callback(
    *,
    class_names: Sequence[str] | None = None,
    ids: Iterable[object] | None = None,
    unit: Iterable[object] | None = None,
    folder: str | PathLike[str] | None = None,
) -> Any:
    """Give a Hugging Face Trainer's evaluations their interval: the same object is `compute_metrics` and a callback.

    Each evaluation logs `eval_accuracy`, `eval_accuracy_low` and `eval_accuracy_high`, the ends of the 95 % interval,
    and `eval_n`. It writes predictions_eval_<step>.tsv into `folder`, by default the Trainer's `output_dir`, which
    `touchstone compare` reads. Other sets and `predict` have their own prefix in the place of `eval`.

    `class_names` are by default those of the model's `config.id2label`. `ids` name the samples of the evaluation set,
    in its order, and `unit` what was sampled independently; both are attributes and can be set anew for another set.
    It needs transformers: ImportError says so. DataError is raised where the model does not put each sample into one
    class, and where the Trainer evaluates in another order.

    Examples
    --------
    >>> judge = hugging_face_callback()  # doctest: +SKIP
    >>> Trainer(model, args, compute_metrics=judge, callbacks=[judge])  # doctest: +SKIP
    """
    transformers = needed("transformers", "transformers")

    class TouchstoneCallback(_Judge, transformers.TrainerCallback):
        """What the Trainer calls."""

    return TouchstoneCallback(class_names, ids, unit, folder)


class _Judge:
    """What is done at each event; the Trainer's base class has the events that are not listened to."""

    def __init__(self, class_names: Any, ids: Any, unit: Any, folder: Any):
        self.class_names = None if class_names is None else [*class_names]
        self.ids = None if ids is None else [*ids]
        self.unit = None if unit is None else [*unit]
        self.folder = folder
        self._last: Predictions | None = None

    def __call__(self, evaluation: Any) -> dict[str, float]:
        """The numbers of an evaluation, of the Trainer's EvalPrediction."""
        scores = evaluation.predictions
        scores = scores[0] if isinstance(scores, tuple) else scores  # what else the model gives comes after its logits
        self._last = evaluated(
            scores, evaluation.label_ids, class_names=self.class_names, ids=self.ids, unit=self.unit, kind="logits"
        )
        return numbers(self._last)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Refuse an order that ids could not follow, before anything is trained."""
        _check_order(args)

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: Any = None, model: Any = None, **_: Any
    ) -> None:
        """Keep the predictions of the evaluation that has just been logged."""
        self._keep(args, state, metrics, model)

    def on_predict(self, args: Any, state: Any, control: Any, metrics: Any = None, model: Any = None, **_: Any) -> None:
        """The same of `Trainer.predict`, where the samples have labels."""
        if self._last is not None:
            self._keep(args, state, metrics, model)

    def _keep(self, args: Any, state: Any, metrics: Any, model: Any) -> None:
        _check_order(args)
        if self._last is None:
            raise DataError(
                "The callback got no predictions. Give the Trainer the same object as compute_metrics=, and an "
                "evaluation set with labels."
            )
        predictions, self._last = self._last, None
        if not state.is_world_process_zero:
            return
        if self.class_names is None:
            predictions = replace(predictions, class_names=_names(model, predictions.class_names))
        ours = [key for key in metrics or {} if key.endswith("_accuracy")]
        prefix = min(ours, key=len).removesuffix("_accuracy") if ours else "eval"
        save(predictions, Path(self.folder or args.output_dir), f"predictions_{prefix}_{state.global_step}")


def _names(model: Any, codes: tuple[str, ...]) -> tuple[str, ...]:
    """What the model's settings call its classes, where they name each; else their codes."""
    names = getattr(getattr(model, "config", None), "id2label", None) or {}
    known = tuple(str(names.get(code, names.get(str(code), ""))) for code in range(len(codes)))
    return known if len({*known} - {""}) == len(codes) else codes


def _check_order(args: Any) -> None:
    """DataError where samples are evaluated by their length, so that nobody can say which is which."""
    by_length = getattr(args, "group_by_length", False)  # of transformers 4
    if by_length or getattr(args, "train_sampling_strategy", "") == "group_by_length":
        raise DataError(
            "The Trainer evaluates samples by their length, in an order that nobody is told. Leave out "
            "group_by_length, so that predictions keep the order of the evaluation set."
        )
