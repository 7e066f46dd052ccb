"""Unions: the rows of several tables below each other, and figures over all of them. Pure."""

from collections.abc import Sequence

import msgspec

from kbd.jobs.records import GroupStep, TableStep, UnionStep
from kbd_offline.comparisons import day_of
from kbd_offline.evident_keys import table_words, things
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.lexicon import LEXICON
from kbd_offline.names import stem, tokens
from kbd_offline.pair_words import UNITED, word_set
from kbd_offline.scan import UnclearError
from kbd_offline.together import Result, TablesTogether, stem_of

__all__ = ["is_same", "named_union", "per_file", "plain_union"]

ORIGIN = "Source"
"""The column that tells the file of each row."""

_MANY = word_set(
    "files file lists list tables table sheets sheet months month quarters quarter years "
    "year csvs csv workbooks exports dateien datei listen tabellen tabelle blatter monate "
    "monats quartale jahre exporte monatsdateien monatslisten excel"
)
_BESIDE = word_set(
    "all the these those both every alle die diese beide beiden von of my our meine them "
    "they everything alles zusammen together sie von den der please bitte can you could und "
    "with and single big grosse große untereinander aneinander single gemeinsame "
    "gemeinsamen einzige einzigen unter below each other one a an in into to zu eine einer "
    "einem ein new neue neuen me us i want up"
)
_INTO = word_set("in into to zu")
_FILE_WORDS = word_set("file files datei dateien sheet blatt list liste")
_EACH = word_set("each every jede jeder")
_PER = word_set("per by each je pro every jede jeder")


def is_same(tables: Sequence[KnownTable]) -> bool:
    """Tell whether tables all have the same columns."""
    found = {frozenset("".join(tokens(c.name)) for c in table.columns) for table in tables}
    return len(found) == 1 and len(tables) > 1


def plain_union(work: TablesTogether) -> Result | None:
    """Read "put the three files in one", "merge all months and …"; None where it is none.

    The tables have the same columns. What follows is read against all rows.

    Raises:
        UnclearError: It says how many tables are meant, and there are others.
    """
    if not is_same(work.tables) or any(t.kind == "file" for t in work.scan.tokens):
        return None
    if any(work.scan.at(place, "origin") for place in range(len(work.scan))):
        return None
    work.take_kind()
    used = _united_words(work)
    if used is None:
        return None
    work.used |= used
    return _united(work, None)


def _united_words(work: TablesTogether) -> set[int] | None:
    """Return the places of the words for putting tables together; None where they are not there."""
    scan = work.scan
    found = _over_all(work)
    if found is not None:
        return found
    place, has_object, has_verb = 0, False, False
    while place < len(scan):
        word = scan.word(place)
        is_object = place not in work.used and _is_object(work, place)
        if place in work.used:
            has_object = True
        elif word in ("and", "und", "with", ",") or not (
            is_object or word in UNITED or word in _BESIDE
        ):
            break
        has_object |= is_object
        has_verb |= word in UNITED
        place += 1
    if not has_object or not has_verb:
        return None
    used = set(range(place))
    # "… untereinander", "… zusammen" may stand behind the rest.
    if scan.word(len(scan) - 1) in ("zusammen", "untereinander", "aneinander"):
        used.add(len(scan) - 1)
    while place < len(scan) and scan.word(place) in ("and", "und", ",", "then", "dann"):
        used.add(place)
        place += 1
    return used


def _is_object(work: TablesTogether, place: int) -> bool:
    """Tell whether a word speaks of the tables that are put together.

    Raises:
        UnclearError: It says how many they are, and there are others.
    """
    scan, word = work.scan, work.scan.word(place)
    number = LEXICON.numerals.get(word) or (
        {"beide": 2, "beiden": 2, "both": 2}.get(word) or (int(word) if word.isdigit() else 0)
    )
    if number > 1:
        if number != len(work.tables):
            raise UnclearError(f"it speaks of {number} tables, and there are {len(work.tables)}")
        return True
    nouns = {stem(word) for table in work.tables for word in things(table) if not word.isdigit()}
    return word in _MANY or word in _WHOLE or (stem(word) in nouns and scan.column(place) is None)


def _over_all(work: TablesTogether) -> set[int] | None:
    """Return the places of "over all three months" at the end of a request, None for none."""
    scan = work.scan
    for place in range(1, len(scan)):
        if scan.word(place) not in _OVER or scan.word(place + 1) not in _ALL:
            continue
        behind = range(place + 1, len(scan))
        known = [scan.word(at) in _BESIDE or _is_object(work, at) for at in behind]
        if all(known) and any(scan.word(at) in _MANY for at in behind):
            return set(range(place, len(scan)))
    return None


_WHOLE = word_set("all alle alles everything them together zusammen untereinander one")
_OVER = word_set("over across uber from in aus for of fur")
_ALL = word_set("all alle allen aller the both beide beiden")


def periods_together(work: TablesTogether) -> Result | None:
    """Read a request about tables alike, each of another period, as one about all; else None.

    Raises:
        UnclearError: It has no reading against all of them.
    """
    tables = work.tables
    if not is_same(tables) or any(t.kind == "file" for t in work.scan.tokens):
        return None
    days = {day_of(table) for table in tables}
    if "" in days or len(days) < len(tables):
        return None
    names = {word for table in tables for word in table_words(table) if not word.isdigit()}
    if any(work.scan.word(place) in names for place in range(len(work.scan))):
        return None
    if any(work.scan.word(place) in _MANY - _SPANS for place in range(len(work.scan))):
        return None
    return _united(work, None)


_SPANS = word_set("months month quarters quarter years year monate monats quartale jahre")


def per_file(work: TablesTogether) -> Result | None:
    """Read "total takings per file": figures of each of some tables alike; None where it is none.

    Raises:
        UnclearError: What is worked out of each is not clear.
    """
    if not is_same(work.tables) or any(t.kind == "file" for t in work.scan.tokens):
        return None
    scan = work.scan
    for place in range(len(scan)):
        leads = scan.word(place) in _PER and (
            scan.word(place) not in _EACH or scan.word(place - 1) in ("for", "fur")
        )
        if not leads or scan.word(place + 1) not in _FILE_WORDS:
            continue
        end = place + 2
        month = scan.word(end + 1) if scan.word(end) in ("/", "or") else ""
        if month and not scan.at(end + 1, "month"):
            return None
        start = place - 1 if scan.word(place - 1) in ("for", "fur") else place
        work.used |= set(range(start, end + 2 if month else end))
        return _united(work, ORIGIN)
    return None


def named_union(work: TablesTogether) -> Result | None:
    """Read "merge a.csv and b.csv with a source column"; None where it is none.

    Raises:
        UnclearError: A column is missing somewhere.
    """
    verb = work.find("union", "union_strong")
    if verb is None:
        return None
    named = any(token.kind == "file" for token in work.scan.tokens)
    spoken = work.find("union_all")
    if not named and spoken is None and work.find("union_suffix") is None:
        return None
    starts = work.scan.skip(verb, "det", "filler")
    if verb > 3 and starts == verb and not work.scan.at(verb, "union_strong"):
        return None
    has_origin = work.find("origin") is not None
    if has_origin:
        work.take_all("origin")
    has_gaps = work.take_all("gaps")
    work.take_kind()
    work.take_all("union", "union_strong", "union_all", "union_suffix")
    work.take_files()
    return _united(work, ORIGIN if has_origin else None, has_gaps=has_gaps, is_grouped=False)


def _united(
    work: TablesTogether, origin: str | None, *, has_gaps: bool = False, is_grouped: bool = True
) -> Result:
    """Return the job of what is left of a request against the rows of all tables."""
    has_order = any(token.kind == "file" for token in work.scan.tokens)
    if not has_order and len({day_of(table) for table in work.tables} - {""}) == len(work.tables):
        # Of several months the first one comes first.
        work.tables.sort(key=day_of)
    tables = work.tables
    columns = _columns(tables, has_gaps=has_gaps)
    labels = tuple(one.name for one in work.inputs())
    step = UnionStep(labels, origin, "empty" if has_gaps else "refuse", make="merged")
    extra = (KnownColumn(ORIGIN, distinct=len(tables)),) if origin else ()
    rows = sum(table.rows for table in tables)
    known = KnownTable("merged", columns=(*columns, *extra), rows=rows)
    told = f"The rows of {', '.join(table.label for table in tables)} below each other"
    told += ", with the file of each" if origin else ""
    nouns = [word for table in tables for word in things(table) if not word.isdigit()]
    found = work.read_rest(known, (step,), told, _stem(tables), nouns=nouns, has_totals=False)
    return _by_origin(found) if origin and is_grouped else found


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
    steps = tuple(
        msgspec.structs.replace(step, by=(ORIGIN, *step.by))
        if isinstance(step, GroupStep)
        else step
        for step in job.steps
    )
    words = f"{words}, by file"
    return msgspec.structs.replace(job, steps=steps, title=words), words, notes


def _columns(tables: Sequence[KnownTable], *, has_gaps: bool) -> tuple[KnownColumn, ...]:
    """Return the columns of tables below each other, matched by name whatever case and signs.

    Raises:
        UnclearError: A column is missing somewhere, or the tables have none in common.
    """
    found: dict[str, list[KnownColumn]] = {}
    for table in tables:
        for column in table.columns:
            found.setdefault("".join(tokens(column.name)), []).append(column)
    if not any(len(some) == len(tables) for some in found.values()):
        raise UnclearError("the tables have no column in common")
    for key, some in found.items():
        if len(some) < len(tables) and not has_gaps:
            lacking = sorted(
                t.label for t in tables if all("".join(tokens(c.name)) != key for c in t.columns)
            )
            raise UnclearError(
                f'{lacking[0]} has no column "{some[0].name}"; say "missing columns stay empty"'
            )
    return tuple(_merged(some) for some in found.values())


def _merged(some: Sequence[KnownColumn]) -> KnownColumn:
    """Return a column of several tables as one."""
    values: dict[str, int] = {}
    for column in some:
        for value, count in column.values.items():
            values[value] = values.get(value, 0) + count
    numbers = {column.type for column in some} == {"integer", "float"}
    return msgspec.structs.replace(
        some[0], values=values, type="float" if numbers else some[0].type,
        role=next((column.role for column in some if column.role), ""),
        distinct=sum(column.distinct for column in some),
        filled=sum(column.filled for column in some),
        minimum=_least(some), maximum=_greatest(some),
        is_listed=all(column.is_listed for column in some),
    )  # fmt: skip


def _least(some: Sequence[KnownColumn]) -> str:
    return _outermost([column.minimum for column in some if column.minimum], some[0], first=True)


def _greatest(some: Sequence[KnownColumn]) -> str:
    return _outermost([column.maximum for column in some if column.maximum], some[0], first=False)


def _outermost(texts: Sequence[str], column: KnownColumn, *, first: bool) -> str:
    """Return the least or the greatest of some texts, as numbers where they are numbers."""
    if not texts:
        return ""
    ordered = sorted(texts, key=float) if column.is_number else sorted(texts)
    return ordered[0] if first else ordered[-1]


def _stem(tables: Sequence[KnownTable]) -> str:
    """Return a name for tables together: what their names have in common."""
    first, *others = [stem_of(table).split("-") for table in tables]
    shared = [part for part in first if all(part in other for other in others)]
    return "-".join([*shared, "merged"])
