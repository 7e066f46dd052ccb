"""The formats as tools and the daemon call them: each capability in its plugin's worker."""

import contextlib
import copy
import hashlib
import os
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec
from anyio import to_thread

from kbd.core.catalog import Catalog
from kbd.core.plugins.host import Owned, Plugin
from kbd.core.workers import child
from kbd.core.workers.extracts import Extract
from kbd.core.workers.operations import cannot, operations_of
from kbd.core.workers.pool import Workers
from kbd.core.workers.shelves import Shelves
from kbd.errors import FileReadFailed, FileWriteFailed, KbdError, ValidationFailed
from kbd.formats import (
    Applied,
    AssetPick,
    Celled,
    Composed,
    FormatHandler,
    Mappable,
    Placement,
    Preview,
    Previewable,
    Readable,
    Reading,
    Region,
    Styled,
    Table,
    Tabular,
    Written,
)
from kbd.tools import FileRef, Formats

__all__ = ["FormatCalls"]

MAPS_IN_MEMORY = 256
"""Maps and short texts that are kept in memory; a workbench has 200 files by default."""

T = TypeVar("T")


class FormatCalls(Formats):
    """The formats of one workbench, called in workers.

    Args:
        catalog: The formats there are.
        workers: Where they run.
        cache: The workbench's folder of derived files; None keeps maps in memory only.
    """

    def __init__(self, catalog: Catalog, workers: Workers, cache: Path | None = None) -> None:
        self._catalog = catalog
        self._workers = workers
        self._cache = cache
        self._note: Callable[[Plugin], None] | None = None
        self._shelves = None if cache is None else Shelves(cache / "shelves")
        self._maps: OrderedDict[str, bytes] = OrderedDict()

    def noted_by(self, note: Callable[[Plugin], None]) -> "FormatCalls":
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

    async def info(self, file: FileRef) -> dict[str, Any]:
        """Return `FormatHandler.info`; empty for a file that no format handles."""
        if self.for_name(file.name) is None:
            return {}
        owned = self._format_of(file)
        return await self._read(owned, "info", dict[str, Any], file)

    async def map(self, file: FileRef) -> dict[str, Any]:
        """Return `Mappable.map`, cached by content, name and the plugin's version."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Mappable):
            raise cannot(owned.item, "tell its structure", file.name)
        find = partial(self._read, owned, "map_file", dict[str, Any], file)
        return await self._derived(_derived_key("map", owned, file), find)

    async def _derived(
        self, key: str, find: Callable[[], Awaitable[dict[str, Any]]]
    ) -> dict[str, Any]:
        """Return what is kept under a key, or find and keep it."""
        known = self._maps.get(key) or await self._stored_map(key)
        if known is None:
            known = msgspec.msgpack.encode(await find())
            await self._store_map(key, known)
        self._maps[key] = known
        self._maps.move_to_end(key)
        if len(self._maps) > MAPS_IN_MEMORY:
            self._maps.popitem(last=False)
        # Decoded for each caller, who may add to it.
        return msgspec.msgpack.decode(known, type=dict[str, Any])

    async def small_text(self, file: FileRef, most_bytes: int) -> str | None:
        """Return all text of a file if it is at most so many bytes, else None; cached as a map."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Readable):
            raise cannot(owned.item, "be read as text", file.name)

        async def find() -> dict[str, Any]:
            found = await self.extract(file, Region(), 0, 0, most_bytes)
            fits = found.following is None and len(found.text.encode()) <= most_bytes
            return {"text": found.text if fits else None}

        kept = await self._derived(_derived_key(f"text-{most_bytes}", owned, file), find)
        text: str | None = kept["text"]
        return text

    async def read(self, file: FileRef, region: Region) -> Reading:
        """Return `Readable.read`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Readable):
            raise cannot(owned.item, "be read as text", file.name)
        return await self._read_region(owned, owned.item, "read", file, region)

    async def cells(self, file: FileRef, region: Region) -> Reading:
        """Return `Celled.cells`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Celled):
            raise cannot(owned.item, "be read by cells", file.name)
        return await self._read_region(owned, owned.item, "cells", file, region)

    async def objects(self, file: FileRef, region: Region) -> Reading:
        """Return `Composed.objects`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Composed):
            raise cannot(owned.item, "be read by objects", file.name)
        return await self._read_region(owned, owned.item, "objects", file, region)

    async def preview(self, file: FileRef, index: int, edge_px: int) -> Preview:
        """Return `Previewable.preview`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Previewable):
            raise cannot(owned.item, "be shown as a picture", file.name)
        which = {"index": index, "edge_px": edge_px}
        return await self._read(owned, "preview", Preview, file, which)

    async def extract(
        self, file: FileRef, region: Region, passage: int, character: int, limit: int
    ) -> Extract:
        """Return a part of all text, or of a region's if one is given; see `extracts.extract`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Readable):
            raise cannot(owned.item, "be read as text", file.name)
        _check_coordinates(owned.item, file, region)
        more = {"passage": passage, "character": character, "limit": limit}
        more["region"] = msgspec.to_builtins(region)
        return await self._read(owned, "extract_text", Extract, file, more)

    async def get_styles(self, file: FileRef, sheet: str | None) -> dict[str, Any]:
        """Return `Styled.get_styles`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Styled):
            raise cannot(owned.item, "tell its styles", file.name)
        return await self._read(owned, "get_styles", dict[str, Any], file, {"sheet": sheet})

    async def copy_assets(
        self, source: FileRef, into: FileRef | None, picks: Sequence[AssetPick], target: Path
    ) -> Applied:
        """Return `Styled.copy_assets`."""
        owned = self._format_of(source)
        if not isinstance(owned.item, Styled):
            raise cannot(owned.item, "give styles or media", source.name)
        arguments = _of(source) | {
            "into": None if into is None else (str(into.path), into.name),
            "picks": msgspec.to_builtins(tuple(picks)),
            "target": str(target),
        }
        return await self._write(owned.item, "copy_assets", Applied, arguments)

    async def apply(
        self,
        handler: FormatHandler,
        source: FileRef | None,
        operations: Sequence[Mapping[str, Any]],
        target: Path,
    ) -> Applied:
        """Validate operations against the handler's records and apply them.

        Raises:
            ValidationFailed: An operation is unknown or ill-formed; the message has its place and,
                for an unknown one, those that there are.
        """
        records = operations_of(handler, operations)
        plain = [msgspec.to_builtins(record) for record in records]
        arguments = _of(source) | {"operations": plain, "target": str(target)}
        return await self._write(handler, "apply", Applied, arguments)

    async def read_table(self, file: FileRef, sheet: str | None, target: Path) -> Table:
        """Return `Tabular.read_table`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Tabular):
            raise cannot(owned.item, "be read as a table", file.name)
        more = {"sheet": sheet, "target": str(target)}
        return await self._read(owned, "read_table", Table, file, more)

    async def write_table(
        self,
        handler: FormatHandler,
        source: FileRef | None,
        rows: Path,
        placement: Placement,
        target: Path,
    ) -> Written:
        """Return `Tabular.write_table`."""
        if not isinstance(handler, Tabular):
            raise cannot(handler, "be written as a table", source.name if source else "A new file")
        where = msgspec.to_builtins(placement)
        arguments = _of(source) | {"rows": str(rows), "placement": where, "target": str(target)}
        return await self._write(handler, "write_table", Written, arguments)

    def _format_of(self, file: FileRef) -> Owned[FormatHandler]:
        handler = self.for_name(file.name)
        if handler is None:
            msg = f"{file.name} cannot be looked into: {self._catalog.kind_of(file.name).reason}."
            raise ValidationFailed(msg)
        return self._owner(handler)

    def _owner(self, handler: FormatHandler) -> Owned[FormatHandler]:
        """Return a format with the plugin that brings it, which is about to work."""
        owned = self._catalog.format(handler.name)
        if self._note is not None:
            self._note(owned.plugin)
        return owned

    async def _read_region(
        self,
        owned: Owned[FormatHandler],
        handler: Readable,
        function: str,
        file: FileRef,
        region: Region,
    ) -> Reading:
        _check_coordinates(handler, file, region)
        more = {"region": msgspec.to_builtins(region)}
        return await self._read(owned, function, Reading, file, more)

    async def _read(
        self,
        owned: Owned[FormatHandler],
        function: str,
        kind: type[T],
        file: FileRef,
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> T:
        """Call what only reads, with a shelf for what the handler derives from these bytes."""
        if self._shelves is None:
            arguments = {**_of(file), "shelf": None, **more}
            return await self._call(owned, function, kind, arguments, FileReadFailed)
        plugin = owned.plugin
        shelf = self._shelves.shelf(plugin.name, plugin.version, owned.item.name, file.blob)
        arguments = {**_of(file), "shelf": str(shelf), **more}
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
        handle = {"name": name, "package": plugin.package, "settings": dict(plugin.settings)}
        value = await self._workers.call(
            plugin.name,
            f"{child.ENTRY}:{function}",
            {"handle": handle, **arguments},
            what=f"{name}: {function.removesuffix('_file')} {arguments['name']}".rstrip(),
            failure=failure,
        )
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as fault:
            msg = f"Format {name} answered {function} with something ill-formed: {fault}."
            raise failure(msg) from None

    async def _stored_map(self, key: str) -> bytes | None:
        if self._cache is None:
            return None
        return await to_thread.run_sync(_load, self._cache / key)

    async def _store_map(self, key: str, value: bytes) -> None:
        if self._cache is not None:
            # A cache that cannot be written, on a full disk say, costs time and nothing else.
            with contextlib.suppress(OSError):
                await to_thread.run_sync(_save, self._cache / key, value)


def _check_coordinates(handler: Readable, file: FileRef, region: Region) -> None:
    """Refuse coordinates of other formats.

    Raises:
        ValidationFailed: There is one.
    """
    strange = [name for name in region.named() if name not in handler.coordinates]
    if strange:
        offered = ", ".join(handler.coordinates) or "none"
        msg = f"{', '.join(strange)} cannot be used with {file.name}; it takes: {offered}."
        raise ValidationFailed(msg)


def _of(file: FileRef | None) -> dict[str, Any]:
    return {"path": str(file.path) if file else None, "name": file.name if file else ""}


def _derived_key(what: str, owned: Owned[FormatHandler], file: FileRef) -> str:
    """Name what is derived by all that it depends on. The name is one: a suffix can decide."""
    parts = (owned.plugin.name, owned.plugin.version, owned.item.name, file.name, file.blob)
    return f"{what}-{hashlib.sha256(msgspec.json.encode(parts)).hexdigest()}"


def _load(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
        msgspec.msgpack.decode(data, type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        return None
    return data


def _save(path: Path, value: bytes) -> None:
    """Write and rename, so that what exists is complete."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{id(value)}")
    try:
        fresh.write_bytes(value)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
