"""Contract check of a format handler, on samples of its files, for authors of formats.

    def test_contract(tmp_path):
        check_format(TomlFormat(), {"a.toml": b"a = 1"}, tmp_path)

A broken promise is an AssertionError that names the handler, the sample and the promise.
`check_regions` checks passages: the coordinates that a passage gives read it again. `check_styles`
checks what a Styled format promises, on one good file, and is part of `check_format`.
`calculate_open` does after an edit what kbd does then.
"""

import csv
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Union

import msgpack
import msgspec

from kbd.errors import KbdError, ValidationFailed
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
    Passage,
    Placement,
    Preview,
    Previewable,
    Readable,
    ReadAs,
    Reading,
    Region,
    Source,
    Styled,
    Table,
    Tabular,
    Written,
    WrittenTables,
)
from kbd.testing.promises import check_plain, elsewhere, expect

__all__ = ["calculate_open", "check_format", "check_regions", "check_styles", "write_rows"]


def calculate_open(
    handler: FormatHandler,
    file: Source,
    edited: Applied | Written | WrittenTables,
    *,
    now_us: int = 0,
) -> Calculated:
    """Have the results worked out that an edit left open, into the file, as kbd does.

    Args:
        handler: The file's format; one that calculates nothing leaves the file as it is.
        file: The edited file.
        edited: What the edit answered.
        now_us: What time it is, in microseconds since 1970 UTC.
    """
    is_open = bool(edited.open_results) or edited.lacks_results
    if not (is_open and isinstance(handler, Calculable)):
        return Calculated(0)
    written = edited.formulas_written if isinstance(edited, Applied) else ()
    with TemporaryDirectory() as folder:
        target = Path(folder, "calculated")
        wanted = Calculation(now_us, edited.open_results, written)
        found = handler.calculate(file, wanted, target)
        if found.count:
            shutil.copyfile(target, file.path)
    return found


def check_regions(
    handler: Readable, source: Source, passages: Sequence[Passage], *, most_read: int | None = None
) -> None:
    """Check that the regions of a file's passages read them.

    Args:
        handler: The file's format.
        source: A good file.
        passages: All of its passages.
        most_read: How many, evenly spread, are read again; None for all.

    Raises:
        AssertionError: A region does not read its passage.
        KbdError: The file, or a region that a passage names, is refused.
    """
    placed = [passage for passage in passages if passage.region is not None]
    for passage in _some(placed, most_read):
        _check_region(handler, source, passage)


def _check_region(handler: Readable, source: Source, passage: Passage) -> None:
    region = passage.region or Region()
    where = f"{source.name}, {passage.place}"
    foreign = set(region.named()) - set(handler.coordinates)
    expect(f"{where}: a region has the format's coordinates", kept=not foreign)
    missing = Counter(passage.text.split()) - Counter(handler.read(source, region).text.split())
    expect(f"{where}: the region reads the passage", kept=not missing)


def _some(passages: Sequence[Passage], most: int | None) -> Sequence[Passage]:
    """Return as many of them, evenly spread, the first one among them."""
    if most is None or len(passages) <= most:
        return passages
    return [passages[index * len(passages) // most] for index in range(most)]


_MAX_ASSETS = 25
"""Of those that a file lists; each is copied three times."""


def check_styles(handler: Styled, source: Source, folder: Path) -> None:
    """Check what `get_styles` tells, and that what it lists can be copied or is refused in words.

    Args:
        handler: The handler.
        source: A good file.
        folder: Where to write.

    Raises:
        AssertionError: A promise is broken.
    """
    name = source.name
    styles = check_plain(f"{name}: get_styles", lambda: handler.get_styles(source, None))
    assets = styles.get("assets")
    expect(f"{name}: get_styles lists assets", kept=isinstance(assets, list))
    ids = [_asset_id(name, asset) for asset in styles["assets"]]
    expect(f"{name}: no asset is listed twice", kept=len(set(ids)) == len(ids))
    _check_refused(f"{name}: a sheet that is not there", handler, source)
    for count, asset_id in enumerate(ids[:_MAX_ASSETS]):
        _check_asset(handler, source, asset_id, folder / f"asset{count}")
    target = folder / "no-such-asset"
    refusal = _copied(handler, source, None, ("nothing:of that name", *ids[:1]), target)
    expect(f"{name}: an asset that is not there is refused", kept=refusal is not None)
    expect(f"{name}: a refused copy leaves no file", kept=not target.exists())


def _asset_id(name: str, asset: Any) -> str:
    """Return an asset's id, as `get_styles` lists it."""
    fine = isinstance(asset, dict) and isinstance(asset.get("asset_id"), str)
    expect(f"{name}: every asset has an asset_id", kept=fine)
    found: str = asset["asset_id"]
    kind, colon, rest = found.partition(":")
    expect(f'{name}: asset {found!r} is "kind:name"', kept=bool(kind and colon and rest))
    expect(f"{name}: asset {found!r} tells its kind", kept=asset.get("kind") == kind)
    return found


def _check_refused(what: str, handler: Styled, source: Source) -> None:
    try:
        handler.get_styles(source, "no such sheet")
    except ValidationFailed:
        return
    raise AssertionError(f"{what} is refused")


def _check_asset(handler: Styled, source: Source, asset_id: str, target: Path) -> None:
    """Check that an asset goes into a new file and into an existing one, or is refused."""
    what = f"{source.name}: asset {asset_id!r}"
    before = source.path.read_bytes()
    again, into = target.with_name(f"{target.name}-again"), target.with_name(f"{target.name}-into")
    refused = _copied(handler, source, None, (asset_id,), target)
    if refused is not None:
        expect(f"{what} is refused with a reason", kept=bool(refused))
        expect(f"{what}, refused, leaves no file", kept=not target.exists())
    else:
        _copied(handler, source, None, (asset_id,), again)
        expect(f"{what} gives the same bytes each time",
               kept=target.read_bytes() == again.read_bytes())  # fmt: skip
        made = handler.get_styles(Source(target, source.name), None)
        expect(f"{what} gives a file that can be looked at", kept="assets" in made)
    refused = _copied(handler, source, source, (asset_id,), into)
    is_whole = into.exists() if refused is None else bool(refused) and not into.exists()
    expect(f"{what} goes into a file that is there, or is refused with a reason", kept=is_whole)
    expect(f"{what}: its source is left alone", kept=source.path.read_bytes() == before)


def _copied(
    handler: Styled, source: Source, into: Source | None, ids: tuple[str, ...], target: Path
) -> str | None:
    """Copy assets to a target; return why that was refused, or None."""
    picks = tuple(AssetPick(asset_id) for asset_id in ids)
    try:
        applied = handler.copy_assets(source, into, picks, target)
    except ValidationFailed as refused:
        return refused.message
    expect(f"{source.name}: all assets are copied", kept=applied.applied == len(picks))
    expect(f"{source.name}: each copy is told", kept=len(applied.changed) == len(picks))
    return None


Edit = Sequence[Mapping[str, Any]]
"""The operations of one call, as a model sends them."""

_COORDINATES: dict[str, Any] = {
    "sheet": "no such", "range": "A1:B2", "section": "no such", "chunk": 0, "slide_index": 0,
    "pages": "1", "line_start": 1, "line_count": 1,
}  # fmt: skip
_COLUMNS = [["Day", "date"], ["Item", "string"], ["Amount", "float"], ["Paid", "boolean"]]
_ROWS: list[list[Any]] = [
    ["2024-01-31", "plain", "12.50", True],
    ["2024-02-29", '=1+1 "quoted", with a comma', "-0.25", False],
    [None, "línea\nbreak", None, None],
]
_PICTURES = (b"\x89PNG", b"\xff\xd8")
"""How the pictures that every client can show begin."""
_PREVIEW_PX = 64
STYLE_BYTES = 16 * 1024
"""The longest guidance on style that runs are told."""
_MAX_READ = 20
"""Passages of a sample that are read again."""
_SEED = 8
_FLIPPED_BYTES = 20


def check_format(
    handler: FormatHandler,
    samples: Mapping[str, bytes | Path],
    tmp: Path,
    *,
    edits: Sequence[Edit] = (),
    bad_edits: Sequence[Edit] = (),
) -> None:
    """Check what every handler promises.

    Args:
        handler: The handler.
        samples: Good files by name: their bytes, or where they are.
        tmp: An empty folder to work in.
        edits: Calls that make a new file, for a handler that is `Editable`.
        bad_edits: Calls that must be refused as a whole.

    Raises:
        AssertionError: A promise is broken.
    """
    _check_declaration(handler)
    for count, (name, sample) in enumerate(samples.items()):
        data = sample if isinstance(sample, bytes) else sample.read_bytes()
        folder = tmp / str(count)
        folder.mkdir()
        _check_sample(handler, name, data, folder)
        _check_damaged(handler, name, data, folder)
    if isinstance(handler, Editable):
        _check_edits(handler, edits, bad_edits, tmp)
    if isinstance(handler, Tabular) and handler.writes_tables:
        _check_round_trip(handler, tmp)


def write_rows(path: Path, columns: Sequence[Sequence[Any]], rows: Sequence[Sequence[Any]]) -> Path:
    """Write rows as `write_table` takes them, a msgpack stream, and return the path."""
    path.write_bytes(b"".join(msgpack.packb(list(item)) for item in (columns, *rows)))
    return path


def _check_declaration(handler: FormatHandler) -> None:
    who = type(handler).__name__
    expect(f"{who}.name is lower case", kept=handler.name == handler.name.lower() != "")
    expect(f"{who} has a wire_name and a kind", kept=bool(handler.wire_name and handler.kind))
    expect(f"{who} claims suffixes", kept=bool(handler.suffixes))
    if handler.style_file:
        package = sys.modules[type(handler).__module__.partition(".")[0]]
        text = Path(str(package.__file__)).with_name(handler.style_file).read_bytes()
        expect(f"{who}.style_file is UTF-8 and short", kept=0 < len(text.decode()) <= STYLE_BYTES)
    for suffix, mime in handler.suffixes.items():
        expect(f"{who}: suffix {suffix} is lower case", kept=suffix == suffix.lower())
        expect(f"{who}: {suffix} has a MIME type", kept="/" in mime)


def _check_sample(handler: FormatHandler, name: str, data: bytes, folder: Path) -> None:
    """Check all that can be asked of one good file, and that asking does not change it."""
    # The name of the path means nothing, as in a store by content.
    source = Source(folder / "0123abcd", name)
    source.path.write_bytes(data)
    check_plain(f"{name}: info", lambda: handler.info(source))
    if isinstance(handler, Mappable):
        check_plain(f"{name}: map", lambda: handler.map(source))
    if isinstance(handler, Readable):
        _check_readable(handler, source)
    if isinstance(handler, Previewable):
        _check_preview(handler, source)
    if isinstance(handler, Tabular):
        _check_table(handler, source, folder)
    if isinstance(handler, Styled):
        check_styles(handler, source, folder)
    expect(f"{name}: reading changes nothing", kept=source.path.read_bytes() == data)


def _check_readable(handler: Readable, source: Source) -> None:
    reading = handler.read(source, Region())
    expect(f"{source.name}: read returns a Reading", kept=isinstance(reading, Reading))
    for field, value in _COORDINATES.items():
        if field in handler.coordinates:
            continue
        try:
            handler.read(source, msgspec.convert({field: value}, Region))
        except ValidationFailed:
            continue
        raise AssertionError(f"{source.name}: the coordinate {field} is refused")
    if isinstance(handler, Celled):
        typed = handler.cells(source, Region())
        is_whole = typed.text == reading.text and typed.rows is not None
        widths = {len(row) for row in typed.rows or ()}
        expect(f"{source.name}: cells have one width", kept=is_whole and len(widths) < 2)
    if isinstance(handler, Composed):
        check_plain(f"{source.name}: objects", lambda: _objects(handler, source, reading))
    if isinstance(handler, LaidOut):
        _check_layout(handler, source)
    passages = list(handler.passages(source))
    expect(f"{source.name}: every passage has a place", kept=all(p.place for p in passages))
    words = {word for p in passages for word in f"{p.place} {p.text}".split()}
    missing = set(reading.text.split()) - words
    expect(f"{source.name}: passages hold what is read", kept=not missing or not passages)
    is_placed = not handler.coordinates or any(p.region is not None for p in passages)
    is_empty = not (passages and reading.text.strip())
    expect(f"{source.name}: passages have regions", kept=is_placed or is_empty)
    check_regions(handler, source, passages, most_read=_MAX_READ)


def _sent(found: msgspec.Struct) -> Any:
    """Return a record as a worker sends it."""
    return msgspec.json.decode(msgspec.json.encode(found))


def _check_layout(handler: LaidOut, source: Source) -> None:
    parts: tuple[LayoutPart, ...] = ("tables", "words", "text")
    for part in parts:
        check_plain(
            f"{source.name}: layout by {part}",
            lambda part=part: _sent(handler.layout(source, Region(), part)),  # type: ignore[misc]
        )
    for table in handler.layout(source, Region(), "tables").tables:
        is_even = len({len(row) for row in table.rows}) == 1
        expect(f"{source.name}: the rows of a table have one width", kept=is_even)
    for word in handler.layout(source, Region(), "words").words:
        left, top, right, bottom = word.box
        is_box = bool(word.text) and left <= right and top <= bottom
        expect(f"{source.name}: words stand in boxes", kept=is_box)


def _objects(handler: Composed, source: Source, reading: Reading) -> dict[str, Any]:
    """Return what stands in a reading, as plain values."""
    found = handler.objects(source, Region())
    is_same = found.text == reading.text and found.chunk_info == reading.chunk_info
    expect(f"{source.name}: objects come with the same text", kept=is_same)
    expect(f"{source.name}: there are lists of objects", kept=bool(found.objects))
    return {kind: list(each) for kind, each in (found.objects or {}).items()}


def _check_preview(handler: Previewable, source: Source) -> None:
    """Check the first page's picture, and that there is none behind the last."""
    try:
        shown = handler.preview(source, 0, _PREVIEW_PX)
    except ValidationFailed:
        # A file may have nothing to show, but must say so.
        return
    expect(f"{source.name}: a preview is a Preview", kept=isinstance(shown, Preview))
    is_picture = shown.data.startswith(_PICTURES) and shown.mime_type.startswith("image/")
    expect(f"{source.name}: a preview is a picture", kept=is_picture)
    is_small = 0 < max(shown.width, shown.height) <= _PREVIEW_PX
    expect(f"{source.name}: a preview is as small as asked for", kept=is_small)
    try:
        handler.preview(source, shown.count, _PREVIEW_PX)
    except ValidationFailed:
        return
    raise AssertionError(f"{source.name}: a preview behind the last one is refused")


def _plain_rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _check_table(handler: Tabular, source: Source, folder: Path) -> None:
    first, second = folder / "table1", folder / "table2"
    try:
        table = handler.read_table(source, None, ReadAs(), first)
    except ValidationFailed:
        # Which sheet is meant has to be said; there is nothing to compare.
        return
    with elsewhere():
        handler.read_table(source, None, ReadAs(), second)
    expect(f"{source.name}: a table is the same each time",
            kept=first.read_bytes() == second.read_bytes())  # fmt: skip
    _check_plain_form(source.name, table, _plain_rows(first))


def _check_plain_form(name: str, table: Table, rows: list[list[str]]) -> None:
    names = [column.name for column in table.columns]
    folded = {column.casefold() for column in names}
    expect(f"{name}: column names are unique", kept=len(folded) == len(names))
    expect(f"{name}: no column name is empty", kept=all(names))
    if names:
        expect(f"{name}: the header has the columns' names", kept=rows[0] == names)
        expect(f"{name}: row_count is the rows'", kept=len(rows) - 1 == table.row_count)
        expect(f"{name}: rows are of one width", kept={len(row) for row in rows} == {len(names)})


def _check_damaged(handler: FormatHandler, name: str, data: bytes, folder: Path) -> None:
    """Check that a damaged file is read or refused by name, never with another exception."""
    chance = random.Random(_SEED)
    flipped = bytearray(data)
    for _ in range(min(_FLIPPED_BYTES, len(data))):
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
    damaged = (b"", b"\0" * 100, chance.randbytes(2000), b"hello", data[: len(data) // 2])
    for count, garbage in enumerate((*damaged, bytes(flipped))):
        source = Source(folder / f"damaged{count}", name)
        source.path.write_bytes(garbage)
        for ask in _questions(handler, source, folder / f"out{count}"):
            try:
                ask()
            except KbdError as error:
                expect(f"{name}: errors hold no path", kept=str(folder) not in error.message)
            except Exception as error:
                broken = f"{name}, damaged ({count}): only a KbdError is raised"
                raise AssertionError(broken) from error


def _questions(
    handler: FormatHandler, source: Source, target: Path
) -> Iterator[Callable[[], object]]:
    yield lambda: handler.info(source)
    if isinstance(handler, Mappable):
        yield lambda: handler.map(source)
    if isinstance(handler, Readable):
        yield lambda: handler.read(source, Region())
        yield lambda: list(handler.passages(source))
    if isinstance(handler, Composed):
        yield lambda: handler.objects(source, Region())
    if isinstance(handler, LaidOut):
        yield lambda: handler.layout(source, Region(), "tables")
    if isinstance(handler, Previewable):
        yield lambda: handler.preview(source, 0, _PREVIEW_PX)
    if isinstance(handler, Styled):
        yield lambda: handler.get_styles(source, None)
        yield lambda: handler.copy_assets(source, None, (AssetPick("nothing:at all"),), target)
    if isinstance(handler, Tabular):
        yield lambda: handler.read_table(source, None, ReadAs(), target)


def _check_edits(
    handler: FormatHandler, edits: Sequence[Edit], bad_edits: Sequence[Edit], tmp: Path
) -> None:
    if not isinstance(handler, Editable):
        return
    suffix = next(iter(suffix for suffix in handler.suffixes if suffix.startswith(".")))
    vocabulary = Union[handler.operations]  # type: ignore[name-defined]  # noqa: UP007
    for count, edit in enumerate(edits):
        operations = tuple(msgspec.convert(list(edit), list[vocabulary]))
        first, second = tmp / f"edit{count}a{suffix}", tmp / f"edit{count}b{suffix}"
        applied = handler.apply(None, operations, first)
        with elsewhere():
            handler.apply(None, operations, second)
        expect(f"edit {count} is applied whole", kept=applied.applied == len(operations))
        expect(f"edit {count} gives the same bytes each time",
                kept=first.read_bytes() == second.read_bytes())  # fmt: skip
        before = first.read_bytes()
        handler.apply(Source(first, first.name), operations, tmp / f"edit{count}c{suffix}")
        expect(f"edit {count} leaves its source alone", kept=first.read_bytes() == before)
    for count, edit in enumerate(bad_edits):
        target = tmp / f"bad{count}{suffix}"
        try:
            handler.apply(None, tuple(msgspec.convert(list(edit), list[vocabulary])), target)
        except (ValidationFailed, msgspec.ValidationError):
            expect(f"bad edit {count} leaves no file", kept=not target.exists())
            continue
        raise AssertionError(f"bad edit {count} is refused")


def _check_round_trip(handler: FormatHandler, tmp: Path) -> None:
    """Check that rows that were written are read back as they were.

    A format without types may have an apostrophe before text that a program would evaluate.
    """
    if not isinstance(handler, Tabular):
        return
    rows = write_rows(tmp / "rows", _COLUMNS, _ROWS)
    written = 0
    for suffix in handler.suffixes:
        source = Source(tmp / f"round{suffix}", f"round{suffix}")
        again = tmp / f"round-again{suffix}"
        try:
            handler.write_table(None, rows, Placement(), source.path)
        except ValidationFailed:
            # A suffix may be for reading only, but not all of them.
            continue
        written += 1
        with elsewhere():
            handler.write_table(None, rows, Placement(), again)
        expect(f"{suffix}: the same rows give the same bytes",
                kept=source.path.read_bytes() == again.read_bytes())  # fmt: skip
        plain = tmp / f"plain{PurePosixPath(suffix).name}"
        table = handler.read_table(source, None, ReadAs(), plain)
        _check_plain_form(source.name, table, _plain_rows(plain))
        found = [_comparable(row) for row in _plain_rows(plain)]
        wanted = [_comparable(row) for row in ([name for name, _ in _COLUMNS], *_ROWS)]
        expect(f"{suffix}: rows are read back as they were written", kept=found == wanted)
    expect("a Tabular handler writes one of its suffixes", kept=written > 0)


def _comparable(row: Sequence[Any]) -> list[Any]:
    """Return a row with numbers as numbers: 12.50 and 12.5 are one value."""
    found: list[Any] = []
    for value in row:
        text = {None: "", True: "true", False: "false"}.get(value, value)
        try:
            found.append(float(text))
        except ValueError:
            found.append(text.removeprefix("'"))
    return found
