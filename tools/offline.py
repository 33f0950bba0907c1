"""Run `make test` where there is no network at all: in a network namespace of its own (Linux).

Use it as ``make offline`` or ``python course.py offline``; arguments go to ``course.py test``.  Only the loopback
of the new namespace is switched on: notebooks talk to their kernels over it.
"""

import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSIDE = "--inside"
UNPRIVILEGED = ("unshare", "--map-root-user", "--net")
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1


def switch_loopback_on() -> None:
    """Switch on the interface `lo`, which is off in a new namespace."""
    import fcntl

    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def networks() -> list[str]:
    """Name the network interfaces other than loopback, and the routes.

    Returns
    -------
    list of str
        Empty where nothing outside can be reached.
    """
    routes = Path("/proc/net/route").read_text(encoding="ascii").splitlines()[1:]
    found = [name for _, name in socket.if_nameindex() if name != "lo" and not is_down(name)]
    return found + [f"route over {route.split()[0]}" for route in routes]


def is_down(name: str) -> bool:
    """Tell whether an interface is off.

    Parameters
    ----------
    name : str
        Its name: a new namespace may show tunnels that lead nowhere, all of them off.
    """
    flags = Path("/sys/class/net", name, "flags")
    return not flags.exists() or not int(flags.read_text(encoding="ascii"), 16) & IFF_UP


def main(arguments: Sequence[str]) -> int:
    """Enter a new namespace, see that it leads nowhere, and run the tests in it.

    Parameters
    ----------
    arguments : sequence of str
        For ``course.py test``.

    Returns
    -------
    int
        The exit code of the tests, or 1 if there is no such namespace here.
    """
    if list(arguments[:1]) != [INSIDE]:
        alone = ["unshare", "--net"] if os.name == "posix" and os.geteuid() == 0 else [*UNPRIVILEGED]
        if not shutil.which("unshare"):
            print(
                "There is no program unshare here; it needs Linux: switch the network off by hand.",
                file=sys.stderr,
            )
            return 1
        if subprocess.run([*alone, "true"], check=False).returncode:
            print("This system allows no new network namespace: try as root.", file=sys.stderr)
            return 1
        command = [*alone, sys.executable, __file__, INSIDE, *arguments]
        return subprocess.run(command, cwd=ROOT, check=False).returncode
    switch_loopback_on()
    found = networks()
    if found:
        print(f"This namespace is not without a network: {', '.join(found)}.", file=sys.stderr)
        return 1
    print("== no network: the only interface is lo", flush=True)
    command = [sys.executable, "course.py", "test", "--", *arguments[1:]]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
