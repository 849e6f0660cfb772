"""What the runtime's child processes share."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import threading
import time

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent_pid: int, by: signal.Signals) -> None:
    """Have this process sent `by` when its parent ends, even by SIGKILL.

    Linux does it by itself (PR_SET_PDEATHSIG, see prctl(2)); elsewhere a thread watches.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, int(by), 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
        if os.getppid() != parent_pid:
            sys.exit(1)
        return
    threading.Thread(target=_watch, args=(parent_pid, by), daemon=True).start()


def _watch(parent_pid: int, by: signal.Signals) -> None:
    while os.getppid() == parent_pid:
        time.sleep(1.0)
    os.kill(os.getpid(), by)


def bind_loopback(preferred: int | None) -> socket.socket:
    """A loopback socket on the preferred port, or on a free one if that is taken."""
    if preferred:
        wanted = _try_bind(preferred)
        if wanted is not None:
            return wanted
    free = _try_bind(0)
    if free is None:
        raise OSError("no free loopback port")
    return free


def free_port(preferred: int | None) -> int:
    """A loopback port that nobody listens on now."""
    with bind_loopback(preferred) as bound:
        port: int = bound.getsockname()[1]
        return port


def _try_bind(port: int) -> socket.socket | None:
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("127.0.0.1", port))
    except OSError:
        sock.close()
        return None
    return sock
