"""Calls of the capabilities that a rebase needs: operations carried over, lines merged."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kbd.core.plugins.review_calls import ReviewCalls
from kbd.core.plugins.worker_calls import unsupported_error
from kbd.errors import FileReadFailed, FileWriteFailed
from kbd.formats import Mergeable, Merged, Relocatable, Relocation
from kbd.tools import FileRef

__all__ = ["RebaseCalls"]


class RebaseCalls(ReviewCalls):
    """The calls by which edits of one workbench's files are applied again on other versions."""

    async def relocate(
        self, operations: Sequence[Mapping[str, Any]], before: FileRef, after: FileRef
    ) -> Relocation:
        """Return `Relocatable.relocate`; the operations are the handler's records as plain values.

        Raises:
            ValidationFailed: The file's format is not `Relocatable`.
            FileReadFailed: A version cannot be read.
        """
        owned = self._format_of(after)
        if not isinstance(owned.item, Relocatable):
            raise unsupported_error(owned.item, "have operations carried over", after.name)
        arguments = {
            "name": after.name,
            "before": _version(before),
            "after": _version(after),
            "operations": [dict(operation) for operation in operations],
        }
        return await self._call(owned, "relocate", Relocation, arguments, FileReadFailed)

    async def merge(self, base: FileRef, ours: FileRef, theirs: FileRef, target: Path) -> Merged:
        """Return `Mergeable.merge`.

        Raises:
            ValidationFailed: The file's format is not `Mergeable`.
            FileReadFailed: A version cannot be read as text.
        """
        owned = self._format_of(theirs)
        if not isinstance(owned.item, Mergeable):
            raise unsupported_error(owned.item, "be merged", theirs.name)
        arguments = {
            "name": theirs.name,
            "base": _version(base),
            "ours": _version(ours),
            "theirs": _version(theirs),
            "target": target,
        }
        return await self._call(owned, "merge", Merged, arguments, FileWriteFailed)


def _version(file: FileRef) -> tuple[Path, str]:
    # A path and not its text: only so the pool sees that stored bytes are checked first.
    return file.path, file.name
