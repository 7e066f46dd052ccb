"""Patterns of a grammar, and the chart of all that they find in a request. Pure.

A pattern is a row of symbols:

    sum               a phrase of that concept of the lexicon
    :(more|less)      the same, and the concept is told
    'x'               that word or sign
    AMOUNT, by_key    a terminal or another rule, whose value is told
    AMOUNT+           one or more with commas or "and" between them, as a tuple; of what tells
                      nothing one or more in a row
    VALUE~            the same with "or", too
    x?  x*  (a b|c)   may be left out; any number of; one of several rows

Before whatever is told small words may stand ("of", "the"). A rule makes a value out of what its
pattern tells. Where it cannot, it returns None, or an error that is the value then: so that a
question belongs to the reading that raises it, and another reading goes on without it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kbd_offline.scan import RequestScan, SeveralError, UnclearError

__all__ = ["Grammar", "Parse", "Production", "RequestChart", "RequestSpan"]

Terminal = Callable[[Any, int], Iterable[tuple[int, Any]]]
"""Yields where what stands at a place of a scan ends, with its value."""

_SMALL_WORD = 0.1
"""What a small word costs that stands before a value."""
_SHORTER = 0.4
"""What a word costs that begins a longer phrase of the same concept."""
_UNCLEAR = 50.0
"""What a reading costs that ends in no value: any other one goes before it."""
_ASKING = 0.3
"""What a question costs: as near a reading without one goes before it."""
_MOST = 12
"""Readings of one stretch that are followed, the cheapest ones."""
_DEEPEST = 30
"""Rules within each other: brackets beyond are not read, and a hostile request takes no stack."""
_MOST_LISTED = 60
"""Things of one list."""
_SYMBOL = re.compile(r"\s*('[^']*'|:?[A-Za-z_]+|[()|?*+~:])")


class RequestSpan(NamedTuple):
    """Where a rule was found in a request: from a token to before another."""

    scan: RequestScan
    start: int
    end: int

    @property
    def text(self) -> str:
        """What stands there."""
        return self.scan.text(self.start, self.end)

    @property
    def words(self) -> list[str]:
        """The folded words of it."""
        return [self.scan.word(at) for at in range(self.start, self.end)]

    def has(self, *concepts: str) -> bool:
        """Tell whether a phrase of some concepts begins in it."""
        return any(self.scan.at(at, *concepts) for at in range(self.start, self.end))

    def rewritten(self, text: str) -> str:
        """Return the request with another text in its place."""
        return self.scan.rewritten(self.start, self.end, text)


class Production(NamedTuple):
    """A rule: what it is called by, its pattern, what it makes, and what it costs."""

    symbol: str
    pattern: str
    make: Callable[..., Any]
    cost: float = 0.0


class Parse(NamedTuple):
    """A reading of a stretch: where it ends, its value, what it costs."""

    end: int
    value: Any
    cost: float


class _Item(msgspec.Struct, frozen=True):
    """A piece of a pattern.

    Args:
        kind: What it is.
        name: The concept, word, terminal or rule.
        rows: Of a group its rows.
        often: "" once, "?" perhaps, "*" any number of times, "+" or "~" a list.
        told: How many values it tells.
    """

    kind: str
    name: str = ""
    rows: tuple[tuple["_Item", ...], ...] = ()
    often: str = ""
    told: int = 0


class Grammar:
    """Rules with compiled patterns.

    Args:
        rules: The rules.
        terminals: What is found by looking at tokens, by name.
    """

    def __init__(self, rules: Sequence[Production], terminals: Mapping[str, Terminal]) -> None:
        self.terminals = terminals
        self.names = {rule.symbol for rule in rules}
        self.rules: dict[str, list[tuple[tuple[_Item, ...], Production]]] = {}
        for rule in rules:
            for row in self._rows(_SYMBOL.findall(rule.pattern)):
                self.rules.setdefault(rule.symbol, []).append((row, rule))

    def _rows(self, symbols: list[str]) -> tuple[tuple[_Item, ...], ...]:
        """Compile symbols up to a closing bracket, and take them away."""
        rows: list[tuple[_Item, ...]] = []
        row: list[_Item] = []
        while symbols:
            symbol = symbols.pop(0)
            if symbol == ")":
                break
            if symbol == "|":
                rows.append(tuple(row))
                row = []
                continue
            item = self._item(symbol, symbols)
            if symbols and symbols[0] in "?*+~":
                item = msgspec.structs.replace(item, often=symbols.pop(0))
            row.append(item)
        return (*rows, tuple(row))

    def _item(self, symbol: str, symbols: list[str]) -> _Item:
        if symbol == "(":
            rows = self._rows(symbols)
            return _Item("group", rows=rows, told=max(sum(i.told for i in row) for row in rows))
        if symbol == ":":
            symbols.pop(0)
            rows = self._rows(symbols)
            return _Item("concept", rows=rows, told=1)
        if symbol.startswith("'"):
            return _Item("word", symbol.strip("'"))
        if symbol in self.names or symbol in self.terminals:
            return _Item("value", symbol, told=1)
        return _Item("phrase", symbol.removeprefix(":"), told=symbol.startswith(":"))


class RequestChart:
    """All that rules find in a request.

    Args:
        grammar: The rules.
        scan: The request.
    """

    def __init__(self, grammar: Grammar, scan: RequestScan) -> None:
        self._grammar = grammar
        self._scan = scan
        self._found: dict[tuple[str, int], tuple[Parse, ...]] = {}
        self._depth = 0

    def parses(self, name: str, place: int) -> tuple[Parse, ...]:
        """Return what a rule or terminal finds at a place, the cheapest readings first."""
        key = (name, place)
        if key not in self._found:
            if self._depth > _DEEPEST:
                return ()
            # What is being looked for cannot begin with itself.
            self._found[key] = ()
            self._depth += 1
            self._found[key] = self._cheapest(self._look(name, place))
            self._depth -= 1
        return self._found[key]

    def _look(self, name: str, place: int) -> Iterator[Parse]:
        terminal = self._grammar.terminals.get(name)
        if terminal is not None:
            for end, value in terminal(self._scan, place):
                yield Parse(end, value, _penalty(value))
            return
        for row, rule in self._grammar.rules[name]:
            for end, values, cost in self._row(row, place):
                if end == place:
                    continue
                error = next(_errors(values), None)
                value = error or _called(rule, RequestSpan(self._scan, place, end), values)
                if value is not None:
                    extra = 0.0 if error is not None else _penalty(value)
                    yield Parse(end, value, cost + rule.cost + extra)

    def _cheapest(self, found: Iterable[Parse]) -> tuple[Parse, ...]:
        """Return the cheapest readings, of those with the same end and value only one."""
        kept: list[Parse] = []
        for parse in sorted(found, key=lambda one: one.cost):
            is_known = any(one.end == parse.end and one.value == parse.value for one in kept)
            if not is_known and len(kept) < _MOST:
                kept.append(parse)
        return tuple(kept)

    def _row(
        self, row: Sequence[_Item], place: int
    ) -> Iterator[tuple[int, tuple[Any, ...], float]]:
        if not row:
            yield place, (), 0.0
            return
        item, *rest = row
        for end, values, cost in self._often(item, place):
            for last, others, more in self._row(rest, end):
                yield last, (*values, *others), cost + more

    def _often(self, item: _Item, place: int) -> Iterator[tuple[int, tuple[Any, ...], float]]:
        match item.often:
            case "":
                yield from self._once(item, place)
            case "?":
                yield from self._once(item, place)
                yield place, (None,) * item.told, 0.0
            case "*":
                yield place, (), 0.0
                for end, _, cost in self._once(item, place):
                    if end > place:
                        for last, _, more in self._often(item, end):
                            yield last, (), cost + more
            case "+" if not item.told:
                again = msgspec.structs.replace(item, often="*")
                for end, _, cost in self._once(item, place):
                    for last, _, more in self._often(again, end):
                        yield last, (), cost + more
            case joint:
                for end, values, cost in self._listed(item, place, joint):
                    yield end, (values,), cost

    def _listed(
        self, item: _Item, place: int, joint: str, most: int = _MOST_LISTED
    ) -> Iterator[tuple[int, tuple[Any, ...], float]]:
        once = msgspec.structs.replace(item, often="")
        for end, values, cost in self._once(once, place):
            yield end, values, cost
            for start in self._behind_joint(end, joint) if most > 1 else ():
                for last, others, more in self._listed(item, start, joint, most - 1):
                    # A list is one thing: what is in it belongs together rather than apart.
                    yield last, (*values, *others), cost + more - _SMALL_WORD

    def _behind_joint(self, place: int, joint: str) -> list[int]:
        behind = self._scan.behind_connector(place)
        found = [behind] if behind > place else []
        at = place + self._scan.is_sign(place, ",")
        if joint == "~" and (end := self._scan.at(at, "or")):
            found.append(end)
        # "Sorted by driver, and only the columns …" begins another clause.
        return [at for at in found if not self._scan.at(at, "only")]

    def _once(self, item: _Item, place: int) -> Iterator[tuple[int, tuple[Any, ...], float]]:
        scan = self._scan
        match item.kind:
            case "word":
                if scan.word(place) == item.name:
                    yield place + 1, (), 0.0
            case "phrase":
                for end, cost in self._ends(place, item.name):
                    yield end, (item.name,) * item.told, cost
            case "concept":
                for (one,) in item.rows:
                    for end, cost in self._ends(place, one.name):
                        yield end, (one.name,), cost
            case "group":
                for row in item.rows:
                    for end, values, cost in self._row(row, place):
                        yield end, (*values, *(None,) * (item.told - len(values))), cost
            case _:
                yield from self._value(item.name, place)

    def _ends(self, place: int, concept: str) -> Iterator[tuple[int, float]]:
        """Yield where the longest phrase of a concept ends, and its first word if that is one."""
        end = self._scan.at(place, concept)
        if end:
            yield end, 0.0
        if end > place + 1 and self._scan.is_word(place, concept):
            yield place + 1, _SHORTER

    def _value(self, name: str, place: int) -> Iterator[tuple[int, tuple[Any, ...], float]]:
        cost = 0.0
        while True:
            for parse in self.parses(name, place):
                yield parse.end, (parse.value,), cost + parse.cost
            end = self._scan.at(place, "det")
            if not end:
                return
            place, cost = end, cost + _SMALL_WORD


def _errors(values: tuple[Any, ...]) -> Iterator[UnclearError]:
    for value in values:
        if isinstance(value, UnclearError):
            yield value
        elif isinstance(value, tuple):
            yield from _errors(value)


def _penalty(value: Any) -> float:
    match value:
        case SeveralError():
            return _ASKING
        case UnclearError():
            return _UNCLEAR
        case _:
            return 0.0


def _called(rule: Production, span: RequestSpan, values: tuple[Any, ...]) -> Any:
    try:
        return rule.make(span, *values)
    except UnclearError as unclear:
        return unclear
