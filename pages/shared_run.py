"""What does a link show that does not work? One sentence for all of them; one that works opens the page of its run."""

from ui import shared_view

shared_view.dead()
