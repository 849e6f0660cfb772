"""Everything that can go wrong outside the code's own bugs.

FacetwiseError
├── UsageError                the request has to change
│   ├── FilterError           a filter that cannot be understood, checked or said
│   ├── UnknownKnowledgeBase
│   ├── UnknownDocument
│   └── SettingsError
├── AccessDenied              the principal may not do this
├── ModelError                a model answered, but not usably
│   ├── ModelUnavailable      nothing answers at the address (retryable)
│   ├── ModelNotFound
│   ├── ModelOutputCut        the stream ended before it was done (retryable)
│   └── WeightsUnavailable
├── StoreError
│   ├── StoreUnavailable      (retryable)
│   ├── StoreDamaged
│   ├── LayoutUnsupported     written by a version that keeps knowledge bases otherwise
│   ├── BackupDamaged
│   └── DimensionMismatch
├── RuntimeUnavailable        the background process is gone (retryable)
└── IngestError               one document cannot be taken in
"""

from __future__ import annotations

from typing import ClassVar


class FacetwiseError(Exception):
    """An expected failure: `str()` is one line for a person, `remedy` what would mend it.
    `retry_after_s` is for what is retryable: seconds after which it is worth another try.
    """

    retry_after_s: int = 5
    retryable: ClassVar[bool] = False
    code: ClassVar[str] = "failed"
    default_remedy: ClassVar[str] = ""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy or self.default_remedy


class UsageError(FacetwiseError):
    """The request itself has to change; repeating it cannot help."""

    code = "usage"


class FilterError(UsageError):
    """A filter that cannot be understood, checked or said in a target; names what was allowed."""

    code = "filter"


class UnknownKnowledgeBase(UsageError):
    code = "unknown_kb"
    default_remedy = "create it with: facetwise ingest PATH --kb NAME"


class UnknownDocument(UsageError):
    code = "unknown_document"
    default_remedy = "list the documents with: facetwise docs list"


class SettingsError(UsageError):
    code = "settings"
    default_remedy = "correct the key that is named; settings.py describes every one"


class AccessDenied(FacetwiseError):
    code = "access_denied"


class ModelError(FacetwiseError):
    """A model answered with something that cannot be used."""

    code = "model"


class ModelUnavailable(ModelError):
    retryable = True
    code = "model_unavailable"
    default_remedy = "start Ollama, or let the embedded runtime serve: models.fallback: embedded"


class ModelNotFound(ModelError):
    code = "model_not_found"


class ModelOutputCut(ModelError):
    """The stream ended before `done`: what arrived is not an answer. `calls` is how many requests
    to the model it took to learn that.
    """

    retryable = True
    code = "model_output_cut"
    calls: int = 1


class WeightsUnavailable(ModelError):
    code = "weights_unavailable"


class StoreError(FacetwiseError):
    code = "store"


class StoreUnavailable(StoreError):
    retryable = True
    code = "store_unavailable"


class StoreDamaged(StoreError):
    code = "store_damaged"


class LayoutUnsupported(StoreError):
    code = "layout_unsupported"


class BackupDamaged(StoreError):
    code = "backup_damaged"
    default_remedy = "use another copy of the backup; nothing was changed"


class DimensionMismatch(StoreError):
    code = "dimension_mismatch"


class RuntimeUnavailable(FacetwiseError):
    """The background process that owns model and store does not answer."""

    retryable = True
    code = "runtime_unavailable"
    default_remedy = (
        "run the command again (it starts the runtime), or see: facetwise runtime status"
    )


class IngestError(FacetwiseError):
    """One document cannot be taken in; the rest of the run goes on."""

    code = "ingest"
