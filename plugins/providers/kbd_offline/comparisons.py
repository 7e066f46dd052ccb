"""Comparisons of two lists: what changed, what is new, what is gone, and which list is the earlier.

Every word is one of a comparison, of the lists or of their columns, or is read as how the result
is to be written; any other one makes the request unclear.
"""

import re

import msgspec

from kbd.jobs.records import CompareStep, FilterStep, GroupStep, JoinStep, SortStep, TableStep
from kbd_offline import expressions
from kbd_offline.evident_keys import column_of, has_column, shared_key, things
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.joins import shared_rows, without_rows
from kbd_offline.lexicon import LEXICON
from kbd_offline.names import split_suffix, stem, tokens
from kbd_offline.scan import UnclearError
from kbd_offline.table_rules import first_phrase, phrases
from kbd_offline.table_scan import TablesScan, is_word
from kbd_offline.together import Result, TableMade, TablesTogether, stem_of, which_key

__all__ = ["compared_lists", "day_of"]

_DIFFERING = ("compared", "changed", "risen", "fallen")
_ONE_SIDED = ("come", "gone", "lacking", "denied", "alone")
_SAID = (*_DIFFERING, *_ONE_SIDED, "shared")
_COMPOUNDS = ("anderungen", "anderung", "unterschiede", "abweichungen")
_LONGER = ("longer", "anymore", "more", "mehr")
_BY = ("by", "nach")
"""Words that may be of an order as well as of a key."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}|\d{4}-\d{2}|\d{8}|\d{4}")


def _is_alike(first: KnownTable, second: KnownTable) -> bool:
    """Tell whether two tables are lists of the same: most columns are those of both."""
    shared = [column for column in first.columns if has_column(second, column.name)]
    return len(shared) >= 2 and 2 * len(shared) > max(len(first.columns), len(second.columns))


def _in_time(first: KnownTable, second: KnownTable) -> tuple[KnownTable, KnownTable, list[str]]:
    """Return the earlier and the later one of two tables, and what that goes by, if by a guess."""
    ages = [
        {age for age in ("earlier", "later") if any(is_word(word, age) for word in _names(table))}
        for table in (first, second)
    ]
    # A list that is called old is the earlier one, and so is one beside a list that is called new.
    others = [{"earlier": "later", "later": "earlier"}[age] for age in ages[1]]
    said = ages[0] | set(others)
    if len(said) == 1:
        return (first, second, []) if said == {"earlier"} else (second, first, [])
    days = day_of(first), day_of(second)
    if days[0] and days[1] and len(days[0]) == len(days[1]) and days[0] != days[1]:
        return (first, second, []) if days[0] < days[1] else (second, first, [])
    note = f"{first.label} was taken for the earlier list and {second.label} for the later one"
    return first, second, [note]


def _names(table: KnownTable) -> tuple[str, ...]:
    name = tokens(split_suffix(table.path.rpartition("/")[2])[0])
    return (*name, *tokens(table.sheet))


def day_of(table: KnownTable) -> str:
    """Return the day, month or year that the name of a table tells, "" for none."""
    found = _DAY.search(f"{table.path} {table.sheet}")
    if found:
        return found.group()
    months = [LEXICON.months[word] for word in _names(table) if word in LEXICON.months]
    return f"{months[0]:02}" if len(months) == 1 else ""


class _Asked(msgspec.Struct):
    """What the words of a comparison are.

    Args:
        said: Of what there are words.
        sides: The lists that are spoken of: the earlier, the later one.
        denied: How many lists are spoken of before "not".
        columns: Columns that are spoken of.
        unknown: Places of other words.
    """

    said: set[str] = set()
    sides: list[str] = []
    denied: int = 0
    columns: list[KnownColumn] = []
    unknown: set[int] = set()

    def has(self, *concepts: str) -> bool:
        """Tell whether there are words of any of some concepts."""
        return not self.said.isdisjoint(concepts)


def compared_lists(work: TablesTogether) -> Result | None:
    """Return the job of a request that compares two lists, None where it is none.

    Raises:
        SeveralError: Several columns may be the key.
        UnclearError: It is not clear what is compared.
    """
    scan = work.scan
    is_named = scan.has("compare") and (scan.has_file() or scan.has("union_all"))
    if len(work.tables) != 2 or not (is_named or (_is_alike(*work.tables) and _is_spoken(scan))):
        return None
    earlier, later, notes = _in_time(*work.tables)
    keys = shared_key(earlier, later)
    if not keys and is_named:
        raise UnclearError(
            f"{earlier.label} and {later.label} share no column that is unique in both"
        )
    if not keys:
        return None
    named = first_phrase(scan.facing(earlier, later), "key") if len(keys) > 1 else None
    if named is not None and named.value[0] in keys and scan.word(named.start) not in _BY:
        keys = [named.value[0]]
    if len(keys) > 1:
        raise which_key(scan, keys)
    asked = _asked(scan.facing(earlier, later), keys[0])
    on = {column_of(earlier, keys[0].name).name: column_of(later, keys[0].name).name}
    if asked.said == {"shared"} and not asked.columns:
        work.used |= set(range(len(scan))) - asked.unknown
        return _written(work, shared_rows(work, earlier, later, on))
    if not asked.has(*_DIFFERING, "come", "gone", "lacking") and not (
        asked.has("denied", "alone") and asked.sides
    ):
        return None
    work.used |= set(range(len(scan))) - asked.unknown
    work.notes += notes
    if asked.has(*_DIFFERING) and not asked.has(*_ONE_SIDED):
        return _differences(work, asked, earlier, later, keys[0])
    if asked.has(*_DIFFERING) or asked.columns:
        raise UnclearError("I do not see what of the two lists is compared")
    if _which_has(asked) == "earlier":
        return _written(work, without_rows(work, earlier, later, on))
    on = {mine: theirs for theirs, mine in on.items()}
    return _written(work, without_rows(work, later, earlier, on))


def _is_spoken(scan: TablesScan) -> bool:
    """Tell whether words of a request may be of a comparison."""
    return (
        scan.has(*_DIFFERING, "gone", "lacking")
        or any(scan.word(place).endswith(_COMPOUNDS) for place in range(len(scan)))
        or (scan.has("come") and not scan.has("made"))
        or (scan.has("shared") and not scan.has("united"))
        or (
            scan.has("denied", "alone")
            and (
                scan.has("list_noun", "earlier", "later")
                or any(map(scan.named_by_year, range(len(scan))))
            )
        )
    )


def _asked(scan: TablesScan, key: KnownColumn) -> _Asked:
    """Return what the words of a request are; what is unknown is how the result is written."""
    asked = _Asked()
    sides = {side.start: side for side in phrases(scan, "side")}
    nouns = {stem(word) for table in scan.tables for word in things(table)}
    nouns |= {stem(word) for word in tokens(key.name)}
    end = 0
    for place in range(len(scan)):
        if place < end:
            continue
        if place in sides:
            end = sides[place].end
            asked.sides += filter(None, [sides[place].value])
            continue
        end = _named_column(scan, asked, place, key)
        said = next((one for one in _SAID if scan.at(place, one)), "")
        if end:
            continue
        if said:
            asked.said.add(said)
            asked.denied = len(asked.sides) if said == "denied" else asked.denied
        elif not (
            stem(scan.word(place)) in nouns or scan.word(place) in LEXICON.numerals
            or scan.at(place, "small", "item_noun", "list_noun")
            or scan.kind(place) == "sign" or scan.word(place) in _LONGER
        ):  # fmt: skip
            asked.unknown.add(place)
    return asked


def _named_column(scan: TablesScan, asked: _Asked, place: int, key: KnownColumn) -> int:
    """Read a column of both lists that is not the key; return where it ends, 0 for none."""
    word = scan.word(place)
    for ending in _COMPOUNDS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            asked.said.add("changed")
            name = word.removesuffix(ending)
            found = [c for c in scan.left.columns if tokens(c.name) == (name,)]
            asked.columns += found
            return place + 1 if found else 0
    mention = scan.column(place)
    if mention is None or scan.at(
        place, *_DIFFERING, *_ONE_SIDED, "small", "list_noun", "item_noun"
    ):
        return 0
    # "The price lists" are lists, whatever is in them.
    if key in mention.columns or scan.at(mention.end, "list_noun"):
        return mention.end
    found = [c for c in mention.columns if all(has_column(one, c.name) for one in scan.tables)]
    if [column.name for column in found] == [key.name]:
        return mention.end
    if len(found) != 1:
        return 0
    asked.columns.append(found[0])
    return mention.end


def _which_has(asked: _Asked) -> str:
    """Return which list has the rows that the other one lacks.

    Raises:
        UnclearError: It speaks of several of these at once, or of a list that does not fit.
    """
    sides, denied = asked.sides, asked.has("denied")
    if denied and len(sides) == 2 and sides[0] != sides[1]:
        # "In the old list but not in the new one", or the other way round.
        return sides[0] if asked.denied else sides[1]
    side = sides[0] if sides and (not denied or len(set(sides)) == 1) else ""
    came = asked.said & {"come", "gone", "lacking"}
    if asked.has("alone") and side:
        return side
    if came == {"gone"}:
        if side == "later" and not denied:
            raise UnclearError("what is gone is of the earlier list; name that one")
        return "earlier"
    if (denied or "lacking" in came) and "come" not in came and side:
        return "earlier" if side == "later" else "later"
    if came == {"come"} and not denied:
        if side == "earlier":
            raise UnclearError("what is new is of the later list; name that one")
        return "later"
    if "lacking" in came and "come" not in came:
        return "earlier"
    raise UnclearError("I do not see what of the two lists is compared")


def _differences(
    work: TablesTogether, asked: _Asked, earlier: KnownTable, later: KnownTable, key: KnownColumn
) -> Result:
    """Return the job of "what changed", "which prices went up".

    Raises:
        UnclearError: It is not clear which column is meant, or which way it went.
    """
    columns, ways, moved = asked.columns, asked.said & {"risen", "fallen"}, ""
    if ways:
        columns = columns or [
            column for column in earlier.columns
            if column.is_number and column.name != key.name and has_column(later, column.name)
        ]  # fmt: skip
        if len(columns) != 1 or not columns[0].is_number or len(ways) > 1:
            raise UnclearError("it does not say which figures went up or down")
        moved = "up" if "risen" in ways else "down"
    names = tuple(column.name for column in columns)
    steps: tuple[TableStep, ...] = (
        CompareStep(work.label(later), (key.name,), names, of=work.label(earlier), make="changes"),
    )
    lists = f"from {earlier.label} to {later.label}"
    told = f"What changed {lists} by {key.name}"
    if names:
        where, did = "\"Change\" = 'changed'", "changed"
        if moved:
            before, after = (expressions.column(f"{names[0]} {one}") for one in ("before", "after"))
            where, did = f"{after} {'>' if moved == 'up' else '<'} {before}", f"went {moved}"
        steps = (*steps, FilterStep(where, make="changed"))
        told = f"Where {', '.join(names)} {did} {lists}, by {key.name}"
    table = KnownTable(
        earlier.path, columns=(key, KnownColumn("Change")), rows=max(earlier.rows, later.rows)
    )
    name = f"{stem_of(earlier)}-{stem_of(later)}-{moved or 'changes'}"
    return _written(work, TableMade(table, steps, told, name))


def _written(work: TablesTogether, made: TableMade) -> Result:
    """Return the job with the rest of the request, which may only say how it is written.

    Raises:
        UnclearError: It says more.
    """
    found = work.read_rest(made)
    more = [step for step in found[0].steps if step not in made.steps]
    counts = isinstance(made.steps[-1], JoinStep) and [
        step for step in more if isinstance(step, GroupStep) and not step.by
    ]
    left = [step for step in more if isinstance(step, TableStep) and not isinstance(step, SortStep)]
    if left and left != counts:
        raise UnclearError("it asks more than what differs: ask for one after the other")
    return found
