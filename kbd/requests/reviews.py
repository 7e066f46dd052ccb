"""Requests about what a draft changes inside its files: comparisons, blame, a page for people.

A comparison is answered in the same form whatever the format: changes, each with its place. The
records here are those of `kbd.formats.comparison` as clients get them.
"""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import UNSET, Answer, Request, SeqParam, Unset, WorkbenchParam
from kbd.types import FileName, RunId, Seq

__all__ = [
    "Blame",
    "BlameStep",
    "ChangeCounted",
    "ChangeMaker",
    "ChangePlace",
    "ContentChange",
    "ContentDiff",
    "DiffHunk",
    "DiffHunkLine",
    "DiffRequest",
    "GetDiff",
    "ReferenceSource",
    "ReviewGetBlame",
    "ReviewGetDiff",
    "ReviewGetHtml",
    "ReviewHtml",
    "ReviewRequest",
]

ReferenceSource = Literal["draft_start_snapshot", "published_current_fallback", "none"]
"""What a draft's version is compared with: what it was when the draft began, what is published now
where that cannot be read, or nothing."""

_Path = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]

_Words = tuple[tuple[Literal["equal", "removed", "added"], str], ...]


class _ContentRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "review"


class ChangePlace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A place in a file: its title for people, and the coordinates that its format has.

    Args:
        title: As it reads in a sentence ("Sheet1!B7", "slide 2, Title 1").
        sheet: Of a workbook.
        cell: Of that sheet ("B7").
        range: Likewise ("A5:F5"; whole rows "5:5", whole columns "C:C").
        section: Of a document, from 0.
        paragraph: Of a document's body, from 0.
        table: Of a document, from 0.
        row: Of a document's table, from 0; of a delimited table its data row, from 1.
        column: Of a document's table, from 0; of a delimited table its name.
        part: What lies beside the body, or is no text ("header 1", "names").
        slide: Of a deck, from 0.
        shape: Of that slide: its id or name.
        line: Of a text, from 1.
        page: Of a paged file, from 1.
    """

    title: str
    sheet: str | Unset = UNSET
    cell: str | Unset = UNSET
    range: str | Unset = UNSET
    section: int | Unset = UNSET
    paragraph: int | Unset = UNSET
    table: int | Unset = UNSET
    row: int | Unset = UNSET
    column: int | str | Unset = UNSET
    part: str | Unset = UNSET
    slide: int | Unset = UNSET
    shape: int | str | Unset = UNSET
    line: int | Unset = UNSET
    page: int | Unset = UNSET


class ChangeMaker(msgspec.Struct, frozen=True, kw_only=True):
    """Who made a change.

    Args:
        seq: The event that recorded it.
        tool: The tool or method that was called; "" if none was.
        run_id: The run, if one did.
        item: The plan item that it was working on, from 1.
        reason: The item's text, or the message that the run answers.
        call_id: The call.
    """

    seq: Seq
    tool: str
    run_id: RunId | Unset = UNSET
    item: int | Unset = UNSET
    reason: str | Unset = UNSET
    call_id: str | Unset = UNSET


class ContentChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change inside a file.

    Args:
        place: Where, in the draft's version; of something removed, in the reference.
        kind: What happened to it.
        what: What it is, a noun ("cell", "row", "paragraph", "slide", "format").
        before: What it was: a value, a text, a list of values, or an object that says more of a
            date or formula.
        after: What it is now.
        moved_from: Where something that moved stood.
        words: Of a changed text, its words: pairs of "equal", "removed" or "added" and a piece.
        details: What else differs, by name: pairs of before and after.
        note: What the reader must know of it.
        is_cut: Whether a text is too long to be answered whole.
        made_by: The call that last touched this place.
    """

    place: ChangePlace
    kind: Literal["added", "removed", "changed", "moved"]
    what: str
    before: Any = UNSET
    after: Any = UNSET
    moved_from: ChangePlace | Unset = UNSET
    words: _Words | Unset = UNSET
    details: dict[str, tuple[Any, Any]] | Unset = UNSET
    note: str | Unset = UNSET
    is_cut: bool | Unset = UNSET
    made_by: ChangeMaker | Unset = UNSET


class ChangeCounted(msgspec.Struct, frozen=True, kw_only=True):
    """How many changes of a kind there are of a thing."""

    kind: Literal["added", "removed", "changed", "moved"]
    what: str
    count: int


class DiffHunkLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a hunk; `words` where it is paired with a line of the other side."""

    kind: Literal["context", "removed", "added"]
    text: str
    words: _Words | Unset = UNSET


class DiffHunk(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a text that differ, with those around them; the starts count from 1."""

    before_start: int
    before_count: int
    after_start: int
    after_count: int
    lines: tuple[DiffHunkLine, ...]


class ContentDiff(Answer):
    """What differs between the draft's version of a file and its reference.

    Args:
        path: The file.
        reference_source: What it is compared with.
        baseline_missing: Whether what the file was when the draft began could not be read.
        changes: A page of the changes, in the order of the file.
        total: How many there are.
        has_more: Whether there are more that can be answered; then `next_offset` goes on.
        counts: All of them by kind and thing.
        warnings: What the reader must know: what was not compared, what is only likely.
        reference_label: What people read of the reference.
        reference_warning: Why it is not what the file was when the draft began.
        next_offset: Where the next page begins.
        hunks: The lines of the page's changes, where the format has lines.
    """

    path: FileName
    reference_source: ReferenceSource
    baseline_missing: bool
    changes: tuple[ContentChange, ...]
    total: int
    has_more: bool
    counts: tuple[ChangeCounted, ...]
    warnings: tuple[str, ...]
    reference_label: str
    reference_warning: str | Unset = UNSET
    next_offset: int | Unset = UNSET
    hunks: tuple[DiffHunk, ...] | Unset = UNSET


MAX_CHANGES_OF_ANSWER = 1000

MAX_BLAME_STEPS = 200


class DiffRequest(_ContentRequest):
    """The root of the requests for a comparison.

    Args:
        path: The file's name in the draft; of a deleted file the name that it had.
        offset: The change to begin with, from 0.
        limit: The most changes of the answer.
        made_by: Whether each change names the call that made it.
        seq: The change that this event recorded, in place of all that the draft changes.
    """

    answer: ClassVar[type[Any]] = ContentDiff

    workbench_id: WorkbenchParam
    path: _Path
    offset: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_CHANGES_OF_ANSWER)] = 200
    made_by: bool = True
    seq: SeqParam | Unset = UNSET


class GetDiff(DiffRequest):
    """Compare the draft's version of a file with its reference."""


class ReviewGetDiff(DiffRequest):
    """Compare the draft's version of a file, whatever its format, with its reference.

    A file whose contents cannot be compared is answered with its sizes and hashes, and a warning.

    Args:
        sheet: Only this sheet of a workbook.
        key: The columns by whose values rows are paired.
        context_lines: Lines around a changed one; -1 for all.
    """

    sheet: str | Unset = UNSET
    key: tuple[str, ...] | Unset = UNSET
    context_lines: Annotated[int, msgspec.Meta(ge=-1, le=1_000_000)] | Unset = UNSET


class ReviewHtml(Answer):
    """A review as HTML: a page that was written, or a piece to be embedded.

    Args:
        files: How many files it shows.
        size_bytes: How large it is.
        target: Where the page was written.
        html: The piece: markup of one file, without scripts.
        style: The style of pieces, in the colors of the reader's system.
    """

    files: int
    size_bytes: int
    target: str | Unset = UNSET
    html: str | Unset = UNSET
    style: str | Unset = UNSET


class ReviewGetHtml(_ContentRequest):
    """Write what the draft changes as one HTML page; or answer one file of it as a piece.

    Args:
        target: The absolute path of a new file; without it the piece of `path` is answered.
        path: Only this file; all if absent.
    """

    answer: ClassVar[type[Any]] = ReviewHtml

    workbench_id: WorkbenchParam
    target: _Path | Unset = UNSET
    path: _Path | Unset = UNSET


class BlameStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step that touched a place: a call, or a person who added or removed the file.

    Args:
        seq: The event that recorded it.
        ts: When that was.
        kind: Who did it: a run's tool, a client's own call, a person who added or removed the file,
            or the workbench that this one was forked from.
        place: Where the place was after it; of a removal, before.
        run_id: The run, if one did.
        message: The message that the run answers.
        message_id: That message's id.
        item: The plan item that it was working on, from 1.
        item_text: The item's text.
        tool: The tool or method that was called.
        call_id: The call.
        entry_id: The call's number in the tool log.
        moved_from: Where it stood before, if the step only moved it.
        before: What was there before, where the step's comparison names the place.
        after: What was there then, likewise.
        reason: Why it was called: the item's text, or the message.
    """

    seq: Seq
    ts: str
    kind: Literal["tool_call", "client_call", "added", "adopted", "removed", "forked"]
    place: ChangePlace
    run_id: RunId | Unset = UNSET
    message: str | Unset = UNSET
    message_id: str | Unset = UNSET
    item: int | Unset = UNSET
    item_text: str | Unset = UNSET
    tool: str | Unset = UNSET
    call_id: str | Unset = UNSET
    entry_id: int | Unset = UNSET
    moved_from: ChangePlace | Unset = UNSET
    before: Any = UNSET
    after: Any = UNSET
    reason: str | Unset = UNSET


class Blame(Answer):
    """The steps that touched a place of a file, newest first.

    Args:
        path: The file.
        place: The place, in the current version.
        chain: The steps, until the place came to be.
        complete: Whether the chain goes back to there, and no step in between is in doubt.
    """

    path: FileName
    place: ChangePlace
    chain: tuple[BlameStep, ...]
    complete: bool


class ReviewGetBlame(_ContentRequest):
    """Get who touched a place of a file: the calls behind it, back to where it came from.

    Args:
        path: The file's name; its current version counts, the draft's if there is one.
        place: As people write it ("Sheet1!B7"), or as a change has it.
        limit: The most steps of the answer.
    """

    answer: ClassVar[type[Any]] = Blame

    workbench_id: WorkbenchParam
    path: _Path
    place: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] | ChangePlace
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_BLAME_STEPS)] = 50


ReviewRequest = ReviewGetDiff | ReviewGetBlame | ReviewGetHtml
"""The requests of this subject."""
