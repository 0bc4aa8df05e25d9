"""Networks in tests are small: a second thread would cost more than it brings."""

from collections.abc import Iterator

import pytest


@pytest.fixture
def one_thread() -> Iterator[None]:
    from touchstone.core.models.networks import one_torch_thread

    with one_torch_thread():
        yield
