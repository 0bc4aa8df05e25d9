"""What Touchstone asks of its own entries, asked of those of this package."""

from touchstone.testing import check_plugin


def test_it_keeps_all_laws():
    """Each entry of this package."""
    check_plugin("touchstone-sample")
