"""Rankings of a request: "top 10 customers by revenue", "the most orders". Pure."""

from collections.abc import Sequence

import msgspec

from kbd.jobs.records import Aggregate
from kbd_offline.clauses import (
    Clauses,
    FigureClause,
    RankClause,
)
from kbd_offline.facts import KnownColumn
from kbd_offline.figures import PEOPLE, direction_at, figure_at, fitting, order_item
from kbd_offline.lexicon import LEXICON
from kbd_offline.mentions import STEM, ColumnMention
from kbd_offline.names import singular, tokens
from kbd_offline.periods import count_at, period_at
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, quoted
from kbd_offline.times import moment_of

__all__ = ["is_measure", "rank_by", "ranking"]

_RANKS = (
    ("top", True), ("largest", True), ("newest", True), ("expensive", True), ("most", True),
    ("bottom", False), ("smallest", False), ("oldest", False), ("cheap", False), ("fewest", False),
    ("most_frequent", True), ("maximum", True), ("minimum", False),
)  # fmt: skip


def _rank_word(scan: RequestScan, place: int) -> tuple[str, bool, int] | None:
    if direction_at(scan, place):
        return None
    best: tuple[str, bool, int] | None = None
    for concept, descending in _RANKS:
        end = scan.at(place, concept)
        if end and (best is None or end > best[2]):
            best = (concept, descending, end)
    return best


def ranking(scan: RequestScan, clauses: Clauses, place: int) -> int:
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
    count = count_at(scan, first[2] if first else at)
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


def _counted_with(scan: RequestScan, clauses: Clauses, place: int, count: int) -> int:
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
    if scan.word(start) in PEOPLE:
        start += 1
    measure = scan.column(start)
    if measure is None or not any(one.is_number for one in measure.columns):
        return 0
    column = scan.only(measure, lambda one: one.is_number and one.role != "id")
    subject = None if is_noun or mention is None else scan.only(mention, is_key=True)
    clauses.rank = RankClause(count, found[1], subject, column, None, place)
    return measure.end


def _spent_most(scan: RequestScan, clauses: Clauses, place: int) -> int:
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
    ["spent", "spends", "spend", "paid", "earned", "sold", "donated", "gave", "bought",
     "ausgegeben",
     "bezahlt", "verdient", "verkauft", "gespendet",
     "gekauft", "eingenommen", "umgesetzt"]
)  # fmt: skip


def _ranked(
    scan: RequestScan, clauses: Clauses, place: int, at: int, rank: tuple[str, bool, int | None]
) -> int:
    concept, descending, count = rank
    start = scan.skip(at, "det") if scan.at(at, "det") else at
    mention = scan.column(start)
    is_noun = scan.is_noun(start)
    if mention is not None and all(one.is_moment for one in mention.columns) and count is None:
        return 0
    numbers = mention is not None and any(c.is_number and c.role != "id" for c in mention.columns)
    is_thing = scan.is_noun(start) or scan.value(start) is not None
    if concept in ("most", "fewest") and count is None and is_thing and not numbers:
        return _most(scan, clauses, place, start, descending=descending)
    if (
        count is None
        and (mention is None or numbers)
        and not is_noun
        and concept != "most_frequent"
    ):
        return _superlative(scan, clauses, place, start, concept, descending=descending)
    subjects = [c for c, _, _ in clauses.loose if not c.is_number or c.role == "id"]
    is_most = concept in ("most", "fewest", "maximum", "minimum", "most_frequent")
    is_each = mention is not None and any(c.distinct == scan.table.rows for c in mention.columns)
    if count is None and subjects and is_most and (is_noun or mention is None or is_each):
        # "Which region has the most orders": their number.
        counted = FigureClause("count", of_rows=True, place=place)
        clauses.loose.clear()
        clauses.rank = RankClause(1, descending, subjects[-1], None, counted, place)
        if mention is not None and is_each:
            return mention.end
        return max(scan.at(start, "row_noun"), start + 1) if is_noun else at
    _check_best(scan, place, at, mention)
    return _ranked_thing(scan, clauses, place, start, rank)


def _ranked_thing(
    scan: RequestScan, clauses: Clauses, place: int, start: int, rank: tuple[str, bool, int | None]
) -> int:
    """Read what is ranked, rows or values of a column, and by what."""
    concept, descending, count = rank
    mention, value, is_noun = scan.column(start), scan.value(start), scan.is_noun(start)
    numbers = mention is not None and any(c.is_number and c.role != "id" for c in mention.columns)
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
    says_by = scan.at(end, "by", "sort")
    if (
        concept in ("newest", "oldest")
        and by is None
        and not (says_by and is_measure(scan, says_by))
    ):
        by = moment_of(scan, clauses)
    if concept in ("newest", "oldest") and _is_person(scan, start):
        birth = by is not None and any(
            one in by.name.casefold() for one in ("birth", "geb", "born")
        )
        if not birth:
            raise UnclearError(f'I do not see what tells the age of "{scan.text(start, end)}"')
        # The oldest were born first.
    figure = (
        FigureClause("count", of_rows=True, place=place) if concept == "most_frequent" else None
    )
    is_plain = concept in ("top", "bottom") and scan.word(place) not in (
        "top",
        "best",
        "worst",
        "flop",
    )
    clauses.rank = RankClause(count or 1, descending, subject, by, figure, place, is_plain=is_plain)
    return rank_by(scan, clauses, says_by) if says_by and is_measure(scan, says_by) else end


def _most(scan: RequestScan, clauses: Clauses, place: int, start: int, *, descending: bool) -> int:
    """Read "who has the most open tickets": what has most rows, of which more is said behind.

    Raises:
        UnclearError: It does not say what has them.
    """
    behind = start
    while (value := scan.value(behind)) is not None:
        behind = value.end
    subjects = [c for c, _, _ in clauses.loose if not c.is_number or c.role == "id"]
    people = [c for c in scan.table.columns if scan.vocabulary.is_of(c, "person", "customer")]
    if not subjects and clauses.is_who and len(people) == 1:
        subjects = people
    if not subjects or not scan.is_noun(behind):
        raise UnclearError("it does not say what has the most, or of what")
    counted = FigureClause("count", of_rows=True, place=place)
    clauses.loose.clear()
    clauses.rank = RankClause(1, descending, subjects[-1], None, counted, place)
    return start


_EITHER = frozenset((
    "grade", "grades", "note", "noten", "rank", "rang", "place", "platz", "position", "time",
    "zeit", "score",
))  # fmt: skip


def _check_best(scan: RequestScan, place: int, at: int, mention: ColumnMention | None) -> None:
    """Check that "the best grade" is not taken for the highest.

    Raises:
        SeveralError: It may be the lowest as well.
    """
    words = [one for one in range(place, at) if scan.word(one) in _BEST]
    named = () if mention is None else mention.columns
    if words and any(_EITHER & set(tokens(column.name)) for column in named):
        (first, *_) = words
        raise SeveralError(
            f'"{scan.text(first, first + 1)}" may be the highest or the lowest',
            [scan.rewritten(first, first + 1, word) for word in ("highest", "lowest")],
        )


_BEST = frozenset(["best", "worst", "beste", "besten", "bester", "schlechteste", "schlechtesten"])


def _is_person(scan: RequestScan, place: int) -> bool:
    word = scan.word(place)
    return any(LEXICON.means(one, "person") for one in (word, singular(word)))


def _rank_column(scan: RequestScan, concept: str) -> KnownColumn | None:
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
        amounts = [c for c in scan.vocabulary.meaning("money", "revenue") if c.adds_up]
        if len(prices) == 1 and prices[0].role == "unit price" and amounts:
            raise _price_or_amount(concept, [prices[0], *amounts])
        return prices[0] if len(prices) == 1 else None
    return None


def _price_or_amount(concept: str, columns: Sequence[KnownColumn]) -> SeveralError:
    way = "top" if concept == "expensive" else "bottom"
    names = " or ".join(f'"{column.name}"' for column in columns)
    return SeveralError(
        f"what costs most may be that by {names}",
        [f"{way} 1 rows by {quoted(column.name)}" for column in columns],
    )


def is_measure(scan: RequestScan, at: int) -> bool:
    """Tell whether what stands at a place can tell an order: a figure, a number, a date."""
    at = scan.skip(at, "det")
    if figure_at(scan, at) is not None:
        return True
    mention = scan.column(at)
    return mention is not None and any(
        (one.is_number and one.role != "id") or one.is_moment for one in mention.columns
    )


def rank_by(scan: RequestScan, clauses: Clauses, at: int) -> int:
    """Read what a ranking goes by; return where it ends, 0 where it is nothing of that."""
    rank = clauses.rank
    if rank is None:
        return 0
    at = scan.skip(at, "det")
    item = order_item(scan, at)
    if item is None:
        return 0
    order, end = item
    way = direction_at(scan, end)
    descending = rank.descending if way is None else way[0]
    if rank.is_plain and way is None and order.column is not None:
        if not order.column.is_moment:
            raise SeveralError(
                f'it does not say which rows come first by "{order.column.name}"',
                [scan.rewritten(rank.place, rank.place + 1, word) for word in ("top", "bottom")],
            )
        # The first ones by a date are the earliest.
        descending = not rank.descending
    clauses.rank = msgspec.structs.replace(
        rank, by=order.column or rank.by, figure=order.figure, descending=descending, is_plain=False
    )
    return way[1] if way else end


def _superlative(
    scan: RequestScan, clauses: Clauses, place: int, start: int, concept: str, *, descending: bool
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
        figure = FigureClause(function, column, place=place)
        clauses.rank = RankClause(1, descending, subjects[-1], None, figure, place)
        return mention.end
    if (found := figure_at(scan, start)) is not None and found[0] != "count":
        of = scan.column(scan.skip(found[1], "det"))
        if of is None:
            return 0
        clauses.loose.clear()
        column = scan.only(of, fitting(found[0]))
        clauses.rank = RankClause(
            1, descending, subjects[-1], None, FigureClause(found[0], column, place=place), place
        )
        return of.end
    return 0
