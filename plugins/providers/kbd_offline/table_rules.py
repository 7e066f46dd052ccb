"""Rules for what requests say of several tables: keys, lists, rows without a partner. Pure.

Terminals look at the two tables that face each other in the scan: rows of the left one are looked
for in the right one, and of two lists the left one is the earlier.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from kbd_offline.evident_keys import things
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.mentions import PART, STEM
from kbd_offline.names import stem
from kbd_offline.patterns import Grammar, Production, RequestChart, RequestSpan, Terminal
from kbd_offline.table_scan import TablesScan, same_deed

__all__ = ["Key", "Phrase", "first_phrase", "phrases", "pieces"]

Key = tuple[KnownColumn, KnownColumn]
"""The columns of a left and a right table by which their rows belong together."""


class Phrase(NamedTuple):
    """What a rule found: where, and its value."""

    start: int
    end: int
    value: Any

    @property
    def places(self) -> set[int]:
        """The places that it takes."""
        return set(range(self.start, self.end))

    @property
    def values(self) -> tuple[Any, ...]:
        """Its values, where it has several."""
        return self.value if isinstance(self.value, tuple) else (self.value,)


def phrases(scan: TablesScan, symbol: str) -> Iterator[Phrase]:
    """Yield the longest phrases that a rule finds, one for each place where one begins."""
    chart = RequestChart(_GRAMMAR, scan)
    for place in range(len(scan)):
        found = sorted(chart.parses(symbol, place), key=lambda one: (-one.end, one.cost))
        for parse in found[:1]:
            yield Phrase(place, parse.end, parse.value)


def first_phrase(scan: TablesScan, symbol: str) -> Phrase | None:
    """Return the first of them, None where there is none."""
    return next(phrases(scan, symbol), None)


def pieces(scan: TablesScan, symbol: str, start: int = 0) -> list[Phrase]:
    """Return what a rule finds side by side from a place on, of several readings the cheapest."""
    chart = RequestChart(_GRAMMAR, scan)
    found: list[Phrase] = []
    while parses := chart.parses(symbol, found[-1].end if found else start):
        place = found[-1].end if found else start
        found.append(Phrase(place, parses[0].end, parses[0].value))
    return found


def _word(test: Callable[[TablesScan, int], bool]) -> Terminal:
    """Return the terminal of words that pass a test."""

    def read(scan: TablesScan, place: int) -> Iterator[tuple[int, bool]]:
        if test(scan, place):
            yield place + 1, True

    return read


def _left(scan: TablesScan, place: int) -> Iterator[tuple[int, KnownColumn]]:
    yield from _near(scan, scan.left, place)


def _right(scan: TablesScan, place: int) -> Iterator[tuple[int, KnownColumn]]:
    yield from _near(scan, scan.right, place)


def _near(scan: TablesScan, table: KnownTable, place: int) -> Iterator[tuple[int, KnownColumn]]:
    mention = scan.against(table).column(place)
    if mention is not None and mention.level <= STEM:
        yield mention.end, mention.columns[0]


def _shared(scan: TablesScan, place: int) -> Iterator[tuple[int, Key]]:
    for end, mine in _left(scan, place):
        for other, theirs in _right(scan, place):
            yield max(end, other), (mine, theirs)


def _part(scan: TablesScan, place: int) -> Iterator[tuple[int, KnownColumn]]:
    """Yield the one column of the right table that is named, if only by a part."""
    mention = scan.against(scan.right).column(place)
    if mention is not None and mention.level <= PART and len(mention.columns) == 1:
        yield mention.end, mention.columns[0]


def _table(scan: TablesScan, place: int) -> Iterator[tuple[int, KnownTable]]:
    table = scan.named(place)
    if table is not None:
        yield place + 1, table


def _small(scan: TablesScan, place: int) -> Iterator[tuple[int, bool]]:
    if end := scan.at(place, "det", "filler", "by"):
        yield end, True


def _is_thing(scan: TablesScan, place: int) -> bool:
    word = stem(scan.word(place))
    return any(word in {stem(one) for one in things(table)} for table in scan.tables)


def _is_deed(scan: TablesScan, place: int) -> bool:
    return same_deed(scan.word(place), things(scan.right))


def _is_idle(scan: TablesScan, place: int) -> bool:
    return scan.kind(place) == "sign" or bool(scan.at(place, "small", "often"))


def _of_tables(span: RequestSpan) -> TablesScan:
    assert isinstance(span.scan, TablesScan)
    return span.scan


def _key(span: RequestSpan, mine: KnownColumn, theirs: KnownColumn) -> Key | None:
    scan, figures = span.scan, ("sum", "average", "count", "how_many", "top", "share")
    is_group = scan.word(span.start) in ("by", "nach")
    if is_group and any(scan.at(place, *figures) for place in range(span.start)):
        # "Merge all and total amount by name": what the total is by.
        return None
    return mine, theirs


def _denial(span: RequestSpan, *_: object) -> str | None:
    scan, places = _of_tables(span), range(span.start, span.end)
    # No other small word stands between: "without every order" is not "without orders".
    if not all(scan.at(at, "denied") or _is_idle(scan, at) or _is_deed(scan, at) for at in places):
        return None
    return "nothing" if any(scan.word(at) in ("nothing", "nichts") for at in places) else "not"


def _beside(span: RequestSpan, columns: tuple[KnownColumn, ...]) -> object:
    is_last = span.end == len(span.scan) or span.scan.is_sign(span.end, ".,;!?")
    return columns if is_last else None


def _verb(span: RequestSpan) -> str | None:
    """Read a verb of adding, and no name of a column that is called so."""
    scan = _of_tables(span)
    mention = scan.against(scan.right).column(span.start)
    return "verb" if mention is None or mention.level > PART else None


def _is_file(scan: TablesScan, place: int) -> bool:
    return scan.kind(place) == "file" or scan.named_by_year(place) is not None


def _file_side(span: RequestSpan, *_: object) -> str:
    scan = _of_tables(span)
    # Small words may stand before it.
    last = span.end - 1
    table = scan.named(last) or scan.named_by_year(last)
    return "" if table is None else "earlier" if table is scan.left else "later"


def _side(span: RequestSpan, concept: str) -> str | None:
    """Read "the new list", "the second file", "in the old one"; "new articles" are no list."""
    scan = _of_tables(span)
    start, end = span.start, span.end
    if not all(scan.at(at, "list_noun") or _is_thing(scan, at) for at in range(start + 1, end)):
        return None
    is_called = end > start + 1
    is_list = is_called and scan.at(end - 1, "list_noun") and not _is_thing(scan, end - 1)
    is_alone = scan.at(start - 1, "of_list") and (end == len(scan) or scan.kind(end) == "sign")
    before = start - 1
    while scan.at(before, "article"):
        before -= 1
    is_within = scan.at(before, "in_list")
    if not (is_called or is_alone) or (scan.at(start, "come") and not (is_list or is_within)):
        return None
    return concept


def _per_file(span: RequestSpan) -> bool | None:
    return None if span.scan.word(span.end) in ("/", "or") else True


_GRAMMAR = Grammar(
    (
        Production("key", "match_on LEFT ('='|'and') RIGHT", _key),
        Production("key", "match_on SHARED", lambda span, key: _key(span, *key)),
        Production("denial", "UNDONE | denied IDLE* DEED", _denial),
        Production("denial", "DEED IDLE* ('nothing'|'nichts')", _denial),
        Production("absent", "missing_in SMALL* TABLE", lambda _, table: table),
        Production("beside", "','? with_names their* PART+", _beside),
        Production("added", "adding", _verb),
        Production(
            "added", "PART SMALL SMALL* NAMED", lambda _, column, *__: (column, "source"), -1.0
        ),
        Production("added", "THEM", lambda *_: "right", 0.1),
        Production("added", "US", lambda *_: "left", 0.2),
        Production("added", "PART", lambda _, column: column, 0.3),
        Production("added", "beside_added|det|and|','", lambda _: "link", 5.0),
        Production("side", "FILE", _file_side),
        Production("side", ":(earlier|later) THING* list_noun?", _side),
        Production("each_file", "per_file file_noun (('/'|'or') month)?", _per_file),
    ),
    {
        "LEFT": _left,
        "RIGHT": _right,
        "SHARED": _shared,
        "PART": _part,
        "TABLE": _table,
        "FILE": _word(_is_file),
        "US": _word(lambda scan, place: scan.means_rows(scan.left, place)),
        "THEM": _word(lambda scan, place: scan.means_rows(scan.right, place)),
        "NAMED": _word(lambda scan, place: scan.named(place) is scan.right),
        "SMALL": _small,
        "THING": _word(_is_thing),
        "DEED": _word(_is_deed),
        "UNDONE": _word(lambda scan, at: _is_deed(scan, at) and bool(scan.at(at, "denied"))),
        "IDLE": _word(_is_idle),
    },
)
