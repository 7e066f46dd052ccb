"""Figures of a request, what they are grouped by, and their order. Pure."""

from collections.abc import Callable

import msgspec

from kbd.jobs.records import Aggregate
from kbd_offline.clauses import (
    Clauses,
    FigureClause,
    KeyClause,
    OrderClause,
    Part,
    RunningClause,
    ShareClause,
)
from kbd_offline.facts import KnownColumn
from kbd_offline.mentions import PART, SAME, STEM, SYNONYM, ColumnMention
from kbd_offline.periods import period_at
from kbd_offline.scan import RequestScan, UnclearError

__all__ = [
    "PEOPLE",
    "adverb_key",
    "direction_at",
    "figure_at",
    "fitting",
    "keys_at",
    "order_at",
    "order_item",
    "part_word",
    "read_figures",
    "read_running",
    "read_share",
]  # fmt: skip

_FUNCTIONS: tuple[tuple[str, Aggregate], ...] = (
    ("distinct", "distinct"), ("average", "average"), ("median", "median"),
    ("minimum", "minimum"), ("maximum", "maximum"), ("count", "count"), ("how_many", "count"),
    ("sum", "sum"), ("how_much", "sum"),
)  # fmt: skip
_PARTS: tuple[Part, ...] = ("weekday", "quarter", "month", "week", "year", "day")
_ADVERBS: tuple[tuple[str, Part], ...] = (
    ("yearly", "year"), ("quarterly", "quarter"), ("monthly", "month"), ("weekly", "week"),
    ("daily", "day"),
)  # fmt: skip


def figure_at(scan: RequestScan, place: int) -> tuple[Aggregate, int] | None:
    """Return the function of a figure that is asked for at a place, and where its word ends."""
    best: tuple[Aggregate, int] | None = None
    for concept, function in _FUNCTIONS:
        end = scan.at(place, concept)
        if end > place + 1 and scan.is_column(end - 1):
            # "Total count" where a column is called Count.
            end = place + 1 if scan.is_word(place, concept) else 0
        # The longest phrase: "number of different" is no plain count.
        if end and (best is None or end > best[1]):
            best = (function, end)
    return best


def read_figures(scan: RequestScan, clauses: Clauses, place: int) -> int:  # noqa: C901 - a case a word
    """Read figures at a place: "total and average amount", "how many orders"; 0 where none are.

    Raises:
        SeveralError: Several columns may be meant.
    """
    if period_at(scan, place) is not None or _numbers_them(scan, place):
        return 0
    functions: list[Aggregate] = []
    at = place
    while (found := figure_at(scan, at)) is not None:
        own = scan.column(at)
        # A column may be called Count or Total.
        if (
            own is not None
            and own.level == SAME
            and not functions
            and found[0] != "count"
            and own.end >= found[1]
            and (not _may_begin(scan, found[1]))
        ):
            break
        if functions and scan.is_column(at):
            # "Total Count": what is summed is called so.
            break
        functions.append(found[0])
        at = found[1]
        behind = scan.behind_connector(at)
        if behind == at and figure_at(scan, at) is None:
            break
        if behind != at and figure_at(scan, behind) is None:
            break
        at = behind if behind != at else at
    if not functions:
        return 0
    if (
        len(functions) == 2
        and functions[1] == "count"
        and functions[0] in ("sum", "distinct")
        and (scan.behind_connector(place) == place and not _joined(scan, place, at))
    ):
        # "Total number of rows" is their number.
        functions = [functions[0]] if functions[0] == "distinct" else ["count"]
    elif len(functions) == 2 and not _joined(scan, place, at):
        if "distinct" in functions and "count" in functions:
            functions = ["distinct"]
        elif functions[1] == "count":
            raise UnclearError("I do not make the average of a count")
        elif functions == ["count", "sum"]:
            functions = ["count"]
        elif functions[0] != "sum" and functions[1] != "sum":
            return 0
        else:
            functions = [one for one in functions if one != "sum"] or ["sum"]
    return _of_what(scan, clauses, functions, place, at)


def _numbers_them(scan: RequestScan, place: int) -> bool:
    """Tell whether rows are to be numbered: "number the rows" asks for no number of them."""
    return place == 0 and scan.word(0) == "number" and scan.word(1) in ("the", "all", "my", "each")


def _may_begin(scan: RequestScan, at: int) -> bool:
    at = scan.skip(at, "det")
    return scan.column(at) is not None


def _joined(scan: RequestScan, start: int, end: int) -> bool:
    return any(scan.at(at, "and") or scan.is_sign(at) for at in range(start, end))


def _of_what(
    scan: RequestScan, clauses: Clauses, functions: list[Aggregate], place: int, at: int
) -> int:
    if len(functions) > 1 and "count" in functions:
        # "Count and total amount": of the rows, in the order in which they are asked for.
        is_first = functions[0] == "count"
        before = len(clauses.figures)
        others: list[Aggregate] = [one for one in functions if one != "count"]
        end = _of_what(scan, clauses, others, place, at) if others else at
        count = FigureClause("count", of_rows=True, place=place)
        clauses.figures.insert(before if is_first else len(clauses.figures), count)
        return end
    counts = functions[0] in ("count", "distinct")
    start = scan.behind_det(at)
    if scan.kind(start) == "number" and functions[0] in ("maximum", "minimum"):
        return 0
    if counts:
        return _counted(scan, clauses, functions, place, at)
    is_by = bool(scan.at(at, "by")) and not scan.is_column(at)
    # "Total for each category".
    start = at if is_by else start
    own = None if is_by else scan.column(start)
    if (
        scan.is_noun(start)
        and own is not None
        and own.level >= PART
        and own.end == start + 1
        and (scan.column(start + 1) is not None)
    ):
        # "The average order value": the thing, then the column.
        start += 1
    mentions, end = ([], start) if is_by else _numbers_list(scan, start)
    if not mentions:
        if functions[0] in ("minimum", "maximum") and (
            scan.word(start) == "first" or scan.is_noun(start) or scan.column(start) is not None
        ):
            return 0
        clauses.figures += [FigureClause(one, None, place=place) for one in functions]
        return at
    for mention in mentions:
        for function in functions:
            fits = fitting(function)
            column = scan.only(mention, fits)
            is_named = function == "sum" and column.is_number and mention.level <= PART
            if not fits(column) and not is_named:
                if function in ("minimum", "maximum"):
                    return 0
                why = f": {column.why_text}" if column.why_text else ""
                raise UnclearError(f'"{column.name}" holds no numbers{why}')
            clauses.figures.append(FigureClause(function, column, place=mention.start))
    _check_things(scan, functions, place, end)
    return end


def _check_things(scan: RequestScan, functions: list[Aggregate], place: int, end: int) -> None:
    """Check that "highest fee visits" is not taken for the highest fee.

    Raises:
        UnclearError: Words for rows stand behind a figure of one of them.
    """
    if functions[0] in ("minimum", "maximum") and scan.is_noun(end) and not scan.column(end):
        raise UnclearError(f'"{scan.text(place, end + 1)}" may be rows, or a figure of them')


def fitting(function: Aggregate) -> Callable[[KnownColumn], bool]:
    """Return whether a column can be what a figure is of."""
    if function in ("minimum", "maximum"):
        return lambda one: (one.is_number and one.role != "id") or one.is_moment
    if function == "sum":
        return lambda one: one.adds_up
    return lambda one: one.is_number


def _numbers_list(scan: RequestScan, start: int) -> tuple[list[ColumnMention], int]:
    """Return the columns that figures are of; a list ends before a column of texts."""
    found: list[ColumnMention] = []
    mentions, _ = scan.column_list(start)
    for mention in mentions:
        fitting = tuple(
            one for one in mention.columns
            if one.role not in ("id", "year", "period") or mention.level < PART
        )  # fmt: skip
        if not fitting or (found and not any(one.is_number for one in fitting)):
            break
        if found and figure_at(scan, mention.start) is not None and mention.level > STEM:
            break
        found.append(msgspec.structs.replace(mention, columns=fitting))
    return found, found[-1].end if found else start


def _counted(
    scan: RequestScan, clauses: Clauses, functions: list[Aggregate], place: int, at: int
) -> int:
    """Read what is counted: rows, values of a column, pieces of a quantity."""
    start = scan.skip(at, "det")
    function = functions[0]
    if end := scan.at(start, "distinct"):
        function, start = "distinct", scan.skip(end, "det")
    mention = scan.column(start)
    value = scan.value(start)
    if end := _sum_of(scan, clauses, mention, place, start):
        return end
    if function == "count" and value is None and _is_of_rows(scan, start, mention):
        clauses.figures.append(FigureClause("count", of_rows=True, place=place))
        _and_more(clauses, functions[1:], place)
        return max(scan.at(start, "row_noun"), start + 1)
    if (
        mention is not None
        and not (value is not None and value.end > mention.end)
        and not (scan.at(start, "by") and mention.level > STEM)
    ):
        column = scan.only(mention, lambda one: not one.is_moment, is_key=True)
        if function == "distinct":
            mentions, end = scan.column_list(start)
            for one in mentions:
                clauses.figures.append(
                    FigureClause("distinct", scan.only(one, is_key=True), place=start)
                )
            return end
        if column.adds_up and (not scan.is_noun(start) or mention.level <= STEM):
            # "How many units" asks for their sum.
            clauses.figures.append(FigureClause("sum", column, place=start))
            return mention.end
        if column.is_text or column.role == "id":
            if scan.is_noun(start):
                clauses.nouns.add(start)
            _and_more(clauses, functions[1:], place)
            clauses.figures.append(FigureClause("count", of_rows=True, place=start, subject=column))
            return mention.end
    if function == "distinct":
        raise UnclearError("it does not say of which column the different values are meant")
    clauses.figures.append(FigureClause("count", of_rows=True, place=place))
    _and_more(clauses, functions[1:], place)
    if scan.is_noun(start) and value is None:
        return max(scan.at(start, "row_noun"), start + 1)
    return at


def _sum_of(
    scan: RequestScan, clauses: Clauses, mention: ColumnMention | None, place: int, start: int
) -> int:
    """Read what counts and means a sum: "how much revenue", "how many people attended"."""
    is_amount = bool(scan.at(place, "how_much")) and mention is not None and mention.level <= PART
    if is_amount and mention is not None and any(one.adds_up for one in mention.columns):
        column = scan.only(mention, lambda one: one.adds_up)
        clauses.figures.append(FigureClause("sum", column, place=start))
        return mention.end
    if scan.word(start) in PEOPLE and not scan.is_noun(start):
        behind = scan.column(scan.skip(start + 1, "filler"))
        if behind is not None and behind.level <= STEM and behind.columns[0].adds_up:
            # "How many people attended" of a column of numbers called so.
            clauses.figures.append(FigureClause("sum", behind.columns[0], place=start))
            return behind.end
    return 0


PEOPLE = frozenset(["people", "persons", "personen", "leute", "menschen"])
"""Words for persons, which a column of numbers may count."""


def _is_of_rows(scan: RequestScan, place: int, mention: ColumnMention | None) -> bool:
    """Tell whether a word means the rows: no column that it may name has values more than once."""
    if not scan.is_noun(place):
        return False
    if mention is None or mention.level > PART:
        return True
    if mention.level <= STEM and any(one.adds_up for one in mention.columns):
        # "How many hours" of a file of hours asks for the column.
        return False
    named = [one for one in mention.columns if one.role == "id" or one.is_text]
    return not named or any(one.distinct == scan.table.rows for one in named)


def _and_more(clauses: Clauses, functions: list[Aggregate], place: int) -> None:
    clauses.figures += [FigureClause(one, None, place=place) for one in functions if one != "count"]


def part_word(scan: RequestScan, place: int) -> tuple[Part, int] | None:
    """Return the part of dates that a word at a place speaks of."""
    for part in _PARTS:
        if end := scan.at(place, part):
            return part, end
    return None


def keys_at(scan: RequestScan, place: int) -> tuple[list[KeyClause], list[KeyClause], int]:
    """Return what rows are grouped by from a place on, what goes across, and where that ends."""
    keys: list[KeyClause] = []
    across: list[KeyClause] = []
    end = place
    while True:
        at = scan.skip(place, "det")
        counted = scan.at(at, "count")
        if counted and (of := scan.column(scan.skip(counted, "det"))) and of.columns[0].is_number:
            # "Per number of bedrooms".
            place = at = of.start
        named = scan.column(at)
        if keys and figure_at(scan, at) is not None and (named is None or named.level > STEM):
            return keys, across, end
        is_other = named is None or named.level >= SYNONYM
        if scan.is_noun(at) and is_other and scan.column(at + 1) is not None:
            # "By payment method".
            place = at = at + 1
        found = _key(scan, place) or _key(scan, at)
        if found is None:
            return keys, across, end
        key, end = found
        if behind := scan.at(end, "across"):
            # "By month and region across": the last one only.
            across.append(key)
            end = behind
        else:
            keys.append(key)
            end = scan.at(end, "down") or end
        place = scan.behind_connector(end)
        if place == end or (scan.at(place, "by") and scan.is_sign(place - 1)):
            return keys, across, end
        place = scan.at(place, "by") or place


def _key(scan: RequestScan, place: int) -> tuple[KeyClause, int] | None:
    mention = scan.column(place)
    part = part_word(scan, place)
    if mention is not None and (part is None or mention.level <= STEM or mention.end > part[1]):
        column = _key_column(scan, mention)
        if mention.level >= SYNONYM and column.adds_up:
            return None
        behind = part_word(scan, mention.end)
        # "Order date month": the part stands behind.
        if column.is_moment and behind is not None and behind[0] != "day":
            return KeyClause(column, behind[0], place), behind[1]
        return KeyClause(column, "", place), mention.end
    if part is None:
        return None
    name, end = part
    at = scan.skip(end, "det")
    of = scan.column(at)
    if at != end and of is not None and any(one.is_moment for one in of.columns):
        return KeyClause(scan.only(of, lambda one: one.is_moment), name, place), of.end
    if mention is not None and any(one.is_moment for one in mention.columns):
        return KeyClause(scan.only(mention, lambda one: one.is_moment), "", place), mention.end
    return KeyClause(None, name, place), end


def _key_column(scan: RequestScan, mention: ColumnMention) -> KnownColumn:
    texts = [one for one in mention.columns if not one.adds_up]
    return scan.only(mention, lambda one: one in texts, is_key=True)


def adverb_key(scan: RequestScan, place: int) -> tuple[KeyClause, int] | None:
    """Return the key that "monthly" stands for."""
    for concept, part in _ADVERBS:
        if end := scan.at(place, concept):
            return KeyClause(None, part, place), end
    return None


def direction_at(scan: RequestScan, place: int) -> tuple[bool, int] | None:
    """Return whether a way of sorting at a place descends, and where its words end."""
    at = place + 1 if scan.is_sign(place, ",(") else place
    for concept, descending in (
        ("descending", True), ("newest_first", True), ("ascending", False), ("oldest_first", False),
    ):  # fmt: skip
        if end := scan.at(at, concept):
            return descending, end + (scan.word(end) == ")")
    return None


def order_at(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "sorted by date descending, then by name" at a place; 0 where none is there.

    Raises:
        UnclearError: It sorts by nothing that is there.
    """
    end = scan.at(place, "sort")
    if not end or (scan.word(place) == "nach" and end == place + 1):
        return 0
    before = direction_at(scan, end)
    at = before[1] if before else end
    at = scan.skip(at, "det", "by", "sort", "row_noun") if not scan.column(at) else at
    while at < len(scan) and scan.is_noun(at) and not scan.column(at):
        at = scan.skip(at + 1, "det", "by", "sort")
    if before is None and (before := direction_at(scan, at)):
        at = scan.skip(before[1], "by", "det", "sort")
    found = _order_items(scan, clauses, at, before)
    if found:
        return found
    if before and scan.at(end, "newest_first", "oldest_first"):
        # It is left to whoever reads the words for it alone.
        return end
    if before:
        clauses.order.append(OrderClause(None, before[0]))
        return at
    word = scan.text(at, at + 1) if at < len(scan) else ""
    if not word:
        raise UnclearError("it does not say what to sort by")
    raise UnclearError(f'there is no column "{word}" to sort by')


def _order_items(
    scan: RequestScan, clauses: Clauses, at: int, before: tuple[bool, int] | None
) -> int:
    end = 0
    while True:
        item = order_item(scan, at)
        if item is None:
            return end
        order, end = item
        way = direction_at(scan, end)
        descending = way[0] if way else before[0] if before else None
        clauses.order.append(msgspec.structs.replace(order, descending=descending))
        end = way[1] if way else end
        at = end + 1 if scan.is_sign(end) else end
        then = scan.at(at, "then_by") or scan.at(scan.at(at, "and") or len(scan), "then_by")
        if not then:
            then = scan.at(at, "and") or (at if at != end else 0)
            if not then or order_item(scan, then) is None or direction_at(scan, then) is not None:
                return end
            following = order_item(scan, then)
            # A list goes on only with columns: "sorted by date, total amount by region" does not.
            if following is None or following[0].figure is not None or scan.at(following[1], "by"):
                return end
        at = scan.skip(then, "det", "by")


def order_item(scan: RequestScan, at: int) -> tuple[OrderClause, int] | None:
    """Return the column or figure to sort by at a place, and where it ends."""
    at = scan.behind_det(at)
    mention = scan.column(at)
    figure = figure_at(scan, at)
    if figure is not None and (mention is None or mention.level > STEM or mention.end < figure[1]):
        start = scan.skip(figure[1], "det")
        of = scan.column(start)
        if of is not None and any(one.is_number for one in of.columns):
            column = scan.only(of, fitting(figure[0]))
            return OrderClause(figure=FigureClause(figure[0], column, place=at)), of.end
        behind = start + 1 if scan.is_noun(start) else figure[1]
        return OrderClause(figure=FigureClause(figure[0], None, figure[0] == "count", at)), behind
    if mention is not None:
        return OrderClause(scan.only(mention)), mention.end
    part = part_word(scan, at)
    return (OrderClause(part=part[0]), part[1]) if part else None


def read_share(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "share of revenue", "percentage of total per region" at a place."""
    end = scan.at(place, "share")
    if not end:
        return 0
    clauses.share = ShareClause(place)
    at = scan.skip(end, "det", "sum")
    mention = scan.column(at)
    if mention is not None and any(one.is_number and one.role != "id" for one in mention.columns):
        column = scan.only(mention, lambda one: one.adds_up)
        if not any(one.column == column for one in clauses.figures):
            clauses.figures.append(FigureClause("sum", column, place=at))
        return mention.end
    is_row = mention is not None and scan.at(mention.end, "by") and any(
        column.distinct == scan.table.rows for column in mention.columns
    )  # fmt: skip
    if (scan.is_noun(at) and not mention) or is_row:
        # "Percentage of bookings" is of rows, of which each is one.
        clauses.figures.append(FigureClause("count", of_rows=True, place=at))
        return max(scan.at(at, "row_noun"), at + 1 if mention is None else mention.end)
    if mention is not None and not clauses.keys and not clauses.conditions:
        column = mention.columns[0]
        value = scan.value(at)
        if (column.is_text or column.yes) and len(mention.columns) == 1 and value is None:
            # "Share of each gender", "Anteil der Regionen am Umsatz": of which groups.
            clauses.keys.append(KeyClause(column, "", at))
            return scan.skip(mention.end, "share") if scan.at(mention.end, "share") else mention.end
    return at


def read_running(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "running total of amount", "cumulative revenue" at a place."""
    end = scan.at(place, "running")
    if not end:
        return 0
    at = scan.skip(end, "det", "sum")
    mention = scan.column(at)
    column = None
    if mention is not None and any(one.is_number for one in mention.columns):
        column = scan.only(mention, lambda one: one.adds_up)
        at = mention.end
    clauses.running = RunningClause(column, place)
    return at
