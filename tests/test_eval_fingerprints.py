"""What a finished case depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.fingerprints import PLANNING, SEARCHING, UNPLANNED, code_digest

ROOT = Path(__file__).parent.parent


def package(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / "rooms" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_code_that_changes_or_moves_has_another_digest(tmp_path: Path) -> None:
    roots = [
        package(tmp_path / "first", a="x = 1"),
        package(tmp_path / "changed", a="x = 2"),
        package(tmp_path / "moved", b="x = 1"),
        package(tmp_path / "more", a="x = 1", b=""),
    ]
    assert len({code_digest(("rooms",), root) for root in roots}) == len(roots)
    same = package(tmp_path / "same", a="x = 1")
    (same / "rooms" / "notes.txt").write_text("no code")
    assert code_digest(("rooms",), same) == code_digest(("rooms",), roots[0])


@pytest.mark.parametrize("parts", [PLANNING, SEARCHING, UNPLANNED])
def test_what_results_depend_on_is_there(parts: tuple[str, ...]) -> None:
    assert [part for part in parts if not (ROOT / part).exists()] == []
    assert code_digest(parts) == code_digest(parts, ROOT)
