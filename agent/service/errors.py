"""Errors of our tree as HTTP answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import JsonValue

from schemas.errors import (
    AccessDenied,
    FacetwiseError,
    ModelOutputCut,
    ModelUnavailable,
    RuntimeUnavailable,
    StoreUnavailable,
    UnknownDocument,
    UnknownKnowledgeBase,
    UsageError,
)

UNPROCESSABLE = 422
UNAVAILABLE = 503
SHOWN_FAULTS = 5
LONGEST_VALUE = 60


def status_of(error: FacetwiseError) -> int:
    match error:
        case UnknownKnowledgeBase() | UnknownDocument():
            return 404
        case UsageError():
            return 400
        case AccessDenied():
            return 403
        case ModelUnavailable() | StoreUnavailable() | RuntimeUnavailable():
            return UNAVAILABLE
        case ModelOutputCut(retryable=True):
            return UNAVAILABLE
        case _:
            return 500


def headers_of(error: FacetwiseError) -> dict[str, str]:
    """When a client may come again, where that can help."""
    if status_of(error) != UNAVAILABLE:
        return {}
    return {"Retry-After": str(error.retry_after_s)}


def body_of(error: FacetwiseError) -> dict[str, JsonValue]:
    return {
        "code": error.code,
        "message": str(error),
        "remedy": error.remedy,
        "retryable": error.retryable,
    }


async def on_error(request: Request, error: Exception) -> JSONResponse:
    """The handler for our tree; anything else is a bug and rises."""
    if not isinstance(error, FacetwiseError):
        raise error
    return JSONResponse(
        {"error": body_of(error)}, status_code=status_of(error), headers=headers_of(error)
    )


async def on_invalid(request: Request, error: Exception) -> JSONResponse:
    """A body that does not have the form of its route, told as every other error is."""
    if not isinstance(error, RequestValidationError):
        raise error
    faults = "; ".join(
        f"{'.'.join(map(str, item['loc'][1:])) or 'body'}: {item['msg']}{_given(item)}"
        for item in error.errors()[:SHOWN_FAULTS]
    )
    body = {"code": "usage", "message": faults, "remedy": "see /docs", "retryable": False}
    return JSONResponse({"error": body}, status_code=UNPROCESSABLE)


def _given(fault: Mapping[str, Any]) -> str:
    """The value that was refused, where it is short and the message does not name it."""
    value = fault["input"]
    is_plain = value is None or isinstance(value, bool | int | float | str)
    if not is_plain or fault["type"] in ("extra_forbidden", "missing", "value_error"):
        return ""
    told = json.dumps(value)
    return f" (got {told})" if len(told) <= LONGEST_VALUE else ""
