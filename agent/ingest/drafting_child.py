"""The process that drafts for another one: `python -m agent.ingest.drafting_child`.

It gets a pickled drafter with its files on stdin, answers READY, then lists of documents, and in
the end the seconds spent. It ends with the process that reads them: writing to nobody fails.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import BinaryIO

from agent.ingest.drafting import Drafter, take

READY = "ready"


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as replies:
        # what a loader prints must not get between the replies
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        try:
            _serve(replies)
        except BrokenPipeError:
            # the buffer is lost on nobody, and closing would try again
            os._exit(0)


def _serve(replies: BinaryIO) -> None:
    try:
        drafter: Drafter
        drafter, files = pickle.load(sys.stdin.buffer)  # noqa: S301 (from its parent)
    except (pickle.UnpicklingError, AttributeError, ImportError, TypeError, EOFError):
        # such as a loader of a script; the other process drafts by itself then
        return
    _put(READY, replies)
    documents = drafter.run(files)
    while some := take(documents):
        _put(some, replies)
    _put(dict(drafter.seconds), replies)


def _put(reply: object, replies: BinaryIO) -> None:
    pickle.dump(reply, replies, pickle.HIGHEST_PROTOCOL)
    replies.flush()


if __name__ == "__main__":
    main()
