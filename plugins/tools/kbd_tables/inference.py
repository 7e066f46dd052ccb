"""How the type of a text column is found: SQL tests that must hold for every value.

A type is only taken where nothing is lost by it: `007`, `+49`, numbers beyond 64 bits and dates
that can be read in two ways stay text. Candidates are tried on the first rows and those that are
left on all rows, most specific first.
"""

from collections.abc import Mapping, Sequence

import msgspec

from kbd.formats import ColumnType

__all__ = ["DIGITS", "SCALE", "Candidate", "ambiguous", "candidates_for", "choose", "sql_for"]

_NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?"
_DECIMAL = r"-?(0|[1-9][0-9]*)(\.[0-9]{1,6})?"
_WHOLE = r"-?[0-9]{19,}"
_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?Z?)?"
_SLASHES = "[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}"

SCALE = "length(regexp_extract({v}, '\\.([0-9]+)', 1))"
"""How many digits a value has after its point."""

DIGITS = "length(regexp_extract({v}, '^-?([0-9]+)', 1))"
"""How many digits a value has before its point."""


class Candidate(msgspec.Struct, frozen=True):
    """A type a column may have.

    Args:
        name: For telling candidates apart.
        type: The type that is reported.
        test: What must be true of each value; `{v}` is the value, blanks around it removed.
        cast: The typed value.
        sql_type: The type that holds it; "" for decimals, whose scale depends on the column.
    """

    name: str
    type: ColumnType
    test: str
    cast: str
    sql_type: str


def _date(name: str, pattern: str, layout: str) -> Candidate:
    """Return the candidate for dates written in one way."""
    return Candidate(
        name,
        "date",
        f"(regexp_full_match({{v}}, '{pattern}') AND try_strptime({{v}}, '{layout}') IS NOT NULL)",
        f"CAST(try_strptime({{v}}, '{layout}') AS DATE)",
        "DATE",
    )


_CANDIDATES: tuple[Candidate, ...] = (
    Candidate(
        "boolean",
        "boolean",
        "lower({v}) IN ('true', 'false')",
        "lower({v}) = 'true'",
        "BOOLEAN",
    ),
    Candidate(
        "integer",
        "integer",
        # The round trip keeps leading zeros, a plus and what does not fit out.
        "coalesce(CAST(try_cast({v} AS BIGINT) AS VARCHAR) = {v}, false)",
        "CAST({v} AS BIGINT)",
        "BIGINT",
    ),
    Candidate(
        "decimal",
        "float",
        f"regexp_full_match({{v}}, '{_DECIMAL}')",
        "CAST({v} AS DECIMAL(18, {scale}))",
        "",
    ),
    Candidate(
        "double",
        "float",
        f"(regexp_full_match({{v}}, '{_NUMBER}') AND NOT regexp_full_match({{v}}, '{_WHOLE}')"
        " AND isfinite(try_cast({v} AS DOUBLE)))",
        "CAST({v} AS DOUBLE)",
        "DOUBLE",
    ),
    _date("iso", "[0-9]{4}-[0-9]{2}-[0-9]{2}", "%Y-%m-%d"),
    _date("y/m/d", "[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}", "%Y/%m/%d"),
    _date("d.m.y", "[0-9]{1,2}[.][0-9]{1,2}[.][0-9]{4}", "%d.%m.%Y"),
    _date("d/m/y", _SLASHES, "%d/%m/%Y"),
    _date("m/d/y", _SLASHES, "%m/%d/%Y"),
    Candidate(
        "datetime",
        "datetime",
        f"(regexp_full_match({{v}}, '{_MOMENT}')"
        " AND try_cast(rtrim({v}, 'Z') AS TIMESTAMP) IS NOT NULL)",
        "CAST(rtrim({v}, 'Z') AS TIMESTAMP)",
        "TIMESTAMP",
    ),
)

_KNOWN_DOUBLE = Candidate(
    "known double", "float", "isfinite(try_cast({v} AS DOUBLE))", "CAST({v} AS DOUBLE)", "DOUBLE"
)
"""A format that knows its numbers may write more digits than inference would take from text."""


def candidates_for(known: ColumnType | None) -> tuple[Candidate, ...]:
    """Return what a column may be: of a format that knows its types, only the type it names."""
    if known is None:
        return _CANDIDATES
    fitting = tuple(c for c in _CANDIDATES if c.type == known and c.name != "double")
    return (*fitting, _KNOWN_DOUBLE) if known == "float" else fitting


def sql_for(template: str, column: str, **parts: object) -> str:
    """Fill a test or a cast in for a column, blanks around its values removed.

    Patterns hold braces, so only the named fields are replaced.
    """
    for name, value in {"v": f"trim({column})", **parts}.items():
        template = template.replace("{" + name + "}", str(value))
    return template


def ambiguous(held: Sequence[str]) -> bool:
    """Whether day and month cannot be told apart: both orders fit every value."""
    return "d/m/y" in held and "m/d/y" in held


def choose(held: Sequence[Candidate], facts: Mapping[str, int]) -> tuple[ColumnType, str, str]:
    """Return the reported type, the SQL type and the cast of a column.

    Args:
        held: The candidates whose test every value passed, in their order.
        facts: Of decimals, the most fraction digits (`scale`) and whole digits (`digits`).

    An 18-digit decimal is exact in sums; numbers that do not fit become doubles.
    """
    if ambiguous([candidate.name for candidate in held]):
        return "string", "VARCHAR", "{raw}"
    for candidate in held:
        if candidate.name != "decimal":
            return candidate.type, candidate.sql_type, candidate.cast
        scale = facts["scale"]
        if facts["digits"] + scale <= 18:
            cast = candidate.cast.replace("{scale}", str(scale))
            return candidate.type, f"DECIMAL(18, {scale})", cast
    return "string", "VARCHAR", "{raw}"
