"""Errors of our tree as HTTP answers."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import JsonValue

from schemas.errors import (
    AccessDenied,
    FacetwiseError,
    ModelUnavailable,
    RuntimeUnavailable,
    StoreUnavailable,
    UnknownDocument,
    UnknownKnowledgeBase,
    UsageError,
)


def status_of(error: FacetwiseError) -> int:
    match error:
        case UnknownKnowledgeBase() | UnknownDocument():
            return 404
        case UsageError():
            return 400
        case AccessDenied():
            return 403
        case ModelUnavailable() | StoreUnavailable() | RuntimeUnavailable():
            return 503
        case _:
            return 500


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
    return JSONResponse({"error": body_of(error)}, status_code=status_of(error))
