"""Comparisons of two lists: what changed, what is new, what is gone, and which list is the earlier.

Every word is one of a comparison, of the lists or of their columns, or is read as how the result
is to be written; any other one makes the request unclear.
"""

import re
from typing import Literal

import msgspec

from kbd.jobs.records import CompareStep, FilterStep, GroupStep, JoinStep, SortStep, TableStep
from kbd_offline import expressions
from kbd_offline.evident_keys import column_of, has_column, shared_key, things
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.lexicon import LEXICON
from kbd_offline.names import split_suffix, stem, tokens
from kbd_offline.pair_words import (
    ADDED,
    CHANGED,
    COMPARED,
    EARLIER,
    FALLEN,
    FIRST,
    GONE,
    LATER,
    LISTS,
    MISSING,
    NEGATIVE,
    ONLY,
    RISEN,
    SECOND,
    SMALL,
    word_set,
)
from kbd_offline.scan import SeveralError, UnclearError
from kbd_offline.together import Result, TablesTogether, stem_of

__all__ = ["compared_lists", "day_of", "in_time", "is_alike"]

Side = Literal["earlier", "later"]

_ITEMS = word_set(
    "articles article items item products product rows row entries entry records artikel "
    "produkte produkt positionen position zeilen zeile eintrage eintrag lines"
)
_LONGER = word_set("longer mehr anymore more")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}|\d{4}-\d{2}|\d{8}|\d{4}")


def is_alike(first: KnownTable, second: KnownTable) -> bool:
    """Tell whether two tables are lists of the same: most columns are those of both."""
    shared = [column for column in first.columns if has_column(second, column.name)]
    return len(shared) >= 2 and 2 * len(shared) > max(len(first.columns), len(second.columns))


def in_time(first: KnownTable, second: KnownTable) -> tuple[KnownTable, KnownTable, str]:
    """Return the earlier and the later one of two tables, and what that goes by, if by a guess."""
    one, two = set(_names(first)), set(_names(second))
    if (one & EARLIER or two & LATER) and not (one & LATER or two & EARLIER):
        return first, second, ""
    if (two & EARLIER or one & LATER) and not (two & LATER or one & EARLIER):
        return second, first, ""
    days = day_of(first), day_of(second)
    if days[0] and days[1] and len(days[0]) == len(days[1]) and days[0] != days[1]:
        return (first, second, "") if days[0] < days[1] else (second, first, "")
    note = f"{first.label} was taken for the earlier list and {second.label} for the later one"
    return first, second, note


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
        compared, changed, added, gone, missing, negative, only, risen, fallen: Whether there are
            words for it.
        denied: How many lists are spoken of before "not".
        sides: The lists that are spoken of.
        columns: Columns that are spoken of.
        unknown: Places of other words.
    """

    compared: bool = False
    changed: bool = False
    added: bool = False
    gone: bool = False
    missing: bool = False
    negative: bool = False
    only: bool = False
    denied: int = 0
    risen: bool = False
    fallen: bool = False
    sides: list[Side] = []
    columns: list[KnownColumn] = []
    unknown: list[int] = []


def compared_lists(work: TablesTogether) -> Result | None:
    """Return the job of a request that compares two lists, None where it is none.

    Raises:
        SeveralError: Several columns may be the key.
        UnclearError: It is not clear what is compared.
    """
    if len(work.tables) != 2 or not is_alike(*work.tables):
        return None
    words = {work.scan.word(place) for place in range(len(work.scan))}
    differs = COMPARED | CHANGED | GONE | MISSING | RISEN | FALLEN
    is_compound = any(
        word.endswith(("anderungen", "anderung", "unterschiede", "abweichungen")) for word in words
    )
    spoken = is_compound or words & differs or (words & ADDED and not words & _VERBS) or (
        words & (NEGATIVE | ONLY) and words & (LISTS | EARLIER | LATER | FIRST | SECOND)
    )  # fmt: skip
    if not spoken:
        return None
    earlier, later, note = in_time(*work.tables)
    keys = shared_key(earlier, later)
    if not keys:
        return None
    asked = _asked(work, earlier, later, keys[0])
    if len(keys) > 1:
        request = work.request.rstrip(" .!?")
        names = " or ".join(f'"{one.name}"' for one in keys)
        raise SeveralError(f"the key may be {names}", [f'{request} on "{k.name}"' for k in keys])
    # What is unknown is left for how the result is to be written; anything else is not.
    known = set(range(len(work.scan))) - set(asked.unknown)
    if not _is_comparison(asked):
        return None
    work.used |= known
    work.notes += [note] if note else []
    return _result(work, asked, earlier, later, keys[0])


_VERBS = word_set("add make column spalte merge combine put")


def _is_comparison(asked: _Asked) -> bool:
    return bool(
        asked.compared or asked.changed or asked.added or asked.gone or asked.missing
        or asked.risen or asked.fallen or ((asked.negative or asked.only) and asked.sides)
    )  # fmt: skip


def _asked(
    work: TablesTogether, earlier: KnownTable, later: KnownTable, key: KnownColumn
) -> _Asked:
    scan, asked = work.scan, _Asked()
    nouns = {stem(word) for table in (earlier, later) for word in things(table)}
    nouns |= {stem(word) for word in tokens(key.name)}
    place = 0
    while place < len(scan):
        end = _side(work, asked, place, earlier)
        end = end or _named_column(work, asked, place, earlier, later, key)
        if end:
            place = end
            continue
        word = scan.word(place)
        for name, group in _GROUPS:
            if word in group:
                setattr(asked, name, True)
                asked.denied = len(asked.sides) if name == "negative" else asked.denied
                break
        else:
            is_noun = stem(word) in nouns or word in _ITEMS or word in LISTS
            is_small = word in SMALL or word in LEXICON.numerals or scan.kind(place) == "sign"
            if not is_noun and not is_small and word not in _LONGER:
                asked.unknown.append(place)
        place += 1
    return asked


_GROUPS = (
    ("risen", RISEN), ("fallen", FALLEN), ("compared", COMPARED), ("changed", CHANGED),
    ("gone", GONE), ("missing", MISSING),
    ("added", ADDED), ("negative", NEGATIVE), ("only", ONLY),
)  # fmt: skip


def _side(work: TablesTogether, asked: _Asked, place: int, earlier: KnownTable) -> int:
    """Read "the new list", "the second file", a file's name; return where it ends, 0 for none."""
    scan = work.scan
    if scan.kind(place) == "file":
        table = work.other(place)
        if table is not None:
            asked.sides.append("earlier" if table is earlier else "later")
        return place + 1
    word, behind = scan.word(place), place + 1
    side = _SIDES.get(word)
    if side is None:
        return 0
    while stem(scan.word(behind)) in {stem(w) for t in work.tables for w in things(t)}:
        behind += 1
    has_list = scan.word(behind) in LISTS or behind > place + 1
    before = scan.word(place - 1)
    stands = before in ("the", "der", "die", "den", "dem", "im", "in", "from") and (
        behind >= len(scan) or scan.kind(behind) == "sign"
    )
    if not has_list and not stands:
        return 0
    if word in ADDED and not _is_in(work, place) and scan.word(behind) not in LISTS:
        return 0
    asked.sides.append(side)
    return behind + (scan.word(behind) in LISTS)


def _is_in(work: TablesTogether, place: int) -> bool:
    """Tell whether "in", "from" … stands before the name of a list."""
    at = place - 1
    while work.scan.word(at) in ("the", "der", "die", "den", "dem", "das"):
        at -= 1
    return work.scan.word(at) in ("in", "from", "to", "im", "mit", "with", "aus", "gegenuber", "zu")


_SIDES: dict[str, Side] = {
    **dict.fromkeys((*EARLIER, *FIRST), "earlier"), **dict.fromkeys((*LATER, *SECOND), "later"),
}  # fmt: skip


def _named_column(
    work: TablesTogether,
    asked: _Asked,
    place: int,
    earlier: KnownTable,
    later: KnownTable,
    key: KnownColumn,
) -> int:
    """Read a column of both lists that is not the key; return where it ends, 0 for none."""
    word = work.scan.word(place)
    for ending in ("anderungen", "anderung", "unterschiede", "abweichungen"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            asked.changed = True
            word = word.removesuffix(ending)
            found = [c for c in earlier.columns if tokens(c.name) == (word,)]
            asked.columns += found
            return place + 1 if found else 0
    mention = work.scan.column(place)
    spoken = any(word in group for _, group in _GROUPS)
    if mention is None or spoken or word in SMALL | LISTS | _ITEMS:
        return 0
    if work.scan.word(mention.end) in LISTS:
        # "The price lists" are lists, whatever is in them.
        return mention.end
    both = (earlier, later)
    found = [c for c in mention.columns if all(has_column(table, c.name) for table in both)]
    if [column.name for column in found] == [key.name] or key in mention.columns:
        return mention.end
    if len(found) != 1:
        return 0
    asked.columns.append(found[0])
    return mention.end


def _result(
    work: TablesTogether, asked: _Asked, earlier: KnownTable, later: KnownTable, key: KnownColumn
) -> Result:
    """Return the job: what changed, or what only one of the lists has.

    Raises:
        UnclearError: It speaks of several of these at once, or of a list that does not fit.
    """
    others = asked.added or asked.gone or asked.missing or asked.negative or asked.only
    if (asked.compared or asked.changed or asked.risen or asked.fallen) and not others:
        return _differences(work, asked, earlier, later, key)
    if asked.risen or asked.fallen or asked.compared or asked.changed or asked.columns:
        raise UnclearError("I do not see what of the two lists is compared")
    side = asked.sides[0] if len(set(asked.sides)) == 1 else None
    if asked.sides and side is None and not asked.negative:
        side = asked.sides[0]
    has: Side
    if asked.negative and len(asked.sides) == 2 and side is None:
        # "In the old list but not in the new one", or the other way round.
        has = asked.sides[0] if asked.denied else asked.sides[1]
    elif asked.only and side:
        has = side
    elif asked.gone and not asked.added and not asked.missing:
        if side == "later" and not asked.negative:
            raise UnclearError("what is gone is of the earlier list; name that one")
        has = "earlier"
    elif (asked.missing or asked.negative) and not asked.added and side:
        has = "earlier" if side == "later" else "later"
    elif asked.added and not asked.negative and not asked.gone and not asked.missing:
        if side == "earlier":
            raise UnclearError("what is new is of the later list; name that one")
        has = "later"
    elif asked.missing and not asked.added:
        has = "earlier"
    else:
        raise UnclearError("I do not see what of the two lists is compared")
    left, right = (earlier, later) if has == "earlier" else (later, earlier)
    theirs = column_of(right, key.name).name
    mine = column_of(left, key.name).name
    step = JoinStep(
        work.label(right), {mine: theirs}, "missing", many=True, of=work.label(left), make="missing"
    )
    told = f"The rows of {left.label} whose {mine} is not in {right.label}"
    return _written(work, left, (step,), told, f"{stem_of(left)}-not-in-{stem_of(right)}")


def _differences(
    work: TablesTogether, asked: _Asked, earlier: KnownTable, later: KnownTable, key: KnownColumn
) -> Result:
    if asked.risen or asked.fallen:
        return _moved(work, asked, earlier, later, key)
    names = tuple(column.name for column in asked.columns)
    steps: tuple[TableStep, ...] = (
        CompareStep(work.label(later), (key.name,), names, of=work.label(earlier), make="changes"),
    )
    told = f"What changed from {earlier.label} to {later.label} by {key.name}"
    if names:
        steps = (*steps, FilterStep("\"Change\" = 'changed'", make="changed"))
        told = f"Where {', '.join(names)} changed from {earlier.label} to {later.label}"
        told += f", by {key.name}"
    made = KnownTable(
        earlier.path, columns=(key, KnownColumn("Change")), rows=max(earlier.rows, later.rows)
    )
    return _written(work, made, steps, told, f"{stem_of(earlier)}-{stem_of(later)}-changes")


def _moved(
    work: TablesTogether, asked: _Asked, earlier: KnownTable, later: KnownTable, key: KnownColumn
) -> Result:
    """Return the job of "which prices went up".

    Raises:
        UnclearError: It is not clear which column is meant, or which way it went.
    """
    numbers = asked.columns or [
        column for column in earlier.columns
        if column.is_number and column.name != key.name and has_column(later, column.name)
    ]  # fmt: skip
    if len(numbers) != 1 or not numbers[0].is_number or asked.risen == asked.fallen:
        raise UnclearError("it does not say which figures went up or down")
    name = numbers[0].name
    before, after = expressions.column(f"{name} before"), expressions.column(f"{name} after")
    sign, way = (">", "up") if asked.risen else ("<", "down")
    steps: tuple[TableStep, ...] = (
        CompareStep(
            work.label(later), (key.name,), (name,), of=work.label(earlier), make="changes"
        ),
        FilterStep(f"{after} {sign} {before}", make="changed"),
    )
    told = f"Where {name} went {way} from {earlier.label} to {later.label}, by {key.name}"
    made = KnownTable(
        earlier.path, columns=(key, KnownColumn("Change")), rows=max(earlier.rows, later.rows)
    )
    return _written(work, made, steps, told, f"{stem_of(earlier)}-{stem_of(later)}-{way}")


def _written(
    work: TablesTogether, table: KnownTable, steps: tuple[TableStep, ...], told: str, stem: str
) -> Result:
    """Return the job with the rest of the request, which may only say how it is written.

    Raises:
        UnclearError: It says more.
    """
    found = work.read_rest(table, steps, told, stem)
    more = [step for step in found[0].steps if step not in steps]
    counts = isinstance(steps[-1], JoinStep) and [
        step for step in more if isinstance(step, GroupStep) and not step.by
    ]
    left = [step for step in more if isinstance(step, TableStep) and not isinstance(step, SortStep)]
    if left and left != counts:
        raise UnclearError("it asks more than what differs: ask for one after the other")
    return found
