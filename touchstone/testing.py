"""For whoever writes a plugin: `check_plugin("your-package")` asks of it what Touchstone asks of its own entries."""

from touchstone.core.testing import check_plugin as check_plugin
