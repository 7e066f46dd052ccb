"""Joins: columns of another table beside rows, and rows without one in another. Pure."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from kbd.jobs.records import FilterStep, GroupStep, JoinStep, SelectStep
from kbd_offline.composition import compose
from kbd_offline.evident_keys import has_column, is_unique, key_pairs, things
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.names import fold, stem, tokens
from kbd_offline.owners import without_owners
from kbd_offline.reading import read_clauses
from kbd_offline.scan import RequestScan, SeveralError, UnclearError
from kbd_offline.single import read_table
from kbd_offline.table_rules import Key, Phrase, first_phrase, pieces
from kbd_offline.table_scan import TablesScan, same_deed
from kbd_offline.together import (
    Result,
    TableMade,
    TablesTogether,
    passed_over,
    stem_of,
    which_key,
)

__all__ = [
    "absent_rows", "added_columns", "implied_join", "named_join", "shared_rows", "without_partner",
]  # fmt: skip

Kind = Literal["inner", "left"]
_MAX_LABEL = 64


def without_rows(
    work: TablesTogether, left: KnownTable, right: KnownTable, on: dict[str, str]
) -> TableMade:
    """Return the rows of a table whose key is in no row of another."""
    step = JoinStep(
        work.label(right), on, "missing", many=True, of=work.label(left), make="missing"
    )
    told = f"The rows of {left.label} whose {', '.join(on)} is not in {right.label}"
    return TableMade(left, (step,), told, f"{stem_of(left)}-not-in-{stem_of(right)}")


def shared_rows(
    work: TablesTogether, left: KnownTable, right: KnownTable, on: dict[str, str]
) -> TableMade:
    """Return the rows of a table whose key is in a row of another, too."""
    # It is named where rows without a partner are told, and has no column to add but the key.
    keys = f"keys_of_{work.label(right)}"[:_MAX_LABEL]
    chosen = SelectStep(tuple(on.values()), of=work.label(right), make=keys)
    step = JoinStep(keys, on, "inner", of=work.label(left), make="shared")
    told = f"The rows of {left.label} whose {', '.join(on)} is in {right.label}, too"
    return TableMade(left, (chosen, step), told, f"{stem_of(left)}-also-in-{stem_of(right)}")


def with_columns(
    work: TablesTogether,
    left: KnownTable,
    right: KnownTable,
    key: Key,
    added: Sequence[KnownColumn] = (),
    kind: Kind = "left",
) -> TableMade:
    """Return a table with columns of another beside its rows, with all where none are named."""
    mine, theirs = key
    own = {fold(column.name) for column in left.columns}
    columns = [c for c in added or right.columns if c != theirs and fold(c.name) not in own]
    names = tuple(column.name for column in columns)
    step = JoinStep(
        work.label(right), {mine.name: theirs.name}, kind, names, of=work.label(left), make="joined"
    )
    # Values of the other table may be there many times.
    known = msgspec.structs.replace(
        left, columns=(*left.columns, *(msgspec.structs.replace(c, filled=0) for c in columns))
    )
    on = mine.name if mine.name == theirs.name else f"{mine.name} = {theirs.name}"
    told = f"{left.label} with {', '.join(names)} of {right.label} by {on}"
    return TableMade(known, (step,), told, f"{stem_of(left)}-with-{stem_of(right)}")


def _evident_key(scan: TablesScan, left: KnownTable, right: KnownTable) -> Key | None:
    """Return by which columns each row of a table finds one of another; None for none.

    Raises:
        SeveralError: Several columns may be the key.
    """
    pairs = key_pairs(left, right)
    if len(pairs) > 1:
        raise which_key(scan, [mine for mine, _ in pairs])
    return pairs[0] if pairs else None


def without_partner(work: TablesTogether) -> Result | None:
    """Read "which customers never ordered", "Kunden ohne Bestellung"; None where it is none.

    Raises:
        SeveralError: Several columns may be the key.
        UnclearError: It says more than that.
    """
    scan = work.scan
    denied = [place for place in range(len(scan)) if scan.at(place, "denied")]
    if len(work.tables) != 2 or len(denied) != 1:
        return None
    for left, right in work.ways():
        into = key_pairs(right, left) or [(theirs, mine) for mine, theirs in key_pairs(left, right)]
        if len(into) != 1:
            continue
        ((theirs, mine),) = into
        thing, denial = _denied(scan.facing(left, right), mine)
        if denial is None:
            continue
        idle = {at for at in range(len(scan)) if scan.at(at, "small", "often")}
        idle |= {at for at in range(len(scan)) if scan.kind(at) == "sign"}
        work.used |= denial.places | idle | {thing}
        behind = set(range(denied[0], len(scan))) - work.used
        made = without_rows(work, left, right, {mine.name: theirs.name})
        found = work.read_rest(msgspec.structs.replace(made, nouns=things(left)))
        if behind and any(isinstance(one, FilterStep | GroupStep) for one in found[0].steps):
            raise UnclearError(
                f"it says more of {right.label} than that a row is there:"
                " ask for one after the other"
            )
        return found
    return None


def _denied(scan: TablesScan, key: KnownColumn) -> tuple[int, Phrase | None]:
    """Return where the left table's rows are spoken of, and what denies them a right one."""
    left, right = scan.left, scan.right
    names = {stem(word) for word in things(left)}
    own = names | {stem(word) for word in tokens(key.name)}
    words = [stem(scan.word(at).removesuffix("'s")) for at in range(len(scan))]
    thing = next((at for at, word in enumerate(words) if word in own or scan.calls(left, at)), None)
    if thing is None:
        return 0, None
    is_right = same_deed(scan.word(thing), things(right)) and not scan.calls(left, thing)
    deeds = [at for at in range(len(scan)) if same_deed(scan.word(at), things(right))]
    denial = first_phrase(scan, "denial")
    if is_right and stem(scan.word(thing)) not in names:
        return 0, None
    if denial is None or len(set(deeds) - {thing}) != 1 or thing in denial.places:
        return 0, None
    # "Nothing" stands behind whoever did nothing.
    return thing, None if denial.value == "nothing" and thing > denial.start else denial


def absent_rows(work: TablesTogether) -> Result | None:
    """Read "which rows of a.csv are not in b.csv"; None where it is none.

    Raises:
        SeveralError: Several columns may be the key.
        UnclearError: There is no evident key.
    """
    absent = first_phrase(work.scan, "absent") if len(work.tables) == 2 else None
    if absent is None:
        return None
    right = absent.value
    (left,) = (table for table in work.tables if table is not right)
    on = _match(work, left, right)
    work.used |= absent.places
    work.take_files()
    work.used |= {at for at in range(len(work.scan)) if work.scan.named(at) is left}
    return work.read_rest(without_rows(work, left, right, on))


def _match(work: TablesTogether, left: KnownTable, right: KnownTable) -> dict[str, str]:
    """Return which columns of two tables hold the same, whichever has each value once.

    Raises:
        SeveralError: Several columns may be the key.
        UnclearError: There is no evident key.
    """
    if key := _key(work, left, right):
        return {key[0].name: key[1].name}
    if key := _key(work, right, left):
        return {key[1].name: key[0].name}
    shared = [column.name for column in left.columns if has_column(right, column.name)]
    if len(shared) != 1:
        raise UnclearError(f'{left.label} and {right.label} have no evident key: say "on COLUMN"')
    return {shared[0]: shared[0]}


def _key(work: TablesTogether, left: KnownTable, right: KnownTable) -> Key | None:
    """Return the key that two tables are matched by: the named one, else the evident one.

    Raises:
        SeveralError: Several columns may be the key.
    """
    named = first_phrase(work.scan.facing(left, right), "key")
    if named is None:
        return _evident_key(work.scan, left, right)
    work.used |= named.places
    key: Key = named.value
    return key


def added_columns(work: TablesTogether) -> Result | None:
    """Read "add the name and city to each order", "Ort des Kunden dazuschreiben"; else None.

    Raises:
        SeveralError: Several columns may be the key.
    """
    if len(work.tables) != 2 or not work.scan.has("adding"):
        return None
    no_key: UnclearError | None = None
    for left, right in work.ways():
        found = pieces(work.scan.facing(left, right), "added")
        values = [value for one in found for value in one.values]
        pairs = key_pairs(left, right)
        # "The city of each customer": by what rows find each other is there already.
        known = {theirs.name for _, theirs in pairs}
        named = [one for one in values if isinstance(one, KnownColumn) and one.name not in known]
        columns = list({one.name: one for one in named}.values())
        said = {value for value in values if isinstance(value, str)}
        own = {fold(column.name) for column in left.columns}
        if not columns or "verb" not in said or any(fold(one.name) in own for one in columns):
            continue
        # "Add the city from customers": which table it is of stands behind the verb.
        is_led = "source" in said and values.index("verb") < values.index("source")
        if not (is_led or "left" in said or work.scan.has_file(found[-1].end)):
            continue
        key = pairs[0] if len(pairs) == 1 else _key(work, left, right)
        if key is not None and is_unique(key[1], right):
            work.used |= set(range(found[-1].end))
            return _figured(work, left, right, key, columns)
        no_key = no_key or _no_key(left, right, key)
    if no_key is not None and work.scan.has_file():
        raise no_key
    return None


def _no_key(left: KnownTable, right: KnownTable, key: Key | None) -> UnclearError:
    """Return why rows of a table do not find one of another each."""
    if key is not None:
        return UnclearError(f'several rows of {right.label} have the same "{key[1].name}"')
    return UnclearError(
        f'{left.label} and {right.label} have no column that is evidently the key: say "on COLUMN"'
    )


def _figured(
    work: TablesTogether,
    left: KnownTable,
    right: KnownTable,
    key: Key,
    added: Sequence[KnownColumn],
    *,
    beside: tuple[KnownColumn, ...] = (),
) -> Result:
    """Return the job of what is left of a request against a table with columns of another.

    Raises:
        UnclearError: It has no reading, or sums up what is there once for each row of the table.
    """
    owners = tuple(word for word in things(right) if word not in things(left))
    made = msgspec.structs.replace(
        with_columns(work, left, right, key, added),
        nouns=things(left), owners=owners, key=key[0].name, beside=beside,
    )  # fmt: skip
    found = work.read_rest(made)
    theirs = {column.name for column in made.table.columns[len(left.columns) :]}
    for step in found[0].steps:
        for figure in step.figures if isinstance(step, GroupStep) else ():
            if figure.column in theirs and figure.function != "distinct":
                raise UnclearError(
                    f'"{figure.column}" is of {right.label}, and would count once for each row'
                    " beside it"
                )
    return found


def named_join(work: TablesTogether) -> Result | None:
    """Read "join a and b", "merge a and b on id"; None where it is none.

    Raises:
        SeveralError: Several columns may be the key.
        UnclearError: There is no evident key, or it has several rows for a value.
    """
    if len(work.tables) != 2:
        return None
    first, second = work.tables
    weak = work.find("join")
    if work.find("join_strong") is None and (
        weak is None or first_phrase(work.scan.facing(first, second), "key") is None
    ):
        return None
    for left, right in work.ways():
        key = _key(work, left, right)
        if key is not None and is_unique(key[1], right):
            kind: Kind = "inner" if work.take("inner") else "left"
            work.take("join_strong")
            if weak is not None:
                work.used |= set(range(weak, work.scan.at(weak, "join")))
            _take_tables(work)
            return work.read_rest(with_columns(work, left, right, key, (), kind))
    raise _no_key(first, second, _key(work, first, second))


def _take_tables(work: TablesTogether) -> None:
    """Use the names of the tables that are joined, as far as nothing else stands between them."""
    scan = work.scan
    work.take_files()
    for place in range(len(scan)):
        if scan.named(place) or any(scan.calls(table, place) for table in work.tables):
            work.used.add(place)
        elif place not in work.used and not scan.at(place, "beside_joined"):
            return


def implied_join(work: TablesTogether) -> Result | None:
    """Read a request that names columns of two tables, which have an evident key.

    Raises:
        SeveralError: Several columns may be the key.
        UnclearError: It has no reading.
    """
    scan, tables = work.scan, work.tables
    if any(_reads_alone(scan, table) for table in tables):
        return None
    owned = TablesTogether(scan.rewritten_as(without_owners(scan)), work.files)
    alone = [table for table in tables if _reads_alone(owned.scan, table, asks=True)]
    for left, right in work.ways():
        key = _evident_key(scan, left, right)
        named = first_phrase(owned.scan.facing(left, right), "beside")
        beside: tuple[KnownColumn, ...] = named.value if named else ()
        if key is None or (alone and not beside):
            continue
        owned.used = named.places if named else set()
        try:
            return _figured(owned, left, right, key, beside, beside=beside)
        except SeveralError:
            raise
        except UnclearError:
            continue
    if len(alone) != 1:
        return None
    return read_table(
        RequestScan(scan.request, owned.scan.tokens, alone[0], scan.today), work.files
    )


def _reads_alone(scan: TablesScan, table: KnownTable, *, asks: bool = False) -> bool:
    """Tell whether a request has a reading against one table, perhaps one that asks.

    One that passes over what another table has is none.
    """
    found = [token for token in scan.tokens if token.kind != "file"]
    alone = RequestScan(scan.request, found, table, scan.today)
    try:
        compose(alone, read_clauses(alone))
    except SeveralError:
        return asks and not passed_over(scan, table, scan.tables)
    except UnclearError:
        return False
    return not passed_over(scan, table, scan.tables)
