"""Calls of formats' capabilities, each in its plugin's worker, for tools and the daemon.

Operations come as a client or a model gives them; `parse_operations` makes them the records of a
format's handler.
"""

import copy
import difflib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec
from anyio import to_thread

from kbd.arguments import record_of
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.derived_cache import cache_key
from kbd.core.plugins.host import Owned
from kbd.core.plugins.pieces import CUT_EDITION, Extract
from kbd.core.plugins.rebase_calls import RebaseCalls
from kbd.core.plugins.worker_calls import file_arguments, unsupported_error
from kbd.errors import DiskFull, KbdError, ValidationFailed
from kbd.formats import (
    Applied,
    AssetPick,
    Calculable,
    Calculated,
    Calculation,
    Celled,
    Composed,
    Editable,
    FormatHandler,
    LaidOut,
    LayoutPart,
    Mappable,
    PageLayout,
    Placement,
    Readable,
    ReadAs,
    Reading,
    Region,
    SheetRows,
    Styled,
    Table,
    Tabular,
    Written,
    WrittenTables,
)
from kbd.tools import FileRef, Formats

__all__ = ["FileOverview", "FormatCalls", "parse_operations", "text_edition"]


_MAP = "map-6"
"""The edition of maps: 2 since they name a file's active content, 3 since they count hidden cells
and tell of bindings to foreign data, links by hovering, and what a PDF file would do, 4 since they
tell how a table was read, 5 since they list charts, 6 since they tell what form fields take and
which pages have fonts that do not say their letters."""

_TEXT = "text-2"
"""The edition of short texts: 2 since the languages of letters tell encodings apart."""

MAX_QUOTED = 80
"""As many characters of an operation's unknown name are said again."""


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
_Edited = TypeVar("_Edited", Applied, Written, WrittenTables)


class FileOverview(msgspec.Struct, frozen=True):
    """Overview of a file: its map and short text; `error` says why the rest is missing."""

    structure: dict[str, Any] | None = None
    text: str | None = None
    error: KbdError | None = None


class FormatCalls(RebaseCalls, Formats):
    """The formats of one workbench, called in workers, with all their capabilities."""

    _now_us: int | None = None

    def at(self, now_us: int) -> Self:
        """Return the same at a time, at which formulas are calculated that an edit left open.

        Args:
            now_us: The time of the call, as the log has it, in microseconds since 1970 UTC.
        """
        timed = copy.copy(self)
        timed._now_us = now_us  # noqa: SLF001 - it is its own copy
        return timed

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
        key = cache_key(_MAP, owned, file)
        known = await self._derived.find(key)
        if known is None:
            known = await self._read(owned, "map_file", dict[str, Any], file)
            await self._derived.store(key, known, file)
        return known

    async def known_map(self, file: FileRef) -> dict[str, Any] | None:
        """Return a file's map if it was made before; None costs no worker."""
        handler = self.for_name(file.name)
        if not isinstance(handler, Mappable):
            return None
        return await self._derived.find(cache_key(_MAP, self._format_of(file), file))

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
            cache_key(_MAP, owned, file),
            cache_key(f"{_TEXT}-{most_bytes}", owned, file),
        )
        known = await self._derived.find(text_key)
        if known is not None or await self._derived.find(map_key) is not None:
            return known
        most = {"most_bytes": most_bytes}
        found = await self._read(owned, "read_overview", dict[str, Any], file, most)
        await self._derived.store(map_key, found["map"], file)
        if "text" in found:
            await self._derived.store(text_key, found["text"], file)
        return found.get("text")

    async def _short_text(
        self, owned: Owned[FormatHandler], file: FileRef, most_bytes: int
    ) -> dict[str, Any]:
        key = cache_key(f"{_TEXT}-{most_bytes}", owned, file)
        known = await self._derived.find(key)
        if known is None:
            most = {"most_bytes": most_bytes}
            known = await self._read(owned, "short", dict[str, Any], file, most)
            await self._derived.store(key, known, file)
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

    async def layout(self, file: FileRef, region: Region, show: LayoutPart) -> PageLayout:
        """Return `LaidOut.layout`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, LaidOut):
            raise unsupported_error(owned.item, "be read by places on pages", file.name)
        _check_coordinates(owned.item, file, region)
        more = {"region": msgspec.to_builtins(region), "show": show}
        return await self._read(owned, "layout", PageLayout, file, more)

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
        more = {"most": most_characters, "target": target}
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
        arguments = file_arguments(source) | {
            "into": None if into is None else (into.path, into.name, into.external),
            "picks": msgspec.to_builtins(tuple(picks)),
            "target": target,
        }
        return await self._write(owned.item, "copy_assets", Applied, arguments)

    async def apply(
        self,
        handler: FormatHandler,
        source: FileRef | None,
        operations: Sequence[Mapping[str, Any]],
        target: Path,
        files: Mapping[str, FileRef] | None = None,
    ) -> Applied:
        """Validate operations against the handler's records and apply them.

        Args:
            handler: The format.
            source: The file to start from; None for a new one.
            operations: As a model or a client gives them.
            target: Where the result goes.
            files: The other files that they name, by their paths.

        Raises:
            ValidationFailed: An operation is unknown or ill-formed; the message has its place and,
                for an unknown one, those that there are.
        """
        records = parse_operations(handler, operations)
        plain = [msgspec.to_builtins(record) for record in records]
        named = {path: (file.path, file.name) for path, file in (files or {}).items()}
        arguments = _edit_arguments(source) | {
            "operations": plain,
            "target": target,
            "files": named,
        }
        applied = await self._write(handler, "apply", Applied, arguments)
        written = applied.formulas_written
        return await self._with_results(handler, source, target, applied, written)

    async def read_table(
        self, file: FileRef, sheet: str | None, read_as: ReadAs, target: Path
    ) -> Table:
        """Return `Tabular.read_table`."""
        owned = self._format_of(file)
        if not isinstance(owned.item, Tabular):
            raise unsupported_error(owned.item, "be read as a table", file.name)
        more = {"sheet": sheet, "target": target, "read_as": msgspec.to_builtins(read_as)}
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
            "rows": rows,
            "placement": where,
            "target": target,
        }
        written = await self._write(handler, "write_table", Written, arguments)
        return await self._with_results(handler, source, target, written)

    async def write_tables(
        self,
        handler: FormatHandler,
        source: FileRef | None,
        sheets: Sequence[SheetRows],
        target: Path,
    ) -> WrittenTables:
        """Return `Tabular.write_tables`."""
        if not isinstance(handler, Tabular):
            raise unsupported_error(
                handler, "be written as a table", source.name if source else "A new file"
            )
        plain = [
            {
                "rows": each.rows,
                "placement": msgspec.to_builtins(each.placement),
                "form": msgspec.to_builtins(each.form),
            }
            for each in sheets
        ]
        arguments = _edit_arguments(source) | {"sheets": plain, "target": target}
        written = await self._write(handler, "write_tables", WrittenTables, arguments)
        return await self._with_results(handler, source, target, written)

    async def _with_results(
        self,
        handler: FormatHandler,
        source: FileRef | None,
        staged: Path,
        edited: _Edited,
        written: tuple[tuple[str, str], ...] = (),
    ) -> _Edited:
        """Have the results worked out that an edit left open, or found missing; tell them.

        Without them the edit stands: it says that they are missing, and programs calculate.
        """
        # What is reviewed is what is published: results are not added later.
        is_open = bool(edited.open_results) or edited.lacks_results
        if self._now_us is None or not (is_open and isinstance(handler, Calculable)):
            return edited
        made = staged.with_name(f"{staged.name}-calculated")
        wanted = Calculation(self._now_us, edited.open_results, written)
        arguments = {
            "path": staged,
            "name": source.name if source else "",
            "wanted": msgspec.to_builtins(wanted),
            "target": made,
        }
        try:
            found = await self._write(handler, "calculate", Calculated, arguments)
        except DiskFull:
            raise
        except KbdError as error:
            text = f"Results of formulas were not worked out here ({error.message})."
            found = Calculated(0, warnings=(text,))
        if found.count:
            await to_thread.run_sync(os.replace, made, staged)
        return msgspec.structs.replace(
            edited, results=found.results, result_warnings=found.warnings
        )

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


def _edit_arguments(file: FileRef | None) -> dict[str, Any]:
    return file_arguments(file) | {"external": file.external if file else ()}
