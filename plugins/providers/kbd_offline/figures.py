"""Figures of a request, what they are grouped by, and their order: "total amount by month". Pure."""

from collections.abc import Callable

import msgspec

from kbd.jobs.records import Aggregate
from kbd_offline.clauses import (
    Clauses,
    FigureClause,
    KeyClause,
    OrderClause,
    Part,
    RankClause,
    RunningClause,
    ShareClause,
)
from kbd_offline.facts import KnownColumn
from kbd_offline.lexicon import LEXICON
from kbd_offline.mentions import PART, SAME, STEM, SYNONYM, ColumnMention
from kbd_offline.names import singular
from kbd_offline.periods import period_at
from kbd_offline.scan import Scan, SeveralError, UnclearError, quoted

__all__ = [
    "figure_at", "keys_at", "order_at", "part_word", "ranking", "read_figures", "read_share",
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


def figure_at(scan: Scan, place: int) -> tuple[Aggregate, int] | None:
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


def read_figures(scan: Scan, clauses: Clauses, place: int) -> int:
    """Read figures at a place: "total and average amount", "how many orders"; 0 where none are.

    Raises:
        SeveralError: Several columns may be meant.
    """
    if period_at(scan, place) is not None:
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


def _may_begin(scan: Scan, at: int) -> bool:
    at = scan.skip(at, "det")
    return scan.column(at) is not None


def _joined(scan: Scan, start: int, end: int) -> bool:
    return any(scan.at(at, "and") or scan.is_sign(at) for at in range(start, end))


def _of_what(scan: Scan, clauses: Clauses, functions: list[Aggregate], place: int, at: int) -> int:
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
            scan.word(start) in ("first",) or scan.is_noun(start) or scan.column(start) is not None
        ):
            return 0
        clauses.figures += [FigureClause(one, None, False, place) for one in functions]
        return at
    for mention in mentions:
        for function in functions:
            fits = _fits(function)
            column = scan.only(mention, fits)
            if not fits(column):
                if function in ("minimum", "maximum"):
                    return 0
                why = f": {column.why_text}" if column.why_text else ""
                raise UnclearError(f'"{column.name}" holds no numbers{why}')
            clauses.figures.append(FigureClause(function, column, False, mention.start))
    return end


def _fits(function: Aggregate) -> Callable[[KnownColumn], bool]:
    if function in ("minimum", "maximum"):
        return lambda one: (one.is_number and one.role != "id") or one.is_moment
    if function == "sum":
        return lambda one: one.adds_up
    return lambda one: one.is_number


def _numbers_list(scan: Scan, start: int) -> tuple[list[ColumnMention], int]:
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


def _counted(scan: Scan, clauses: Clauses, functions: list[Aggregate], place: int, at: int) -> int:
    """Read what is counted: rows, values of a column, pieces of a quantity."""
    start = scan.skip(at, "det")
    function = functions[0]
    if end := scan.at(start, "distinct"):
        function, start = "distinct", scan.skip(end, "det")
    mention = scan.column(start)
    value = scan.value(start)
    is_amount = bool(scan.at(place, "how_much")) and mention is not None and mention.level <= PART
    if is_amount and mention is not None and any(one.adds_up for one in mention.columns):
        column = scan.only(mention, lambda one: one.adds_up)
        clauses.figures.append(FigureClause("sum", column, False, start))
        return mention.end
    if scan.word(start) in _PEOPLE and not scan.is_noun(start):
        behind = scan.column(scan.skip(start + 1, "filler"))
        if behind is not None and behind.level <= STEM and behind.columns[0].adds_up:
            # "How many people attended" of a column of numbers called so.
            clauses.figures.append(FigureClause("sum", behind.columns[0], False, start))
            return behind.end
    if function == "count" and value is None and _is_of_rows(scan, start, mention):
        clauses.figures.append(FigureClause("count", None, True, place))
        _and_more(scan, clauses, functions[1:], place)
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
                    FigureClause("distinct", scan.only(one, is_key=True), False, start)
                )
            return end
        if column.adds_up and (not scan.is_noun(start) or mention.level <= STEM):
            # "How many units" asks for their sum.
            if scan.is_noun(start) and column in scan.vocabulary.meaning("money", "revenue"):
                text = scan.text(place, mention.end)
                name = quoted(column.name)
                raise SeveralError(
                    f'"{text}" may be the number of rows, or the sum of {name}',
                    [scan.rewritten(place, mention.end, "count rows"),
                     scan.rewritten(place, mention.end, f"total {name}")],
                )  # fmt: skip
            clauses.figures.append(FigureClause("sum", column, False, start))
            return mention.end
        if column.is_text or column.role == "id":
            if scan.is_noun(start):
                clauses.nouns.add(start)
            _and_more(scan, clauses, functions[1:], place)
            clauses.figures.append(FigureClause("count", None, True, start, column))
            return mention.end
    if function == "distinct":
        raise UnclearError("it does not say of which column the different values are meant")
    clauses.figures.append(FigureClause("count", None, True, place))
    _and_more(scan, clauses, functions[1:], place)
    if scan.is_noun(start) and value is None:
        return max(scan.at(start, "row_noun"), start + 1)
    return at


_PEOPLE = frozenset(["people", "persons", "personen", "leute", "menschen"])


def _is_of_rows(scan: Scan, place: int, mention: ColumnMention | None) -> bool:
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


def _and_more(scan: Scan, clauses: Clauses, functions: list[Aggregate], place: int) -> None:
    clauses.figures += [
        FigureClause(one, None, False, place) for one in functions if one != "count"
    ]


def part_word(scan: Scan, place: int) -> tuple[Part, int] | None:
    """Return the part of dates that a word at a place speaks of."""
    for part in _PARTS:
        if end := scan.at(place, part):
            return part, end
    return None


def keys_at(scan: Scan, place: int) -> tuple[list[KeyClause], list[KeyClause], int]:
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


def _key(scan: Scan, place: int) -> tuple[KeyClause, int] | None:
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


def _key_column(scan: Scan, mention: ColumnMention) -> KnownColumn:
    texts = [one for one in mention.columns if not one.adds_up]
    return scan.only(mention, lambda one: one in texts, is_key=True)


def adverb_key(scan: Scan, place: int) -> tuple[KeyClause, int] | None:
    """Return the key that "monthly" stands for."""
    for concept, part in _ADVERBS:
        if end := scan.at(place, concept):
            return KeyClause(None, part, place), end
    return None


def _direction(scan: Scan, place: int) -> tuple[bool, int] | None:
    at = place + 1 if scan.is_sign(place, ",(") else place
    for concept, descending in (
        ("descending", True), ("newest_first", True), ("ascending", False), ("oldest_first", False),
    ):  # fmt: skip
        if end := scan.at(at, concept):
            return descending, end + (scan.word(end) == ")")
    return None


def order_at(scan: Scan, clauses: Clauses, place: int) -> int:
    """Read "sorted by date descending, then by name" at a place; 0 where none is there.

    Raises:
        UnclearError: It sorts by nothing that is there.
    """
    end = scan.at(place, "sort")
    if not end or (scan.word(place) == "nach" and end == place + 1):
        return 0
    before = _direction(scan, end)
    at = before[1] if before else end
    at = scan.skip(at, "det", "by", "sort", "row_noun") if not scan.column(at) else at
    while at < len(scan) and scan.is_noun(at) and not scan.column(at):
        at = scan.skip(at + 1, "det", "by", "sort")
    if before is None and (before := _direction(scan, at)):
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


def _order_items(scan: Scan, clauses: Clauses, at: int, before: tuple[bool, int] | None) -> int:
    end = 0
    while True:
        item = _order_item(scan, at)
        if item is None:
            return end
        order, end = item
        way = _direction(scan, end)
        descending = way[0] if way else before[0] if before else None
        clauses.order.append(msgspec.structs.replace(order, descending=descending))
        end = way[1] if way else end
        at = end + 1 if scan.is_sign(end) else end
        then = scan.at(at, "then_by") or scan.at(scan.at(at, "and") or len(scan), "then_by")
        if not then:
            then = scan.at(at, "and") or (at if at != end else 0)
            if not then or _order_item(scan, then) is None or _direction(scan, then) is not None:
                return end
            following = _order_item(scan, then)
            # A list goes on only with columns: "sorted by date, total amount by region" does not.
            if following is None or following[0].figure is not None or scan.at(following[1], "by"):
                return end
        at = scan.skip(then, "det", "by")


def _order_item(scan: Scan, at: int) -> tuple[OrderClause, int] | None:
    at = scan.behind_det(at)
    mention = scan.column(at)
    figure = figure_at(scan, at)
    if figure is not None and (mention is None or mention.level > STEM or mention.end < figure[1]):
        start = scan.skip(figure[1], "det")
        of = scan.column(start)
        if of is not None and any(one.is_number for one in of.columns):
            column = scan.only(of, _fits(figure[0]))
            return OrderClause(figure=FigureClause(figure[0], column, False, at)), of.end
        behind = start + 1 if scan.is_noun(start) else figure[1]
        return OrderClause(figure=FigureClause(figure[0], None, figure[0] == "count", at)), behind
    if mention is not None:
        return OrderClause(scan.only(mention)), mention.end
    part = part_word(scan, at)
    return (OrderClause(part=part[0]), part[1]) if part else None


_RANKS = (
    ("top", True), ("largest", True), ("newest", True), ("expensive", True), ("most", True),
    ("bottom", False), ("smallest", False), ("oldest", False), ("cheap", False), ("fewest", False),
    ("most_frequent", True), ("maximum", True), ("minimum", False),
)  # fmt: skip


def _rank_word(scan: Scan, place: int) -> tuple[str, bool, int] | None:
    if _direction(scan, place):
        return None
    best: tuple[str, bool, int] | None = None
    for concept, descending in _RANKS:
        end = scan.at(place, concept)
        if end and (best is None or end > best[2]):
            best = (concept, descending, end)
    return best


def _count_at(scan: Scan, place: int) -> int | None:
    word = scan.word(place)
    if scan.kind(place) == "number" and word.isdigit():
        return int(word)
    return LEXICON.numerals.get(word) if scan.kind(place) == "word" else None


def ranking(scan: Scan, clauses: Clauses, place: int) -> int:
    """Read "top 10 customers by revenue", "the 5 largest orders" at a place; 0 where none is there.

    Raises:
        SeveralError: Several columns may be meant.
        UnclearError: It does not say what the order is by.
    """
    if period_at(scan, place) is not None:
        return 0
    if spent := _spent_most(scan, clauses, place):
        return spent
    at = scan.skip(place, "det")
    first = _rank_word(scan, at)
    count = _count_at(scan, first[2] if first else at)
    second = None
    if first is None:
        second = _rank_word(scan, at + 1) if count else None
        if second is None:
            return _counted_with(scan, clauses, at, count) if count else 0
        at = second[2]
    else:
        at = first[2] + (count is not None)
        second = _rank_word(scan, at) if count else None
        at = second[2] if second else at
    concept, descending, _ = second or first or ("", True, 0)
    if first and second and first[0] in ("top", "bottom"):
        descending = second[1] if first[0] == "top" else descending
    if scan.is_sign(at, "%") or (count and scan.at(at, "share")):
        raise UnclearError("I rank by a number of rows, not by a percentage of them")
    return _ranked(scan, clauses, place, at, (concept, descending, count))


def _counted_with(scan: Scan, clauses: Clauses, place: int, count: int) -> int:
    """Read "the four projects with the biggest budget": a number, things, and what is ranked by."""
    mention = scan.column(place + 1)
    is_noun = scan.is_noun(place + 1)
    if not is_noun and (mention is None or mention.columns[0].adds_up):
        return 0
    end = max(scan.at(place + 1, "row_noun"), place + 2) if is_noun or not mention else mention.end
    if scan.word(end) not in ("with", "mit"):
        return 0
    at = scan.skip(end + 1, "det")
    found = _rank_word(scan, at)
    if found is None:
        return 0
    start = scan.skip(found[2], "det")
    if scan.word(start) in _PEOPLE:
        start += 1
    measure = scan.column(start)
    if measure is None or not any(one.is_number for one in measure.columns):
        return 0
    column = scan.only(measure, lambda one: one.is_number and one.role != "id")
    subject = None if is_noun or mention is None else scan.only(mention, is_key=True)
    clauses.rank = RankClause(count, found[1], subject, column, None, place)
    return measure.end


def _spent_most(scan: Scan, clauses: Clauses, place: int) -> int:
    """Read "spent the most", "am meisten ausgegeben" behind who it was; 0 where it is none."""
    verb = place if scan.word(place) in _MONEY_VERBS else 0
    at = scan.skip(place + 1, "det") if verb else place
    most = scan.at(at, "most", "fewest")
    if not most or (scan.column(at) is not None and not verb):
        return 0
    if not verb:
        behind = scan.skip(most, "filler") if scan.word(most) not in _MONEY_VERBS else most
        if scan.word(most) not in _MONEY_VERBS and scan.word(behind) not in _MONEY_VERBS:
            return 0
        most = (most if scan.word(most) in _MONEY_VERBS else behind) + 1
    subjects = [c for c, _, _ in clauses.loose if not c.is_number or c.role == "id"]
    sums = [one for one in scan.table.columns if one.adds_up]
    if len(subjects) != 1 or len(sums) > 1:
        return 0
    is_counted = scan.word(verb or most - 1) in _TAKING or not sums
    if is_counted and sums:
        return 0
    figure = FigureClause("count" if is_counted else "sum", None if is_counted else sums[0],
                          is_counted, place)  # fmt: skip
    clauses.loose.clear()
    clauses.rank = RankClause(1, not scan.at(at, "fewest"), subjects[0], None, figure, place)
    return most


_TAKING = frozenset(["borrowed", "ordered", "ausgeliehen", "bestellt", "booked", "gebucht"])
_MONEY_VERBS = _TAKING | frozenset(
    ["spent", "spends", "spend", "paid", "earned", "sold", "donated", "gave", "bought", "ausgegeben",
     "bezahlt", "verdient", "verkauft", "gespendet", "gekauft", "eingenommen", "umgesetzt"]
)  # fmt: skip


def _ranked(
    scan: Scan, clauses: Clauses, place: int, at: int, rank: tuple[str, bool, int | None]
) -> int:
    concept, descending, count = rank
    start = scan.skip(at, "det") if scan.at(at, "det") else at
    mention = scan.column(start)
    is_noun = scan.is_noun(start)
    if mention is not None and all(one.is_moment for one in mention.columns) and count is None:
        return 0
    numbers = mention is not None and any(c.is_number and c.role != "id" for c in mention.columns)
    value = scan.value(start)
    if (
        count is None
        and (mention is None or numbers)
        and not is_noun
        and concept != "most_frequent"
    ):
        return _superlative(scan, clauses, place, start, concept, descending)
    subjects = [c for c, _, _ in clauses.loose if not c.is_number or c.role == "id"]
    if count is None and subjects and (is_noun or mention is None):
        if concept in ("most", "fewest", "maximum", "minimum", "most_frequent"):
            # "Which region has the most orders": their number.
            counted = FigureClause("count", None, True, place)
            clauses.loose.clear()
            clauses.rank = RankClause(1, descending, subjects[-1], None, counted, place)
            return max(scan.at(start, "row_noun"), start + 1) if is_noun else at
    subject: KnownColumn | None = None
    end = start
    if (
        mention is not None
        and not numbers
        and not (value and value.is_plain and value.end >= mention.end)
    ):
        subject = scan.only(mention, lambda one: not one.is_moment, is_key=True)
        end = mention.end
        if is_noun:
            clauses.nouns.add(start)
    elif is_noun and not (count and numbers and mention is not None and mention.level <= STEM):
        end = max(scan.at(start, "row_noun"), start + 1)
    elif (
        count is not None
        and numbers
        and mention is not None
        and concept in ("largest", "smallest", "top", "bottom")
    ):
        # "The 5 highest amounts" are the rows with them.
        column = scan.only(mention, lambda one: one.is_number)
        clauses.rank = RankClause(count, descending, None, column, None, place)
        return mention.end
    by = _rank_column(scan, concept)
    if concept in ("newest", "oldest") and _is_person(scan, start):
        birth = by is not None and any(one in by.name.casefold() for one in ("birth", "geb", "born"))
        if not birth:
            raise UnclearError(f'I do not see what tells the age of "{scan.text(start, end)}"')
        # The oldest were born first.
    figure = FigureClause("count", None, True, place) if concept == "most_frequent" else None
    is_plain = concept in ("top", "bottom") and scan.word(place) not in (
        "top",
        "best",
        "worst",
        "flop",
    )
    clauses.rank = RankClause(count or 1, descending, subject, by, figure, place, is_plain=is_plain)
    behind = scan.at(end, "by", "sort")
    return _rank_by(scan, clauses, behind) if behind and _is_measure(scan, behind) else end


def _is_person(scan: Scan, place: int) -> bool:
    word = scan.word(place)
    return any(LEXICON.means(one, "person") for one in (word, singular(word)))


def _rank_column(scan: Scan, concept: str) -> KnownColumn | None:
    if concept in ("newest", "oldest"):
        moments = [column for column in scan.table.columns if column.is_moment]
        return moments[0] if len(moments) == 1 else None
    if concept in ("expensive", "cheap"):
        prices = [c for c in scan.table.columns if c.role == "unit price"]
        prices = (
            prices
            or list(scan.vocabulary.meaning("unit_price"))
            or list(scan.vocabulary.meaning("money"))
        )
        return prices[0] if len(prices) == 1 else None
    return None


def _is_measure(scan: Scan, at: int) -> bool:
    at = scan.skip(at, "det")
    if figure_at(scan, at) is not None:
        return True
    mention = scan.column(at)
    return mention is not None and any(
        (one.is_number and one.role != "id") or one.is_moment for one in mention.columns
    )


def _rank_by(scan: Scan, clauses: Clauses, at: int) -> int:
    rank = clauses.rank
    if rank is None:
        return 0
    at = scan.skip(at, "det")
    item = _order_item(scan, at)
    if item is None:
        return 0
    order, end = item
    way = _direction(scan, end)
    descending = rank.descending if way is None else way[0]
    clauses.rank = msgspec.structs.replace(
        rank, by=order.column or rank.by, figure=order.figure, descending=descending, is_plain=False
    )
    return way[1] if way else end


def _superlative(
    scan: Scan, clauses: Clauses, place: int, start: int, concept: str, descending: bool
) -> int:
    """Read "the highest revenue", "the most orders" behind what has it: "which customer has"."""
    subjects = [c for c, _, _ in clauses.loose if not c.is_number or c.role == "id"]
    mention = scan.column(start)
    if not subjects or concept in ("top", "bottom"):
        return 0
    if mention is not None:
        column = scan.only(mention, lambda one: one.adds_up)
        clauses.loose.clear()
        function: Aggregate = "sum" if column.adds_up else "maximum" if descending else "minimum"
        figure = FigureClause(function, column, False, place)
        clauses.rank = RankClause(1, descending, subjects[-1], None, figure, place)
        return mention.end
    if (found := figure_at(scan, start)) is not None and found[0] != "count":
        of = scan.column(scan.skip(found[1], "det"))
        if of is None:
            return 0
        clauses.loose.clear()
        column = scan.only(of, _fits(found[0]))
        clauses.rank = RankClause(
            1, descending, subjects[-1], None, FigureClause(found[0], column, False, place), place
        )
        return of.end
    return 0


def read_share(scan: Scan, clauses: Clauses, place: int) -> int:
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
            clauses.figures.append(FigureClause("sum", column, False, at))
        return mention.end
    if scan.is_noun(at) and not mention:
        clauses.figures.append(FigureClause("count", None, True, at))
        return max(scan.at(at, "row_noun"), at + 1)
    if mention is not None and not clauses.keys and not clauses.conditions:
        column = mention.columns[0]
        value = scan.value(at)
        if (column.is_text or column.yes) and len(mention.columns) == 1 and value is None:
            # "Share of each gender", "Anteil der Regionen am Umsatz": of which groups.
            clauses.keys.append(KeyClause(column, "", at))
            return scan.skip(mention.end, "share") if scan.at(mention.end, "share") else mention.end
    return at


def read_running(scan: Scan, clauses: Clauses, place: int) -> int:
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


def is_weak(mention: ColumnMention) -> bool:
    """Tell whether a column is only meant by another word."""
    return mention.level >= SYNONYM or mention.level > PART
