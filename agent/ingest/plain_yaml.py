"""YAML read without guessing types: every scalar is the text that stands in the file."""

from __future__ import annotations

from typing import Any

import yaml

from schemas.errors import UsageError

_DEEPEST = 8


def read_plain(text: str) -> Any:
    """Mappings, lists and texts, so that `NO`, `1.10` and `2024` stay as they are written.

    UsageError naming the line if it is not YAML, or if a key is there twice.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"line {line}: this is not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"this is not YAML: {' '.join(str(error).split())}") from error
    return None if root is None else _plain(root, 1)


def _plain(node: yaml.Node, depth: int) -> Any:
    line = node.start_mark.line + 1
    if depth > _DEEPEST:
        raise UsageError(f"line {line}: it is nested deeper than {_DEEPEST} levels")
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, depth + 1) for item in node.value]
    if not isinstance(node, yaml.MappingNode):
        return str(node.value)
    plain: dict[str, Any] = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else None
        if not isinstance(name, str):
            raise UsageError(f"line {key.start_mark.line + 1}: a key is one text")
        if name in plain:
            raise UsageError(f"line {key.start_mark.line + 1}: key {name!r} is there twice")
        plain[name] = _plain(value, depth + 1)
    return plain
