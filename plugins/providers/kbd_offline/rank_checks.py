"""Checks of what is ranked, summed and listed, where words leave more than one way. Pure."""

from collections.abc import Sequence

from kbd_offline.clauses import Clauses, FigureClause, RankClause
from kbd_offline.facts import KnownColumn
from kbd_offline.group_composer import default_number
from kbd_offline.names import tokens
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, quoted

__all__ = [
    "check_average", "check_best", "check_day", "check_groups", "check_length", "check_persons",
    "check_single",
    "take_spending", "which_row",
]  # fmt: skip

_BEST = frozenset(
    ["best", "worst", "beste", "besten", "bester", "bestes", "schlechteste", "schlechtesten",
     "schlechtester", "schlechtestes"]
)  # fmt: skip
_WHICH = frozenset(["which", "welche", "welcher", "welches"])
_SELLING = frozenset(["selling", "verkaufte", "verkauften", "verkauftes", "verkaufter"])
_BETTER_HIGH = frozenset(
    ["revenue", "umsatz", "umsatze", "sales", "turnover", "profit", "gewinn", "earnings", "income",
     "einnahmen", "ertrag", "score", "points", "punkte", "punktzahl", "margin", "marge", "rating",
     "bewertung", "stars", "sterne", "sold", "verkauft", "donated", "donation", "spende"]
)  # fmt: skip
_LENGTHS = frozenset(
    ["longest", "shortest", "fastest", "slowest", "heaviest", "lightest", "langste", "langsten",
     "langster", "kurzeste", "kurzesten", "kurzester", "schnellste", "schnellsten", "langsamste",
     "langsamsten", "schwerste", "schwersten", "leichteste", "leichtesten"]
)  # fmt: skip
_TIMELY = frozenset(
    ["latest", "newest", "oldest", "earliest", "last", "first", "neueste", "alteste", "letzte",
     "erste", "spateste", "fruheste", "jungste"]
)  # fmt: skip
_VERBS = frozenset(
    ["pay", "paid", "spend", "spent", "cost", "ausgegeben", "bezahlt", "gezahlt", "gekostet",
     "earn", "earned", "eingenommen", "verdient", "went", "ging", "gingen"]
)  # fmt: skip
_NAMES = frozenset(
    ["name", "namen", "nachname", "surname", "vorname", "person", "who", "wer", "kontakt",
     "contact"]
)  # fmt: skip


def check_best(
    scan: RequestScan, clauses: Clauses, rank: RankClause, column: KnownColumn | None
) -> None:
    """Check that the best is not taken for the highest of what may be better when it is low.

    Args:
        scan: The request.
        clauses: What was understood of it.
        rank: The ranking.
        column: What it goes by; None for a number of rows.

    Raises:
        SeveralError: It may be the highest or the lowest.
    """
    best = [
        at for at in range(len(scan))
        if scan.word(at) in _BEST and scan.word(at + 1) not in _SELLING
        and at not in clauses.condition_places and scan.value(at) is None
    ]  # fmt: skip
    if not best or column is None or _BETTER_HIGH & set(tokens(column.name)):
        return
    if scan.vocabulary.is_of(column, "revenue"):
        return
    at = best[0]
    start = at - 1 if scan.word(at - 1) in ("am", "the") else at
    raise SeveralError(
        f'the {scan.word(at)} by "{column.name}" may be the highest or the lowest',
        [scan.rewritten(start, at + 1, word) for word in ("highest", "lowest") if rank.count],
    )


def check_length(scan: RequestScan, rank: RankClause) -> None:
    """Check that the longest is not taken for what costs most.

    Raises:
        SeveralError: No column is named that says how long something is.
    """
    words = [at for at in range(rank.place, len(scan)) if scan.word(at) in _LENGTHS]
    if words:
        request = scan.request.rstrip(" .?!")
        numbers = [one for one in scan.table.columns if one.is_number and one.role != "id"]
        raise SeveralError(
            f'it does not say by which column "{scan.text(words[0], words[0] + 1)}" is meant',
            [f"{request} by {quoted(one.name)}" for one in numbers[:4]],
        )


def check_groups(scan: RequestScan, clauses: Clauses, rank: RankClause) -> None:
    """Check that "revenue by rep, top 3", "orders per rep, top 3" are not taken for rows of each.

    Raises:
        SeveralError: It may be rows, or the groups before it.
    """
    if rank.subject is not None or not clauses.keys or rank.place <= clauses.keys[-1].place:
        return
    named = [
        one for one, at, _ in clauses.loose if one.is_number and at < clauses.keys[0].place
    ]  # fmt: skip
    is_last = not any(scan.is_noun(at) for at in range(rank.place, len(scan)))
    (key, *_) = clauses.keys
    if named and is_last and key.column is not None:
        by, of, way = quoted(named[0].name), quoted(key.column.name), rank.descending
        word = "top" if way else "bottom"
        raise SeveralError(
            f"the {word} {rank.count} may be of {of}, or rows of each",
            [f"{word} {rank.count} {of} by total {by}",
             f"{word} {rank.count} rows by {by} for each {of}"],
        )  # fmt: skip
    is_said = rank.by is not None or rank.figure is not None or clauses.order
    first = clauses.keys[0].place
    things = [one for one, at, _ in clauses.loose if not one.is_number and at < first]
    is_counted = things or any(scan.is_noun(at) for at in range(first))
    if is_counted and is_last and not is_said and not clauses.figures and key.column is not None:
        of, word = quoted(key.column.name), "top" if rank.descending else "bottom"
        sums = [column for column in scan.table.columns if column.adds_up]
        raise SeveralError(
            f"it does not say what the {word} {rank.count} are ranked by",
            [f"{word} {rank.count} {of} by count of rows",
             *(f"{word} {rank.count} rows by {quoted(one.name)} for each {of}"
               for one in sums[:2])],
        )  # fmt: skip


def check_average(
    scan: RequestScan, figures: Sequence[FigureClause], keys: Sequence[KnownColumn]
) -> None:
    """Check that an average is not one of each single row: "average price per booking".

    Raises:
        UnclearError: Each row is a group of its own.
    """
    rows = scan.table.rows
    single = [one for one in keys if one.distinct == rows and rows > 1 and not one.is_moment]
    if single and any(one.function in ("average", "median") for one in figures):
        raise UnclearError(
            f'each row has a "{single[0].name}" of its own: leave it out to have one figure of all'
        )


def check_day(scan: RequestScan, rank: RankClause) -> None:
    """Check that days are ranked only where days are spoken of: visits are no Visit Date.

    Raises:
        UnclearError: They are not, or the first ones are meant, which no figure ranks.
    """
    subject = rank.subject
    if subject is None or not subject.is_moment:
        return
    led = range(rank.place, min(rank.place + 3, len(scan)))
    if rank.is_plain or any(scan.word(at) in _FIRST for at in led):
        raise UnclearError("name the first day and the last one")
    if not any(
        scan.at(at, "day", "week", "month", "quarter", "year") or scan.word(at) in _DATES
        or scan.kind(at) == "quoted" for at in range(len(scan))
    ):  # fmt: skip
        raise UnclearError(f'it asks for a ranking, and does not speak of days ("{subject.name}")')


_FIRST = frozenset(["first", "last", "ersten", "erste", "letzten", "letzte"])
_DATES = frozenset(["date", "dates", "datum", "daten", "days", "tage", "tagen"])


def check_persons(scan: RequestScan, clauses: Clauses, listed: Sequence[KnownColumn]) -> None:
    """Check that what is listed for "who" are persons, and for "which orders" the orders.

    Raises:
        UnclearError: A column of something else stands alone.
    """
    texts = [one for one in listed if not one.is_number]
    asks_rows = scan.word(0) in _WHICH and scan.is_noun(1) and scan.column(1) is None
    if asks_rows and len(texts) == len(listed) == 1 and texts[0].distinct < scan.table.rows:
        raise UnclearError(f'it asks which {scan.word(1)}, and I do not see what "{texts[0].name}"'
                           " is for")  # fmt: skip
    if not clauses.is_who or not listed:
        return
    people = [
        one for one in listed
        if scan.vocabulary.is_of(one, "person", "customer") or _NAMES & set(tokens(one.name))
    ]  # fmt: skip
    if not people:
        raise UnclearError(f'it asks who, and "{listed[0].name}" names nobody')


def check_single(scan: RequestScan, clauses: Clauses) -> None:
    """Check that "who spent more than 1000" is not taken for single rows of more than that.

    Raises:
        SeveralError: It may be of the sum of each.
    """
    if clauses.keys and clauses.figures and any(one.is_bare for one in clauses.conditions):
        raise SeveralError("the bound may be of single rows, or of the figures of groups", [])
    said = any(scan.word(at) in _IN_ALL for at in range(len(scan)))
    if not (clauses.is_who or said) or _asks_more(clauses) or clauses.having:
        return
    people = [
        one for one in scan.table.columns
        if one.is_text and scan.vocabulary.is_of(one, "person", "customer")
        and one.distinct < scan.table.rows
    ]  # fmt: skip
    bounds = [
        one for one in clauses.conditions
        if len(one.columns) == 1 and one.columns[0].adds_up and not one.values
    ]  # fmt: skip
    if not bounds or not (people or said):
        return
    amount = quoted(bounds[0].columns[0].name)
    options = [f"total {amount} by {quoted(one.name)}" for one in people[:2]]
    raise SeveralError(f"it may be of single rows, or of the sum of {amount} of each", options)


_IN_ALL = frozenset(["total", "overall", "altogether", "insgesamt", "zusammen", "summe"])


def take_spending(scan: RequestScan, clauses: Clauses) -> None:
    """Take "what did we pay for the lab" for the sum of the only amounts that there are.

    Raises:
        SeveralError: There are several amounts.
        UnclearError: There are none, or something else is asked: when, or for what.
    """
    verbs = [
        at for at in range(1, len(scan))
        if scan.word(at) in _VERBS and at not in clauses.condition_places
    ]  # fmt: skip
    is_amount = _counts_amounts(scan, clauses)
    if is_amount and not verbs:
        raise UnclearError("it does not say of what it asks how much there is")
    behind = scan.at(0, "how_much")
    if behind and scan.is_noun(behind) and scan.column(behind) is None and any(
        one.function == "sum" and one.column is None for one in clauses.figures
    ):  # fmt: skip
        raise UnclearError(f'how much of "{scan.word(behind)}" may be their number or a sum')
    leads = is_amount or scan.word(0) in ("what", "was") or scan.at(0, "how_much")
    if not leads or not verbs:
        return
    words = {scan.word(at) for at in range(len(scan))}
    last = len(scan) - 1 - scan.is_sign(len(scan) - 1, ".?!")
    if scan.word(last) in _OPEN_ENDS or words & _ASKING:
        raise UnclearError("it asks for more than what was paid: name the columns")
    if is_amount:
        clauses.figures.clear()
    if _asks_more(clauses) or words & _DENYING:
        return
    column = default_number(scan, "sum", verbs[0])
    clauses.figures.append(FigureClause("sum", column, place=verbs[0]))


_OPEN_ENDS = frozenset(["for", "on", "to", "from", "with", "at", "fur"])
_ASKING = frozenset(["when", "wann", "why", "warum", "wofur", "whom", "wem"])
_DENYING = frozenset(["not", "nicht", "noch", "never", "nie"])


def _counts_amounts(scan: RequestScan, clauses: Clauses) -> bool:
    """Tell whether "wie viel" was taken for a number of rows, of which it names none."""
    is_asked = scan.word(0) == "wieviel" or (scan.word(0), scan.word(1)) == ("wie", "viel")
    is_count = len(clauses.figures) == 1 and clauses.figures[0].of_rows
    return is_asked and is_count and clauses.figures[0].subject is None and not any(
        scan.is_noun(at) for at in range(len(scan))
    )  # fmt: skip


def _asks_more(clauses: Clauses) -> bool:
    """Tell whether something is worked out or listed already."""
    return bool(
        clauses.figures or clauses.rank or clauses.selected or clauses.order or clauses.keys
        or clauses.share or clauses.running or clauses.across
        or any(not weak for _, _, weak in clauses.loose)
    )  # fmt: skip


def which_row(scan: RequestScan, clauses: Clauses) -> RankClause | None:
    """Return the ranking of "which visit was the most expensive", "the visit with the highest fee".

    Such words ask for the row, and not for the amount alone.

    Raises:
        UnclearError: The latest is asked for, and no column of days is named.
    """
    is_which = scan.word(0) in _WHICH and scan.is_noun(1)
    if (is_which and clauses.keys) or clauses.across or len(clauses.figures) != 1:
        return None
    place = clauses.figures[0].place
    is_with = any(
        scan.word(at + 1) in ("with", "mit") and scan.skip(at + 2, "det") <= place <= at + 5
        and not scan.at(at - 1, "by") for at in clauses.nouns
    )  # fmt: skip
    if not is_which and not is_with:
        return None
    (figure,) = clauses.figures
    if figure.function not in ("minimum", "maximum"):
        return None
    if figure.column is None and any(scan.word(at) in _TIMELY for at in (place, place + 1)):
        raise UnclearError(f'it does not say by which column "{scan.text(place, len(scan))}" is')
    clauses.figures.clear()
    return RankClause(1, figure.function == "maximum", None, figure.column, place=figure.place)
