"""Hashes of what the office formats make of the corpora, to hold two commits against each other.

    python tests/formats/office/corpora_hashes.py OUT.json [--every N] [--jobs N]
    python tests/formats/office/corpora_hashes.py --compare BEFORE.json AFTER.json

Each file goes through the handlers as a tool's call does: operations of every kind, its styles
listed, its assets copied into a new file and into the next file of the corpora. What is recorded of
a call is the SHA-256 of the written bytes with what the call says, or the error that it raises.
Calls that are refused as a whole are made again operation by operation, so that one refusal hides
nothing. What it writes names files of the corpora and stays outside of the repository.
"""

import argparse
import hashlib
import json
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Union

import msgspec

from kbd.errors import KbdError
from kbd.formats import Applied, AssetPick, Source
from kbd_docx import DocxFormat
from kbd_pptx import PptxFormat
from kbd_xlsx import XlsxFormat

CORPORA = Path(__file__).resolve().parents[4] / "shared" / "corpora"
FORMATS: dict[str, Any] = {
    suffix: handler
    for handler in (DocxFormat(), PptxFormat(), XlsxFormat())
    for suffix in handler.suffixes
}

CPU_LIMIT_S = 20.0
"""Of one file; by the processor's clock, so that a busy machine leaves out no other files."""

MAX_OF_A_KIND = 4
"""Assets of one kind that are copied from a file."""

Told = dict[str, Any]
Operations = list[dict[str, Any]]

_LOOKS: dict[str, Any] = {
    "font_name": "Georgia", "font_size": 13.5, "bold": True, "italic": True, "underline": True,
    "font_color": "#336699", "highlight_color": "yellow",
}  # fmt: skip
_ODD_LOOKS: dict[str, Any] = {
    "font_name": 7, "font_size": "14", "bold": "yes", "italic": None, "underline": "wiggly",
    "font_color": "red", "highlight_color": "#12345",
}  # fmt: skip
_SET: dict[str, Any] = {
    "alignment": "center", "space_before": 6, "space_after": 3.5, "line_spacing": 1.15,
}  # fmt: skip
_ODD_SET: dict[str, Any] = {
    "alignment": "middle", "space_before": -4, "space_after": "6", "line_spacing": 400,
}  # fmt: skip
_CELL: dict[str, Any] = {
    "font_name": "Georgia", "font_size": 13.5, "font_bold": True, "font_italic": True,
    "font_underline": "double", "font_color": "#336699", "fill_color": "#FFEECC",
    "number_format": "0.00", "h_align": "center", "v_align": "top", "wrap_text": True,
    "border_top": {"style": "thin", "color": "#FF0000"},
}  # fmt: skip
_ODD_CELL: dict[str, Any] = {
    "font_name": 7, "font_size": "14", "font_bold": "yes", "font_color": "red", "fill_color": "2F",
    "number_format": 3, "h_align": "middle", "border_top": "thin", "no_such": 1,
    "border_left": {"style": "wavy"}, "fill_pattern": "none", "font_underline": "wiggly",
}  # fmt: skip


class _TimeUp(BaseException):
    """A file took too long; no handler takes it for an error of the file."""


def document_calls(path: Path) -> dict[str, Operations]:
    """Return what is done to a document, by name."""
    del path
    return {
        "write": [
            {"op": "append_paragraph", "text": "Added\nhere", **_SET, "indent_left": 0.5},
            {"op": "insert_paragraph", "at": 1, "runs": [{"text": "Run", **_LOOKS}]},
            {"op": "add_table", "rows": [["A", 1], [None, True]], "after": 0},
            {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "col": 0, "text": "x"}]},
            {"op": "append_paragraph", "text": "Styled", "style": "Heading 1"},
        ],
        "replace": [
            {"op": "replace_text", "search": "e", "replace": "ee", "match_case": True},
            {"op": "delete_paragraphs", "from": 2, "count": 2},
            {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "col": 0, "text": "y"}]},
        ],
        "odd": [
            {"op": "insert_paragraph", "at": 1, "runs": [{"text": "Run", **_ODD_LOOKS}]},
            {"op": "append_paragraph", "text": "Odd", **_ODD_SET},
        ],
        "whole": [{"op": "set_paragraphs", "paragraphs": [{"text": "One"}, {"text": "Two"}]}],
    }


def deck_calls(path: Path) -> dict[str, Operations]:
    """Return what is done to a deck, by name."""
    del path
    return {
        "write": [
            {"op": "add_slide", "title": "New", "body": "a\n\tb", "notes": "Said", **_SET},
            {"op": "add_slide", "index": 0, "title_runs": [{"text": "Run", **_LOOKS}]},
            {"op": "set_slide_text", "index": 1, "title": "Other", "body": "One\nTwo"},
            {"op": "append_bullets", "index": 1, "bullets": ["Three", "Four"], "level": 1},
            {"op": "set_notes", "index": 1, "text": "Noted"},
        ],
        "replace": [
            {"op": "replace_text", "search": "e", "replace": "ee", "match_case": True},
            {"op": "move_slide", "index": 0, "to": 1},
            {"op": "delete_slide", "index": 0},
        ],
        "odd": [
            {"op": "set_slide_text", "index": 0, "title_runs": [{"text": "R", **_ODD_LOOKS}]},
            {"op": "append_bullets", "index": 0, "bullets": ["Odd"], **_ODD_SET},
        ],
    }


def workbook_calls(path: Path) -> dict[str, Operations]:
    """Return what is done to a workbook, by name."""
    first = {"sheet": (first_sheet(path) if path.is_file() else "") or "Sheet1"}
    odd = [{"cell": "C3", "value": 1, "style": _ODD_CELL}]
    day = {"value": "2024-01-31", "type": "date"}
    return {
        "write": [
            {"op": "ensure_sheet", "sheet": "Made here"},
            {"op": "set_cells", **first, "cells": [{"cell": "B2", "value": 5, "style": _CELL}]},
            {"op": "set_range", **first, "start": "D4", "values": [["=1+1", day], [None, "a"]]},
            {"op": "set_column_widths", **first, "columns": [{"column": "B", "width": 20}]},
            {"op": "set_row_heights", **first, "rows": [{"row": 2, "height": 30}]},
            {"op": "freeze_panes", **first, "row": 1, "column": 1},
            {"op": "merge_cells", "sheet": "Made here", "range": "A1:B2"},
            {"op": "auto_filter", "sheet": "Made here", "range": "A5:C9"},
        ],
        "replace": [
            {"op": "clear_range", **first, "range": "A1:C3"},
            {"op": "unmerge_cells", **first, "range": "A1:Z99"},
            {"op": "auto_filter", **first, "range": "A1:C9"},
        ],
        "odd": [{"op": "set_cells", **first, "cells": odd}],
        "removal": [{"op": "delete_sheet", **first}],
    }


CALLS: dict[str, Callable[[Path], dict[str, Operations]]] = {
    "docx": document_calls, "pptx": deck_calls, "xlsx": workbook_calls,
}  # fmt: skip


@cache
def corpus(suffix: str = "") -> list[Path]:
    """List the files of the corpora that the formats read, or those of one format, in order."""
    found = (path for path in sorted(CORPORA.rglob("*")) if path.suffix.lower() in FORMATS)
    return [path for path in found if not suffix or FORMATS[path.suffix.lower()] is FORMATS[suffix]]


def neighbor(path: Path) -> Path:
    """Return the file of the same format that comes next, the first one after the last."""
    files = corpus(path.suffix.lower())
    return files[(files.index(path) + 1) % len(files)]


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def outcome(work: Callable[[Path], Applied], suffix: str) -> Told:
    """Make a call that writes a file; return what it wrote and said, or why it did not."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"target{suffix}"
        try:
            applied = work(target)
        except KbdError as error:
            return {"refused": [str(error.code), str(error)], "left": target.exists()}
        except Exception as error:  # noqa: BLE001 - what no handler should raise is told, too
            return {"failed": f"{type(error).__name__}: {error}"[:500]}
        return {"bytes": digest(target.read_bytes()), **msgspec.to_builtins(applied)}


def edited(handler: Any, path: Path | None, operations: Operations, suffix: str) -> Told:
    """Apply operations to a file, or to a new one."""
    found = tuple(msgspec.convert(operations, list[Union[handler.operations]]))  # noqa: UP007
    source = Source(path, path.name) if path else None
    return outcome(lambda target: handler.apply(source, found, target), suffix)


def copied(
    handler: Any, path: Path, into: Path | None, picks: tuple[AssetPick, ...], suffix: str
) -> Told:
    """Copy assets of a file into another one, or into a new one."""
    source, receiving = Source(path, path.name), Source(into, into.name) if into else None
    return outcome(lambda target: handler.copy_assets(source, receiving, picks, target), suffix)


def place(asset_id: str, sheet: str) -> str | None:
    """Return where an asset goes: onto a sheet, and what goes nowhere by itself to a place."""
    if sheet:
        quoted = sheet.replace("'", "''")
        return f"'{quoted}'!B2"
    return {"list": "paragraph:1", "number_format": "B2"}.get(asset_id.partition(":")[0])


def first_sheet(path: Path | None) -> str:
    """Return the title of a workbook's first sheet, "" of what has none."""
    if path is None:
        return ""
    try:
        sheets = FORMATS[path.suffix.lower()].info(Source(path, path.name)).get("sheets")
    except KbdError:
        return ""
    return str(sheets[0]["name"]) if isinstance(sheets, list) and sheets else ""


def edits(path: Path) -> Iterator[tuple[str, Told]]:
    """Yield what comes of each edit of a file."""
    suffix = path.suffix.lower()
    handler = FORMATS[suffix]
    calls = CALLS[handler.name](path)
    for name, operations in calls.items():
        told = edited(handler, path, operations, suffix)
        yield name, told
        if "bytes" not in told and len(operations) > 1:
            for count, operation in enumerate(operations):
                yield f"{name} {count}", edited(handler, path, [operation], suffix)
    suffixes = [each for each in handler.suffixes if each != suffix]
    for other in suffixes[:2]:
        yield f"as {other}", edited(handler, path, calls["odd"][-1:], other)


def copies(path: Path) -> Iterator[tuple[str, Told]]:
    """Yield what a file lists, and what comes of each copy of its assets."""
    handler = FORMATS[path.suffix.lower()]
    try:
        styles = handler.get_styles(Source(path, path.name), None)
    except KbdError as error:
        yield "styles", {"refused": [str(error.code), str(error)]}
        return
    listed = json.dumps(styles, ensure_ascii=False).encode()
    yield "styles", {"listing": digest(listed), "count": len(styles["assets"])}
    kinds: Counter[str] = Counter()
    ids = []
    for asset in styles["assets"]:
        kinds[asset["kind"]] += 1
        if kinds[asset["kind"]] <= MAX_OF_A_KIND:
            ids.append(asset["asset_id"])
    for into in (None, neighbor(path)) if ids else ():
        name, suffix = "into the next" if into else "into a new one", f".{handler.name}"
        suffix, sheet = into.suffix.lower() if into else suffix, first_sheet(into)
        picks = tuple(AssetPick(each, place(each, sheet)) for each in ids)
        told = copied(handler, path, into, picks, suffix)
        yield name, told
        if "bytes" not in told and len(ids) > 1:
            for pick in picks:
                yield f"{name}: {pick.asset_id}", copied(handler, path, into, (pick,), suffix)


def beginnings() -> dict[str, Told]:
    """Return what comes of each format's operations without a file, under each of its suffixes."""
    found = {}
    for suffix, handler in FORMATS.items():
        for name, operations in CALLS[handler.name](Path(suffix)).items():
            for count, operation in enumerate(operations):
                new = edited(handler, None, operations[: count + 1], suffix)
                found[f"{suffix}: {name} {count} {operation['op']}"] = new
    return found


def tried(path: Path) -> tuple[str, dict[str, Told]]:
    """Record one file, as far as it goes within its time."""

    def stop(*_: object) -> None:
        raise _TimeUp

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S)
    found: dict[str, Told] = {}
    try:
        for name, told in chain(edits(path), copies(path)):
            found[name] = told  # noqa: PERF403 - what was done before the time is up stays
    except _TimeUp:
        found["skipped"] = {"skipped": f"more than {CPU_LIMIT_S:g} s"}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return str(path.relative_to(CORPORA)), found


def record(target: Path, every: int, jobs: int) -> None:
    """Record every so many files, and print how many calls there were of each outcome."""
    with ProcessPoolExecutor(jobs) as pool:
        found = {"": pool.submit(beginnings).result()}
        found |= dict(pool.map(tried, corpus()[::every], chunksize=8))
    target.write_text(json.dumps(found, ensure_ascii=False, indent=0), encoding="utf-8")
    counts = Counter(next(iter(told)) for calls in found.values() for told in calls.values())
    print(f"{len(found)} files, {sum(counts.values())} calls: {dict(sorted(counts.items()))}")


def compare(before: Path, after: Path) -> int:
    """Print which calls of the files that both hold differ, and return how many do."""
    old: dict[str, dict[str, Told]] = json.loads(before.read_text(encoding="utf-8"))
    new: dict[str, dict[str, Told]] = json.loads(after.read_text(encoding="utf-8"))
    same, skipped = 0, 0
    differing: Counter[str] = Counter()
    for path in sorted(old.keys() & new.keys()):
        was, now = old[path], new[path]
        is_cut = "skipped" in was or "skipped" in now
        skipped += is_cut
        for call in dict.fromkeys((*was, *now)):
            if is_cut and not (call in was and call in now):
                continue
            if was.get(call) == now.get(call):
                same += 1
            else:
                differing[call.partition(":")[0]] += 1
                print(f"{path or 'new'}: {call}\n  - {was.get(call)}\n  + {now.get(call)}")
    print(
        f"{len(old.keys() & new.keys())} files in both: {same} calls are the same, "
        f"{differing.total()} differ {dict(differing)}; {skipped} files took too long in one"
    )
    return differing.total()


def main() -> int:
    """Record, or compare two records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path, nargs="?", help="where the hashes go")
    parser.add_argument("--every", type=int, default=1, help="record one file of so many")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    told = parser.parse_args()
    if told.compare:
        return 1 if compare(*told.compare) else 0
    record(told.target, told.every, told.jobs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
