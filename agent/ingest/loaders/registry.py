"""Which loader reads a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from agent.ingest.loaded import Loader
from agent.ingest.loaders.html import HtmlLoader
from agent.ingest.loaders.json_files import JsonLoader
from agent.ingest.loaders.json_lines import JsonLinesLoader
from agent.ingest.loaders.markdown import MarkdownLoader
from agent.ingest.loaders.pdf import PdfLoader
from agent.ingest.loaders.plain import PlainLoader
from agent.ingest.loaders.tables import TableLoader
from agent.ingest.loaders.workbooks import WorkbookLoader
from agent.ingest.reading import Reading
from schemas.errors import IngestError

HEAD_BYTES = 4096


class Loaders:
    """The type map's word first, then what the content can only be, then the file's name."""

    def __init__(self, loaders: Iterable[Loader]) -> None:
        self._loaders = tuple(loaders)
        self._by_name = {loader.name: loader for loader in self._loaders}
        self._by_suffix: dict[str, Loader] = {}
        for loader in self._loaders:
            for suffix in loader.suffixes:
                self._by_suffix.setdefault(suffix, loader)

    def accepts(self, path: PurePath) -> bool:
        return path.suffix.lower() in self._by_suffix

    def choose(self, path: PurePath, head: bytes, reading: Reading) -> Loader:
        """`head` are the first HEAD_BYTES. IngestError if nothing reads such a file."""
        if reading.loader is not None:
            named = self._by_name.get(reading.loader)
            if named is None:
                known = ", ".join(sorted(self._by_name))
                raise IngestError(f"there is no loader {reading.loader!r}; there are: {known}")
            return named
        claiming = next((one for one in self._loaders if one.claims(head)), None)
        found = claiming or self._by_suffix.get(path.suffix.lower())
        if found is None:
            raise IngestError(f"no loader reads {path.suffix or 'files without a suffix'!r}")
        return found


DEFAULT_LOADERS: tuple[Loader, ...] = (
    PdfLoader(),
    WorkbookLoader(),
    HtmlLoader(),
    MarkdownLoader(),
    TableLoader(),
    TableLoader("tsv", frozenset({".tsv", ".tab"}), "\t"),
    JsonLoader(),
    JsonLinesLoader(),
    PlainLoader(),
)
