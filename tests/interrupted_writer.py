"""A process that writes without end, to be killed: `python -m tests.interrupted_writer`."""

from __future__ import annotations

import asyncio
import datetime as dt
import random
import sys
from pathlib import Path

from pydantic import JsonValue

from agent.store.connection import Connection
from agent.store.library import MilvusLibrary
from schemas.drafts import ChunkDraft, DocumentDraft
from tests.store_engine import embedded

IDS = tuple(f"d{number}" for number in range(8))
DEPARTMENTS = ("public", "secret")
ACTIONS = ("ingest", "replace", "set", "delete")


def marked(id_: str, version: int, department: str) -> DocumentDraft:
    """A document whose every passage tells the version and how many passages there are."""
    count = 2 + version % 5
    texts = [f"passage {i} of {count} in version {version}" for i in range(count)]
    return DocumentDraft(
        id=id_,
        source=f"{id_}.md",
        title=id_,
        metadata={"department": department, "Pick #": version, "price": float(version)},
        content_hash=f"{id_} {version}",
        chunks=tuple(
            ChunkDraft(index=index, text=text, embed_text=text) for index, text in enumerate(texts)
        ),
    )


async def write(library: MilvusLibrary, kb: str, action: str, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311  # no secret is made of it
    step = 1_000 * seed
    while True:
        step += 1
        ids = rng.sample(IDS, 3)
        match action:
            case "ingest":
                new = [marked(f"{id_}-{step}", step, rng.choice(DEPARTMENTS)) for id_ in ids]
                await library.write(kb, embedded(*new))
                await library.delete(kb, [draft.id for draft in new[1:]])
            case "replace":
                docs = [marked(id_, step, rng.choice(DEPARTMENTS)) for id_ in ids]
                await library.write(kb, embedded(*docs))
            case "set":
                changes: dict[str, JsonValue] = {
                    "department": rng.choice(DEPARTMENTS),
                    "price": float(step),
                }
                await library.set_metadata(kb, ids[0], changes)
            case _:
                await library.delete(kb, ids)
                docs = [marked(id_, step, rng.choice(DEPARTMENTS)) for id_ in ids]
                await library.write(kb, embedded(*docs))


async def main(uri: str, kb: str, locks: str, action: str, seed: str) -> None:
    connection = Connection(uri, locks=Path(locks))
    library = MilvusLibrary(connection, now=lambda: dt.datetime.now(dt.UTC))
    await library.names()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await write(library, kb, action, int(seed))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:6]))
