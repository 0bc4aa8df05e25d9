"""What went wrong with a model, in words that its owner can act on."""

from touchstone.core.data import DataError


class ModelError(DataError):
    """A model that cannot be built, trained, read or used here; the message is shown as written.

    Examples
    --------
    >>> raise ModelError("cnn_3 needs images of at least 8 x 8 pixels, these are 6 x 6.")
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: cnn_3 needs images of at least 8 x 8 pixels, these are 6 x 6.
    """


class ModelStopped(ModelError):
    """A model that was stopped, since it took more time or memory than a model may.

    Examples
    --------
    >>> raise ModelStopped("loop.onnx: it was stopped.")
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelStopped: loop.onnx: it was stopped.
    """
