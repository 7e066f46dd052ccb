"""Judging of rows that may sum others up: by their figures, against those of the plain rows. Pure.

A candidate is a total where its figures are what the plain rows above it come to, since the
beginning or since an earlier total; where nothing above agrees, what those below it come to. Plain
rows between two candidates come as one `RowStretch`, so that the work grows with the candidates
alone.
"""

import itertools
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

import msgspec

from kbd.formats import TotalLabel, count_label
from kbd_tables.total_rows import (
    SPREADS,
    Judged,
    Number,
    RowStretch,
    TotalCandidate,
    TotalsColumn,
    Verdict,
)

__all__ = ["judge"]

_TRIED_STARTS = 50
Side = Literal["above", "below"]

_SIDES: tuple[Side, ...] = ("above", "below")
_PASSES = (frozenset((True,)), frozenset((False,)))
"""Statistics first: where they stand above a table, an average below them is not one of theirs."""
_MOST_BETWEEN = 200
"""Stretches that a total names: a function of a sheet takes 255 arguments."""
_LEAST_SPREAD = 3
"""Rows above a median that does not agree with them, or they are no table of rows."""
_LEAST_ROWS = 2
"""Of one row alone the least and the greatest value are its own."""
_RELATIVE_ERROR = 1e-12
"""What sums of doubles may be off by, of the sum of their sizes; a few thousand roundings."""


_Match = Literal["agrees", "partly", "no"]


class _Sums:
    """Running sums: rows, and of each column the count, sum and size."""

    def __init__(self, width: int) -> None:
        self.rows = 0
        self.counts: list[int] = [0] * width
        self.sums: list[Number] = [0] * width
        self.sizes: list[Number] = [0] * width

    def add(self, stretch: RowStretch) -> None:
        """Add plain rows."""
        self.rows += stretch.rows
        self.counts = [a + b for a, b in zip(self.counts, stretch.counts, strict=True)]
        self.sums = [_plus(a, b) for a, b in zip(self.sums, stretch.sums, strict=True)]
        self.sizes = [_plus(a, b) for a, b in zip(self.sizes, stretch.sizes, strict=True)]

    def taken(self) -> RowStretch:
        """Return them as they are now."""
        return RowStretch(self.rows, tuple(self.counts), tuple(self.sums), tuple(self.sizes))

    def since(self, start: RowStretch) -> RowStretch:
        """Return what came since a moment."""
        return RowStretch(
            self.rows - start.rows,
            tuple(a - b for a, b in zip(self.counts, start.counts, strict=True)),
            tuple(_plus(a, -b) for a, b in zip(self.sums, start.sums, strict=True)),
            tuple(_plus(a, -b) for a, b in zip(self.sizes, start.sizes, strict=True)),
        )


def _plus(one: Number, other: Number) -> Number:
    if isinstance(one, float) or isinstance(other, float):
        return float(one) + float(other)
    return one + other


def judge(
    columns: Sequence[TotalsColumn],
    stretches: Sequence[RowStretch],
    candidates: Sequence[TotalCandidate],
) -> list[Judged]:
    """Judge candidates, given in the order of the table.

    Args:
        columns: The columns of figures.
        stretches: The plain rows before each candidate and after the last one.
        candidates: Which rows are in question.
    """
    return _Judge(columns, stretches, candidates).judged()


class _Start(msgspec.Struct, frozen=True):
    """A moment from which on rows may be summed up.

    Args:
        without: What came before, rows left out that may be totals.
        with_: The same with those rows.
        opened: How many of them there were.
        place: The first candidate after it, in the direction of the pass.
    """

    without: RowStretch
    with_: RowStretch
    opened: int
    place: int


class _Found(msgspec.Struct, frozen=True):
    """The rows that a candidate sums up.

    Args:
        start: Since when.
        rows: How many.
        counts_undecided: Whether undecided ones count.
        columns: The columns in which it has what they come to.
    """

    start: _Start
    rows: int
    counts_undecided: bool
    columns: tuple[int, ...]


class _Source(msgspec.Struct, frozen=True):
    """What a candidate sums up.

    Args:
        between: The candidates among the rows.
        left: Those of them that are not counted.
        columns: The columns of figures in which it agrees.
    """

    between: range
    left: tuple[int, ...]
    columns: tuple[int, ...]


class _Judge:
    """The candidates of one table while they are judged."""

    def __init__(
        self,
        columns: Sequence[TotalsColumn],
        stretches: Sequence[RowStretch],
        candidates: Sequence[TotalCandidate],
    ) -> None:
        self._columns, self._stretches, self._candidates = columns, stretches, candidates
        self._proven: dict[int, Side] = {
            place: each.formula.side
            for place, each in enumerate(candidates)
            if each.formula is not None and each.is_proven
        }
        self._verdicts: dict[int, Verdict] = {**self._proven}
        self._traced: set[int] = set()
        self._partly: set[int] = set()
        self._thin: dict[int, Side] = {}
        self._sources: dict[int, _Source] = {}
        self._left: set[int] = set()

    def judged(self) -> list[Judged]:
        """Return the verdict on each."""
        # Each round decides at least one more, and what is decided changes what others come to.
        for _ in range(len(self._candidates) + 1):
            if not any(self._pass(side, kinds) for kinds in _PASSES for side in _SIDES):
                break
        for place, candidate in enumerate(self._candidates):
            self._verdicts.setdefault(place, self._undecided(place, candidate))
        return [self._with_source(place) for place in range(len(self._candidates))]

    def _with_source(self, place: int) -> Judged:
        """Return a candidate with its verdict and the rows that it sums up."""
        candidate, verdict = self._candidates[place], self._verdicts[place]
        source = self._sources.get(place)
        if source is None and place in self._proven:
            return Judged(candidate, verdict, self._named(candidate))
        if verdict == "row" or source is None or not source.columns:
            return Judged(candidate, verdict)
        between = source.between
        rows = [self._candidates[n].row for n in source.left]
        count = sum(stretch.rows for stretch in self._stretches) + len(self._candidates)
        before, after = between.start - 1, between.stop
        first = self._candidates[before].row + 1 if before >= 0 else 0
        end = self._candidates[after].row if after < len(self._candidates) else count
        edges = [first - 1, *rows, end]
        ranges = [(one + 1, other - 1) for one, other in itertools.pairwise(edges)]
        filled = tuple((low, high) for low, high in ranges if low <= high)
        return Judged(candidate, verdict, filled, source.columns)

    def _named(self, candidate: TotalCandidate) -> tuple[tuple[int, int], ...]:
        """Return the rows that a candidate's formulas name, without the totals among them."""
        assert candidate.formula is not None, "what is proven has a formula"
        totals = [self._candidates[n].row for n, v in self._verdicts.items() if v in _SIDES]
        found = list[tuple[int, int]]()
        for first, last in candidate.formula.ranges:
            within = sorted(row for row in totals if first <= row <= last)
            edges = [first - 1, *within, last + 1]
            found += [(low + 1, high - 1) for low, high in itertools.pairwise(edges)]
        return tuple((low, high) for low, high in found if low <= high)

    def _note_source(self, place: int, found: _Found, side: Side, verdict: Verdict) -> None:
        """Note which rows a candidate sums up, and which between them it does not."""
        between = self._between(found.start, place, side)
        if len(between) > _MOST_BETWEEN:
            return
        verdicts = {n: self._verdicts.get(n) for n in between}
        counted = ("row", None) if found.counts_undecided else ("row",)
        left = tuple(n for n in between if verdicts[n] not in counted)
        self._sources[place] = _Source(between, left, found.columns)
        if verdict == side:
            # A weak label that a total leaves out is none of its rows, whatever its figure is.
            self._left.update(n for n in left if verdicts[n] is None)

    def _pass(self, side: Side, kinds: frozenset[bool]) -> bool:
        """Go along the rows once; return whether a candidate was decided.

        Args:
            side: Where the rows are that a candidate may be of.
            kinds: Whether statistics are decided, or what else there is.
        """
        without, with_ = _Sums(len(self._columns)), _Sums(len(self._columns))
        order = range(len(self._candidates))
        starts, open_, is_new = [_Start(without.taken(), with_.taken(), 0, 0)], list[int](), False
        for step, place in enumerate(order if side == "above" else reversed(order)):
            stretch = self._stretches[place if side == "above" else place + 1]
            without.add(stretch)
            with_.add(stretch)
            candidate, verdict = self._candidates[place], self._verdicts.get(place)
            # What is proven is asked once, for the rows that its figures are of.
            is_open = verdict is None or (verdict == self._proven.get(place) == side
                                          and place not in self._traced)  # fmt: skip
            is_asked = is_open and candidate.is_statistic in kinds
            if is_asked and (found := self._found(place, side, without, with_, starts)):
                is_new = True
                self._traced.add(place)
                verdict = self._verdicts[place] = self._agreed(place, found, side)
                self._note_source(place, found, side, verdict)
                passed = order[:: 1 if side == "above" else -1][found.start.place : step]
                if found.counts_undecided:
                    # A total that they are in tells that they are rows like others.
                    self._verdicts |= self._opened(place, open_[found.start.opened :])
                    return True
                if verdict == side:
                    # And one that they are not in, that they are totals themselves.
                    self._verdicts |= {e: self._thin[e] for e in passed if e in self._thin}
            if verdict is None or verdict == "row":
                own = _stretch_of(candidate)
                with_.add(own)
                if verdict == "row":
                    without.add(own)
                else:
                    open_.append(place)
            else:
                starts.append(_Start(without.taken(), with_.taken(), len(open_), step + 1))
        return is_new

    def _opened(self, place: int, rows: Sequence[int]) -> dict[int, Verdict]:
        """Return the verdicts on rows that a candidate counts, and on it where it carries sums.

        What was there before and what is left are no movements, either of them: one is asked about
        as the other is.
        """
        carried = [n for n in rows if self._is_carried(n, is_balance=False)]
        if carried and self._is_carried(place, is_balance=False):
            return {**dict.fromkeys(rows, "row"), **dict.fromkeys((*carried, place), "unsure")}
        standing = [n for n in rows if self._is_carried(n, is_balance=True)]
        return {**dict.fromkeys(rows, "row"), **dict.fromkeys(standing, "unsure")}

    def _is_carried(self, place: int, *, is_balance: bool) -> bool:
        """Tell whether a row carries a sum, or a balance, that a sum of its column would count."""
        candidate = self._candidates[place]
        label = candidate.label
        if label is None or label.kind != "carried":
            return False
        return (label.is_balance or not is_balance) and self._is_added(candidate)

    def _found(
        self, place: int, side: Side, without: _Sums, with_: _Sums, starts: Sequence[_Start]
    ) -> _Found | None:
        """Return the rows that come to what a candidate has, None if none do."""
        candidate = self._candidates[place]
        if candidate.is_statistic:
            return self._found_statistic(place, side, without, starts)
        # Totals at the top are known by a label and a figure; else it would be chance too often.
        if side == "below" and (candidate.label is None or not any(candidate.figures)):
            return None
        is_count = candidate.label is not None and candidate.label.count is not None
        if is_count and (side == "below" or not candidate.is_bare):
            return None
        is_weak = candidate.label is not None and candidate.label.is_weak
        if is_weak and (side == "below" or not (candidate.is_bare or candidate.is_alike)):
            return None
        least = 2 if is_weak or candidate.label is None else 1
        recent = starts[-_TRIED_STARTS:]
        tried = recent if len(recent) == len(starts) else [starts[0], *recent]
        for start in reversed(tried):
            plain, all_ = without.since(start.without), with_.since(start.with_)
            tried_rows = ((plain, False), *(() if is_weak else ((all_, all_ != plain),)))
            for rows, counts_undecided in tried_rows:
                match = _match(self._columns, candidate, rows) if rows.rows >= least else "no"
                if match == "agrees":
                    return _Found(start, rows.rows, counts_undecided, _agreeing(candidate, rows))
                if match == "partly":
                    self._partly.add(place)
        return None

    def _found_statistic(
        self, place: int, side: Side, without: _Sums, starts: Sequence[_Start]
    ) -> _Found | None:
        """Return the rows that a least or greatest value, or a count, is of."""
        candidate = self._candidates[place]
        assert candidate.label is not None, "a statistic has a label"
        filled = [n for n, figure in enumerate(candidate.figures) if figure is not None]
        if candidate.label.kind in SPREADS:
            above = without.since(starts[0].without)
            is_all = side == "above" and above.rows >= _LEAST_ROWS
            agrees = is_all and bool(filled) and len(candidate.spread) == len(filled)
            if not agrees:
                return None
            return _Found(starts[0], above.rows, counts_undecided=False, columns=candidate.spread)
        for start in reversed([starts[0], *starts[1:][-_TRIED_STARTS:]]):
            rows = without.since(start.without)
            if rows.rows < _LEAST_ROWS:
                continue
            wanted = self._statistics(self._between(start, place, side), candidate, rows)
            agreeing = tuple(n for n in filled if candidate.figures[n] == wanted[n])
            if filled and len(agreeing) == len(filled):
                return _Found(start, rows.rows, counts_undecided=False, columns=agreeing)
            if agreeing:
                self._partly.add(place)
        return None

    def _between(self, start: _Start, place: int, side: Side) -> range:
        """Return the places of the candidates between a moment and a candidate."""
        if side == "above":
            return range(start.place, place)
        return range(place + 1, len(self._candidates) - start.place)

    def _statistics(
        self, between: range, candidate: TotalCandidate, rows: RowStretch
    ) -> list[Number | None]:
        """Return the least or greatest values, or counts, of the rows among some candidates."""
        assert candidate.label is not None, "a statistic has a label"
        if candidate.label.kind == "count":
            # Of all rows, or of those that have a value there.
            return [
                rows.rows if figure == rows.rows else count
                for figure, count in zip(candidate.figures, rows.counts, strict=True)
            ]
        is_least = candidate.label.kind == "minimum"
        parts = [
            stretch.lows if is_least else stretch.highs
            for stretch in self._stretches[between.start : between.stop + 1]
        ]
        parts += [self._candidates[n].figures for n in between if self._verdicts.get(n) == "row"]
        found: list[Number | None] = []
        for values in zip(*parts, strict=True):
            filled = [value for value in values if value is not None]
            found.append((min if is_least else max)(filled, default=None))
        return found

    def _is_sure_statistic(self, place: int) -> bool:
        """Tell whether more than one figure tells that a row is none like others."""
        candidate = self._candidates[place]
        if candidate.label is not None and candidate.label.kind in SPREADS:
            return True
        # A person called Max has his other fields filled, and nobody called Min beside him.
        is_count = candidate.label is not None and candidate.label.kind == "count"
        return candidate.has_others or self._is_beside(place) or (is_count and candidate.is_outer)

    def _is_beside(self, place: int) -> bool:
        """Tell whether a row that sums others up otherwise stands next to it."""
        own = self._candidates[place]
        for near in self._candidates[max(0, place - 1) : place + 2]:
            is_next = abs(near.row - own.row) == 1
            # A list of statistics has deviations, too: they tell of no row beside them.
            if near.label and near.label.kind in SPREADS:
                continue
            if is_next and own.label and near.label and near.label.kind != own.label.kind:
                return near.is_bare
        return False

    def _agreed(self, place: int, found: _Found, side: Side) -> Verdict:
        """Return the verdict on one whose figures agree."""
        candidate = self._candidates[place]
        label = candidate.label
        if candidate.is_proven:
            return side
        if candidate.is_statistic:
            if not candidate.is_bare:
                # A person, whose other fields are filled as those of others are.
                return "row"
            return side if self._is_sure_statistic(place) else "unsure"
        # Below texts a total has how many they are.
        is_counted = all(_says(text, found.rows) for text in candidate.others)
        if label is None or not (candidate.is_bare or candidate.is_alike or is_counted):
            return "unsure"
        if label.count is not None:
            # It says how many they are, and so they are.
            is_said = label.count == found.rows and any(candidate.figures)
            return side if is_said else "unsure" if self._leaves_out(candidate) else "row"
        if label.is_weak:
            # A total that it is not in tells that it is one itself; else it is asked about.
            self._thin[place] = side
            return "unsure"
        # The same figure twice may be chance, where nothing but the label tells them apart.
        is_thin = not candidate.has_others and (found.rows == 1 or not any(candidate.figures))
        if is_thin and not (candidate.is_outer and label.is_whole):
            self._thin[place] = side
            return "unsure"
        return side

    def _leaves_out(self, candidate: TotalCandidate) -> bool:
        """Tell whether a row at either end, or of a table with other fields, says a label alone."""
        return candidate.is_bare and (candidate.has_others or candidate.is_outer)

    def _is_added(self, candidate: TotalCandidate) -> bool:
        """Tell whether a row has a figure that a sum of its column would count."""
        pairs = zip(self._columns, candidate.figures, strict=True)
        return any(column.is_additive and figure for column, figure in pairs)

    def _ends_table(self, place: int) -> bool:
        """Tell whether a row that says how others spread, and does not agree, is below them all."""
        label = self._candidates[place].label
        before, after = self._stretches[: place + 1], self._stretches[place + 1 :]
        is_last = not any(stretch.rows for stretch in after)
        is_below = sum(stretch.rows for stretch in before) >= _LEAST_SPREAD
        # Below a total a variance is what it differs by from a budget.
        is_else = label is not None and label.kind == "variance"
        is_free = not (is_else and any(each in _SIDES for each in self._verdicts.values()))
        return self._candidates[place].is_bare and is_last and is_below and is_free

    def _undecided(self, place: int, candidate: TotalCandidate) -> Verdict:
        """Return the verdict on one whose figures do not agree with any rows."""
        label = candidate.label
        if label is None:
            return "row"
        if candidate.formula is not None:
            return "unsure"
        if label.is_weak:
            return "unsure" if place in self._left and candidate.is_bare else "row"
        if label.count is not None:
            above = sum(stretch.rows for stretch in self._stretches[: place + 1])
            is_told = candidate.is_bare and candidate.has_others and label.count == above
            return "unsure" if is_told else "row"
        if label.kind in SPREADS:
            return "unsure" if self._ends_table(place) else "row"
        if candidate.is_statistic:
            sides = (self._stretches[: place + 1], self._stretches[place + 1 :])
            most = max(sum(stretch.rows for stretch in side) for side in sides)
            is_partly = place in self._partly and candidate.is_bare and candidate.has_others
            is_told = candidate.is_bare and self._is_beside(place) and most >= _LEAST_ROWS
            return "unsure" if is_partly or is_told else "row"
        if place in self._partly and (candidate.is_bare or candidate.is_alike):
            return "unsure"
        if label.is_balance and self._is_added(candidate):
            return "unsure"
        # A vendor may be called "Total": its other fields are filled as those of others are.
        if candidate.has_others and not candidate.is_bare:
            return "row"
        if not candidate.has_others and not candidate.is_outer and not label.is_whole:
            return "row"
        # "Average" is a grade, too.
        if label.kind == "average" and not candidate.has_others and not candidate.is_outer:
            return "row"
        return "unsure"


def _says(text: str, rows: int) -> bool:
    """Tell whether a text says how many rows there are, and nothing else ("3", "3 rows")."""
    label = count_label(text)
    return text == str(rows) or (label is not None and label.count == rows)


def _stretch_of(candidate: TotalCandidate) -> RowStretch:
    figures = candidate.figures
    return RowStretch(
        1,
        tuple(int(figure is not None) for figure in figures),
        tuple(0 if figure is None else figure for figure in figures),
        tuple(_size(figure) for figure in figures),
    )


def _size(figure: Number | None) -> Number:
    if figure is None:
        return 0
    return -figure if figure < 0 else figure


def _match(columns: Sequence[TotalsColumn], candidate: TotalCandidate, rows: RowStretch) -> _Match:
    """Compare a candidate's figures with what some plain rows come to."""
    agreed, differing, is_telling = 0, 0, False
    for place, (column, figure) in enumerate(zip(columns, candidate.figures, strict=True)):
        if figure is None or not rows.counts[place]:
            # Nothing to compare it with: no row has a figure there.
            differing += figure is not None and figure != 0 and column.is_additive
            continue
        if _agrees(candidate.label, figure, rows, place):
            # What is not added up has no sum that could tell of a row without a label.
            is_bare = candidate.is_bare and candidate.has_others
            is_sum = column.is_additive or (column.is_time and is_bare)
            agreed += candidate.label is not None or is_sum
            is_telling = is_telling or figure != 0
        elif column.is_additive and not (
            _is_key(column, figure, rows, place) or _is_count(column, candidate, rows, figure)
        ):
            differing += 1
    # Zeros agree with anything: a label that says nothing else has to tell what they are.
    is_said = candidate.label is not None and candidate.label.is_whole
    if not agreed or not (is_telling or is_said):
        return "no"
    if differing:
        return "partly" if is_telling else "no"
    return "agrees"


def _agreeing(candidate: TotalCandidate, rows: RowStretch) -> tuple[int, ...]:
    """Return the columns in which a candidate has what some plain rows come to, to the digit."""
    return tuple(
        place
        for place, figure in enumerate(candidate.figures)
        if figure is not None
        and rows.counts[place]
        and _agrees(candidate.label, figure, rows, place)
        and not _is_rounded(candidate.label, figure, rows, place)
    )


def _is_rounded(label: TotalLabel | None, figure: Number, rows: RowStretch, place: int) -> bool:
    """Tell whether a figure is an average that was written with fewer digits than it has."""
    if label is None or label.kind != "average":
        return False
    return _exact(rows.sums[place]) / rows.counts[place] != _exact(figure)


def _exact(number: Number) -> Decimal:
    return Decimal(repr(number) if isinstance(number, float) else number)


def _agrees(label: TotalLabel | None, figure: Number, rows: RowStretch, place: int) -> bool:
    total, size = rows.sums[place], rows.sizes[place]
    if label is not None and label.kind == "average":
        return _is_average(figure, total, rows.counts[place])
    if isinstance(figure, float) or isinstance(total, float):
        bound = _RELATIVE_ERROR * float(size) + 4 * math.ulp(float(figure))
        return abs(float(figure) - float(total)) <= bound
    return figure == total


def _is_average(figure: Number, total: Number, count: int) -> bool:
    """Tell whether a figure is an average, in the digits that it has."""
    exact, shown = _exact(total) / count, _exact(figure)
    exponent = shown.as_tuple().exponent
    step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    return abs(shown - exact) <= step / 2 + abs(exact) * Decimal("1e-12")


def _is_count(
    column: TotalsColumn, candidate: TotalCandidate, rows: RowStretch, figure: Number
) -> bool:
    """Tell whether a whole number beside a sum that nothing labels is how many rows there are."""
    return candidate.label is None and column.is_whole and figure == rows.rows


def _is_key(column: TotalsColumn, figure: Number, rows: RowStretch, place: int) -> bool:
    """Tell whether a whole number is that of every row, as the year or the id of a group is."""
    return column.is_whole and rows.sums[place] == figure * rows.counts[place]
