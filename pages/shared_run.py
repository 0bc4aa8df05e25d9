"""What does a link show that does not work? One sentence for all; one that works opens the page of its result."""

from touchstone.ui.shell import share

share.dead()
