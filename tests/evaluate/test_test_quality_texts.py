"""Twenty classes of real texts: quality, missing tests, and real samples in the place of pictures."""

import numpy as np
import pytest

from touchstone.core.data.dataset import Dataset
from touchstone.core.evaluate.guided_tests.generate import (
    Missing,
    generate_missing,
    generate_tests,
    label_next,
    missing_regions,
    nearest,
    start,
)
from touchstone.core.evaluate.test_quality.quality import measure_quality
from touchstone.core.evaluate.test_quality.verdict import quality_verdict
from touchstone.core.models.layers import layer_of, layer_samples
from touchstone.core.models.networks import LinearNetwork


@pytest.fixture(scope="module")
def news(shared_data):
    import pandas as pd

    frame = pd.read_parquet(shared_data / "newsgroups20_train.parquet")
    few = frame[frame["body"].str.strip() != ""].sample(1500, random_state=0)
    names = tuple(sorted(frame["newsgroup"].unique()))
    y = np.array([names.index(group) for group in few["newsgroup"]])
    texts = [body[:2000] for body in few["body"]]
    return Dataset("news", "text", np.array(texts, dtype=object), y, names, [str(row) for row in few.index])


@pytest.mark.evidence
def test_twenty_newsgroups_from_quality_to_what_to_label_next(news):
    model = LinearNetwork(n_epochs=30, learning_rate=0.05).fit(news.x[:1100], news.y[:1100], seed=0, n_classes=20)
    trained = model.trained(news)
    train, test, pool = (
        layer_samples(trained, news, np.arange(*of), name=name)
        for of, name in (((0, 1100), "train"), ((1100, 1300), "test"), ((1300, 1500), "pool"))
    )
    found = measure_quality(train, test, rng=np.random.default_rng(0))
    assert found.n_classes == 20
    assert len(found.pairs.table()) == 380
    assert quality_verdict(found).headline
    layer = layer_of(trained)
    made = start(found.regions, layer, train=train, test=test)
    tests = generate_tests(made, 5, centroid_share=0.4, seed=0)
    assert len(tests) + tests.n_unplaced == 100
    assert found.regions.in_boundary(layer(tests.features[~tests.for_centroid])).all()
    stand_in, far = nearest(tests.features, train.features)
    assert (far >= 0).all()
    # The nearest real text is mostly of the class that the head takes the features for.
    assert (train.labels[stand_in] == tests.predicted).mean() > 0.3
    assert missing_regions(found) == ()  # drawn at random: no boundary has fewer texts than chance would give it
    wanted = generate_missing(made, [Missing(label, None, 10) for label in range(3)], seed=0)
    assert wanted is not None
    assert len(label_next(wanted, pool, found.regions, n=10)) == 10
