"""How the type of a text column is found: SQL tests that must hold for every value.

A type is only taken where nothing is lost by it: `007`, `+49`, numbers beyond 64 bits, and dates
and commas that can be read in two ways stay text. Candidates are tried on the first rows and those
that are left on all rows, most specific first; numbers with commas where nothing else holds.
"""

from collections.abc import Mapping, Sequence

import msgspec

from kbd.formats import ColumnType

__all__ = ["Candidate", "Choice", "candidates_for", "choose", "sql_for"]

_NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?"
_DECIMAL = r"-?(0|[1-9][0-9]*)(\.[0-9]{1,6})?"
_WHOLE = r"-?[0-9]{19,}"
_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?Z?)?"
_SLASHES = "[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}"
_HYPHENS = "[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}"
_EITHER_ORDER = (("d/m/y", "m/d/y"), ("d-m-y", "m-d-y"))
"""Ways to write dates that only the values tell apart."""
_GROUPED = r"[+-]?(0|[1-9][0-9]*|[1-9][0-9]{0,2}({thousands}[0-9]{3})+)({point}[0-9]{1,6})?"
_DECIMAL_COMMA = _GROUPED.replace("{thousands}", "[.]").replace("{point}", ",")
_THOUSANDS_COMMA = _GROUPED.replace("{thousands}", ",").replace("{point}", "[.]")

_COMMA, _GROUPS = "decimal comma", "thousands comma"

_FACTS = {
    "scale": "max(length(regexp_extract({plain}, '[.]([0-9]+)', 1)))",
    "digits": "max(length(regexp_extract({plain}, '^-?([0-9]+)', 1)))",
}
"""What must be known of decimals: the most digits after and before the point."""

_COMMA_FACTS = _FACTS | {
    "commas": "count(*) FILTER (WHERE contains({v}, ','))",
    # No English number looks so: a group after a comma has three digits and no point before it.
    "proofs": "count(*) FILTER (WHERE regexp_matches({v}, '[.].*,|,([0-9]{1,2}|[0-9]{4,})$'))",
}
"""And of those with commas: how many values have one, and in how many it must be a decimal one."""


class Candidate(msgspec.Struct, frozen=True):
    """A type a column may have.

    Args:
        name: For telling candidates apart.
        type: The type that is reported.
        test: What must be true of each value; `{v}` is the value, blanks around it removed.
        cast: The typed value.
        sql_type: The type that holds it; "" for decimals, whose scale depends on the column.
        plain: The value with a point, if any, and nothing between its digits.
        note: What a reader of the table must know; `{name}` is the column.
    """

    name: str
    type: ColumnType
    test: str
    cast: str
    sql_type: str
    plain: str = "{v}"
    note: str = ""

    @property
    def has_commas(self) -> bool:
        """Whether it is for numbers with commas, which are only tried where no other fits."""
        return self.name in (_COMMA, _GROUPS)

    def facts(self, column: str) -> dict[str, str]:
        """Return, of a decimal, the SQL of what must be known of a column to take it."""
        facts = _COMMA_FACTS if self.has_commas else _FACTS
        plain = sql_for(self.plain, column)
        return {name: sql_for(fact, column, plain=plain) for name, fact in facts.items()}


class Choice(msgspec.Struct, frozen=True):
    """What a column is: the reported type, the SQL type, the typed value and a note, or ""."""

    type: ColumnType = "string"
    sql_type: str = "VARCHAR"
    cast: str = "{raw}"
    note: str = ""


def _date(name: str, pattern: str, layout: str) -> Candidate:
    """Return the candidate for dates written in one way."""
    return Candidate(
        name,
        "date",
        f"(regexp_full_match({{v}}, '{pattern}') AND try_strptime({{v}}, '{layout}') IS NOT NULL)",
        f"CAST(try_strptime({{v}}, '{layout}') AS DATE)",
        "DATE",
    )


def _commas(name: str, pattern: str, plain: str) -> Candidate:
    """Return the candidate for decimals with one meaning of commas."""
    return Candidate(
        name,
        "float",
        f"regexp_full_match({{v}}, '{pattern}')",
        f"CAST({plain} AS DECIMAL(18, {{scale}}))",
        "",
        plain,
        f'column "{{name}}" is read with {name}s',
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
    _date("d-m-y", _HYPHENS, "%d-%m-%Y"),
    _date("m-d-y", _HYPHENS, "%m-%d-%Y"),
    Candidate(
        "datetime",
        "datetime",
        f"(regexp_full_match({{v}}, '{_MOMENT}')"
        " AND try_cast(rtrim({v}, 'Z') AS TIMESTAMP) IS NOT NULL)",
        "CAST(rtrim({v}, 'Z') AS TIMESTAMP)",
        "TIMESTAMP",
    ),
    _commas(_COMMA, _DECIMAL_COMMA, "replace(replace(ltrim({v}, '+'), '.', ''), ',', '.')"),
    _commas(_GROUPS, _THOUSANDS_COMMA, "replace(ltrim({v}, '+'), ',', '')"),
)

_KNOWN_DOUBLE = Candidate(
    "known double", "float", "isfinite(try_cast({v} AS DOUBLE))", "CAST({v} AS DOUBLE)", "DOUBLE"
)
"""A format that knows its numbers may write more digits than inference would take from text."""


def candidates_for(known: ColumnType | None) -> tuple[Candidate, ...]:
    """Return what a column may be: of a format that knows its types, only the type it names."""
    if known is None:
        return _CANDIDATES
    fitting = tuple(
        c for c in _CANDIDATES if c.type == known and c.name != "double" and not c.has_commas
    )
    return (*fitting, _KNOWN_DOUBLE) if known == "float" else fitting


def sql_for(template: str, column: str, **parts: object) -> str:
    """Fill a test or a cast in for a column, blanks around its values removed.

    Patterns hold braces, so only the named fields are replaced.
    """
    for name, value in {"v": f"trim({column})", **parts}.items():
        template = template.replace("{" + name + "}", str(value))
    return template


def choose(name: str, held: Sequence[Candidate], facts: Mapping[str, int]) -> Choice:
    """Return what a column is.

    Args:
        name: The column's.
        held: The candidates whose test every value passed, in their order.
        facts: Of decimals, the `Candidate.facts`.

    An 18-digit decimal is exact in sums; numbers that do not fit become doubles.
    """
    names = [candidate.name for candidate in held]
    if any(day in names and month in names for day, month in _EITHER_ORDER):
        return Choice(
            note=f"{name}: day and month cannot be told apart in its dates; it is kept as text "
            "(use strptime to say which is meant)"
        )
    if _COMMA in names and facts["commas"] and not facts["proofs"]:
        return Choice(
            note=f'column "{name}": decimal and thousands commas cannot be told apart in its '
            "numbers; it is kept as text (use replace and CAST to say which is meant)"
        )
    for candidate in held:
        if candidate.has_commas and not facts["commas"]:
            continue
        note = candidate.note.replace("{name}", name)
        if candidate.sql_type:
            return Choice(candidate.type, candidate.sql_type, candidate.cast, note)
        scale = facts["scale"]
        if facts["digits"] + scale <= 18:
            cast = candidate.cast.replace("{scale}", str(scale))
            return Choice(candidate.type, f"DECIMAL(18, {scale})", cast, note)
    return Choice()
