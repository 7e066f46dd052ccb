"""Unions: the rows of several tables below each other, and figures over all of them. Pure."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from kbd.jobs.records import GroupStep, TableStep, UnionStep
from kbd_offline.comparisons import day_of
from kbd_offline.evident_keys import table_words, things
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.lexicon import LEXICON
from kbd_offline.names import stem, tokens
from kbd_offline.scan import UnclearError
from kbd_offline.table_rules import phrases
from kbd_offline.table_scan import TablesScan
from kbd_offline.together import Result, TableMade, TablesTogether, grouped_by, stem_of

__all__ = ["is_same", "named_union", "per_file", "periods_together", "plain_union"]

ORIGIN = "Source"
"""The column that tells the file of each row."""


def is_same(tables: Sequence[KnownTable]) -> bool:
    """Tell whether tables all have the same columns."""
    found = {frozenset(_plain(column.name) for column in table.columns) for table in tables}
    return len(found) == 1 and len(tables) > 1


def _plain(name: str) -> str:
    """Return a name whatever its case and signs."""
    return "".join(tokens(name))


def plain_union(work: TablesTogether) -> Result | None:
    """Read "put the three files in one", "merge all months and …"; None where it is none.

    The tables have the same columns. What follows is read against all rows.

    Raises:
        UnclearError: It says how many tables are meant, and there are others.
    """
    scan = work.scan
    if not is_same(work.tables) or scan.has_file() or scan.has("origin"):
        return None
    work.take_kind()
    used = _over_all(scan) or _led_by_union(scan, work.used)
    work.used |= used
    return _united(work) if used else None


def _led_by_union(scan: TablesScan, used: set[int]) -> set[int]:
    """Return the places of "merge all three files and" at the beginning, none where it is not."""
    place, has_object = 0, False
    while place < len(scan):
        is_object = place in used or _is_object(scan, place)
        is_joint = scan.word(place) in ("and", "und", "with", ",")
        is_known = is_object or scan.at(place, "united", "beside_union")
        if place not in used and (is_joint or not is_known):
            break
        has_object |= is_object
        place += 1
    if not has_object or not any(scan.at(at, "united") for at in range(place)):
        return set()
    end = place
    while scan.word(end) in ("and", "und", ",", "then", "dann"):
        end += 1
    # "… untereinander", "… zusammen" may stand behind the rest.
    is_last = scan.word(len(scan) - 1) in ("zusammen", "untereinander", "aneinander")
    return {*range(end), *((len(scan) - 1,) if is_last else ())}


def _is_object(scan: TablesScan, place: int) -> bool:
    """Tell whether a word speaks of the tables that are put together.

    Raises:
        UnclearError: It says how many they are, and there are others.
    """
    word = scan.word(place)
    number = LEXICON.numerals.get(word) or (int(word) if word.isdigit() else 0)
    number = 2 if word in ("both", "beide", "beiden") else number
    if number > 1:
        if number != len(scan.tables):
            raise UnclearError(f"it speaks of {number} tables, and there are {len(scan.tables)}")
        return True
    nouns = {stem(one) for table in scan.tables for one in things(table)}
    is_called = stem(word) in nouns and scan.column(place) is None
    return is_called or bool(scan.at(place, "tables_noun", "spans_noun", "whole_noun"))


def _over_all(scan: TablesScan) -> set[int]:
    """Return the places of "over all three months" at the end of a request, none without them."""
    for place in range(1, len(scan)):
        if not scan.at(place, "over_tables") or not scan.at(place + 1, "every_table"):
            continue
        behind = range(place + 1, len(scan))
        known = [_is_object(scan, at) or bool(scan.at(at, "beside_union")) for at in behind]
        if all(known) and any(scan.at(at, "tables_noun", "spans_noun") for at in behind):
            return {place, *behind}
    return set()


def periods_together(work: TablesTogether) -> Result | None:
    """Read a request about tables alike, each of another period, as one about all; else None.

    Raises:
        UnclearError: It has no reading against all of them.
    """
    scan, tables = work.scan, work.tables
    names = {word for table in tables for word in table_words(table) if not word.isdigit()}
    if (
        not is_same(tables) or scan.has_file() or scan.has("tables_noun") or not _in_order(tables)
        or any(scan.word(place) in names for place in range(len(scan)))
    ):  # fmt: skip
        return None
    return _united(work)


def _in_order(tables: Sequence[KnownTable]) -> bool:
    """Tell whether each table is of a period of its own."""
    return len({day_of(table) for table in tables} - {""}) == len(tables)


def per_file(work: TablesTogether) -> Result | None:
    """Read "total takings per file": figures of each of some tables alike; None where it is none.

    Raises:
        UnclearError: What is worked out of each is not clear.
    """
    if not is_same(work.tables) or work.scan.has_file():
        return None
    for phrase in phrases(work.scan, "each_file"):
        work.used |= phrase.places
        return _by_origin(_united(work, ORIGIN))
    return None


def named_union(work: TablesTogether) -> Result | None:
    """Read "merge a.csv and b.csv with a source column"; None where it is none.

    Raises:
        UnclearError: A column is missing somewhere.
    """
    scan = work.scan
    verb = work.find("union", "union_strong")
    if verb is None or not (scan.has_file() or scan.has("union_all", "union_suffix")):
        return None
    is_late = verb > 3 and not scan.at(verb, "det", "filler", "union_strong")
    if is_late:
        return None
    origin = ORIGIN if work.take("origin") else ""
    has_gaps = work.take("gaps")
    work.take_kind()
    work.take("union", "union_strong", "union_all", "union_suffix")
    work.take_files()
    return _united(work, origin, has_gaps=has_gaps)


def _united(work: TablesTogether, origin: str = "", *, has_gaps: bool = False) -> Result:
    """Return the job of what is left of a request against the rows of all tables."""
    if not work.scan.has_file() and _in_order(work.tables):
        # Of several months the first one comes first.
        work.tables.sort(key=day_of)
    tables = work.tables
    columns = _columns(tables, has_gaps=has_gaps)
    if origin:
        columns = (*columns, KnownColumn(origin, distinct=len(tables)))
    labels = tuple(one.name for one in work.inputs())
    step = UnionStep(labels, origin or None, "empty" if has_gaps else "refuse", make="merged")
    told = f"The rows of {', '.join(table.label for table in tables)} below each other"
    told += ", with the file of each" if origin else ""
    known = KnownTable("merged", columns=columns, rows=sum(table.rows for table in tables))
    nouns = tuple(word for table in tables for word in things(table))
    return work.read_rest(
        TableMade(known, (step,), told, _stem(tables), nouns=nouns, has_totals=False)
    )


def _by_origin(found: Result) -> Result:
    """Return figures of all as those of each file.

    Raises:
        UnclearError: There are none, or more than one step makes them.
    """
    job, words, notes = found
    groups = [step for step in job.steps if isinstance(step, GroupStep)]
    others = [step for step in job.steps if isinstance(step, TableStep)]
    if len(groups) != 1 or len(others) > len(groups) + 2:
        raise UnclearError("it does not say what to work out of each file")
    words = f"{words}, by file"
    steps = grouped_by(job.steps, first=(ORIGIN,))
    return msgspec.structs.replace(job, steps=steps, title=words), words, notes


def _columns(tables: Sequence[KnownTable], *, has_gaps: bool) -> tuple[KnownColumn, ...]:
    """Return the columns of tables below each other, matched by name whatever case and signs.

    Raises:
        UnclearError: A column is missing somewhere, or the tables have none in common.
    """
    found: dict[str, list[KnownColumn]] = {}
    for table in tables:
        for column in table.columns:
            found.setdefault(_plain(column.name), []).append(column)
    if not any(len(some) == len(tables) for some in found.values()):
        raise UnclearError("the tables have no column in common")
    for key, some in found.items():
        if len(some) < len(tables) and not has_gaps:
            lacking = sorted(
                t.label for t in tables if all(_plain(c.name) != key for c in t.columns)
            )
            raise UnclearError(
                f'{lacking[0]} has no column "{some[0].name}"; say "missing columns stay empty"'
            )
    return tuple(_merged(some) for some in found.values())


def _merged(some: Sequence[KnownColumn]) -> KnownColumn:
    """Return a column of several tables as one."""
    first = some[0]
    values = Counter[str]()
    for column in some:
        values.update(column.values)
    as_number = float if first.is_number else str
    least = [column.minimum for column in some if column.minimum]
    greatest = [column.maximum for column in some if column.maximum]
    return msgspec.structs.replace(
        first, values=dict(values),
        type="float" if {column.type for column in some} == {"integer", "float"} else first.type,
        role=next((column.role for column in some if column.role), ""),
        distinct=sum(column.distinct for column in some),
        filled=sum(column.filled for column in some),
        minimum=min(least, key=as_number, default=""),
        maximum=max(greatest, key=as_number, default=""),
        is_listed=all(column.is_listed for column in some),
    )  # fmt: skip


def _stem(tables: Sequence[KnownTable]) -> str:
    """Return a name for tables together: what their names have in common."""
    first, *others = [stem_of(table).split("-") for table in tables]
    shared = [part for part in first if all(part in other for other in others)]
    return "-".join([*shared, "merged"])
