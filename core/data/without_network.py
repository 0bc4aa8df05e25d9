"""How does a child begin? In a network of its own, in which there is nothing, while it still has one thread.

A script, which leaves the network and then is `core.data.sandbox`. Who is no administrator may have a network with
users of its own, where it stays who it is. Where the system forbids that, too, the child goes on with the network it
has.
"""

import contextlib
import ctypes
import os
import runpy
import sys

_NEW_NETWORK, _NEW_USERS = 0x40000000, 0x10000000


def leave_network() -> None:
    """Leave the network of this process, if the system lets it."""
    user, group = os.getuid(), os.getgid()
    unshare = getattr(ctypes.CDLL(None), "unshare", None)
    if unshare is None or unshare(_NEW_NETWORK) == 0 or unshare(_NEW_USERS | _NEW_NETWORK) != 0:
        return
    for name, content in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with contextlib.suppress(OSError), open(f"/proc/self/{name}", "w") as file:
            file.write(content)


if __name__ == "__main__":
    sys.path[0] = os.getcwd()  # not the folder of this script
    leave_network()
    runpy.run_module("touchstone.core.data.sandbox", run_name="__main__", alter_sys=True)
