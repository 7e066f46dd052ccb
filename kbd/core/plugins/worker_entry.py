"""Functions that a worker calls for a format: find the handler, call a capability, answer.

Each function of a capability is called by keyword with a `handle` to find the handler with, and the
capability's own arguments as plain values; what reads a file is also told its `shelf`, if it has
one. The daemon has checked that the handler has the capability.
"""

import contextlib
import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Union

import msgspec

from kbd.core.plugins.hooks import declared_formats
from kbd.core.plugins.packed_comparison import pack
from kbd.core.plugins.pieces import cut_pieces, extract, short_text, write_pieces
from kbd.core.plugins.print_job import PrintOrder, print_document
from kbd.formats import (
    AssetPick,
    Calculable,
    Calculation,
    Celled,
    Comparable,
    CompareOptions,
    Composed,
    Editable,
    Gridded,
    GridWindow,
    Inspectable,
    LaidOut,
    LayoutPart,
    Mappable,
    Mergeable,
    Passage,
    Place,
    Placement,
    Previewable,
    Readable,
    ReadAs,
    Receiptable,
    Region,
    Relocatable,
    SheetForm,
    SheetRows,
    Source,
    Styled,
    Tabular,
)

__all__ = [
    "active_content",
    "apply",
    "cells",
    "compare",
    "copy_assets",
    "extract_text",
    "get_styles",
    "grid",
    "info",
    "layout",
    "locate",
    "map_file",
    "merge",
    "objects",
    "pieces",
    "preview",
    "print_file",
    "read",
    "read_overview",
    "read_table",
    "receipt_facts",
    "relocate",
    "settle_print",
    "short",
    "trace",
    "write_table",
    "write_tables",
]


class Handle(msgspec.Struct, frozen=True):
    """Reference to a handler: its name, its package, its settings."""

    name: str
    package: str
    settings: dict[str, Any]


def info(handle: dict[str, Any], path: str, name: str, shelf: str | None) -> Any:
    """Return `FormatHandler.info`."""
    return _plain(_handler(handle).info(_file(path, name, shelf)))


def map_file(handle: dict[str, Any], path: str, name: str, shelf: str | None) -> Any:
    """Return `Mappable.map`."""
    handler = _handler(handle)
    assert isinstance(handler, Mappable)
    return _plain(_map_of(handler, _file(path, name, shelf)))


def read_overview(
    handle: dict[str, Any], path: str, name: str, shelf: str | None, most_bytes: int
) -> Any:
    """Return `Mappable.map` and what `short` returns, as `map` and `text`.

    Where the text fails it is left out: asking for it alone says why.
    """
    handler = _handler(handle)
    assert isinstance(handler, Mappable)
    assert isinstance(handler, Readable)
    source = _file(path, name, shelf)
    found: dict[str, Any] = {"map": _map_of(handler, source)}
    with contextlib.suppress(Exception):
        found["text"] = {"text": short_text(handler.passages(source), most_bytes)}
    return _plain(found)


def short(handle: dict[str, Any], path: str, name: str, shelf: str | None, most_bytes: int) -> Any:
    """Return `{text}`: all text if it is at most so many bytes, else null."""
    handler = _handler(handle)
    assert isinstance(handler, Readable)
    return {"text": short_text(handler.passages(_file(path, name, shelf)), most_bytes)}


def read(
    handle: dict[str, Any], path: str, name: str, shelf: str | None, region: dict[str, Any]
) -> Any:
    """Return `Readable.read`."""
    handler = _handler(handle)
    assert isinstance(handler, Readable)
    return _plain(handler.read(_file(path, name, shelf), msgspec.convert(region, Region)))


def cells(
    handle: dict[str, Any], path: str, name: str, shelf: str | None, region: dict[str, Any]
) -> Any:
    """Return `Celled.cells`."""
    handler = _handler(handle)
    assert isinstance(handler, Celled)
    return _plain(handler.cells(_file(path, name, shelf), msgspec.convert(region, Region)))


def objects(
    handle: dict[str, Any], path: str, name: str, shelf: str | None, region: dict[str, Any]
) -> Any:
    """Return `Composed.objects`."""
    handler = _handler(handle)
    assert isinstance(handler, Composed)
    return _plain(handler.objects(_file(path, name, shelf), msgspec.convert(region, Region)))


def layout(
    handle: dict[str, Any],
    path: str,
    name: str,
    shelf: str | None,
    region: dict[str, Any],
    show: LayoutPart,
) -> Any:
    """Return `LaidOut.layout`."""
    handler = _handler(handle)
    assert isinstance(handler, LaidOut)
    where = msgspec.convert(region, Region)
    return _plain(handler.layout(_file(path, name, shelf), where, show))


def preview(
    handle: dict[str, Any], path: str, name: str, shelf: str | None, index: int, edge_px: int
) -> Any:
    """Return `Previewable.preview`."""
    handler = _handler(handle)
    assert isinstance(handler, Previewable)
    return _plain(handler.preview(_file(path, name, shelf), index, edge_px))


def print_file(order: dict[str, Any]) -> None:
    """Print a document by an office program; of no format, it needs no handle."""
    print_document(msgspec.convert(order, PrintOrder))


def settle_print(handle: dict[str, Any], path: str, name: str, target: str) -> None:
    """Call `Previewable.settle_print`."""
    handler = _handler(handle)
    assert isinstance(handler, Previewable)
    handler.settle_print(_file(path, name, None), Path(target))


def grid(
    handle: dict[str, Any], path: str, name: str, shelf: str | None, window: dict[str, Any]
) -> Any:
    """Return `Gridded.grid`."""
    handler = _handler(handle)
    assert isinstance(handler, Gridded)
    return _plain(handler.grid(_file(path, name, shelf), msgspec.convert(window, GridWindow)))


def compare(
    handle: dict[str, Any],
    name: str,
    before: tuple[str, str] | None,
    after: tuple[str, str] | None,
    options: dict[str, Any],
) -> Any:
    """Return `Comparable.compare`, packed; a version is its path and the file's name then."""
    del name
    handler = _handler(handle)
    assert isinstance(handler, Comparable)
    narrowed = msgspec.convert(options, CompareOptions)
    return _plain(pack(handler.compare(_version(before), _version(after), narrowed)))


def trace(
    handle: dict[str, Any],
    name: str,
    before: tuple[str, str],
    after: tuple[str, str],
    places: Sequence[Mapping[str, Any]],
    forward: bool,  # noqa: FBT001 - worker functions are called by keyword
) -> Any:
    """Return `Comparable.trace`; a version is its path and the file's name then."""
    del name
    handler = _handler(handle)
    assert isinstance(handler, Comparable)
    wanted = msgspec.convert(tuple(places), tuple[Place, ...])
    older, newer = _version(before), _version(after)
    assert older is not None
    assert newer is not None
    return _plain(handler.trace(older, newer, wanted, forward=forward))


def locate(handle: dict[str, Any], path: str, name: str, shelf: str | None, text: str) -> Any:
    """Return `Comparable.locate`."""
    handler = _handler(handle)
    assert isinstance(handler, Comparable)
    return _plain(handler.locate(_file(path, name, shelf), text))


def active_content(
    handle: dict[str, Any], name: str, file: tuple[str, str], known: Sequence[tuple[str, str]]
) -> Any:
    """Return `Inspectable.active_content`; a file is its path and its name."""
    del name
    handler = _handler(handle)
    assert isinstance(handler, Inspectable)
    source, *others = (Source(Path(path), called) for path, called in (file, *known))
    return _plain(handler.active_content(source, tuple(others)))


def relocate(
    handle: dict[str, Any],
    name: str,
    before: tuple[str, str],
    after: tuple[str, str],
    operations: Sequence[Mapping[str, Any]],
) -> Any:
    """Return `Relocatable.relocate`; a version is its path and the file's name then."""
    del name
    handler = _handler(handle)
    assert isinstance(handler, Relocatable)
    older, newer = _version(before), _version(after)
    assert older is not None
    assert newer is not None
    return _plain(handler.relocate(_records(handler, operations), older, newer))


def merge(
    handle: dict[str, Any],
    name: str,
    base: tuple[str, str],
    ours: tuple[str, str],
    theirs: tuple[str, str],
    target: str,
) -> Any:
    """Return `Mergeable.merge`; a version is its path and the file's name then."""
    del name
    handler = _handler(handle)
    assert isinstance(handler, Mergeable)
    one, two, three = (Source(Path(path), known) for path, known in (base, ours, theirs))
    return _plain(handler.merge(one, two, three, Path(target)))


def receipt_facts(
    handle: dict[str, Any],
    name: str,
    versions: Sequence[tuple[str, str] | None],
    steps: Sequence[int],
    limit: int,
) -> Any:
    """Return `Receiptable.receipt_facts`; a version is its path and the file's name then."""
    del name
    handler = _handler(handle)
    assert isinstance(handler, Receiptable)
    return _plain(handler.receipt_facts(tuple(map(_version, versions)), tuple(steps), limit))


def extract_text(
    handle: dict[str, Any],
    path: str,
    name: str,
    shelf: str | None,
    region: dict[str, Any],
    passage: int,
    character: int,
    limit: int,
) -> Any:
    """Return a part of `Readable.passages`, or of a region's text, as an `Extract`."""
    handler = _handler(handle)
    assert isinstance(handler, Readable)
    source = _file(path, name, shelf)
    if not region:
        return _plain(extract(handler.passages(source), passage, character, limit))
    reading = handler.read(source, msgspec.convert(region, Region))
    place = reading.chunk_info.range if reading.chunk_info else name
    return _plain(extract((Passage(reading.text, place),), passage, character, limit))


def pieces(
    handle: dict[str, Any], path: str, name: str, shelf: str | None, most: int, target: str
) -> Any:
    """Write `Readable.passages`, cut into pieces, to a new file; return how many there are."""
    handler = _handler(handle)
    assert isinstance(handler, Readable)
    passages = handler.passages(_file(path, name, shelf))
    return write_pieces(cut_pieces(passages, most), Path(target))


def get_styles(
    handle: dict[str, Any], path: str, name: str, shelf: str | None, sheet: str | None
) -> Any:
    """Return `Styled.get_styles`."""
    handler = _handler(handle)
    assert isinstance(handler, Styled)
    return _plain(handler.get_styles(_file(path, name, shelf), sheet))


def copy_assets(
    handle: dict[str, Any],
    path: str,
    name: str,
    into: tuple[str, str, Sequence[str]] | None,
    picks: Sequence[Mapping[str, Any]],
    target: str,
) -> Any:
    """Return `Styled.copy_assets`; `into` is what gets the assets: path, name, what it reaches."""
    handler = _handler(handle)
    assert isinstance(handler, Styled)
    getter = None if into is None else _source(*into)
    chosen = msgspec.convert(tuple(picks), tuple[AssetPick, ...])
    source = Source(Path(path), name)
    return _plain(handler.copy_assets(source, getter, chosen, Path(target)))


def apply(
    handle: dict[str, Any],
    path: str | None,
    name: str,
    external: Sequence[str],
    operations: Sequence[Mapping[str, Any]],
    target: str,
    files: Mapping[str, tuple[str, str]],
) -> Any:
    """Return `Editable.apply`; `path` is None for a new file, a file its path and its name."""
    handler = _handler(handle)
    assert isinstance(handler, Editable)
    records = _records(handler, operations)
    if files:
        others = {key: Source(Path(at), called) for key, (at, called) in files.items()}
        source = _source(path, name, external)
        return _plain(handler.apply_with_files(source, records, Path(target), others))
    return _plain(handler.apply(_source(path, name, external), records, Path(target)))


def calculate(
    handle: dict[str, Any], path: str, name: str, wanted: Mapping[str, Any], target: str
) -> Any:
    """Return `Calculable.calculate`."""
    handler = _handler(handle)
    assert isinstance(handler, Calculable)
    what = msgspec.convert(wanted, Calculation)
    return _plain(handler.calculate(Source(Path(path), name), what, Path(target)))


def read_table(
    handle: dict[str, Any],
    path: str,
    name: str,
    shelf: str | None,
    sheet: str | None,
    read_as: dict[str, Any],
    target: str,
) -> Any:
    """Return `Tabular.read_table`."""
    handler = _handler(handle)
    assert isinstance(handler, Tabular)
    how = msgspec.convert(read_as, ReadAs)
    return _plain(handler.read_table(_file(path, name, shelf), sheet, how, Path(target)))


def write_table(
    handle: dict[str, Any],
    path: str | None,
    name: str,
    external: Sequence[str],
    rows: str,
    placement: dict[str, Any],
    target: str,
) -> Any:
    """Return `Tabular.write_table`; `path` is None for a new file."""
    handler = _handler(handle)
    assert isinstance(handler, Tabular)
    where = msgspec.convert(placement, Placement)
    source = _source(path, name, external)
    return _plain(handler.write_table(source, Path(rows), where, Path(target)))


def write_tables(
    handle: dict[str, Any],
    path: str | None,
    name: str,
    external: Sequence[str],
    sheets: Sequence[Mapping[str, Any]],
    target: str,
) -> Any:
    """Return `Tabular.write_tables`; `path` is None for a new file."""
    handler = _handler(handle)
    assert isinstance(handler, Tabular)
    wanted = tuple(
        SheetRows(
            Path(each["rows"]),
            msgspec.convert(each["placement"], Placement),
            msgspec.convert(each["form"], SheetForm),
        )
        for each in sheets
    )
    return _plain(handler.write_tables(_source(path, name, external), wanted, Path(target)))


def _map_of(handler: Any, source: Source) -> dict[str, Any]:
    """Return a file's map, with its active content as `active_content`, if it has any."""
    found: dict[str, Any] = handler.map(source)
    if not isinstance(handler, Inspectable) or handler.is_told_by_map:
        return found
    if texts := handler.active_content(source, ()):
        found["active_content"] = [*found.get("active_content", ()), *texts]
    return found


def _handler(handle: dict[str, Any]) -> Any:
    wanted = msgspec.convert(handle, Handle)
    module = importlib.import_module(wanted.package)
    # Declared anew in each call's process: a handler keeps no state from one file to the next.
    for handler in declared_formats(module, wanted.settings):
        if handler.name == wanted.name:
            return handler
    msg = f"{wanted.package} brings no format {wanted.name} in its worker"
    raise LookupError(msg)


def _records(handler: Any, operations: Sequence[Mapping[str, Any]]) -> tuple[msgspec.Struct, ...]:
    """Return operations as the records that the handler has for them."""
    record = Union[handler.operations]  # noqa: UP007
    found: tuple[msgspec.Struct, ...] = msgspec.convert(tuple(operations), tuple[record, ...])
    return found


def _file(path: str, name: str, shelf: str | None) -> Source:
    return Source(Path(path), name, None if shelf is None else Path(shelf))


def _source(path: str | None, name: str, external: Sequence[str]) -> Source | None:
    return None if path is None else Source(Path(path), name, external=tuple(external))


def _version(version: tuple[str, str] | None) -> Source | None:
    return None if version is None else Source(Path(version[0]), version[1])


def _plain(value: Any) -> Any:
    # Bytes stay bytes: they go as msgpack, not as JSON.
    return msgspec.to_builtins(value, builtin_types=(bytes,))
