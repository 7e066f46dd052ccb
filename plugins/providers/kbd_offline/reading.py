"""Reading of a request about one table: the clauses that together use every word of it. Pure.

All rules are tried at each place, and of all ways to put clauses side by side the one that costs
least is taken. A word that no clause takes and that is no filler makes the request unclear, for it
may be the one that matters.
"""

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from kbd_offline.clauses import (
    Clauses,
    DeriveClause,
    FieldClause,
    FigureClause,
    LooseClause,
    NounClause,
    RankClause,
    count_of_rows,
)
from kbd_offline.column_rules import COLUMN_RULES
from kbd_offline.condition_rules import CONDITION_RULES
from kbd_offline.facts import KnownColumn
from kbd_offline.figure_rules import FIGURE_RULES
from kbd_offline.grammar_checks import check_signs, check_unknown, check_value_word
from kbd_offline.mentions import COMPOUND, PART, SAME, STEM
from kbd_offline.names import fold, stem
from kbd_offline.patterns import Grammar, Production, RequestChart, RequestSpan
from kbd_offline.rank_rules import RANK_RULES
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, is_cue, quoted
from kbd_offline.terminals import TERMINALS, NamedColumn
from kbd_offline.time_rules import TIME_RULES

__all__ = ["GRAMMAR", "read_clauses"]

_MAX_WORDS = 150
"""Of one request; each is a place where all rules are tried."""
_CLAUSE = 1.0
"""What a clause costs: fewer, longer ones go before many."""
_FILLER = 0.55
"""What a word costs that means nothing more."""
_PASSED_OVER = 3.0
"""What it costs to take a value for a word that means nothing more."""
_SIGN = 0.05
_UNKNOWN = 1000.0
"""What a word costs that nothing is known of: a reading with one is none."""


def _loose(span: RequestSpan, named: NamedColumn) -> LooseClause | NounClause | None:
    """Read a column that stands alone, until it is known what is made of it."""
    scan, column = span.scan, named.column
    is_unique = column.distinct == scan.table.rows
    if is_unique and named.level >= PART and column.is_text:
        # "Products under 10 euros": each row is one.
        return NounClause(named.start)
    is_row = scan.is_noun(named.start) and named.end == named.start + 1
    is_row = is_row and (named.level > STEM or is_unique)
    return None if is_row else LooseClause(column, named.start)


def _noun(span: RequestSpan, place: int, figures: tuple[FigureClause, ...] | None = None) -> object:
    """Read a word for the rows; with a figure beside they are counted: "members and total fee"."""
    scan = span.scan
    if scan.at(place, "exactly"):
        return None
    mention = scan.column(place)
    columns = () if mention is None or mention.end > place + 1 else mention.columns
    is_unique = any(one.distinct == scan.table.rows for one in columns)
    if mention is not None and columns and mention.level <= STEM and not is_unique:
        return None
    counted = () if figures is None else (count_of_rows(place), *figures)
    found: list[object] = [NounClause(place), *counted]
    sums = [one for one in columns if one.adds_up]
    if mention is not None and len(sums) == 1 and mention.level > PART:
        # What the file is called is only a figure where figures are asked for: "sales by region".
        found.append(LooseClause(sums[0], place, is_weak=True))
    return tuple(found)


_OTHER_RULES = (
    Production("loose_clause", "AMOUNT", _loose, 0.8),
    Production("loose_clause", "COLUMN", _loose, 0.9),
    Production("noun_clause", "NOUN", _noun, -0.4),
    Production("noun_clause", "NOUN (and|',') figures", _noun, -0.2),
)
GRAMMAR = Grammar(
    (*CONDITION_RULES, *TIME_RULES, *FIGURE_RULES, *RANK_RULES, *COLUMN_RULES, *_OTHER_RULES),
    TERMINALS,
)
"""All rules of requests about one table."""
_CLAUSES = (
    "where_clause", "figures",
    *(name for name in GRAMMAR.rules if name.endswith("_clause") and name != "derive_clause"),
)  # fmt: skip
"""Rules whose findings stand side by side; what is computed is looked for before."""


class _Piece(NamedTuple):
    """A clause where it stands."""

    start: int
    end: int
    value: Any

    @property
    def values(self) -> tuple[Any, ...]:
        """Its clauses."""
        return self.value if isinstance(self.value, tuple) else (self.value,)


class _Way(NamedTuple):
    """Clauses side by side up to a place, and what they cost."""

    cost: float
    pieces: tuple[_Piece, ...]


def read_clauses(scan: RequestScan) -> Clauses:
    """Return the clauses of a request.

    Raises:
        SeveralError: It has several readings.
        UnclearError: It has none.
    """
    if len(scan) > _MAX_WORDS:
        raise UnclearError("it is too long to be read by rules")
    derived = _derived(scan)
    way = _cheapest(scan, derived)
    for piece in way.pieces:
        if isinstance(piece.value, UnclearError):
            raise piece.value
    clauses = Clauses(
        is_question=bool(scan.at(0, "question")) or scan.is_sign(len(scan) - 1, "?"),
        is_who=is_cue(scan, 0, "who"), derived=_made(scan, way, derived),
    )  # fmt: skip
    _check_asked(scan, way, derived)
    _check_things(scan, way)
    for piece in way.pieces:
        for value in piece.values:
            if isinstance(value, RankClause) and clauses.rank not in (None, value):
                raise UnclearError("it asks for the first ones of two orders: ask for one of them")
            clauses.add(value, range(piece.start, piece.end))
    _check_average(scan, clauses)
    _check_names(scan, clauses)
    _check_counts(scan, clauses)
    _check_words(scan, way)
    _drop_explained(scan, clauses)
    check_unknown(scan, clauses)
    check_signs(scan, clauses)
    return clauses


def _made(scan: RequestScan, way: _Way, derived: dict[int, _Piece]) -> list[DeriveClause]:
    """Return the computed columns that are used: as clauses, or by their names."""
    used = {piece.start for piece in way.pieces if piece == derived.get(piece.start)}
    found: list[DeriveClause] = []
    for place, piece in derived.items():
        mention = scan.column(place)
        names = () if mention is None else tuple(column.name for column in mention.columns)
        found += [
            value for value in piece.values
            if isinstance(value, DeriveClause) and (place in used or value.name in names)
        ]  # fmt: skip
    return found


def _check_asked(scan: RequestScan, way: _Way, derived: dict[int, _Piece]) -> None:
    """Check that no question is taken for one about a column that the next sentence makes.

    Raises:
        UnclearError: A sentence with words of its own stands before the one that makes a column.
    """
    for place in derived:
        ends = [at for at in range(place) if scan.is_sign(at, "?.!") and at + 1 < len(scan)]
        if ends and any(piece.end <= ends[-1] + 1 for piece in way.pieces):
            raise UnclearError("it asks something and adds a column: ask for one after the other")


def _check_things(scan: RequestScan, way: _Way) -> None:
    """Check that "highest fee visits" is not taken for the highest fee.

    Raises:
        UnclearError: A word for rows stands behind a figure of one of them.
    """
    for piece, behind in itertools.pairwise(way.pieces):
        figure = next(reversed(piece.values), None)
        noun = next(iter(behind.values), None)
        is_extreme = isinstance(figure, FigureClause) and figure.function in _EXTREMES
        if is_extreme and isinstance(noun, NounClause) and noun.place == piece.end:
            text = scan.text(piece.start, behind.end)
            raise UnclearError(f'"{text}" may be rows, or a figure of them')


def _check_average(scan: RequestScan, clauses: Clauses) -> None:
    """Check that "average monthly spending" is not taken for that of the rows of each month.

    Raises:
        SeveralError: It may be of the sums of the months as well.
    """
    for place in range(len(scan)):
        end = scan.at(place, "average", "median")
        if end and scan.at(end, "count", "how_many") and not scan.is_column(end):
            raise UnclearError("I do not make the average of a count")
        if not end or not scan.at(end, *_ADVERBS):
            continue
        for figure in clauses.figures:
            column = figure.column
            if figure.function in ("average", "median") and (column is None or column.adds_up):
                what = f"the average of the sums of each {scan.word(end).removesuffix('ly')}"
                options = [scan.rewritten(place, end, word) for word in ("total", "each average")]
                raise SeveralError(f"it may be {what}, or of the rows in it", options)


def _check_names(scan: RequestScan, clauses: Clauses) -> None:
    """Check that "total amount" is not taken for the column called so where there is an Amount.

    Raises:
        SeveralError: It may be the total of the other column as well.
    """
    if not (clauses.figures or clauses.rank or clauses.keys):
        return
    for place in range(len(scan)):
        name, rest = scan.full_name(place), scan.column(place + 1)
        is_figure = any(scan.is_word(place, one) for one in _FUNCTIONS)
        if name is None or name.end == place + 1 or place in clauses.condition_places:
            continue
        if not is_figure or rest is None or rest.level > STEM or rest.end < name.end:
            continue
        text = scan.text(place, name.end)
        is_spelt = place > 0 and not text[0].islower() and text == name.columns[0].name
        is_behind = not clauses.rank and any(scan.is_word(place - 1, one) for one in _FUNCTIONS)
        if not (is_spelt or is_behind):
            first, whole = scan.text(place, place + 1), quoted(name.columns[0].name)
            others = [quoted(one.name) for one in rest.columns]
            options = [whole, *(f"{first} of {one}" for one in others)]
            raise SeveralError(
                f'"{text}" may be the column {whole}, or be of {" or ".join(others)}',
                [scan.rewritten(place, name.end, one) for one in options],
            )


def _check_counts(scan: RequestScan, clauses: Clauses) -> None:
    """Check that "count by region" is not taken for that of rows where a column is called Count.

    Raises:
        SeveralError: It may be the total of that column as well.
    """
    for place in (one.place for one in clauses.figures if one.of_rows):
        name = scan.column(place)
        if name is None or name.level > SAME or scan.is_noun(place):
            continue
        sums = [one for one in name.columns if one.adds_up]
        if sums and not any(scan.is_noun(at) for at in range(name.end, name.end + 2)):
            words = ["count rows", f"total {quoted(sums[0].name)}"]
            raise SeveralError(
                f'"{scan.text(place, name.end)}" may be how many rows there are, or the total of'
                f' "{sums[0].name}"',
                [scan.rewritten(place, name.end, one) for one in words],
            )


def _check_words(scan: RequestScan, way: _Way) -> None:
    """Check that no word of the language is a value as well: "sales" of the department Sales.

    Raises:
        SeveralError: One is, and nothing tells which is meant.
    """
    for piece in way.pieces:
        first = next(iter(piece.values), None)
        if isinstance(first, NounClause) or (
            isinstance(first, LooseClause) and piece.value is first
            and (mention := scan.column(first.place)) and mention.level >= COMPOUND
        ):  # fmt: skip
            check_value_word(scan, first.place)
    if scan.word(0) == "number" and scan.word(1) in ("the", "all", "my", "each"):
        raise UnclearError("it may ask for a number on each row, or for their number")


_ADVERBS = ("yearly", "quarterly", "monthly", "weekly", "daily")
_EXTREMES = ("minimum", "maximum")


def _derived(scan: RequestScan) -> dict[int, _Piece]:
    """Return the columns that a request has computed; later words may name them."""
    found: dict[int, _Piece] = {}
    chart, place = RequestChart(GRAMMAR, scan), 0
    while place < len(scan):
        parses = chart.parses("derive_clause", place) if _may_begin(scan, place) else ()
        good = [one for one in parses if not isinstance(one.value, UnclearError)] or parses
        if not good:
            place += 1
            continue
        best = min(good, key=lambda one: (-one.end, one.cost))
        found[place] = _Piece(place, best.end, best.value)
        for value in found[place].values:
            if isinstance(value, DeriveClause):
                made = KnownColumn(value.name, "float", filled=scan.table.rows)
                scan.add_column(made)
                chart = RequestChart(GRAMMAR, scan)
                if scan.at(place - 1, *_FUNCTIONS):
                    # "Average days from opened to closed": the figure is of what is computed.
                    value = (*best.value, LooseClause(made, place))
                    found[place] = _Piece(place, best.end, value)
        place = best.end
    return found


_MOST_EXPLAINED = 2
"""Unknown words before brackets that these explain."""
_FUNCTIONS = ("sum", "average", "median", "minimum", "maximum")


def _may_begin(scan: RequestScan, place: int) -> bool:
    """Tell whether what is computed may begin at a place: the words before it belong elsewhere."""
    if scan.at(place, "add_column", "compute"):
        return True
    if scan.at(place, *_FUNCTIONS) and scan.kind(place) != "quoted":
        return False
    if not place:
        return True
    is_figure = bool(scan.at(place - 1, *_FUNCTIONS))
    if scan.at(place, "filler", "det", "select") and not is_figure:
        return False
    before = scan.kind(place - 1)
    return before == "sign" or bool(
        scan.at(place - 1, "filler", "det", "select", "add_column", "compute", "and", *_FUNCTIONS)
    )


def _cheapest(scan: RequestScan, derived: dict[int, _Piece]) -> _Way:
    chart = RequestChart(GRAMMAR, scan)
    ways: list[_Way | None] = [None] * (len(scan) + 1)
    ways[0] = _Way(0.0, ())
    for place in range(len(scan)):
        way = ways[place]
        if way is None:
            continue
        for end, value, cost in _steps(scan, chart, derived, place):
            old, new = ways[end], way.cost + cost
            if old is None or new < old.cost:
                pieces = way.pieces if value is None else (*way.pieces, _Piece(place, end, value))
                ways[end] = _Way(new, pieces)
    return ways[len(scan)] or _Way(0.0, ())


def _steps(
    scan: RequestScan, chart: RequestChart, derived: dict[int, _Piece], place: int
) -> Iterator[tuple[int, Any, float]]:
    """Yield what may come next: where it ends, its value, what it costs."""
    if place in derived:
        yield derived[place].end, derived[place].value, _CLAUSE - 0.5
    for name in _CLAUSES:
        for parse in chart.parses(name, place):
            yield parse.end, parse.value, _CLAUSE + parse.cost
    yield from _between(scan, place)
    yield place + 1, FieldClause("unknown", (place,)), _UNKNOWN


def _between(scan: RequestScan, place: int) -> Iterator[tuple[int, Any, float]]:
    """Yield what stands between clauses: signs, names of files, words that mean nothing more."""
    if scan.kind(place) == "file":
        yield place + 1, None, 0.0
    if (end := scan.at(place, "into_name")) and scan.kind(end) == "file":
        yield end + 1, None, 0.0
    if scan.kind(place) == "sign" and scan.word(place) in ",;.:!?()\"'-–/":
        yield place + 1, None, _SIGN
    if end := scan.at(place, "and"):
        yield end, None, _SIGN * 2
    named = scan.column(place)
    is_name = scan.tokens[place].text == "A" and place == len(scan) - 1
    if is_name or (named is not None and named.level <= STEM):
        # "Names with A" is no article.
        return
    # A word that is a value as well is more likely that.
    worse = _PASSED_OVER if scan.value(place) is not None else 0.0
    if end := scan.at(place, "convert"):
        yield end, FieldClause("converts"), _FILLER * (end - place)
    for concept in _FILLERS:
        if (end := scan.at(place, concept)) and not scan.at(place, "each_sheet"):
            yield end, None, _FILLER * (end - place) + worse
    if scan.dated_by(place) is not None:
        yield place + 1, None, _FILLER + worse


_FILLERS = (
    "filler", "question", "select", "converted", "added_suffix", "each_own", "exactly",
    "over_time",
)  # fmt: skip


def _drop_explained(scan: RequestScan, clauses: Clauses) -> None:
    """Take words for known that a condition in brackets behind them explains.

    "Unhappy people (satisfaction 1 or 2)", "Reisekosten (Kategorie Reise)": only a word right
    before the brackets, or one that begins with a value that stands in them.
    """
    for opening in range(1, len(scan)):
        closing = opening + 1
        if scan.word(opening) != "(":
            continue
        while closing < len(scan) and scan.word(closing) != ")":
            closing += 1
        inside = set(range(opening + 1, closing))
        if not inside or not inside <= clauses.condition_places | {closing}:
            continue
        values = [stem(fold(value)) for one in clauses.conditions for value in one.values]
        last, explained = opening - 1, 0
        while last in clauses.unknown or scan.is_noun(last) or scan.at(last, "filler", "det"):
            explained += last in clauses.unknown
            if last in clauses.unknown and explained <= _MOST_EXPLAINED:
                clauses.unknown.remove(last)
            last -= 1
        clauses.unknown = [
            place for place in clauses.unknown if place > opening or not any(
                len(value) >= 4 and scan.word(place).startswith(value) for value in values
            )
        ]  # fmt: skip
