"""Reviews made by hand, for the page: all that a change can tell, and hostile texts."""

import base64
import struct
import zlib
from typing import Any

from msgspec import UNSET

from kbd.core.audit.review_page.records import DraftReview, FileReview, PicturePair, SheetGrids
from kbd.requests.drafts import ChangeRow, ChangeSet, DeletionConfirmations
from kbd.requests.formats import PreviewGrid, PreviewPicture
from kbd.requests.reviews import (
    ChangeCounted,
    ChangeMaker,
    ChangePlace,
    ContentChange,
    ContentDiff,
    DiffHunk,
    DiffHunkLine,
)
from kbd.types import FileName, RunId, Seq

__all__ = [
    "HOSTILE",
    "change",
    "deck",
    "diff",
    "file_of",
    "grid",
    "letter",
    "notes",
    "picture",
    "review_of",
    "scan",
    "table",
    "varied_review",
    "workbook",
]

HOSTILE = (
    "</script><img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>"
    "<!-- ]]> </td></article></style> &lt;b&gt; \x1b[2Jgone\x00 \u202egnp.exe\u202c"
    " \u2028next \u200bzero\u00ad \U000e0041tag \"quoted\" 'single' ${title} $script javascript:x"
)

BY_RUN = ChangeMaker(
    seq=Seq(57),
    tool="edit_cells",
    run_id=RunId("0123456789abcdef-2"),
    item=3,
    reason="Bring the second quarter up to date",
)
BY_CLIENT = ChangeMaker(seq=Seq(61), tool="ApplyOps")


def change(kind: str, what: str, title: str, **more: Any) -> ContentChange:
    """A change at a place; `place` has its further coordinates."""
    place = ChangePlace(title=title, **more.pop("place", {}))
    return ContentChange(place=place, kind=kind, what=what, **more)  # type: ignore[arg-type]


def diff(path: str, changes: list[ContentChange], **more: Any) -> ContentDiff:
    """The comparison that has these changes."""
    counted: dict[tuple[str, str], int] = {}
    for each in changes:
        key = (each.kind, each.what)
        counted[key] = counted.get(key, 0) + 1
    counts = tuple(
        ChangeCounted(kind=kind, what=what, count=number)  # type: ignore[arg-type]
        for (kind, what), number in counted.items()
    )
    given: dict[str, Any] = {
        "path": FileName(path),
        "reference_source": "draft_start_snapshot",
        "baseline_missing": False,
        "changes": tuple(changes),
        "total": len(changes),
        "has_more": False,
        "counts": counts,
        "warnings": (),
        "reference_label": "Reference (Draft start)",
    }
    return ContentDiff(**{**given, **more})


def file_of(path: str, kind: str, changes: list[ContentChange], **more: Any) -> FileReview:
    """A modified file with these changes."""
    row = ChangeRow(
        path=FileName(path),
        change_type=more.pop("change_type", "modified"),
        file_kind=kind,
        preview_kind=kind,
        size_bytes=12_400,
        size_before=more.pop("size_before", 11_900),
        warnings=more.pop("warnings", ()),
        run_id=RunId("0123456789abcdef-2"),
        items=(1, 3),
        previous_path=more.pop("previous_path", UNSET),
    )
    hunks = more.pop("hunks", UNSET)
    extra = {"hunks": hunks} if hunks is not UNSET else {}
    return FileReview(row=row, diff=diff(path, changes, **extra), **more)


def grid(sheet: str, columns: str | tuple[str, ...], rows: list[list[str | None]]) -> PreviewGrid:
    """A window from the first row and column on."""
    return PreviewGrid(
        sheet=sheet,
        sheets=(sheet,) if sheet else (),
        row_start=1,
        column_start=1,
        columns=tuple(columns),
        rows=tuple(map(tuple, rows)),
        merged=(),
        total_rows=len(rows),
        total_columns=len(columns),
        warnings=(),
    )


def picture(width: int, height: int, color: tuple[int, int, int]) -> PreviewPicture:
    """A picture of one color."""
    line = b"\0" + bytes(color) * width
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(line * height)), (b"IEND", b""))
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )
    return PreviewPicture(
        base64=base64.b64encode(data).decode(),
        mime_type="image/png",
        width=width,
        height=height,
        count=3,
        warnings=(),
    )


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun")


def _sales(*, updated: bool) -> list[list[str | None]]:
    rows: list[list[str | None]] = [["Region", *_MONTHS, "Total"]]
    regions = ["North", "South", "East", "West", "Alpine", "Coast", "Islands", "Capital"]
    for number, region in enumerate(regions * 4):
        values = [100 + 7 * number + 11 * month for month in range(6)]
        rows.append([f"{region} {number // 8 + 1}", *map(str, values), str(sum(values))])
    if updated:
        rows[3][4] = "1250"
        rows[3][7] = "1881"
        rows.insert(6, ["Harbor 1", "90", "95", "99", "110", "120", "130", "644"])
        moved = rows.pop(30)
        rows.insert(21, moved)
        del rows[15]
    return rows


def workbook() -> FileReview:
    """A workbook: cells, a formula, rows that came, went and moved, formatting, a new sheet."""
    changes = [
        *_cells(),
        *_rows(),
        change("changed", "format", "Sales!A1:H1", place={"sheet": "Sales", "range": "A1:H1"},
               details={"font_bold": (False, True), "fill_color": (None, "1C5D8C")},
               made_by=BY_RUN),
        change("added", "sheet", "Notes", place={"sheet": "Notes"}),
        change("added", "cell", "Notes!A1", place={"sheet": "Notes", "cell": "A1"},
               after="Figures of the second quarter", made_by=BY_RUN),
        change("changed", "name", "name TaxRate", place={"part": "names"}, before="=Sales!$A$1",
               after="=Sales!$B$1"),
    ]  # fmt: skip
    letters = tuple("ABCDEFGH")
    sales = SheetGrids(
        sheet="Sales",
        before=(grid("Sales", letters, _sales(updated=False)),),
        after=(grid("Sales", letters, _sales(updated=True)),),
    )
    note = grid("Notes", ("A",), [["Figures of the second quarter"]])
    return file_of(
        "sales 2026.xlsx",
        "spreadsheet",
        changes,
        grids=(sales, SheetGrids(sheet="Notes", after=(note,))),
        warnings=("Sales!K2 fetches from the web: WEBSERVICE",),
    )


def _cells() -> list[ContentChange]:
    stored = {"formula": "=SUM(B4:G4)", "value": 849, "current": True}
    return [
        change("changed", "cell", "Sales!E4", place={"sheet": "Sales", "cell": "E4"}, before=147,
               after=1250, made_by=BY_RUN),
        change("changed", "cell", "Sales!H4", place={"sheet": "Sales", "cell": "H4"},
               before=stored, after={**stored, "value": 1881, "current": False},
               note="the stored result is out of date"),
    ]  # fmt: skip


def _rows() -> list[ContentChange]:
    total = {"formula": "=SUM(B7:G7)", "value": 644}
    return [
        change("added", "row", "Sales!7:7", place={"sheet": "Sales", "range": "7:7"},
               after=["Harbor 1", 90, 95, 99, 110, 120, 130, total], made_by=BY_RUN),
        change("removed", "row", "Sales!15:15", place={"sheet": "Sales", "range": "15:15"},
               before=["Coast 2", 191, 202, 213, 224, 235, 246, 1311], made_by=BY_RUN),
        change("moved", "row", "Sales!21:21", place={"sheet": "Sales", "range": "21:21"},
               moved_from=ChangePlace(title="Sales!30:30", sheet="Sales", range="30:30"),
               made_by=BY_CLIENT),
    ]  # fmt: skip


def letter() -> FileReview:
    """A document: changed words, formatting, a table's cell, a footnote that is gone."""
    pages = tuple(
        PicturePair(
            unit="page",
            number=number,
            before=picture(210, 297, (250, 250, 250 - 20 * number)),
            after=picture(210, 297, (250, 250 - 20 * number, 250)),
            is_same=number > 1,
        )
        for number in (1, 2)
    )
    return file_of("offer.docx", "document", _paragraphs(), pictures=pages)


def _paragraphs() -> list[ContentChange]:
    words = (
        ("equal", "We offer the "), ("added", "complete "), ("equal", "package for "),
        ("removed", "4,200"), ("added", "4,650"), ("equal", " EUR."),
    )  # fmt: skip
    return [
        change("changed", "paragraph", "Pricing, paragraph 3",
               place={"section": 2, "paragraph": 11}, words=words, made_by=BY_RUN,
               before="We offer the package for 4,200 EUR.",
               after="We offer the complete package for 4,650 EUR."),
        change("changed", "format", "Pricing, paragraph 3", place={"section": 2, "paragraph": 11},
               details={"bold": (False, True), "style": ("Normal", "Intense Quote")}),
        change("changed", "cell", "Pricing, table 1, row 2, column 3",
               place={"table": 0, "row": 1, "column": 2}, before="4,200", after="4,650",
               made_by=BY_RUN),
        change("moved", "paragraph", "Terms, paragraph 1", place={"section": 3, "paragraph": 14},
               after="Payment is due within 30 days.",
               moved_from=ChangePlace(title="Terms, paragraph 4", section=3, paragraph=17)),
        change("removed", "footnote", "footnote 2", place={"part": "footnote 2"},
               before="Prices of 2025.", made_by=BY_CLIENT),
        change("added", "picture", "Pricing, paragraph 6", place={"section": 2, "paragraph": 14},
               after={"size_bytes": 48_120, "sha256": "ab" * 32},
               note="it has no alternative text"),
    ]  # fmt: skip


def deck() -> FileReview:
    """A deck: a changed title, a new slide, one that is gone, an order that changed."""
    changes = [
        change(
            "changed",
            "text",
            "slide 2, Title 1",
            place={"slide": 1, "shape": 2},
            before="Results of Q1",
            after="Results of Q2",
            words=(("equal", "Results of "), ("removed", "Q1"), ("added", "Q2")),
            made_by=BY_RUN,
        ),
        change(
            "changed",
            "shape",
            "slide 2, Chart 4",
            place={"slide": 1, "shape": 5},
            details={"width_pt": (320, 410)},
        ),
        change("added", "slide", "slide 3", place={"slide": 2}, after="Outlook", made_by=BY_RUN),
        change("removed", "slide", "slide 5", place={"slide": 4}, before="Old outlook"),
    ]
    pictures = (
        PicturePair(
            unit="slide",
            number=2,
            before=picture(320, 180, (210, 225, 240)),
            after=picture(320, 180, (240, 225, 210)),
        ),
        PicturePair(unit="slide", number=3, after=picture(320, 180, (210, 240, 215))),
        PicturePair(unit="slide", number=5, before=picture(320, 180, (235, 215, 235))),
    )
    return file_of("quarter.pptx", "presentation", changes, pictures=pictures)


def notes() -> FileReview:
    """A text: a line that changed with its words, one that is new, in a hunk of context."""
    changes = [
        change(
            "changed",
            "line",
            "line 12",
            place={"line": 12},
            before="beta = 1",
            after="gamma = 1",
            made_by=BY_RUN,
        ),
        change(
            "added", "line", "line 14", place={"line": 14}, after="delta = 4", made_by=BY_CLIENT
        ),
    ]
    lines = (
        DiffHunkLine(kind="context", text="[numbers]"),
        DiffHunkLine(kind="context", text="alpha = 0"),
        DiffHunkLine(
            kind="removed",
            text="beta = 1",
            words=(("removed", "beta"), ("added", "gamma"), ("equal", " = 1")),
        ),
        DiffHunkLine(
            kind="added",
            text="gamma = 1",
            words=(("removed", "beta"), ("added", "gamma"), ("equal", " = 1")),
        ),
        DiffHunkLine(kind="context", text="epsilon = 2"),
        DiffHunkLine(kind="added", text="delta = 4"),
        DiffHunkLine(kind="context", text=""),
    )
    hunk = DiffHunk(before_start=10, before_count=5, after_start=10, after_count=6, lines=lines)
    return file_of("numbers.ini", "text", changes, hunks=(hunk,))


def table() -> FileReview:
    """A delimited table: a cell, a new row, a column that is gone."""
    before = [["1", "desk", "120", "x"], ["2", "chair", "80", "y"], ["4", "lamp", "35", "z"]]
    after = [["1", "desk", "120"], ["2", "chair", "85"], ["3", "shelf", "60"], ["4", "lamp", "35"]]
    changes = [
        change(
            "changed",
            "cell",
            "row 2, price",
            place={"row": 2, "column": "price"},
            before="80",
            after="85",
            made_by=BY_RUN,
        ),
        change("added", "row", "row 3", place={"row": 3}, after=["3", "shelf", "60"]),
        change("removed", "column", "column code", place={"column": "code"}),
    ]
    grids = SheetGrids(
        sheet="",
        before=(grid("", ("id", "item", "price", "code"), [list(row) for row in before]),),
        after=(grid("", ("id", "item", "price"), [list(row) for row in after]),),
    )
    return file_of("items.csv", "table", changes, grids=(grids,))


def scan() -> FileReview:
    """A paged file: words of a page."""
    changes = [
        change(
            "changed",
            "page",
            "page 3",
            place={"page": 3},
            before="Total 120",
            after="Total 125",
            words=(("equal", "Total "), ("removed", "120"), ("added", "125")),
        ),
    ]
    pages = (
        PicturePair(
            unit="page",
            number=3,
            before=picture(210, 297, (245, 245, 235)),
            after=picture(210, 297, (235, 245, 245)),
        ),
    )
    return file_of("scan.pdf", "pdf", changes, pictures=pages)


def hostile() -> FileReview:
    """A file whose every text means harm."""
    changes = [
        change(
            "changed",
            HOSTILE,
            HOSTILE,
            before=HOSTILE,
            after={HOSTILE: HOSTILE},
            details={HOSTILE: (HOSTILE, [HOSTILE])},
            note=HOSTILE,
            made_by=ChangeMaker(seq=Seq(1), tool=HOSTILE, reason=HOSTILE),
        ),
        change(
            "changed",
            "cell",
            HOSTILE,
            place={"sheet": HOSTILE, "cell": "A1"},
            before=HOSTILE,
            after=HOSTILE,
        ),
        change("changed", "paragraph", HOSTILE, words=(("removed", HOSTILE), ("added", HOSTILE))),
        change("added", "line", HOSTILE, place={"line": 1}, after=HOSTILE),
    ]
    line = DiffHunkLine(kind="added", text=HOSTILE, words=(("added", HOSTILE),))
    hunk = DiffHunk(before_start=1, before_count=0, after_start=1, after_count=1, lines=(line,))
    cells = grid(HOSTILE, (HOSTILE,), [[HOSTILE]])
    grids = SheetGrids(sheet=HOSTILE, before=(cells,), after=(cells,))
    return file_of(
        HOSTILE,
        HOSTILE,
        changes,
        grids=(grids,),
        hunks=(hunk,),
        warnings=(HOSTILE,),
        problem=HOSTILE,
        previous_path=FileName(HOSTILE),
        change_type="renamed",
    )


def review_of(*files: FileReview, pending: tuple[str, ...] = (), summary: str = "") -> DraftReview:
    """The review of a draft with these files."""
    return DraftReview(
        workbench_id="0123456789abcdef",
        name="Quarterly books",
        change_set=ChangeSet(
            draft_id="d-7",
            changes=tuple(each.row for each in files),
            draft_summary=summary or UNSET,
        ),
        deletions=DeletionConfirmations(confirmed=(), pending=tuple(map(FileName, pending))),
        files=files,
    )


def varied_review() -> DraftReview:
    """A review with files of all kinds, one of them full of hostile texts, one deleted."""
    gone = file_of(
        "old plan.txt",
        "text",
        [
            change(
                "removed", "file", "old plan.txt", before={"size_bytes": 900, "sha256": "cd" * 32}
            )
        ],
        change_type="deleted",
    )
    return review_of(
        workbook(),
        letter(),
        deck(),
        table(),
        notes(),
        scan(),
        gone,
        hostile(),
        pending=("old plan.txt",),
        summary="The second quarter is in all files; the old plan is no longer needed.",
    )
