"""Which model is to be trained once and kept, and how well does it do on samples that it has not seen?"""

import time
from dataclasses import dataclass, fields
from typing import ClassVar

import pandas as pd

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.frames import TEXTS
from touchstone.core.models import MODELS, check_fitting
from touchstone.core.models.model_file import ModelFile
from touchstone.core.models.networks import PaperNetwork, best_device
from touchstone.core.models.stopping import LEAST, MOST
from touchstone.core.parameters import LATER, About, Several, Titles, Values, asks, asks_seed, label_of
from touchstone.core.split.scheme import Random, Split
from touchstone.core.split.units import DRAWN, FILE, draw_of_units, has_test_set, split_by_part
from touchstone.core.trials.choices import models_offered
from touchstone.core.trials.plan import Context, check_fields, check_names, check_whole, to_json
from touchstone.core.trials.run import TRAINING, trained_for

_HIGHEST_SEED = 2**32 - 1  # that scikit-learn takes
COLUMNS = {
    "epoch": "Int64",
    "loss": "Float64",
    "seconds": "Float64",
    "n_train": "Int64",
    "n_test": "Int64",
    "n_correct": "Int64",
    "accuracy": "Float64",
    "model": TEXTS,
    "device": TEXTS,
    **TRAINING,
    "status": TEXTS,
}
"""The columns of a training's rows and their types.

A row per epoch has its number, counted from 1, the mean loss and the seconds that it took. The last row has the figures
of the whole: `n_correct` of `n_test` were right, the seconds of fit and test, the fingerprint of the stored model, the
kind of device that it was trained on, and how long that was (`core.trials.run.TRAINING`). A training that failed is one
row without figures.
"""


def trainable() -> dict[str, type[PaperNetwork]]:
    """The models that can be trained and kept, by name.

    >>> next(iter(trainable()))
    'linear'
    """
    return {name: model for name, model in MODELS.items() if issubclass(model, PaperNetwork)}


def networks_offered(about: About) -> Titles:
    """The networks that can be trained on the data set and kept."""
    return {name: title for name, title in models_offered(about).items() if name in trainable()}


def _usual_network(about: About) -> str:
    """That of the kind of data, where it fits; else the first that does."""
    networks = networks_offered(about)
    usual = [name for name in networks if about.data_kind in trainable()[name].usual_for]
    return next(iter([*usual, *networks]))


TEST_SETS = {DRAWN: "drawn at random", FILE: "the file's own"}
"""Where the test set of a training may come from, and what the screen calls it."""


def _may_have_test_set(values: Values, about: About) -> bool:
    return about.dataset is None or has_test_set(about.dataset)


def _usual_test_set(about: About) -> dict[str, str]:
    """Whoever brings a test set expects it to be the test set."""
    return {"usual": FILE} if about.dataset is not None and has_test_set(about.dataset) else {}


@dataclass(frozen=True)
class TrainingPlan:
    """Train a network on the training part of one split, test it on the test part, and keep it.

    Parameters
    ----------
    model
        A name in `trainable()`.
    n_epochs, batch_size, learning_rate, momentum, weight_decay, gradient_penalty
        The network's hyperparameters; the defaults are the papers' (see `PaperNetwork`).
    test_set
        "drawn": a share of each class, at random; "file": the test part that the file of the data set marks, with its
        training part to train on (`split_by_part`). Forms begin with "file" where the data set has such parts.
    test_share
        Share of each class that is kept out of training, and tested on. A test set of the file's has none: there it is
        always the default, so that one training has one name.
    seed
        The one number that the split, the first weights, the order of the samples and dropout are derived from.

    Raises DataError for an unknown name and for a number out of range.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> wine = load_example("wine")
    >>> rows = TrainingPlan("linear", n_epochs=3).run_trial(wine, 0, context=Context())
    >>> rows["epoch"].tolist(), int(rows["n_test"].iloc[-1])
    ([1, 2, 3, <NA>], 36)
    """

    model: str = asks(
        label="Network",
        help="The papers' networks that fit these inputs.",
        address="network",
        place="row",
        choices=networks_offered,
        differs=lambda about: {"usual": _usual_network(about)},
    )
    n_epochs: int | None = asks(
        PaperNetwork.n_epochs,
        "Epochs",
        f"Passes over the training samples. 0: until the loss falls no more, {LEAST:,} to {MOST:,} updates, more where "
        "epochs are long. You can stop at any time.",
        address="epochs",
        place="row",
        within=(0, 1000, 5),
        several_as=Several(lambda n_epochs: (n_epochs or 0,), lambda n_epochs: n_epochs or None),
    )
    batch_size: int = asks(
        PaperNetwork.batch_size,
        "Batch size",
        "Samples per step; the paper's 128.",
        address="batch",
        within=(1, 4096, 16),
    )
    learning_rate: float = asks(
        PaperNetwork.learning_rate,
        "Learning rate",
        "The paper's 0.01.",
        address="rate",
        within=(0.0001, 10.0, 0.001),
        format="%.4f",
    )
    momentum: float = asks(
        PaperNetwork.momentum,
        "Momentum",
        "Nesterov's; the paper's 0.95.",
        address="momentum",
        within=(0.0, 0.999, 0.01),
        format="%.3f",
    )
    weight_decay: float = asks(
        PaperNetwork.weight_decay,
        "Weight decay",
        "Pulls weights towards 0.",
        address="decay",
        within=(0.0, 1.0, 0.0001),
        format="%.4f",
    )
    gradient_penalty: float = asks(
        PaperNetwork.gradient_penalty,
        "Gradient penalty",
        "Lambda: penalises how much the loss changes with the input, which makes the model robust on average. "
        "Epochs take at least twice as long.",
        address="penalty",
        within=(0.0, 1000.0, 0.01),
        format="%.4f",
    )
    test_set: str = asks(
        DRAWN,
        "Test set",
        "The samples that the file itself marks as test, or a share of each class at random.",
        address="test_set",
        place="row",
        choices=lambda about: TEST_SETS,
        differs=_usual_test_set,
        when=_may_have_test_set,
        joined=LATER,
    )
    test_share: float = asks(
        0.2,
        "Test share",
        "The share of each class held out of training.",
        address="kept_out",
        within=(0.05, 0.9, 0.05),
        when=lambda values, about: values.get("test_set", DRAWN) == DRAWN,
    )
    seed: int = asks_seed(help="The split and all randomness of training follow from it.", address="training_seed")

    kind: ClassVar[str] = "training"
    METHOD_VERSION: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_fields(self)
        if self.model not in trainable():
            raise DataError(
                f"{label_of(self, 'model')}: {self.model!r} cannot be chosen. Choose from {', '.join(trainable())}."
            )
        check_whole(self, {"n_epochs": 1, "batch_size": 1, "seed": 0}, or_none=("n_epochs",))
        if self.seed > _HIGHEST_SEED:
            raise DataError(f"{label_of(self, 'seed')} must be at most {_HIGHEST_SEED:,}, not {self.seed:,}.")
        for name in ("learning_rate", "momentum", "weight_decay", "gradient_penalty", "test_share"):
            value = getattr(self, name)
            if type(value) not in (int, float) or value < 0:
                raise DataError(f"{label_of(self, name)} must be a number of at least 0, not {value!r}.")
            object.__setattr__(self, name, float(value))  # JSON may say 0, which is the same plan as 0.0
        if self.learning_rate == 0:
            raise DataError(f"{label_of(self, 'learning_rate')} must be above 0: with 0 the network learns nothing.")
        if self.momentum >= 1:
            raise DataError(
                f"{label_of(self, 'momentum')} must be below 1, not {self.momentum!r}: with 1 no step is forgotten."
            )
        check_names(self, "test_set", TEST_SETS)
        if self.test_set == FILE:
            object.__setattr__(self, "test_share", type(self).test_share)
        if not 0 < self.test_share < 1:
            raise DataError(f"{label_of(self, 'test_share')} must lie between 0 and 1, not {self.test_share!r}.")

    @property
    def title(self) -> str:
        """What a person calls the model that comes of it: all that is not as usual is named.

        >>> TrainingPlan("cnn_1", n_epochs=20, gradient_penalty=0.1, seed=3).title
        'CNN-1, 20 epochs, gradient penalty 0.1, seed 3'
        >>> TrainingPlan("cnn_1", test_set="file").title
        "CNN-1, the file's test set"
        """
        unusual = [
            f"{one.name.replace('_', ' ')} {getattr(self, one.name):g}"
            for one in fields(self)
            if one.name not in ("model", "n_epochs", "test_set") and getattr(self, one.name) != one.default
        ]
        epochs = [] if self.n_epochs is None else [f"{self.n_epochs} epoch{'s' * (self.n_epochs != 1)}"]
        own = ["the file's test set"] * (self.test_set == FILE)
        return ", ".join([MODELS[self.model].label, *epochs, *unusual, *own])

    def stored_models(self) -> tuple[str, ...]:
        """None: this plan makes one."""
        return ()

    def n_trials(self, dataset: Dataset) -> int:
        """One. Raises DataError where the network cannot learn the data set, or the split leaves nothing."""
        check_fitting([MODELS[self.model]], dataset)
        self.split(dataset)
        return 1

    def split(self, dataset: Dataset) -> Split:
        """The rows to train on and those to test on, whatever the model: the share of every class, or the file's parts.

        A drawn test part has whole units only.

        Raises DataError where one of the parts would be empty, or the file does not mark parts that one can train on.
        """
        if self.test_set == FILE:
            return split_by_part(dataset)
        scheme = Random(n_repeats=1, test_share=self.test_share, stratified=True, seed=self.seed)
        return draw_of_units(scheme, 0, dataset.unit_codes, dataset.y)

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """Train, test and keep the network: a row per epoch and one of the whole (`COLUMNS`).

        Tells its context after every epoch. Raises Cancelled between epochs, ModelError where training diverges.
        """
        train, test = self.split(dataset)
        rows: list[dict[str, object]] = []
        start = time.perf_counter()
        marks = [start]

        def on_epoch(n_done: int, n_epochs: int, loss: float) -> None:
            marks.append(time.perf_counter())
            rows.append({"epoch": n_done, "loss": loss, "seconds": marks[-1] - marks[-2]})
            context.report(n_done, n_epochs, "epoch")

        network = self._network().fit(
            dataset.x[train],
            dataset.y[train],
            seed=self.seed,
            n_classes=dataset.n_classes,
            should_stop=context.should_stop,
            on_epoch=on_epoch,
        )
        n_correct = int((network.predict(dataset.x[test]) == dataset.y[test]).sum())
        seconds = time.perf_counter() - start
        whole = {"n_train": len(train), "n_test": len(test), "n_correct": n_correct, "accuracy": n_correct / len(test)}
        kept = context.keep_model(
            ModelFile(
                network.trained(dataset).to_bytes(),
                f"{self.model}.safetensors",
                dataset.fingerprint,
                network.architecture,
            ).to_bytes(),
            name=self.title,
            training_plan=to_json(self),
            n_test=len(test),
            n_correct=n_correct,
        )
        whole |= {**trained_for(network.training), "seconds": seconds, "model": kept, "device": best_device()}
        return _frame([*rows, whole], "ok")

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no figures."""
        return _frame([{}], "failed")

    def _network(self) -> PaperNetwork:
        names = {one.name for one in fields(PaperNetwork)}
        return trainable()[self.model](
            **{one.name: getattr(self, one.name) for one in fields(self) if one.name in names}
        )


def _frame(rows: list[dict[str, object]], status: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[*COLUMNS], dtype=object).assign(status=status).astype(COLUMNS)
