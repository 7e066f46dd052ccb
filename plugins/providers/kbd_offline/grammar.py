"""Grammar of requests about one table: each word is used, or is known to mean nothing.

A request is read from left to right. At each place the clauses are tried that may begin there, the
more specific ones first. A word that none takes and that is no filler makes the request unclear,
for it may be the one that matters.
"""

from collections.abc import Callable

import msgspec

from kbd_offline.changes import (
    cleaned,
    computed,
    deduplicated,
    left_out,
    listed,
    percent_of,
    profit_of,
    renamed,
    selected,
)
from kbd_offline.clauses import Clauses, ConditionClause, FigureClause, KeyClause, OrderClause
from kbd_offline.cleanup import each_once, unified
from kbd_offline.conditions import (
    column_condition,
    comparison,
    yes_or_no,
)
from kbd_offline.derivations import days_column, drop_explained, equation, explained, ratio
from kbd_offline.facts import KnownColumn
from kbd_offline.figures import (
    figure_at,
    keys_at,
    order_at,
    part_word,
    read_figures,
    read_running,
    read_share,
)
from kbd_offline.grammar_checks import check_signs, check_unknown, check_value_word
from kbd_offline.key_clauses import by_clause
from kbd_offline.mentions import COMPOUND, PART, STEM
from kbd_offline.numerals import number_at
from kbd_offline.periods import period_at
from kbd_offline.ranking import ranking
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, quoted
from kbd_offline.times import time_condition, versus
from kbd_offline.value_conditions import bare_value, empty_field

__all__ = ["KINDS", "read_clauses"]


KINDS = (
    ("kind_xlsx", ".xlsx"), ("kind_csv", ".csv"), ("kind_tsv", ".tsv"), ("kind_psv", ".psv"),
    ("kind_parquet", ".parquet"),
)  # fmt: skip


def read_clauses(scan: RequestScan) -> Clauses:
    """Return the clauses of a request.

    Raises:
        SeveralError: It has several readings.
        UnclearError: It has none.
    """
    clauses = Clauses()
    clauses.is_question = bool(scan.at(0, "question")) or scan.is_sign(len(scan) - 1, "?")
    clauses.is_who = scan.word(0) in ("who", "wer")
    clauses.exact = any(scan.at(place, "exactly") for place in range(len(scan)))
    _read_moment(scan, clauses)
    explained(scan, clauses)
    place = 0
    while place < len(scan):
        before = len(clauses.conditions)
        end = clauses.passed.get(place) or _clause(scan, clauses, place)
        if end <= place:
            clauses.unknown.append(place)
            end = place + 1
        if len(clauses.conditions) > before:
            clauses.condition_places.update(range(place, end))
        place = end
    drop_explained(scan, clauses)
    check_unknown(scan, clauses)
    check_signs(scan, clauses)
    return clauses


def _clause(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read the clause that begins at a place; return where it ends, 0 where none does."""
    for read in _READERS:
        end = read(scan, clauses, place)
        if end > place:
            return end
    return 0


def _read_moment(scan: RequestScan, clauses: Clauses) -> None:
    """Note the only column of dates that a request names: all days are its."""
    named = set()
    for place in range(len(scan)):
        mention = scan.column(place)
        if mention is None or mention.level > COMPOUND:
            continue
        moments = [column for column in mention.columns if column.is_moment]
        is_noun = scan.is_noun(place) and mention.end == place + 1
        if len(moments) == 1 and not is_noun:
            named.add(moments[0].name)
    for place in range(len(scan)):
        named |= {column.name for column in _verb_of(scan, place)}
    if len(named) == 1:
        clauses.moment = scan.table.column(named.pop())


def _verb_of(scan: RequestScan, place: int) -> tuple[KnownColumn, ...]:
    """Return the columns of dates that a verb speaks of: "shipped" of a Ship Date."""
    word = scan.word(place)
    if scan.kind(place) != "word" or len(word) < 5 or not word.endswith(("ed", "t", "en", "ing")):
        return ()
    if scan.column(place) is not None or scan.is_noun(place):
        return ()
    root = word.removeprefix("ge").removesuffix("t").removesuffix("en")
    found = [
        column
        for column in scan.table.columns
        if column.is_moment and any(
            (len(part) >= 3 and part not in ("date", "datum") and word.startswith(part.rstrip("e")))
            or (len(root) >= 5 and word.startswith("ge") and part.startswith(root))
            for part in column.name.casefold().replace("_", " ").split()
        )
    ]  # fmt: skip
    return tuple(found) if len(found) == 1 else ()


def _connector(scan: RequestScan, clauses: Clauses, place: int) -> int:
    end = scan.at(place, "or")
    if end and scan.at(place, "or_more", "or_less") <= end:
        clauses.joint = "or"
        return end
    if end := scan.at(place, "and"):
        return end if not _is_sum(scan, place) else 0
    return place + 1 if scan.kind(place) == "sign" and scan.word(place) in ",;.:!?()\"'-–" else 0


def _is_sum(scan: RequestScan, place: int) -> bool:
    return scan.word(place) in ("plus", "+") and scan.kind(place + 1) == "number"


def _split(scan: RequestScan, clauses: Clauses, place: int) -> int:
    for concept, into in (("split_files", "files"), ("split", "sheets")):
        end = scan.at(place, concept)
        if not end or (concept == "split" and scan.at(place, "split_files")):
            continue
        if scan.at(place, "summary_sheet") > end:
            continue
        at = scan.skip(end, "det", "filler") if not scan.column(end) else end
        at = scan.at(at, "by") or at
        keys, _, behind = keys_at(scan, at)
        clauses.split = "files" if into == "files" or clauses.split == "files" else "sheets"
        if keys:
            clauses.split_keys += keys
            return behind
        return end
    for concept, into in (("into_files", "files"), ("into_sheets", "sheets")):
        end = scan.at(place, concept)
        if end and (end > place + 1 or clauses.split):
            clauses.split = "files" if into == "files" else clauses.split or "sheets"
            return end
    return 0


def _summary(scan: RequestScan, clauses: Clauses, place: int) -> int:
    end = scan.at(place, "summary_sheet") if clauses.split else 0
    if end:
        clauses.has_summary = True
        if scan.at(end - 1, "sum") >= end and scan.word(end) in _OF and scan.column(
            scan.behind_det(end)
        ):  # fmt: skip
            # "A summary with totals of price": of that column, and of no other one.
            return read_figures(scan, clauses, end - 1) or end
        return end
    end = scan.at(place, "totals_row")
    if end and (
        end == len(scan)
        or scan.is_sign(end, ".,;!")
        or scan.at(end, "sort", "into_name", "as_kind", "and")
    ):
        clauses.has_totals = True
        return end
    return 0


_OF = frozenset(["of", "for", "von", "der", "des", "fur"])


def _kind(scan: RequestScan, clauses: Clauses, place: int) -> int:
    leads = scan.at(place, "as_kind")
    if not leads:
        return 0
    for concept, suffix in KINDS:
        if end := scan.at(leads, concept):
            if scan.at(place, "split", "split_files", "into_sheets", "into_files") >= end:
                return 0
            clauses.suffix = suffix
            return end
    if (end := scan.at(leads, "kind_unwritten")) and scan.column(leads) is None:
        written = "xlsx, csv, tsv, psv and parquet"
        raise UnclearError(f"I do not write {scan.text(leads, end)} files, only {written}")
    return 0


def _sort(scan: RequestScan, clauses: Clauses, place: int) -> int:
    end = order_at(scan, clauses, place)
    if end:
        return end
    for concept, descending in (
        ("descending", True), ("newest_first", True), ("ascending", False), ("oldest_first", False),
    ):  # fmt: skip
        if end := scan.at(place, concept):
            by = scan.at(end, "by", "sort")
            mention = scan.column(scan.skip(by, "det")) if by else None
            if mention is not None and not (clauses.order and clauses.order[-1].descending is None):
                # "Descending by revenue": the column stands behind.
                clauses.order.append(OrderClause(scan.only(mention), descending))
                stop = mention.end
                return (
                    scan.at(stop, "sort")
                    if scan.at(stop, "sort") and scan.word(stop) != "nach"
                    else stop
                )
            _direct(
                scan,
                clauses,
                descending=descending,
                by_time=concept in ("newest_first", "oldest_first"),
            )
            return end
    return 0


def _direct(scan: RequestScan, clauses: Clauses, *, descending: bool, by_time: bool) -> None:
    if clauses.order and clauses.order[-1].descending is None:
        clauses.order[-1] = msgspec.structs.replace(clauses.order[-1], descending=descending)
        return
    if by_time:
        moments = [column for column in scan.table.columns if column.is_moment]
        column = clauses.moment or (moments[0] if len(moments) == 1 else None)
        if column is None:
            raise UnclearError("it does not say which date is meant")
        clauses.order.append(OrderClause(column, descending))
        return
    clauses.order.append(OrderClause(None, descending))


def _crossed(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "status by country", "Mitarbeiter x Projekt", "campaign vs year": a table of both."""
    mention = scan.column(place)
    if mention is None or mention.level > STEM or scan.is_noun(place) or clauses.is_question:
        return 0
    between = scan.word(mention.end)
    if between not in ("by", "nach", "x", "vs", "versus", "gegen", "×", "against"):
        return 0
    if between in ("by", "nach") and (clauses.keys or clauses.rank or clauses.order):
        return 0
    column = mention.columns[0]
    if len(mention.columns) > 1 or column.adds_up or column.is_moment:
        return 0
    keys, _, stop = keys_at(scan, mention.end + 1)
    if len(keys) != 1 or (keys[0].column is not None and keys[0].column.adds_up):
        return 0
    clauses.is_pivot = True
    clauses.keys.append(KeyClause(column, "", place))
    clauses.across.append(keys[0])
    return stop


def _pivot(scan: RequestScan, clauses: Clauses, place: int) -> int:
    if end := scan.at(place, "pivot"):
        clauses.is_pivot = True
        return end
    # "Months as columns", "with region across the top".
    part, mention = part_word(scan, place), scan.column(place)
    end = mention.end if mention is not None else part[1] if part is not None else 0
    if behind := scan.at(end, "across") if end else 0:
        if scan.at(end, "by") == behind and scan.word(end) == "across" and behind < len(scan) and (
            not scan.is_sign(behind)
        ):  # fmt: skip
            return 0
        if mention is not None and (part is None or mention.level <= STEM):
            clauses.across.append(KeyClause(scan.only(mention, is_key=True), "", place))
        elif part is not None:
            clauses.across.append(KeyClause(None, part[0], place))
        return behind
    # "Region down, months across" is a pivot, too.
    if mention is not None and (behind := scan.at(mention.end, "down")):
        clauses.keys.append(KeyClause(scan.only(mention, is_key=True), "", place))
        return behind
    return 0


def _unique(scan: RequestScan, clauses: Clauses, place: int) -> int:
    end = scan.at(place, "unique_list")
    once = scan.at(place, "each_once")
    texts = [column for column, _, weak in clauses.loose if not weak and not column.is_number]
    if once and len(texts) == 1 and len(clauses.loose) == 1:
        clauses.unique_list, clauses.loose = (texts[0],), []
        return once
    if not end and (distinct := scan.at(place, "distinct")):
        # "Unique emails only" are they themselves, and not their number.
        mentions, behind = scan.column_list(scan.skip(distinct, "det"))
        end = distinct if mentions and scan.at(behind, "only") else 0
    if not end:
        return 0
    mentions, behind = scan.column_list(scan.skip(end, "det"))
    if not mentions or (scan.at(place, "how_many", "count")):
        return 0
    clauses.unique_list = tuple(scan.only(mention, is_key=True) for mention in mentions)
    return scan.at(behind, "only") or behind


def _condition(scan: RequestScan, clauses: Clauses, place: int) -> int:
    if end := empty_field(scan, clauses, place):
        return end
    for concept in ("where", "only"):
        end = scan.at(place, concept)
        if not end:
            continue
        at = scan.skip(end, "det", "row_noun", "where")
        while at < len(scan) and scan.is_noun(at) and scan.column(at) is None:
            at = scan.skip(at + 1, "det", "where")
        found = (
            empty_field(scan, clauses, end)
            or _having(scan, clauses, at)
            or _dated(scan, clauses, at)
            or column_condition(scan, clauses, at)
            or time_condition(scan, clauses, at)
            or comparison(scan, clauses, at)
            or bare_value(scan, clauses, at, is_negative=False, leads=True)
        )
        if found:
            return found
    return 0


def _except(scan: RequestScan, clauses: Clauses, place: int) -> int:
    end = scan.at(place, "except", "is_not")
    if not end:
        return 0
    at = scan.skip(end, "det", "where", "row_noun")
    while (
        at < len(scan) and scan.is_noun(at) and scan.value(at) is None and scan.column(at) is None
    ):
        at = scan.skip(at + 1, "det", "where")
    if found := time_condition(scan, clauses, place):
        return found
    if at > end and (lacking := scan.at(at, "lacks")) and (field := scan.column(lacking)):
        # "Without the rows without a category".
        column = scan.only(field)
        clauses.conditions.append(ConditionClause(
            f"{_column(column)} is not empty", f"{column.name} is not empty", (column,),
            slug=f"with-{column.name.casefold()}",
        ))  # fmt: skip
        return field.end
    if scan.value(at) is None and scan.column(at) is None:
        at = scan.skip(at, "filler", "det", "where")
    before = len(clauses.conditions)
    if scan.value(at) is not None and (dates := _verb_of(scan, at)):
        name, verb = quoted(dates[0].name), scan.text(at, at + 1)
        raise SeveralError(
            f'"not {verb}" may be of that value, or of rows without {name}',
            [f"rows where {name} is empty"],
        )
    if found := bare_value(scan, clauses, at, is_negative=True, leads=True):
        return found
    found = column_condition(scan, clauses, at) or comparison(scan, clauses, at)
    if found and len(clauses.conditions) == before + 1:
        last = clauses.conditions[-1]
        clauses.conditions[-1] = msgspec.structs.replace(
            last, expression=f"not ({last.expression})", text=f"not: {last.text}",
            slug=f"without-{last.slug}", values=(),
        )  # fmt: skip
        column = last.columns[0]
        if "empty" not in last.expression:
            from_empty = f"({_column(column)} is empty or not ({last.expression}))"
            clauses.conditions[-1] = msgspec.structs.replace(
                clauses.conditions[-1], expression=from_empty
            )
        return found
    return 0


def _column(column: KnownColumn) -> str:
    return '"' + column.name.replace('"', '""') + '"'


def _having(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "with total revenue over 1000": a condition on the figures of groups."""
    figure = figure_at(scan, place)
    if figure is None:
        return 0
    before = len(clauses.figures)
    end = read_figures(scan, clauses, place)
    if not end or len(clauses.figures) != before + 1:
        del clauses.figures[before:]
        return 0
    asked = clauses.figures.pop()
    found = _bound(scan, end)
    if found is None:
        return 0
    operator, number, stop = found
    words = {">": "is over", ">=": "is at least", "<": "is under", "<=": "is at most"}[operator]
    clauses.having.append((asked, operator, number, f"{words} {number}"))
    return stop


def _bound(scan: RequestScan, place: int) -> tuple[str, str, int] | None:
    place = scan.skip(place, "det") if scan.at(place, "det") and not scan.at(place, "in") else place
    for concept, operator in (("more", ">"), ("at_least", ">="), ("less", "<"), ("at_most", "<=")):
        end = scan.at(place, concept)
        number = number_at(scan, end, None) if end else None
        if number is not None:
            return operator, number[0], number[1]
    return None


def _tells_date(scan: RequestScan, place: int) -> bool:
    """Tell whether a verb says which date a period is of: "shipped in July"."""
    if not _verb_of(scan, place):
        return False
    behind = scan.skip(place + 1, "filler", "since", "before", "after", "until", "between")
    if period_at(scan, behind) is not None or period_at(scan, place + 1) is not None:
        return True
    is_last = place == len(scan) - 1 - scan.is_sign(len(scan) - 1, ".?!")
    return is_last and any(
        (found := period_at(scan, at)) is not None and found.end_token == place
        for at in range(max(place - 4, 0), place)
    )


def _value(scan: RequestScan, clauses: Clauses, place: int) -> int:
    if _tells_date(scan, place):
        return place + 1
    return bare_value(scan, clauses, place, is_negative=False, leads=False)


def _after_preposition(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "in Berlin", "from Alice": a value behind a word that says so."""
    if scan.word(place) not in _PREPOSITIONS:
        return 0
    return bare_value(scan, clauses, place + 1, is_negative=False, leads=False)


_PREPOSITIONS = frozenset(
    ["in", "from", "of", "for", "by", "at", "with", "to", "aus", "von", "in", "fur", "mit", "bei"]
)


def _profit(scan: RequestScan, clauses: Clauses, place: int) -> int:
    mention = scan.column(place)
    if mention is not None:
        return percent_of(scan, clauses, mention)
    end = profit_of(scan, clauses, place)
    return _loose(scan, clauses, place) if end == place and scan.at(place, "profit") else end


def _loose(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Keep a column that stands alone, until it is known what is made of it."""
    mention = scan.column(place)
    if mention is None:
        return 0
    if mention.level >= COMPOUND:
        check_value_word(scan, place)
    is_unique = any(column.distinct == scan.table.rows for column in mention.columns)
    if is_unique and mention.level >= PART and mention.columns[0].is_text:
        # "Products under 10 euros": each row is one.
        clauses.nouns.add(place)
        return mention.end
    if scan.is_noun(place) and (mention.level > STEM or is_unique) and mention.end == place + 1:
        # What the file is called is only a figure where figures are asked for: "sales by region".
        sums = [one for one in mention.columns if one.adds_up]
        clauses.nouns.add(place)
        if len(sums) == 1 and mention.level > PART:
            clauses.loose.append((sums[0], place, True))
        _count_beside(scan, clauses, place)
        return place + 1
    numbers = [one for one in mention.columns if one.is_number]
    fits: Callable[[KnownColumn], bool] = (
        (lambda one: one.adds_up)
        if numbers and len(numbers) == len(mention.columns)
        else (lambda _: True)
    )
    column = scan.only(mention, fits, is_key=True)
    clauses.loose.append((column, place, False))
    return mention.end


def _file(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Pass over the name of a file: which it is was read before."""
    del clauses
    if scan.kind(place) == "file":
        return place + 1
    end = scan.at(place, "into_name")
    return end + 1 if end and scan.kind(end) == "file" else 0


def _count_beside(scan: RequestScan, clauses: Clauses, place: int) -> None:
    """Note that the rows are counted where a figure stands beside them: "members and total fee"."""
    clauses.nouns.add(place)
    behind = scan.at(place + 1, "and") or (place + 2 if scan.is_sign(place + 1) else 0)
    if behind and figure_at(scan, behind) is not None:
        clauses.figures.append(FigureClause("count", of_rows=True, place=place))


def _noun(scan: RequestScan, clauses: Clauses, place: int) -> int:
    if scan.is_noun(place) and not scan.at(place, "exactly"):
        _count_beside(scan, clauses, place)
        return max(scan.at(place, "row_noun"), place + 1)
    return 0


def _filler(scan: RequestScan, clauses: Clauses, place: int) -> int:
    if scan.at(place, "each_sheet"):
        return 0
    if end := scan.at(place, "convert"):
        clauses.converts = True
        return end
    if _verb_of(scan, place):
        return place + 1
    if clauses.running is not None and (end := scan.at(place, "over_time")):
        return end
    if scan.at(place, "exactly"):
        return scan.at(place, "exactly")
    check_value_word(scan, place)
    is_last = place == len(scan) - 1 - scan.is_sign(len(scan) - 1, ".?!")
    if is_last and scan.tokens[place].text == "A":
        # "Names with A" is no article.
        return 0
    return scan.at(place, "filler", "question", "select", "converted", "added_suffix", "each_own")


def _dedupe_words(scan: RequestScan, clauses: Clauses, place: int) -> int:
    if end := scan.at(place, "not_in_place"):
        return end
    if end := scan.at(place, "in_place"):
        clauses.in_place = True
        return end
    if clauses.dedupe is None:
        return 0
    for concept, keep in (
        ("keep_latest", "latest"),
        ("keep_last", "last"),
        ("keep_first", "first"),
    ):
        if end := scan.at(place, concept):
            clauses.dedupe = msgspec.convert(
                {"columns": clauses.dedupe.columns, "keep": keep}, type(clauses.dedupe)
            )
            at = scan.skip(end, "det")
            return max(scan.at(at, "row_noun"), at if at > end else 0, end)
    return 0


def _time(scan: RequestScan, clauses: Clauses, place: int) -> int:
    mention = scan.column(place)
    if mention is not None and mention.level <= STEM and scan.kind(place) != "number":
        return 0
    return time_condition(scan, clauses, place)


def _dated(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "order date after …", where the column stands before."""
    mention = scan.column(place)
    if mention is None or mention.level > COMPOUND:
        return 0
    moments = [one for one in mention.columns if one.is_moment]
    if not moments:
        return 0
    behind = scan.at(mention.end, "is") or mention.end
    if mention.level <= STEM and scan.at(mention.end - 1, "since", "until") == mention.end:
        # "Customer since 2020" of a column that is called so.
        behind = mention.end - 1
    from_column = scan.only(mention, lambda one: one.is_moment)
    return time_condition(scan, clauses, behind, from_column)


_Reader = Callable[[RequestScan, Clauses, int], int]
_READERS: tuple[_Reader, ...] = (
    _file, _kind, _summary, _dedupe_words, deduplicated, each_once, _split, renamed, cleaned,
    unified, equation,
    days_column, computed, listed, ratio, _profit, versus, _pivot, _crossed, read_running, _sort,
    _unique, read_share, _having, ranking, yes_or_no, _condition, left_out, _dated,
    column_condition, _except, comparison, _time, read_figures, _value, _after_preposition,
    selected, by_clause, _loose, _connector, _noun, _filler,
)  # fmt: skip
"""Readers of clauses, in the order in which they are tried."""
