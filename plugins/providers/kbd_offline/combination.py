"""Combination of tables: below each other, joined by a key, compared. Pure.

What is asked of the tables together is read first; what is left of the request is read against the
table that comes of it.
"""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Literal

import msgspec

from kbd.jobs.records import CompareStep, Job, JoinStep, ReportStep
from kbd_offline.comparisons import compared_lists
from kbd_offline.composition import compose
from kbd_offline.evident_keys import column_of, has_column, is_unique
from kbd_offline.facts import KnownTable
from kbd_offline.names import fold, tokens
from kbd_offline.owners import without_owners
from kbd_offline.pair_words import word_set
from kbd_offline.partners import (
    added_columns,
    beside_names,
    evident_key,
    joined_with,
    without_partner,
)
from kbd_offline.reading import read_clauses
from kbd_offline.request_files import BOOK_SUFFIX, FileNames
from kbd_offline.request_tokens import tokenize
from kbd_offline.scan import RequestScan, SeveralError, UnclearError
from kbd_offline.single import JobFiles, read_table
from kbd_offline.together import Result, TablesTogether, passed_over, stem_of
from kbd_offline.unions import is_same, named_union, per_file, periods_together, plain_union

__all__ = ["combined"]

_Reader = Callable[[TablesTogether], Result | None]


def combined(
    request: str,
    tables: Sequence[KnownTable],
    names: FileNames,
    files: JobFiles,
    today: date,
) -> Result | None:
    """Return the job of a request that puts tables together, None where it is about one.

    Raises:
        SeveralError: It has several readings.
        UnclearError: It has none.
    """
    if len(tables) < 2:
        return None
    scan = RequestScan(request, tokenize(request, names.spans), _every(tables), today)
    chosen = _meant(scan, tables, names)
    if len(chosen) < 2 or not len(scan):
        return None
    for read in _READERS:
        # Each begins with all words: what one of them used up is of no use to the next.
        found = read(TablesTogether(scan, chosen, files, today))
        if found is not None:
            return found
    if len(chosen) != 2 or (names.sources and len(names.sources) != 2):
        return None
    owned = RequestScan(request, without_owners(scan, chosen), _every(tables), today)
    return _implied(scan, TablesTogether(owned, chosen, files, today))


def _every(tables: Sequence[KnownTable]) -> KnownTable:
    """Return the columns of all tables as of one, for words that name any."""
    columns = {column.name: column for table in reversed(tables) for column in table.columns}
    return KnownTable("tables", columns=tuple(columns.values()))


def _meant(scan: RequestScan, tables: Sequence[KnownTable], names: FileNames) -> list[KnownTable]:
    """Return the tables that are put together, in the order in which they are named, or stand."""
    is_all = any(scan.at(place, "union_all") for place in range(len(scan)))
    if (
        len(names.sources) == 1
        and len(tables) == 2
        and any(scan.at(place, "join_strong", "missing_in") for place in range(len(scan)))
    ):
        # "Look up the city in people.csv": for the other table.
        return [*(t for t in tables if t.path not in names.sources),
                *(t for t in tables if t.path in names.sources)]  # fmt: skip
    if names.sources and not (is_all and len(names.sources) == 1):
        by_path = {path: [t for t in tables if t.path == path] for path in names.sources}
        return [table for path in names.sources for table in by_path[path]]
    words = " ".join(token.word for token in scan.tokens)
    for suffix in ("csv", "tsv", "xlsx", "parquet"):
        fitting = [table for table in tables if table.path.endswith(f".{suffix}")]
        if f"{suffix} file" in words or f"{suffix}s " in words or f"{suffix} datei" in words:
            return fitting
    target = names.target.casefold()
    return [table for table in tables if table.path.casefold() != target]


def _key(work: TablesTogether, left: KnownTable, right: KnownTable) -> dict[str, str] | None:
    """Return the key that two tables are matched by: the named one, else the evident one.

    Raises:
        SeveralError: Several columns may be the key.
    """
    named = _named_key(work, left, right)
    if named is not None:
        return named
    pair = evident_key(work, left, right)
    return None if pair is None else {pair[0].name: pair[1].name}


def _named_key(work: TablesTogether, left: KnownTable, right: KnownTable) -> dict[str, str] | None:
    mine_scan = RequestScan(work.request, work.scan.tokens, left, work.today)
    their_scan = RequestScan(work.request, work.scan.tokens, right, work.today)
    for place in range(len(work.scan)):
        end = work.scan.at(place, "match_on")
        if not end or place in work.used:
            continue
        if work.scan.word(place) in ("by", "nach") and _has_figure(work.scan, place):
            # "Merge all and total amount by name": what the total is by.
            continue
        at = work.scan.skip(end, "det")
        mine, theirs = mine_scan.column(at), their_scan.column(at)
        if mine is None and theirs is None:
            continue
        if mine is not None and (
            work.scan.word(mine.end) == "=" or work.scan.word(mine.end) == "and"
        ):
            theirs = their_scan.column(mine.end + 1) or theirs
        if mine is None or theirs is None or mine.level > 1 or theirs.level > 1:
            continue
        work.used |= set(range(place, max(mine.end, theirs.end)))
        return {mine.columns[0].name: theirs.columns[0].name}
    return None


def _joined(work: TablesTogether) -> Result | None:
    """Read "join a and b on id", "add the names from customers.csv"."""
    if len(work.tables) != 2:
        return None
    strong, weak = work.find("join_strong"), work.find("join")
    left, right = work.tables
    added: list[str] = []
    if strong is None and weak is not None:
        found = _added(work, weak)
        if found is not None:
            left, right, added = found
        elif _named_key_there(work, left, right):
            strong = weak
    if strong is not None and not added:
        found = _added(work, strong)
        if found is not None:
            left, right, added = found
    if strong is None and not added:
        return None
    key = _key(work, left, right)
    if key is None or not all(is_unique(column_of(right, one), right) for one in key.values()):
        swapped = _key(work, right, left) if not added else None
        if swapped and all(is_unique(column_of(left, one), left) for one in swapped.values()):
            left, right, key = right, left, swapped
        elif key is None:
            raise UnclearError(
                f"{left.label} and {right.label} have no column that is evidently the key:"
                ' say "on COLUMN"'
            )
        else:
            (name,) = list(key.values())[:1]
            raise UnclearError(f'several rows of {right.label} have the same "{name}"')
    kind: Literal["inner", "left"] = "inner" if work.take_all("inner") else "left"
    work.take_all("join_strong")
    if weak is not None:
        work.take(weak, "join")
    return _join(work, left, right, key, added, kind)


def _named_key_there(work: TablesTogether, left: KnownTable, right: KnownTable) -> bool:
    before = set(work.used)
    found = _named_key(work, left, right)
    work.used = before
    return found is not None


def _added(work: TablesTogether, verb: int) -> tuple[KnownTable, KnownTable, list[str]] | None:
    """Read "add the city and phone from customers.csv": which columns of which table."""
    end = work.scan.at(verb, "join", "join_strong")
    for right in work.tables:
        theirs = RequestScan(work.request, work.scan.tokens, right, work.today)
        at = theirs.skip(end, "det")
        mentions, behind = theirs.column_list(at)
        if not mentions:
            continue
        source = behind
        while (
            source < len(work.scan)
            and work.other(source) is not right
            and (work.scan.at(source, "det", "filler", "by") or theirs.column(source))
        ):
            source += 1
        if work.other(source) is not right or source == behind:
            continue
        left = next(table for table in work.tables if table is not right)
        names = [theirs.only(mention).name for mention in mentions]
        work.used |= set(range(verb, source + 1))
        return left, right, names
    return None


def _join(
    work: TablesTogether,
    left: KnownTable,
    right: KnownTable,
    key: dict[str, str],
    added: Sequence[str],
    kind: Literal["inner", "left"],
) -> Result:
    _take_tables(work)
    inputs = {
        table.label: source.name for table, source in zip(work.tables, work.inputs(), strict=True)
    }
    own = {fold(column.name) for column in left.columns}
    others = [
        c for c in right.columns if c.name not in key.values() and (not added or c.name in added)
    ]
    columns = [column for column in others if fold(column.name) not in own]
    step = JoinStep(
        inputs[right.label], key, kind,
        tuple(column.name for column in columns), of=inputs[left.label], make="joined",
    )  # fmt: skip
    known = msgspec.structs.replace(
        left, columns=(*left.columns, *(msgspec.structs.replace(c, filled=0) for c in columns))
    )
    on = ", ".join(
        f"{mine}" if mine == theirs else f"{mine} = {theirs}" for mine, theirs in key.items()
    )
    told = f"{left.label} with {', '.join(c.name for c in columns)} of {right.label} by {on}"
    stem_text = f"{stem_of(left)}-with-{stem_of(right)}"
    return work.read_rest(known, (step,), told, stem_text)


def _not_in_file(work: TablesTogether) -> Result | None:
    """Read "which rows of a.csv are not in b.csv"."""
    if len(work.tables) != 2:
        return None
    for place in range(len(work.scan)):
        end = work.scan.at(place, "missing_in")
        right = work.other(work.scan.skip(end, "det", "filler")) if end else None
        if right is None:
            continue
        at = work.scan.skip(end, "det", "filler")
        left = next(table for table in work.tables if table is not right)
        key = _key(work, left, right) or _key(work, right, left)
        if key is None:
            shared = [c.name for c in left.columns if has_column(right, c.name)]
            if len(shared) != 1:
                raise UnclearError(
                    f'{left.label} and {right.label} have no evident key: say "on COLUMN"'
                )
            key = {shared[0]: shared[0]}
        elif not has_column(left, next(iter(key))):
            key = {theirs: mine for mine, theirs in key.items()}
        work.used |= set(range(place, at + 1))
        for other, token in enumerate(work.scan.tokens):
            if token.kind == "file" or (token.kind == "word" and work.other(other) is left):
                work.used.add(other)
        inputs = {t.label: i.name for t, i in zip(work.tables, work.inputs(), strict=True)}
        step = JoinStep(
            inputs[right.label],
            key,
            "missing",
            many=True,
            of=inputs[left.label],
            make="missing",
        )
        told = f"The rows of {left.label} whose {', '.join(key)} is not in {right.label}"
        return work.read_rest(left, (step,), told, f"{stem_of(left)}-not-in-{stem_of(right)}")
    return None


def _compared_files(work: TablesTogether) -> Result | None:
    """Read "what changed between old.csv and new.csv"."""
    place = work.find("compare")
    if place is None or len(work.tables) != 2:
        return None
    if (
        not any(token.kind == "file" for token in work.scan.tokens)
        and work.find("union_all") is None
    ):
        return None
    old, new = work.tables
    key = _named_key(work, old, new)
    if key is None:
        shared = [c for c in old.columns if has_column(new, c.name)]
        unique = [c for c in shared if is_unique(c, old) and is_unique(column_of(new, c.name), new)]
        ids = [c for c in unique if c.role == "id" or "id" in tokens(c.name)]
        unique = ids if len(ids) == 1 else unique
        if not unique:
            raise UnclearError(
                f"{old.label} and {new.label} share no column that is unique in both:"
                ' say "on COLUMN"'
            )
        if len(unique) > 1:
            request = work.request.rstrip(" .!?")
            names = " or ".join(f'"{c.name}"' for c in unique)
            raise SeveralError(
                f"the key may be {names}", [f'{request} on "{c.name}"' for c in unique]
            )
        key = {unique[0].name: unique[0].name}
    work.take_all("compare")
    work.take_all("between_files", "union_all", "between")
    for at, token in enumerate(work.scan.tokens):
        if token.kind == "file":
            work.used.add(at)
    on = tuple(key)
    inputs = work.inputs()
    step = CompareStep(inputs[1].name, on, of=inputs[0].name, make="changes")
    told = f"What changed from {old.label} to {new.label} by {', '.join(on)}"
    scan = RequestScan(work.request, work.rest(), KnownTable("changes"), work.today)
    clauses = read_clauses(scan)
    stem_text = f"{stem_of(old)}-{stem_of(new)}-changes"
    if clauses.is_question and not work.files.target and not clauses.suffix:
        return Job(inputs, (step, ReportStep()), title=told), told, ()
    if not clauses.suffix and not work.files.target:
        clauses.suffix = BOOK_SUFFIX
    return work.whole(scan, clauses, (step,), told, stem_text)


def _has_figure(scan: RequestScan, end: int) -> bool:
    """Tell whether a word for a figure stands before a place."""
    concepts = ("sum", "average", "count", "how_many", "top", "share")
    return any(scan.at(place, *concepts) for place in range(end))


def _take_tables(work: TablesTogether) -> None:
    """Use the names of the tables that are joined, as far as nothing else stands between them."""
    scan = work.scan
    work.take_files()
    place = 0
    while place < len(scan):
        is_table = work.other(place) is not None or any(
            work.is_called(table, place) for table in work.tables
        )
        if is_table:
            work.used.add(place)
        elif place not in work.used and scan.word(place) not in _BETWEEN:
            return
        place += 1


_BETWEEN = word_set(
    "the with to and from both please die der den mit und zu von bitte tables table "
    "tabellen tabelle files file ,"
)  # fmt: skip


def _implied(scan: RequestScan, work: TablesTogether) -> Result | None:
    """Read a request that names columns of two tables, which have an evident key.

    Args:
        scan: The request as it stands.
        work: It without words for the owners of columns.

    Raises:
        SeveralError: Several columns may be the key.
        UnclearError: It has no reading.
    """
    if is_same(work.tables) or any(
        _reads_alone(scan, table) and not passed_over(scan, table, work.tables)
        for table in work.tables
    ):
        return None
    alone = [
        table for table in work.tables
        if _reads_alone(work.scan, table, asks=True)
        and not passed_over(work.scan, table, work.tables)
    ]  # fmt: skip
    for left, right in (work.tables, work.tables[::-1]):
        key = evident_key(work, left, right)
        beside, places = beside_names(work, right)
        if key is None or (alone and not beside):
            continue
        work.used = set(places)
        try:
            return joined_with(work, left, right, key, beside, beside=beside)
        except SeveralError:
            raise
        except UnclearError:
            work.used = set()
    if len(alone) != 1:
        return None
    return read_table(RequestScan(work.request, work.scan.tokens, alone[0], work.today), work.files)


def _reads_alone(scan: RequestScan, table: KnownTable, *, asks: bool = False) -> bool:
    """Tell whether a request has a reading against one table, perhaps one that asks."""
    found = [token for token in scan.tokens if token.kind != "file"]
    alone = RequestScan(scan.request, found, table, scan.today)
    try:
        compose(alone, read_clauses(alone))
    except SeveralError:
        return asks
    except UnclearError:
        return False
    return True


_READERS: tuple[_Reader, ...] = (
    compared_lists, _compared_files, without_partner, _not_in_file, added_columns, _joined,
    plain_union, per_file, named_union, periods_together,
)  # fmt: skip
"""Readers of what is asked of tables together, in the order in which they are tried."""
