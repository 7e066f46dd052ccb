"""Checks of what is ranked, summed and listed, where words leave more than one way. Pure."""

from collections.abc import Sequence

from kbd_offline.clauses import Clauses, FigureClause, RankClause, sum_of
from kbd_offline.composed_job import way_of
from kbd_offline.facts import KnownColumn
from kbd_offline.group_composer import default_number
from kbd_offline.lexicon import LEXICON
from kbd_offline.names import tokens
from kbd_offline.rank_rules import persons
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, cued, extended, is_cue, quoted

__all__ = [
    "check_average", "check_behind", "check_best", "check_day", "check_groups", "check_length",
    "check_persons", "check_single", "take_spending", "which_row",
]  # fmt: skip


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
        at for at in cued(scan, "best")
        if not is_cue(scan, at + 1, "selling")
        and at not in clauses.condition_places and scan.value(at) is None
    ]  # fmt: skip
    if not best or column is None or LEXICON.cues["better_high"] & set(tokens(column.name)):
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
    for at in cued(scan, "lengthy", rank.place):
        numbers = [one for one in scan.table.columns if one.is_number and one.role != "id"]
        raise SeveralError(
            f'it does not say by which column "{scan.text(at, at + 1)}" is meant',
            [extended(scan, f" by {quoted(one.name)}") for one in numbers[:4]],
        )


def check_groups(scan: RequestScan, clauses: Clauses, rank: RankClause) -> None:
    """Check that "revenue by rep, top 3", "orders per rep, top 3" are not taken for rows of each.

    Raises:
        SeveralError: It may be rows, or the groups before it.
    """
    if rank.subject is not None or not clauses.keys or rank.place <= clauses.keys[-1].place:
        return
    key, first = clauses.keys[0].column, clauses.keys[0].place
    if key is None or any(scan.is_noun(at) for at in range(rank.place, len(scan))):
        return
    said, of = f"{way_of(rank)} {rank.count}", quoted(key.name)
    before = [one.column for one in clauses.loose if one.place < first]
    if named := [quoted(one.name) for one in before if one.is_number]:
        raise SeveralError(
            f"the {said} may be of {of}, or rows of each",
            [f"{said} {of} by total {named[0]}", f"{said} rows by {named[0]} for each {of}"],
        )
    is_said = rank.by is not None or rank.figure is not None or clauses.order or clauses.figures
    if not is_said and (before or any(scan.is_noun(at) for at in range(first))):
        rows = [f"rows by {quoted(one.name)} for each {of}" for one in scan.table.sums[:2]]
        raise SeveralError(
            f"it does not say what the {said} are ranked by",
            [f"{said} {one}" for one in (f"{of} by count of rows", *rows)],
        )


def check_behind(clauses: Clauses, rank: RankClause) -> None:
    """Check that "average by month and top 3 days by depth" is not taken for one ranking of both.

    Raises:
        UnclearError: Groups stand before the ranking, and another one behind it.
    """
    behind = [one.column for one in clauses.keys if one.place > rank.place]
    if 0 < len(behind) < len(clauses.keys) and behind[0] is not None:
        raise UnclearError(
            f'the {way_of(rank)} {rank.count} may be by "{behind[0].name}", or of its groups:'
            " ask for one after the other"
        )


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
    if rank.is_plain or cued(scan, "first", rank.place, rank.place + 3):
        raise UnclearError("name the first day and the last one")
    if not cued(scan, "days") and not any(
        scan.at(at, "day", "week", "month", "quarter", "year") or scan.kind(at) == "quoted"
        for at in range(len(scan))
    ):
        raise UnclearError(f'it asks for a ranking, and does not speak of days ("{subject.name}")')


def check_persons(scan: RequestScan, clauses: Clauses, listed: Sequence[KnownColumn]) -> None:
    """Check that what is listed for "who" are persons, and for "which orders" the orders.

    Raises:
        UnclearError: A column of something else stands alone.
    """
    texts = [one for one in listed if not one.is_number]
    asks_rows = is_cue(scan, 0, "which") and scan.is_noun(1) and scan.column(1) is None
    if asks_rows and len(texts) == len(listed) == 1 and texts[0].distinct < scan.table.rows:
        raise UnclearError(
            f'it asks which {scan.word(1)}, and I do not see what "{texts[0].name}" is for'
        )
    people = persons(scan) if clauses.is_who else listed
    names = LEXICON.cues["names"]
    if listed and not any(one in people or names & set(tokens(one.name)) for one in listed):
        raise UnclearError(f'it asks who, and "{listed[0].name}" names nobody')


def check_single(scan: RequestScan, clauses: Clauses) -> None:
    """Check that "who spent more than 1000" is not taken for single rows of more than that.

    Raises:
        SeveralError: It may be of the sum of each.
    """
    if clauses.keys and clauses.figures and any(one.is_bare for one in clauses.conditions):
        raise SeveralError("the bound may be of single rows, or of the figures of groups", [])
    said = cued(scan, "in_all")
    if not (clauses.is_who or said) or _asks_more(clauses) or clauses.having:
        return
    people = [one for one in persons(scan) if one.is_text and one.distinct < scan.table.rows]
    bounds = [
        one for one in clauses.conditions
        if len(one.columns) == 1 and one.columns[0].adds_up and not one.values
    ]  # fmt: skip
    if not bounds or not (people or said):
        return
    amount = quoted(bounds[0].columns[0].name)
    options = [f"total {amount} by {quoted(one.name)}" for one in people[:2]]
    raise SeveralError(f"it may be of single rows, or of the sum of {amount} of each", options)


def take_spending(scan: RequestScan, clauses: Clauses) -> None:
    """Take "what did we pay for the lab" for the sum of the only amounts that there are.

    Raises:
        SeveralError: There are several amounts.
        UnclearError: There are none, or something else is asked: when, or for what.
    """
    verbs = [at for at in cued(scan, "pays", 1) if at not in clauses.condition_places]
    is_amount = _counts_amounts(scan, clauses)
    if is_amount and not verbs:
        raise UnclearError("it does not say of what it asks how much there is")
    behind = scan.at(0, "how_much")
    if behind and scan.is_noun(behind) and scan.column(behind) is None and any(
        one.function == "sum" and one.column is None for one in clauses.figures
    ):  # fmt: skip
        raise UnclearError(f'how much of "{scan.word(behind)}" may be their number or a sum')
    if not verbs or not (is_amount or is_cue(scan, 0, "what") or behind):
        return
    last = len(scan) - 1 - scan.is_sign(len(scan) - 1, ".?!")
    if is_cue(scan, last, "open_end") or cued(scan, "asks_more"):
        raise UnclearError("it asks for more than what was paid: name the columns")
    if is_amount:
        clauses.figures.clear()
    if not _asks_more(clauses) and not cued(scan, "denies"):
        clauses.figures.append(sum_of(default_number(scan, "sum", verbs[0]), verbs[0]))


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
        or clauses.share is not None or clauses.running is not None or clauses.across
        or clauses.alone
    )  # fmt: skip


def which_row(scan: RequestScan, clauses: Clauses) -> RankClause | None:
    """Return the ranking of "which visit was the most expensive", "the visit with the highest fee".

    Such words ask for the row, and not for the amount alone.

    Raises:
        UnclearError: The latest is asked for, and no column of days is named.
    """
    is_which = is_cue(scan, 0, "which") and scan.is_noun(1)
    if (is_which and clauses.keys) or clauses.across or len(clauses.figures) != 1:
        return None
    (figure,) = clauses.figures
    place = figure.place
    is_with = any(
        scan.word(at + 1) in ("with", "mit") and scan.skip(at + 2, "det") <= place <= at + 5
        and not scan.at(at - 1, "by") for at in clauses.nouns
    )  # fmt: skip
    if not (is_which or is_with) or figure.function not in ("minimum", "maximum"):
        return None
    if figure.column is None and cued(scan, "timely", place, place + 2):
        raise UnclearError(f'it does not say by which column "{scan.text(place, len(scan))}" is')
    clauses.figures.clear()
    return RankClause(1, figure.function == "maximum", None, figure.column, place=place)
