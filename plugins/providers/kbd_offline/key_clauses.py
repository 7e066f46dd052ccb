"""Clauses on what figures are by: keys, and orders and ranks that are said alike. Pure."""

import msgspec

from kbd_offline.clauses import Clauses, KeyClause, OrderClause
from kbd_offline.figures import (
    adverb_key,
    keys_at,
)
from kbd_offline.mentions import STEM
from kbd_offline.ranking import is_measure, rank_by
from kbd_offline.scan import RequestScan, UnclearError

__all__ = ["by_clause", "ranking_by"]


_EACH = frozenset(["each", "every", "jede", "jeder", "jedes", "jeden"])


def _check_amount_key(
    scan: RequestScan, clauses: Clauses, keys: list[KeyClause], place: int
) -> None:
    """Refuse to group by amounts, each of which is a group of its own.

    Raises:
        UnclearError: It is asked for.
    """
    column = keys[0].column if len(keys) == 1 else None
    named = scan.column(keys[0].place) if keys else None
    if column is not None and column.type == "float" and named and named.level > STEM:
        raise UnclearError(f'I do not group by "{column.name}", whose name only has that word')
    if column is None or not column.adds_up or column.type != "float":
        return
    is_bare = not clauses.figures and scan.word(place) in ("by", "nach") and clauses.loose
    if clauses.rank is not None or is_bare:
        raise UnclearError(f'I do not group by the amounts of "{column.name}"')


def _sorted_by(
    scan: RequestScan, clauses: Clauses, keys: list[KeyClause], place: int, stop: int
) -> int:
    """Read "by revenue, descending", which sorts and does not group."""
    # "Nach Umsatz absteigend" sorts.
    way = scan.at(stop, "descending", "ascending")
    sorts = way or (scan.at(stop, "sort") and scan.word(stop) != "nach")
    if sorts and len(keys) == 1 and scan.word(place) in ("nach", "by"):
        descending = bool(scan.at(stop, "descending")) if way else None
        clauses.order.append(OrderClause(keys[0].column, descending, part=keys[0].part))
        stop = way or stop
        is_sort = scan.at(stop, "sort") and scan.word(stop) != "nach"
        return scan.at(stop, "sort") if is_sort else stop
    return 0


def _ranked_by(scan: RequestScan, clauses: Clauses, place: int, at: int) -> int:
    """Read what a rank that was named before goes by."""
    rank = clauses.rank
    is_open = rank is not None and rank.by is None and rank.figure is None
    return ranking_by(scan, clauses, at) if is_open and scan.word(place) in ("by", "nach") else 0


def by_clause(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "by region", "je Monat"; return where it ends, 0 where no such clause begins."""
    if adverb := adverb_key(scan, place):
        clauses.keys.append(adverb[0])
        return adverb[1]
    end = scan.at(place, "by")
    if not end:
        return 0
    if scan.word(place) in _EACH and scan.is_noun(end):
        return 0
    rank = clauses.rank
    at = scan.skip(end, "det")
    if stop := _ranked_by(scan, clauses, place, at) or _is_moment_hint(scan, clauses, end):
        return stop
    keys, across, stop = keys_at(scan, end)
    if not keys and not across and end > place + 1 and scan.at(place, "by"):
        # "By each" may be by the column Each.
        keys, across, stop = keys_at(scan, place + 1)
    if not keys and not across:
        return 0
    if rank is not None and len(keys) == 1 and keys[0].column == rank.by and rank.by is not None:
        return stop
    if behind := _sorted_by(scan, clauses, keys, place, stop):
        return behind
    _check_amount_key(scan, clauses, keys, place)
    for concept, into in (("own_file", "files"), ("own_sheet", "sheets")):
        if behind := scan.at(stop, concept):
            clauses.split = "files" if into == "files" else "sheets"
            clauses.split_keys += keys
            return behind
    if not across and _is_the_moment(clauses, keys):
        return stop
    clauses.keys += [key for key in keys if not _has_key(clauses.keys, key)]
    clauses.across += across
    return stop


def _is_the_moment(clauses: Clauses, keys: list[KeyClause]) -> bool:
    """Tell whether a key only says which date the month before is of: "per month … by due date"."""
    if len(keys) != 1 or keys[0].column is None or not keys[0].column.is_moment or keys[0].part:
        return False
    parts = [one for one in clauses.keys if one.part and one.column in (None, keys[0].column)]
    if len(parts) != 1:
        return False
    clauses.keys[clauses.keys.index(parts[0])] = msgspec.structs.replace(
        parts[0], column=keys[0].column
    )
    return True


def _has_key(keys: list[KeyClause], key: KeyClause) -> bool:
    return any((one.column, one.part) == (key.column, key.part) for one in keys)


def _is_moment_hint(scan: RequestScan, clauses: Clauses, at: int) -> int:
    """Read "by the date X", which an answer to "which date?" says."""
    start = scan.skip(at, "det")
    if scan.word(start) in ("date", "datum") and scan.kind(start + 1) == "quoted":
        mention = scan.column(start + 1)
        if mention is not None and mention.columns[0].is_moment:
            clauses.moment = mention.columns[0]
            return mention.end
    return 0


def ranking_by(scan: RequestScan, clauses: Clauses, at: int) -> int:
    """Read what a ranking goes by, where it stands behind other words."""
    return rank_by(scan, clauses, at) if is_measure(scan, at) else 0
