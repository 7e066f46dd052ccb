"""Calls into the workers of formats: the format of a file, its plugin, a function, an answer.

`WorkerCalls` is what the calls of one workbench share; `review_calls` and `format_calls` add the
capabilities.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeVar

import msgspec
from anyio import to_thread

from kbd.core.plugins import forked_call
from kbd.core.plugins.call_paths import CallFolder
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.derived_cache import DerivedCache, ShelfCache, is_tiny
from kbd.core.plugins.host import Owned, Plugin
from kbd.core.plugins.renderer import PrintedDocuments
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.errors import FileReadFailed, FileWriteFailed, KbdError, ValidationFailed
from kbd.formats import FormatHandler
from kbd.tools import FileRef

__all__ = ["WorkerCalls", "file_arguments", "unsupported_error"]

T = TypeVar("T")


def unsupported_error(handler: FormatHandler, what: str, name: str) -> ValidationFailed:
    """Return the error for a capability that a file's format does not offer."""
    return ValidationFailed(f"{name} cannot {what}: its format, {handler.name}, does not offer it")


def file_arguments(file: FileRef | None) -> dict[str, Any]:
    """Return the arguments by which a worker finds a file; for None those of a new one."""
    return {"path": file.path if file else None, "name": file.name if file else ""}


class WorkerCalls:
    """The formats of one workbench, and how their workers are called.

    Args:
        catalog: The formats there are.
        workers: Where they run.
        cache: The workbench's folder of derived files; None keeps maps in memory only.
        printed: Its printed documents; without them only what needs no printing is previewed.
    """

    def __init__(
        self,
        catalog: Catalog,
        workers: WorkerPool,
        cache: Path | None = None,
        printed: PrintedDocuments | None = None,
    ) -> None:
        self._catalog = catalog
        self._workers = workers
        self._printed = printed
        self._note: Callable[[Plugin], None] | None = None
        self._shelves = None if cache is None else ShelfCache(cache / "shelves")
        self._derived = DerivedCache(cache)

    def noted_by(self, note: Callable[[Plugin], None]) -> Self:
        """Return the same, with what it has cached, that names each plugin that it asks to `note`.

        A plugin whose map is cached counts, too: the map is its work.
        """
        noted = copy.copy(self)
        noted._note = note  # noqa: SLF001 - it is its own copy
        return noted

    def handlers(self) -> Sequence[FormatHandler]:
        """Return all handlers, sorted by name."""
        return self._catalog.handlers()

    def for_name(self, name: str) -> FormatHandler | None:
        """Return the handler for a file's name by its suffix, or None for an opaque file."""
        return self._catalog.for_name(name)

    def _format_of(self, file: FileRef) -> Owned[FormatHandler]:
        handler = self.for_name(file.name)
        if handler is None:
            msg = f"{file.name} cannot be looked into: {self._catalog.kind_of(file.name).reason}"
            raise ValidationFailed(msg)
        return self._owner(handler)

    def _owner(self, handler: FormatHandler) -> Owned[FormatHandler]:
        """Return a format with the plugin that brings it, which is about to work."""
        owned = self._catalog.format(handler.name)
        if self._note is not None:
            self._note(owned.plugin)
        return owned

    async def _read(
        self,
        owned: Owned[FormatHandler],
        function: str,
        kind: type[T],
        file: FileRef,
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> T:
        """Call what only reads, with a shelf for what the handler derives from these bytes."""
        if self._shelves is None or is_tiny(file):
            arguments = {**file_arguments(file), "shelf": None, **more}
            return await self._call(owned, function, kind, arguments, FileReadFailed)
        plugin = owned.plugin
        shelf = self._shelves.shelf(plugin.name, plugin.version, owned.item.name, file.blob)
        arguments = {**file_arguments(file), "shelf": CallFolder(shelf), **more}
        value = await self._call(owned, function, kind, arguments, FileReadFailed)
        await to_thread.run_sync(self._shelves.used, shelf)
        return value

    async def _write(
        self, handler: FormatHandler, function: str, kind: type[T], arguments: dict[str, Any]
    ) -> T:
        return await self._call(self._owner(handler), function, kind, arguments, FileWriteFailed)

    async def _call(
        self,
        owned: Owned[FormatHandler],
        function: str,
        kind: type[T],
        arguments: dict[str, Any],
        failure: type[KbdError],
    ) -> T:
        plugin, name = owned.plugin, owned.item.name
        # Of a key these settings only say that there is one.
        handle = {"name": name, "package": plugin.package, "settings": dict(plugin.settings)}
        value = await self._workers.call(
            plugin.name,
            f"{forked_call.ENTRY}:{function}",
            {"handle": handle, **arguments},
            what=f"{name}: {function.removesuffix('_file')} {arguments['name']}".rstrip(),
            failure=failure,
        )
        try:
            # A plugin made it, or the file that took its worker over.
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as fault:
            msg = f"format {name} answered {function} with something ill-formed: {fault}"
            raise failure(msg) from None
