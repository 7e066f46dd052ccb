"""What a listing shows of a file."""

from typing import Any

from kbd.core.plugins.catalog import Catalog
from kbd.tools import FileRef

__all__ = ["describe_file"]


def describe_file(catalog: Catalog, file: FileRef) -> dict[str, Any]:
    """Return what a listing shows of a file."""
    kind = catalog.kind_of(file.name)
    described: dict[str, Any] = {
        "path": file.name,
        "kind": kind.kind,
        "size_bytes": file.size_bytes,
        "mime_type": kind.mime_type,
        "is_opaque": kind.is_opaque,
    }
    if kind.reason:
        described["reason"] = kind.reason
    return described
