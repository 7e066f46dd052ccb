"""Shared types: the identifiers and closed sets that every layer uses.

Identifiers are `NewType`s so that a file name cannot be passed where a run id is meant; closed
sets are enums whose values are the words on the wire and in the log. Bare `str` is for text that
people read.
"""

from enum import StrEnum
from typing import Literal, NewType

import msgspec

__all__ = [
    "BlobHash",
    "CallId",
    "ContextCategory",
    "Effect",
    "FileName",
    "FocusHint",
    "ForkMode",
    "Phase",
    "ReadAs",
    "RunId",
    "Seq",
    "WatchId",
    "WorkbenchId",
]

WorkbenchId = NewType("WorkbenchId", str)
"""16 lower-case hex digits."""

WatchId = NewType("WatchId", str)
"""16 lower-case hex digits, told apart from a workbench's by where it stands."""

RunId = NewType("RunId", str)
"""`<workbench_id>-<n>`, n counted from 1 in the workbench, so a run's log is found by its id."""

CallId = NewType("CallId", str)
"""The model's name for one tool call; unique within the run's log."""

Seq = NewType("Seq", int)
"""An event's place in its log, counted from 1 without gaps; 0 is "before the first"."""

FileName = NewType("FileName", str)
"""A relative, NFC-normalized name inside a workbench, components joined by `/`."""

BlobHash = NewType("BlobHash", str)
"""The SHA-256 of a file's bytes, 64 lower-case hex digits."""


class FocusHint(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where to look first in a file that an edit changed; all counted from 0.

    Args:
        sheet: The sheet of a workbook; alone if the sheet as a whole changed.
        row_start: The row of its first cell that changed.
        col_start: The column of that cell.
        section_index: The section of a document.
        slide_index: The slide of a deck.
    """

    sheet: str | None = None
    row_start: int | None = None
    col_start: int | None = None
    section_index: int | None = None
    slide_index: int | None = None


class Phase(StrEnum):
    """The four phases of a run, in order."""

    RESEARCH = "research"
    PLAN = "plan"
    IMPLEMENT = "implement"
    SUMMARY = "summary"


class ContextCategory(StrEnum):
    """What runs can be told once and for all, in the order in which they are told it."""

    COMPANY = "company-context"
    DEPARTMENT = "department-context"
    SITUATION = "situation"
    STYLE = "document-style"


class Effect(StrEnum):
    """What a tool does to the workbench; the phase lists are drawn from it.

    `READ` tools look; `RECALL` tools look at what the run already saw (plan may use them);
    `WRITE` tools change the draft, and only implement may call them.
    """

    READ = "read"
    RECALL = "recall"
    WRITE = "write"


ForkMode = Literal["clone_all", "clone_files_and_context_no_chat", "clone_files_only"]
"""How much of a workbench a fork takes over."""


class ReadAs(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a table is to be read, as a person or a rule said; None where it is found out.

    Args:
        encoding: A codec of Python.
        delimiter: What separates fields: one character.
        header_row: The row of the file that names the columns, counted from 1; 0 for none.
        header_sheet: The sheet of a workbook that `header_row` is said of; None for each of them.
        decimal: The decimal mark of its numbers.
        date_order: The order of day, month and year in dates that are written with figures.
        totals: Whether rows that sum others up are left out, with what remarks on them and what may
            be one; only those whose label and figures prove it; or none, for all are rows.
        blanks: Whether blanks around texts are taken off, which they are unless it is said.
    """

    encoding: str | None = None
    delimiter: str | None = None
    header_row: int | None = None
    header_sheet: str | None = None
    decimal: Literal[".", ","] | None = None
    date_order: Literal["dmy", "mdy", "ymd"] | None = None
    totals: Literal["leave_out", "leave_out_proven", "keep"] | None = None
    blanks: Literal["trim", "keep"] | None = None
