"""Judge of what a program read: right, asked, refused, told, left as text, or silently wrong.

It knows no program. What was read comes as `Answer`, and is compared with what a case expects:
the rows, the names and kinds of the columns, of numbers how many, their sum, least and greatest,
of dates the first and the last, of texts every letter.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Literal

import msgspec

from golden_tables.cases import Case, Column, Expected, Figures, Kind, digest, figures_of

__all__ = ["OUTCOMES", "Answer", "Fault", "Outcome", "ReadColumn", "Verdict", "faults_of", "judge"]

Outcome = Literal["right", "asked", "refused", "told", "left as text", "silently wrong"]
OUTCOMES: tuple[Outcome, ...] = (
    "right", "asked", "refused", "told", "left as text", "silently wrong",
)  # fmt: skip
"""Told: a figure differs, and what is said names it. Left as text: numbers or dates stayed as they
are written, without a word; no figure comes out, but nobody is told why."""


_DOUBT = re.compile(
    r"cannot be told|not sure|unsure|guess|doubt|might|may be|either", re.IGNORECASE
)


class ReadColumn(msgspec.Struct, frozen=True):
    """A column as a program read it.

    Args:
        name: Its name.
        kind: What it holds.
        count: Values that are there.
        total: Of numbers the sum.
        low: The least number or the first date, as ISO text.
        high: The greatest or the last one.
        is_exact: Whether the sum has no rounding.
        texts: Of texts all values.
    """

    name: str
    kind: Kind
    count: int
    total: Decimal | None = None
    low: Decimal | str | None = None
    high: Decimal | str | None = None
    is_exact: bool = True
    texts: tuple[str | None, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """What a program made of a file.

    Args:
        row_count: Its rows.
        columns: Its columns.
        said: All that it says about how it was read, without the rows that it mended.
        mended: What it says about rows that are in the table, but not as they stand in the file.
        left_out: Rows that it says are not in the table.
        questions: What it asks, and about which columns; none, about the whole table.
        options: The answers that it offers, by what it asks.
        withheld: Whether it gives no figures until its questions are answered.
        refusal: Why it did not read it; the rest is then empty.
    """

    row_count: int = 0
    columns: tuple[ReadColumn, ...] = ()
    said: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    left_out: int = 0
    questions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    options: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    withheld: bool = False
    refusal: str = ""


class Fault(msgspec.Struct, frozen=True):
    """A difference between what was read and what is right.

    Args:
        text: The difference.
        is_named: Whether what was said names it.
        is_text: Whether it is no more than that values stayed as they are written.
    """

    text: str
    is_named: bool = False
    is_text: bool = False


class Verdict(msgspec.Struct, frozen=True):
    """Outcome of a case, with its reason."""

    case: Case
    outcome: Outcome
    reason: str = ""


def judge(case: Case, answer: Answer, answered: Sequence[tuple[Expected, Answer]] = ()) -> Verdict:
    """Judge what was read of a case.

    Args:
        case: The case.
        answer: What was read at first.
        answered: Where it asked, readings with what was read after their answers were given: each
            one of a case that must be asked, of others the first.
    """
    if answer.refusal:
        return Verdict(case, "refused", answer.refusal)
    if answer.questions:
        return _judge_asked(case, answer, answered)
    if case.must_ask:
        return _judge_unasked(case, answer)
    return _verdict(case, _least_faults(case.tables, answer))


def _judge_asked(
    case: Case, answer: Answer, answered: Sequence[tuple[Expected, Answer]]
) -> Verdict:
    """Judge a case that was asked: no figure before the answer, the right ones after it."""
    early = None if answer.withheld else _early(answer)
    if early is not None:
        return Verdict(case, "silently wrong", f"{early} has figures before the answer")
    asked = {about for about, _ in answer.questions}
    if case.must_ask and case.must_ask not in asked:
        return Verdict(case, "silently wrong", f"asked {sorted(asked)}, not {case.must_ask}")
    for expected, after in answered:
        if after.refusal or after.questions:
            left = after.refusal or f"still asks {[about for about, _ in after.questions]}"
            return Verdict(case, "silently wrong", f"after the answer: {left}")
        rights = [expected] if case.must_ask else case.tables
        if faults := _least_faults(rights, after):
            verdict = _verdict(case, faults)
            return Verdict(case, verdict.outcome, f"after the answer: {verdict.reason}")
    return Verdict(case, "asked", ", ".join(sorted(asked)))


def _early(answer: Answer) -> str | None:
    """Return a column that has figures although it is not known what they are.

    Whatever the letters are, numbers stay the same.
    """
    kinds = {column.name: column.kind for column in answer.columns}
    for about, columns in answer.questions:
        for name in columns or kinds if about != "encoding" else ():
            if kinds.get(name) in ("number", "date", "datetime"):
                return name
    return None


def _judge_unasked(case: Case, answer: Answer) -> Verdict:
    """Judge a case that has to be asked and was not: any figure is a guess."""
    kinds = {column.name: column.kind for column in answer.columns}
    firsts = case.tables[0].columns
    differing = [
        one.name
        for one, *others in zip(*(table.columns for table in case.tables), strict=True)
        if one.kind != "text" and any(other.values != one.values for other in others)
    ]
    faults = []
    for name in differing:
        if kinds.get(name or "") == "text":
            faults.append(
                Fault(f"{name} stayed text", is_named=_names(name or "", answer), is_text=True)
            )
        else:
            faults.append(Fault(f"{name} was guessed, {case.must_ask} was not asked"))
    if len(answer.columns) != len(firsts):
        faults.append(Fault(f"{len(answer.columns)} columns, not {len(firsts)}"))
    return _verdict(case, faults or [Fault(f"{case.must_ask} was not asked")])


def _least_faults(rights: Sequence[Expected], answer: Answer) -> list[Fault]:
    """Return what differs from the reading that is nearest, out of those that are right."""
    found = [faults_of(expected, answer) for expected in rights]
    return min(found, key=lambda faults: (_weight(faults), len(faults)))


def _weight(faults: Sequence[Fault]) -> int:
    """Tell how bad faults are: 3 for what nothing names."""
    return max((1 if f.is_named else 2 if f.is_text else 3 for f in faults), default=0)


def _verdict(case: Case, faults: Sequence[Fault]) -> Verdict:
    outcomes: tuple[Outcome, ...] = ("right", "told", "left as text", "silently wrong")
    return Verdict(case, outcomes[_weight(faults)], "; ".join(fault.text for fault in faults[:4]))


def faults_of(expected: Expected, answer: Answer) -> list[Fault]:
    """Return what differs between a reading that is right and what was read."""
    faults = []
    # Of a row that was mended it is known that it is in the table, not what that does to sums.
    is_said = bool(expected.words) and _says(expected.words, answer.said)
    is_known = is_said or (bool(expected.words) and _says(expected.words, answer.mended))
    if answer.row_count != expected.row_count:
        text = f"{answer.row_count} rows, not {expected.row_count}"
        faults.append(Fault(text, is_named=is_known))
    # A program that has no record of such rows may say it in words.
    elif answer.left_out < expected.left_out and not is_said:
        text = f"{expected.left_out} row(s) left out, said of {answer.left_out}"
        faults.append(Fault(text))
    if len(answer.columns) != len(expected.columns):
        text = f"{len(answer.columns)} columns, not {len(expected.columns)}"
        return [*faults, Fault(text, is_named=is_known)]
    is_other = answer.row_count != expected.row_count
    for column, read in zip(expected.columns, answer.columns, strict=True):
        if not _is_named_so(column, read):
            named = _says(("encoding", "column name"), answer.said)
            wanted = column.name or "as its digest says"
            faults.append(Fault(f"named {read.name!r}, not {wanted!r}", is_named=named))
        if (fault := _column_fault(column, read, answer)) is not None:
            # What a row too many does to a column is named with the row.
            excused = is_other and (is_said if column.kind == "number" else is_known)
            is_named = fault.is_named or excused
            faults.append(msgspec.structs.replace(fault, is_named=is_named))
    return faults


def _is_named_so(column: Column, read: ReadColumn) -> bool:
    if column.name_digest:
        return digest([read.name]) == column.name_digest
    return column.name is None or _bare(read.name) == _bare(column.name)


def _column_fault(column: Column, read: ReadColumn, answer: Answer) -> Fault | None:
    """Return how a column differs from what is right."""
    if column.kind is None:
        return None
    figures = figures_of(column)
    is_named = _names(read.name, answer)
    if column.kind == "text" or (column.may_be_text and read.kind == "text"):
        return _text_fault(column, figures, read, answer)
    if read.kind == "text":
        return Fault(f"{read.name} stayed text", is_named=is_named, is_text=True)
    match column.kind, read.kind:
        case ("number", "number"):
            return _number_fault(figures, read, answer, is_percent=column.is_percent)
        case ("date" | "datetime", "date" | "datetime"):
            return _date_fault(figures, read, is_named=is_named)
        case ("boolean", "boolean") if read.count == figures.count:
            return None
        case _:
            told = f"{read.name} is {read.kind} ({read.count}), not {column.kind} ({figures.count})"
            return Fault(told, is_named=is_named)


def _text_fault(column: Column, figures: Figures, read: ReadColumn, answer: Answer) -> Fault | None:
    if read.kind != "text":
        # What holds nothing may be of any kind.
        if not read.count and not any(column.texts) and not figures.count:
            return None
        told = f"{read.name} is {read.kind}, not text"
        return Fault(told, is_named=_names(read.name, answer, doubted=True))
    wanted = digest(column.texts) if column.texts else figures.digest
    if digest(read.texts) == wanted or not (column.texts or column.figures or read.texts):
        return None
    letters = _says(("encoding", "code page", "utf-", "not valid"), answer.said)
    difference = _first_difference(column.texts, read.texts) if column.texts else "other texts"
    return Fault(f"{read.name}: {difference}", is_named=letters)


def _number_fault(
    figures: Figures, read: ReadColumn, answer: Answer, *, is_percent: bool
) -> Fault | None:
    wanted = (figures.total or Decimal(), figures.low, figures.high)
    found = (read.total or Decimal(), read.low, read.high)
    for scale in (Decimal(1), Decimal("0.01")) if is_percent else (Decimal(1),):
        if read.count == figures.count and all(
            _same_number(want, have, scale, is_exact=read.is_exact)
            for want, have in zip(wanted, found, strict=True)
        ):
            if is_percent and not _names(read.name, answer):
                return Fault(f"{read.name}: nobody is told whether 1% is 1 or 0.01")
            return None
    told = f"{read.name}: {read.count} values, sum {found[0]}, {found[1]} to {found[2]}"
    right = f"{figures.count}, {wanted[0]}, {wanted[1]} to {wanted[2]}"
    named = _names(read.name, answer, doubted=True)
    return Fault(f"{told}; not {right}", is_named=named)


def _same_number(
    wanted: Decimal | str | None, found: Decimal | str | None, scale: Decimal, *, is_exact: bool
) -> bool:
    if wanted is None or not isinstance(found, Decimal):
        return wanted is None and found is None
    wanted = Decimal(wanted) * scale
    room = Decimal() if is_exact else max(Decimal(1), abs(wanted)) * Decimal("1e-9")
    return abs(found - wanted) <= room


def _date_fault(figures: Figures, read: ReadColumn, *, is_named: bool) -> Fault | None:
    wanted = (figures.count, _stamp(figures.low), _stamp(figures.high))
    found = (read.count, _stamp(read.low), _stamp(read.high))
    if wanted == found:
        return None
    told = f"{read.name}: {found[0]} dates, {found[1]} to {found[2]}"
    return Fault(f"{told}; not {wanted[0]}, {wanted[1]} to {wanted[2]}", is_named=is_named)


def _stamp(value: Decimal | str | date | None) -> str:
    """Return a date or time as one text: without a zone, midnight where there is no time."""
    if value is None:
        return ""
    found = value if isinstance(value, date) else datetime.fromisoformat(str(value))
    if not isinstance(found, datetime):
        found = datetime(found.year, found.month, found.day)  # noqa: DTZ001 - files have no zone
    return found.replace(tzinfo=None).isoformat()


def _bare(name: str) -> str:
    """Return a name without blanks around it and with single ones in it."""
    return " ".join(name.split())


def _first_difference(wanted: Sequence[str | None], found: Sequence[str | None]) -> str:
    for one, other in zip(wanted, found, strict=False):
        if (one or "").strip() != (other or "").strip():
            return f"{other!r:.60}, not {one!r:.60}"
    return f"{len(found)} texts, not {len(wanted)}"


def _says(words: Sequence[str], said: Sequence[str]) -> bool:
    """Tell whether one of the words is in what was said."""
    return any(word in each.casefold() for word in words for each in said)


def _names(name: str, answer: Answer, *, doubted: bool = False) -> bool:
    """Tell whether what was said names a column, as a word of its own.

    Where a wrong figure came out, to name the column is not enough: it must be doubted.
    """
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    said = [each for each in answer.said if pattern.search(each)]
    return any(_DOUBT.search(each) for each in said) if doubted else bool(said)
