"""Calls of formats' capabilities, each in its plugin's worker, for tools and the daemon.

Operations come as a client or a model gives them; `parse_operations` makes them the records of a
format's handler.
"""

import copy
import difflib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec
from anyio import to_thread

from kbd.arguments import record_of
from kbd.core.plugins import forked_call
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.derived_cache import DerivedCache, ShelfCache, cache_key
from kbd.core.plugins.host import Owned, Plugin
from kbd.core.plugins.pieces import CUT_EDITION, Extract
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.errors import FileReadFailed, FileWriteFailed, KbdError, ValidationFailed
from kbd.formats import (
    Applied,
    AssetPick,
    Celled,
    Comparable,
    CompareOptions,
    Comparison,
    Composed,
    Editable,
    FormatHandler,
    Mappable,
    Place,
    Placement,
    Preview,
    Previewable,
    Readable,
    Reading,
    Region,
    Styled,
    Table,
    Tabular,
    Trace,
    Written,
)
from kbd.tools import FileRef, Formats

__all__ = ["FileOverview", "FormatCalls", "parse_operations", "text_edition", "unsupported_error"]

MAX_QUOTED = 80
"""As many characters of an operation's unknown name are said again."""


def unsupported_error(handler: FormatHandler, what: str, name: str) -> ValidationFailed:
    """Return the error for a capability that a file's format does not offer."""
    return ValidationFailed(f"{name} cannot {what}: its format, {handler.name}, does not offer it")


def parse_operations(
    handler: FormatHandler, operations: Sequence[Mapping[str, Any]]
) -> tuple[msgspec.Struct, ...]:
    """Parse operations into the handler's records.

    Raises:
        ValidationFailed: The format takes none, or one is unknown or ill-formed.
    """
    if not isinstance(handler, Editable):
        raise unsupported_error(handler, "be edited by operations", "a file")
    records = {str(record.__struct_config__.tag): record for record in handler.operations}
    return tuple(
        _operation(records, handler.aliases, f"operations[{place}]", operation)
        for place, operation in enumerate(operations)
    )


def _operation(
    records: Mapping[str, type[msgspec.Struct]],
    aliases: Mapping[str, str],
    place: str,
    operation: Mapping[str, Any],
) -> msgspec.Struct:
    name = operation.get("op") if isinstance(operation, Mapping) else None
    offered = ", ".join(records)
    if not isinstance(name, str):
        msg = f"{place}: an operation is an object with `op`, one of: {offered}"
        raise ValidationFailed(msg)
    if name not in records:
        # Before the comparison, whose time can grow with the square of the length.
        name = name[:MAX_QUOTED]
        near = difflib.get_close_matches(name, records, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        msg = f"{place}.op: there is no operation {name}; there are: {offered}{hint}"
        raise ValidationFailed(msg)
    record = records[name]
    made = record_of(_resolve_aliases(record, aliases, operation), record, place, f" ({name})")
    assert isinstance(made, record)
    return made


def _resolve_aliases(
    record: type[msgspec.Struct], aliases: Mapping[str, str], operation: Mapping[str, Any]
) -> dict[str, Any]:
    """Replace aliases in an operation by the record's own names."""
    fields = {field.encode_name for field in msgspec.structs.fields(record)}
    found = dict(operation)
    for alias, field in aliases.items():
        # Given under both names it stays as it is: then one of them is refused as unknown.
        if alias in found and alias not in fields and field in fields and field not in found:
            found[field] = found.pop(alias)
    return found


T = TypeVar("T")


class FileOverview(msgspec.Struct, frozen=True):
    """Overview of a file: its map and short text; `error` says why the rest is missing."""

    structure: dict[str, Any] | None = None
    text: str | None = None
    error: KbdError | None = None


class FormatCalls(Formats):
    """The formats of one workbench, called in workers.

    Args:
        catalog: The formats there are.
        workers: Where they run.
        cache: The workbench's folder of derived files; None keeps maps in memory only.
    """

    def __init__(self, catalog: Catalog, workers: WorkerPool, cache: Path | None = None) -> None:
        self._catalog = catalog
        self._workers = workers
        self._note: Callable[[Plugin], None] | None = None
        self._shelves = None if cache is None else ShelfCache(cache / "shelves")
        self._derived = DerivedCache(cache)

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
            raise unsupported_error(owned.item, "tell its structure", file.name)
        key = cache_key("map", owned, file)
        known = await self._derived.find(key)
        if known is None:
            known = await self._read(owned, "map_file", dict[str, Any], file)
            await self._derived.store(key, known)
        return known

    async def look(self, file: FileRef, text_bytes: int) -> FileOverview:
        """Return what a file shows at a glance: its map, and all its text if that is short.

        Where neither is cached, one call of a worker finds both.

        Args:
            file: The file.
            text_bytes: The most bytes of text; 0 asks for none.
        """
        structure = text = None
        try:
            owned = self._format_of(file)
            handler = owned.item
            # A format without coordinates has facts to tell, which are in its map, and no text.
            is_read = isinstance(handler, Readable) and bool(handler.coordinates and text_bytes)
            known: dict[str, Any] | None = None
            if isinstance(handler, Mappable):
                if is_read:
                    known = await self._read_overview(owned, file, text_bytes)
                structure = await self.map(file)
            if is_read:
                text = (known or await self._short_text(owned, file, text_bytes))["text"]
        except KbdError as error:
            return FileOverview(structure, text, error)
        return FileOverview(structure, text)

    async def _read_overview(
        self, owned: Owned[FormatHandler], file: FileRef, most_bytes: int
    ) -> dict[str, Any] | None:
        """Find map and text in one call if neither is cached; return the text, if it is known."""
        map_key, text_key = (
            cache_key("map", owned, file),
            cache_key(f"text-{most_bytes}", owned, file),
        )
        known = await self._derived.find(text_key)
        if known is not None or await self._derived.find(map_key) is not None:
            return known
        most = {"most_bytes": most_bytes}
        found = await self._read(owned, "read_overview", dict[str, Any], file, most)
        await self._derived.store(map_key, found["map"])
        if "text" in found:
            await self._derived.store(text_key, found["text"])
        return found.get("text")

    async def _short_text(
        self, owned: Owned[FormatHandler], file: FileRef, most_bytes: int
    ) -> dict[str, Any]:
        key = cache_key(f"text-{most_bytes}", owned, file)
        known = await self._derived.find(key)
        if known is None:
            most = {"most_bytes": most_bytes}
            known = await self._read(owned, "short", dict[str, Any], file, most)
            await self._derived.store(key, known)
        return known

    async def read(self, file: FileRef, region: Region) -> Reading:
        """Return `Readable.read`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Readable):
            raise unsupported_error(owned.item, "be read as text", file.name)
        return await self._read_region(owned, owned.item, "read", file, region)

    async def cells(self, file: FileRef, region: Region) -> Reading:
        """Return `Celled.cells`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Celled):
            raise unsupported_error(owned.item, "be read by cells", file.name)
        return await self._read_region(owned, owned.item, "cells", file, region)

    async def objects(self, file: FileRef, region: Region) -> Reading:
        """Return `Composed.objects`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Composed):
            raise unsupported_error(owned.item, "be read by objects", file.name)
        return await self._read_region(owned, owned.item, "objects", file, region)

    async def preview(self, file: FileRef, index: int, edge_px: int) -> Preview:
        """Return `Previewable.preview`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Previewable):
            raise unsupported_error(owned.item, "be shown as a picture", file.name)
        which = {"index": index, "edge_px": edge_px}
        return await self._read(owned, "preview", Preview, file, which)

    async def compare(
        self, before: FileRef | None, after: FileRef | None, options: CompareOptions
    ) -> Comparison:
        """Return `Comparable.compare`, cached by the contents of both versions; one is given."""
        owned = self._comparable(after or before)
        handler = owned.item
        assert isinstance(handler, Comparable)
        name = (after or before).name  # type: ignore[union-attr]
        strange = [each for each in options.named() if each not in handler.compare_options]
        if strange:
            offered = ", ".join(handler.compare_options) or "none"
            msg = f"{', '.join(strange)} cannot be used to compare {name}; it takes: {offered}"
            raise ValidationFailed(msg)
        narrowed = msgspec.to_builtins(options)
        digest = hashlib.sha256(msgspec.json.encode(options)).hexdigest()[:16]
        key = cache_key(f"compare-{digest}", owned, before, after)
        known = await self._derived.find(key)
        if known is not None:
            return msgspec.convert(known, Comparison)
        versions = {"before": _version(before), "after": _version(after)}
        arguments = {"name": name, **versions, "options": narrowed}
        found = await self._call(owned, "compare", Comparison, arguments, FileReadFailed)
        await self._derived.store(key, msgspec.to_builtins(found))
        return found

    async def trace(
        self, before: FileRef, after: FileRef, places: Sequence[Place], *, forward: bool
    ) -> tuple[Trace, ...]:
        """Return `Comparable.trace`."""
        owned = self._comparable(after)
        arguments = {
            "name": after.name,
            "before": _version(before),
            "after": _version(after),
            "places": msgspec.to_builtins(tuple(places)),
            "forward": forward,
        }
        return await self._call(owned, "trace", tuple[Trace, ...], arguments, FileReadFailed)

    async def locate(self, file: FileRef, text: str) -> Place:
        """Return `Comparable.locate`."""
        return await self._read(self._comparable(file), "locate", Place, file, {"text": text})

    async def extract(
        self, file: FileRef, region: Region, passage: int, character: int, limit: int
    ) -> Extract:
        """Return a part of all text, or of a region's if one is given; see `pieces.extract`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Readable):
            raise unsupported_error(owned.item, "be read as text", file.name)
        _check_coordinates(owned.item, file, region)
        more = {"passage": passage, "character": character, "limit": limit}
        more["region"] = msgspec.to_builtins(region)
        return await self._read(owned, "extract_text", Extract, file, more)

    def edition(self, name: str) -> str:
        """Return `text_edition` the formats there are."""
        return text_edition(self._catalog, name)

    async def pieces(self, file: FileRef, target: Path, most_characters: int) -> int:
        """Have a file's text written to a new file in pieces (`pieces.read_pieces`).

        Args:
            file: The file.
            target: Where to; its folder is there.
            most_characters: Where a long text is cut short.

        Returns:
            How many pieces there are.
        """
        owned = self._format_of(file)
        if not isinstance(owned.item, Readable):
            raise unsupported_error(owned.item, "be read as text", file.name)
        more = {"most": most_characters, "target": str(target)}
        return await self._read(owned, "pieces", int, file, more)

    async def get_styles(self, file: FileRef, sheet: str | None) -> dict[str, Any]:
        """Return `Styled.get_styles`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Styled):
            raise unsupported_error(owned.item, "tell its styles", file.name)
        return await self._read(owned, "get_styles", dict[str, Any], file, {"sheet": sheet})

    async def copy_assets(
        self, source: FileRef, into: FileRef | None, picks: Sequence[AssetPick], target: Path
    ) -> Applied:
        """Return `Styled.copy_assets`."""
        owned = self._format_of(source)
        if not isinstance(owned.item, Styled):
            raise unsupported_error(owned.item, "give styles or media", source.name)
        arguments = _file_arguments(source) | {
            "into": None if into is None else (str(into.path), into.name, into.external),
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
        records = parse_operations(handler, operations)
        plain = [msgspec.to_builtins(record) for record in records]
        arguments = _edit_arguments(source) | {"operations": plain, "target": str(target)}
        return await self._write(handler, "apply", Applied, arguments)

    async def read_table(self, file: FileRef, sheet: str | None, target: Path) -> Table:
        """Return `Tabular.read_table`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Tabular):
            raise unsupported_error(owned.item, "be read as a table", file.name)
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
            raise unsupported_error(
                handler, "be written as a table", source.name if source else "A new file"
            )
        where = msgspec.to_builtins(placement)
        arguments = _edit_arguments(source) | {
            "rows": str(rows),
            "placement": where,
            "target": str(target),
        }
        return await self._write(handler, "write_table", Written, arguments)

    def _format_of(self, file: FileRef) -> Owned[FormatHandler]:
        handler = self.for_name(file.name)
        if handler is None:
            msg = f"{file.name} cannot be looked into: {self._catalog.kind_of(file.name).reason}"
            raise ValidationFailed(msg)
        return self._owner(handler)

    def _comparable(self, file: FileRef | None) -> Owned[FormatHandler]:
        assert file is not None
        owned = self._format_of(file)
        if not isinstance(owned.item, Comparable):
            raise unsupported_error(owned.item, "be compared by its contents", file.name)
        return owned

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
            arguments = {**_file_arguments(file), "shelf": None, **more}
            return await self._call(owned, function, kind, arguments, FileReadFailed)
        plugin = owned.plugin
        shelf = self._shelves.shelf(plugin.name, plugin.version, owned.item.name, file.blob)
        arguments = {**_file_arguments(file), "shelf": str(shelf), **more}
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


def text_edition(catalog: Catalog, name: str) -> str:
    """Return the version of the reader that would cut a file's text; "" if there is none.

    It is another one whenever the pieces could be others.
    """
    handler = catalog.for_name(name)
    if not isinstance(handler, Readable):
        return ""
    plugin = catalog.format(handler.name).plugin
    return f"{plugin.name} {plugin.version} {handler.name} {CUT_EDITION}"


def _check_coordinates(handler: Readable, file: FileRef, region: Region) -> None:
    """Refuse coordinates of other formats.

    Raises:
        ValidationFailed: There is one.
    """
    strange = [name for name in region.named() if name not in handler.coordinates]
    if strange:
        offered = ", ".join(handler.coordinates) or "none"
        msg = f"{', '.join(strange)} cannot be used with {file.name}; it takes: {offered}"
        raise ValidationFailed(msg)


def _version(file: FileRef | None) -> tuple[str, str] | None:
    return None if file is None else (str(file.path), file.name)


def _file_arguments(file: FileRef | None) -> dict[str, Any]:
    return {"path": str(file.path) if file else None, "name": file.name if file else ""}


def _edit_arguments(file: FileRef | None) -> dict[str, Any]:
    return _file_arguments(file) | {"external": file.external if file else ()}
