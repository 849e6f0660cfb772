"""Drafting in a process of its own, beside embedding and writing.

Not by `multiprocessing`, whose children run the caller's script once more.
"""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import IO

from agent.ingest.drafting import Drafted, Drafter, Lost
from agent.ingest.drafting_child import READY
from agent.ingest.survey import Pending
from schemas.errors import IngestError

log = logging.getLogger(__name__)

_COMMAND = ("-P", "-m", "agent.ingest.drafting_child")
Reply = list[Drafted | Lost] | dict[str, float]


class DraftingProcess:
    """Drafts as its drafter does, in a child process, or here where that cannot be: for a
    caller's own loader that cannot be pickled. `close` ends the child, whatever it is doing.
    """

    def __init__(self, drafter: Drafter) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._drafter = drafter
        self._child: subprocess.Popen[bytes] | None = None
        self._is_closed = False

    def run(self, files: Sequence[Pending]) -> Iterator[Drafted | Lost]:
        """Blocks for the child, so it belongs into a thread. IngestError if the child dies."""
        replies = self._start(files)
        if replies is None:
            yield from self._drafter.run(files)
            self.seconds.update(self._drafter.seconds)
            return
        while isinstance(reply := self._receive(replies), list):
            yield from reply
        self.seconds.update(reply)

    def close(self) -> None:
        self._is_closed = True
        child = self._child
        if child is not None:
            child.kill()
            child.wait()
            if child.stdout is not None:
                # whoever still reads from it has come to its end
                child.stdout.close()

    def _start(self, files: Sequence[Pending]) -> IO[bytes] | None:
        """What the child will say; None if it cannot take this over."""
        if not sys.executable or getattr(sys, "frozen", False):
            return None
        try:
            job = pickle.dumps((self._drafter, files), pickle.HIGHEST_PROTOCOL)
            child = self._child = _spawn()
        except (pickle.PicklingError, AttributeError, TypeError, OSError) as error:
            log.debug("drafting in this process: %s", error)
            return None
        if self._is_closed:
            # while it was started
            self.close()
            return None
        replies = child.stdout
        if child.stdin is None or replies is None or not _accepted(job, child.stdin, replies):
            log.debug("drafting in this process: the other one cannot load what it takes")
            return None
        return replies

    def _receive(self, replies: IO[bytes]) -> Reply:
        try:
            return _load(replies)
        except (EOFError, pickle.UnpicklingError) as error:
            code = None if self._child is None else self._child.wait()
            raise IngestError(
                f"the process that reads the documents has ended with code {code}",
                remedy="ingest again: what was written is kept",
            ) from error


def _spawn() -> subprocess.Popen[bytes]:
    """The modules are found as here, and none in the current folder takes their place. A session
    of its own keeps Ctrl-C from the child: it is ended by `close`.
    """
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    return subprocess.Popen(
        [sys.executable, *_COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,
    )


def _accepted(job: bytes, child: IO[bytes], replies: IO[bytes]) -> bool:
    try:
        with child:
            child.write(job)
        return bool(pickle.load(replies) == READY)  # noqa: S301 (from our own process)
    except (BrokenPipeError, EOFError, pickle.UnpicklingError):
        return False


def _load(replies: IO[bytes]) -> Reply:
    reply: Reply = pickle.load(replies)  # noqa: S301 (from our own process)
    return reply
