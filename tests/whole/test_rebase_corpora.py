"""Real files, changed on both sides: every mark that either side set is in what a rebase makes.

The other side's edit is made by the format alone, outside the daemon, so that nothing else of the
file differs. The marks are looked for in the parts of the result as they lie in the package, and
the part that both edited must be that of both edits made one after the other.

A file is left out only where kbd edits it not at all, or where a conflict is right: nothing in it
tells one row or paragraph from another. How many are left out for which reason is counted.
"""

import re
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import openpyxl
import pytest

from kbd.client.blocking import RemoteError
from kbd.errors import KbdError
from kbd.formats import (
    Comparable,
    CompareOptions,
    Editable,
    FormatHandler,
    Relocatable,
    Source,
)
from kbd.testing.formats import calculate_open
from kbd_docx import DocxFormat
from kbd_pptx import PptxFormat
from kbd_xlsx import XlsxFormat
from wired import Wired, wired

SHARDS = 24
"""Parts of all files."""

PATTERNS = {
    "xlsx": ("xlsx/*.xls?", "xlsx_rare/*.xls?", "spreadsheetbench/*/*_input.xlsx"),
    "docx": ("docx/*.doc?",),
    "pptx": ("pptx/*.ppt?",),
}

HANDLERS: Mapping[str, FormatHandler] = {
    "xlsx": XlsxFormat(), "docx": DocxFormat(), "pptx": PptxFormat(),
}  # fmt: skip

Edits = tuple[list[dict[str, Any]], list[dict[str, Any]], int, int]
"""What the draft does, what somebody else does, and how often each mark must be there then."""

pytestmark = [pytest.mark.corpora, pytest.mark.full]


@pytest.fixture(scope="module")
def bench() -> Iterator[Wired]:
    """One daemon for all tests here; on which backend is nothing to what they promise."""
    more = {"KBD_LIMITS_FILE_BYTES": "100000000", "KBD_LIMITS_FILES": "1000"}
    with wired("asyncio", more=more) as running:
        yield running


def _cells(source: Path) -> Edits | None:
    structure = XlsxFormat().map(Source(source, source.name))
    sheets = [each for each in structure["sheets"] if each.get("kind", "worksheet") == "worksheet"]
    if not sheets:
        return None
    sheet = sheets[0]["name"]

    def edit(mark: str, *cells: str) -> dict[str, Any]:
        settings = [{"cell": cell, "value": f"{mark}{n}"} for n, cell in enumerate(cells)]
        return {"op": "set_cells", "sheet": sheet, "cells": settings}

    ours, theirs = ("A1", "C3", "B9", "AB5", "C400"), ("B2", "A4", "C10", "AC5", "D401")
    return [edit("kbdours", *ours)], [edit("kbdtheirs", *theirs)], 5, 5


def _paragraphs(source: Path) -> Edits | None:
    del source
    return (
        [{"op": "insert_paragraph", "at": 1, "text": "kbdours0"}],
        [{"op": "append_paragraph", "text": "kbdtheirs0"}],
        1, 1,
    )  # fmt: skip


def _slides(source: Path) -> Edits | None:
    count = len(PptxFormat().map(Source(source, source.name))["slides"])
    if not count:
        return None
    theirs = [{"op": "add_slide", "index": 1, "layout": "blank", "notes": "kbdtheirs0"}]
    if count > 1:
        theirs.insert(0, {"op": "set_notes", "index": count - 1, "text": "kbdtheirs1"})
    ours = [{"op": "set_notes", "index": 0, "text": "kbdours0"}]
    return ours, theirs, 1, len(theirs)


PLANS = {"xlsx": _cells, "docx": _paragraphs, "pptx": _slides}


def _is_alike(handler: FormatHandler, source: Path) -> bool:
    """Tell whether nothing in a file is there once: where it stands is not certain then.

    Of a workbook its cells, for which column is which; of a document its paragraphs.
    """
    held: Iterable[Any] = ()
    if handler.name == "xlsx":
        rows = openpyxl.load_workbook(source).worksheets[0].iter_rows(values_only=True)
        held = (value for row in rows for value in row if value is not None)
    elif handler.name == "docx":
        held = filter(None, _texts_of_paragraphs(source))
    else:
        return False
    return 1 not in Counter(held).values()


def _texts_of_paragraphs(source: Path) -> Iterator[str]:
    """Yield the texts of a body's own paragraphs; no library reads all that kbd edits."""
    with zipfile.ZipFile(source) as package:
        (part,) = (n for n in package.namelist() if re.fullmatch(r"word/document\d*\.xml", n))
        body = ET.fromstring(package.read(part))
    for paragraph in body.iterfind("{*}body/{*}p"):
        yield "".join(each.text or "" for each in paragraph.iterfind(".//{*}t")).strip()


def _apply(handler: FormatHandler, source: Path, edits: list[dict[str, Any]], target: Path) -> bool:
    assert isinstance(handler, Editable)
    records = [
        msgspec.convert(edit, next(
            each for each in handler.operations if each.__struct_config__.tag == edit["op"]
        ))
        for edit in edits
    ]  # fmt: skip
    try:
        applied = handler.apply(Source(source, source.name), tuple(records), target)
        calculate_open(handler, Source(target, target.name), applied)
    except KbdError:
        return False
    return True


def _count(path: Path, mark: str) -> int:
    """Count the distinct marks in all parts."""
    with zipfile.ZipFile(path) as package:
        texts = [package.read(name) for name in package.namelist()]
    return sum(any(f"{mark}{n}".encode() in text for text in texts) for n in range(10))


def _differing(handler: FormatHandler, one: Path, other: Path) -> list[str]:
    """Return what differs between two files, but for what only follows from it."""
    assert isinstance(handler, Comparable)
    assert isinstance(handler, Relocatable)
    found = handler.compare(Source(one, one.name), Source(other, other.name), CompareOptions())
    return [
        f"{each.place.title}: {each.what} {each.kind}"
        for each in found.changes
        if each.what not in handler.derived
    ]


def _parts(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist()}


def _rebase(bench: Wired, handler: FormatHandler, source: Path, folder: Path) -> str:
    """Rebase one file; return "" or why it was left out."""
    try:
        plan = PLANS[handler.name](source)
    except KbdError:
        return "kbd cannot read it"
    if plan is None:
        return "there is nothing in it"
    ours, theirs, mine, yours = plan
    target, first, last = (folder / f"{name}{source.suffix}" for name in ("t", "ot", "to"))
    for path in (target, first, last):
        path.unlink(missing_ok=True)
    if not _apply(handler, source, theirs, target):
        return "kbd does not edit it"
    wb = bench.daemon.workbench(source)
    try:
        name = bench.files(wb)[0]
        try:
            bench.ask(f"{handler.wire_name}ApplyOps", workbench_id=wb, path=name, ops=ours)
        except RemoteError:
            return "kbd does not edit it"
        published, drafted = (
            bench.daemon.home / "workbenches" / wb / root / name for root in ("published", "draft")
        )
        shutil.copyfile(drafted, folder / f"o{source.suffix}")
        published.write_bytes(target.read_bytes())
        done = bench.ask("DraftRebase", workbench_id=wb)
        if done["conflicts"]:
            assert _is_alike(handler, source), (source.name, done["conflicts"][:2])
            assert (_count(drafted, "kbdours"), _count(published, "kbdtheirs")) == (mine, yours)
            return "nothing in it is there once"
        bench.ask("DraftPublish", workbench_id=wb)
        found = _count(published, "kbdours"), _count(published, "kbdtheirs")
        assert found == (mine, yours), (source.name, found)
        # The draft's edits on what somebody made: that very package. The other way round what they
        # hold is the same, and only the order in which it was put there is another one.
        assert _apply(handler, target, ours, last), source.name
        assert _parts(published) == _parts(last), source.name
        assert _apply(handler, folder / f"o{source.suffix}", theirs, first), source.name
        assert _differing(handler, first, published) == [], source.name
        return ""
    finally:
        if bench.ask("DraftGetState", workbench_id=wb)["has_draft"]:
            bench.ask("DraftDiscard", workbench_id=wb)
        bench.ask("WorkbenchDelete", workbench_id=wb)


@pytest.mark.parametrize("kind", PATTERNS)
@pytest.mark.parametrize(
    "some",
    [
        # All of them take a seventh of the time of all tests, so most are of the soak tier.
        pytest.param(slice(n, None, SHARDS), marks=[pytest.mark.soak] if n % 6 else [])
        for n in range(SHARDS)
    ],
    ids=map(str, range(SHARDS)),
)
def test_no_mark_is_lost(
    bench: Wired, corpora: Path, tmp_path: Path, kind: str, some: slice
) -> None:
    """Of files of many programs: what both set is there, and nothing is in the way."""
    paths = sorted(path for pattern in PATTERNS[kind] for path in corpora.glob(pattern))[some]
    outcomes = Counter(_rebase(bench, HANDLERS[kind], path, tmp_path) for path in paths)
    print(f"{kind}: {outcomes.pop('', 0)} of {len(paths)} rebased; left out: {dict(outcomes)}")

    assert outcomes.total() <= len(paths) // 2
