"""Where suites find their collections and the rows behind them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from agent.app import Agent
from evals.bundled import HANDBOOK, bundled_handbook
from evals.corpora import Row, beside, read_corpus
from evals.suites import Case, Suite, load_suite, read_collection
from schemas.access import LOCAL
from schemas.collection import Collection
from schemas.errors import UsageError


def bundled_suite() -> Path:
    """The suite over the bundled handbook."""
    return Path(str(resources.files("evals") / "data" / f"{HANDBOOK}.filters.jsonl"))


async def load_suites(paths: Sequence[Path], sources: Sources) -> list[Suite]:
    """The suites, or the bundled one where none is named. Two of one name are a UsageError."""
    suites = [await load_suite(path, sources.find) for path in paths or (bundled_suite(),)]
    names = [suite.name for suite in suites]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"two suites have one name: {', '.join(twice)}")
    return suites


class Sources:
    """A collection that a case names is described by the file or the knowledge base that the
    caller names, else by `NAME.collection.json` beside the suite. Rows are those of the corpus
    or the knowledge base that the caller names, else of `NAME.corpus.jsonl` beside the suite.
    The bundled suite finds the bundled handbook.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        collection: Path | None = None,
        kb: str | None = None,
        corpus: Path | None = None,
    ) -> None:
        self._agent = agent
        self._file = collection
        self._kb = kb
        self._corpus = None if corpus is None else read_corpus(corpus)
        self._collections: dict[Path | str, Collection] = {}
        self._rows: dict[Path | str, tuple[Row, ...]] = {}

    async def find(self, name: str, suite: Path) -> tuple[Collection, str | None]:
        """The collection, and the knowledge base that it stands for. Raises UsageError."""
        if self._file is None and self._kb is not None:
            if self._kb not in self._collections:
                self._collections[self._kb] = await self._agent.describe(self._kb)
            return self._collections[self._kb], self._kb
        if self._file is None and _is_bundled(suite):
            return (await self._bundled())[0], None
        path = self._file or suite.parent / f"{name}.collection.json"
        if path not in self._collections:
            self._collections[path] = read_collection(path)
        return self._collections[path], None

    async def rows(self, case: Case, suite: Suite) -> tuple[Row, ...] | None:
        """None where nothing is known of the documents behind a case. Texts are there only of
        rows that come from a corpus.
        """
        if self._corpus is not None:
            return self._corpus
        if case.kb is not None:
            return await self._of_kb(case.kb)
        if _is_bundled(suite.path):
            return (await self._bundled())[1]
        path = beside(suite.path, case.collection.name)
        if path is None:
            return None
        if path not in self._rows:
            self._rows[path] = read_corpus(path)
        return self._rows[path]

    async def passages(self, kb: str) -> tuple[Row, ...]:
        """The visible passages of a knowledge base with their texts."""
        documents = (await self._agent.store()).documents
        scope = LOCAL.scope(kb)
        found: list[Row] = []
        for document in await documents.list(kb, scope):
            for one in await documents.passages(kb, document.id, scope):
                found.append(Row(one.id, one.doc_id, one.title, one.text, one.metadata))
        return tuple(found)

    async def _of_kb(self, kb: str) -> tuple[Row, ...]:
        if kb not in self._rows:
            self._rows[kb] = tuple(
                Row(one.id, one.id, one.title, "", one.metadata)
                for one in await self._agent.documents(kb)
                if one.enabled
            )
        return self._rows[kb]

    async def _bundled(self) -> tuple[Collection, tuple[Row, ...]]:
        path = bundled_suite()
        if path not in self._collections:
            self._collections[path], self._rows[path] = await bundled_handbook()
        return self._collections[path], self._rows[path]


def _is_bundled(suite: Path) -> bool:
    return suite.resolve() == bundled_suite().resolve()
