"""Statements: a model's SQL as DuckDB's own syntax tree, checked, with the tables that it names.

A statement must be exactly one that only reads. The lock-down of `sandbox` holds without this
check, which is a second wall and gives better messages. It judges the tree, since a CTE may hold a
COPY or a DELETE in a statement that counts as SELECT.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import duckdb
import msgspec

from kbd.errors import ValidationFailed
from kbd_tables.duck import AGGREGATES, duckdb_message
from kbd_tables.statement_time import CLOCKS

__all__ = [
    "Statement",
    "all_statements",
    "checked_statement",
    "may_be_threaded",
    "with_whole_order",
    "works_out_figures",
]

_Part = TypeVar("_Part")
_Parts = Sequence[dict[str, Any]]
"""All objects of a syntax tree."""

_MAX_STATEMENT_CHARACTERS = 100_000
_READING_NODES = frozenset(
    ("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE", "STATEMENT_NODE")
)
_VOLATILE = frozenset(
    ("duckdb_eviction_queues", "duckdb_logs", "duckdb_memory", "pg_timezone_names")
)
_HIDING = frozenset(("json_execute_serialized_sql", "query", "query_table"))
"""Statements and names of tables in their arguments would not be seen here."""
_LISTS = frozenset(('"tables"', "__show_tables_expanded"))
"""What is shown by SHOW TABLES and by SHOW ALL TABLES or DESCRIBE, in DuckDB's tree."""
_ROW_MAKERS = frozenset(("generate_series", "range", "unnest"))
"""Functions in a FROM that make rows of their arguments alone."""
_WIDENING = frozenset(("unnest",))
"""Functions that may make several columns of one expression: of a struct."""
_TEXT_TYPES = frozenset(("bpchar", "char", "string", "text", "varchar"))
_PARSERS = frozenset(("strptime", "to_timestamp", "try_strptime"))
"""Functions that make moments of texts, by a form that is said."""
_EXTREMES = frozenset(("arg_max", "arg_min", "argmax", "argmin", "max", "max_by", "min", "min_by"))
"""Functions that compare values, and take texts by their letters."""
_EQUALITIES = frozenset(
    ("COMPARE_EQUAL", "COMPARE_NOTEQUAL", "COMPARE_IN", "COMPARE_NOT_IN", "COMPARE_DISTINCT_FROM",
     "COMPARE_NOT_DISTINCT_FROM")
)  # fmt: skip
"""Comparisons that a text answers as a text, whatever else it may mean."""
_OF_LETTERS = frozenset(("!~~", "contains", "ends_with", "prefix", "starts_with", "suffix", "~~"))
"""Functions that look for letters in a text; LIKE is the one called ~~."""
_GROUPS_BY_ALL = "FORCE_AGGREGATES"
"""What a GROUP BY ALL is in DuckDB's tree."""
_SETTING_READERS = frozenset(("current_setting",))
_PER_ROW = frozenset(
    ("BETWEEN", "CASE", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "OPERATOR",
     "STAR")
)  # fmt: skip
"""Classes of expressions that look at one row and have one answer; operators do so as well."""
_MOMENTARY = CLOCKS | {
    "yesterday", "tomorrow", "random", "setseed", "uuid", "uuidv4", "gen_random_uuid", "sample",
    "tablesample",
}  # fmt: skip
"""Words of what answers otherwise at another time."""
_ALLOWED = "one statement that only reads: SELECT, WITH, FROM, DESCRIBE or SUMMARIZE"


class Statement(msgspec.Struct, frozen=True):
    """A statement that may run.

    Args:
        sql: Its text without the semicolon and comments at its end, so that it can be nested.
        tables: The names of the tables that it reads, each by its parts; what a CTE of its own is
            called is none.
        columns: The names in it that may be columns, in lower case; None where it may need all.
        aliases: What it calls values of its own, and no table, in lower case.
        order_keys: By how many keys it orders its rows; 0 where it has no ORDER BY of its own.
        is_limited: Whether it limits its rows itself.
        is_timeless: Whether it answers the same at any time, as far as its words can tell.
        lists_tables: Whether it asks for the names of the tables.
        asks_engine: Whether it calls what may tell of more than the tables that it names: of files,
            of settings, of the database itself.
        scans: In how many places it reads a table, or what a WITH makes of one.
        scanned: What it calls the one table of which it only picks columns and rows; "" where it
            does anything else.
        width: How many columns it has; None where only DuckDB can tell.
        functions: The functions that it calls, in lower case, each once.
        is_grouped: Whether it groups rows or summarizes them, whatever it calls.
        converted: The columns, in lower case, of whose values it makes numbers or dates, as a
            comparison with one does; "*" for all.
        ranked: Those that it puts in an order, or takes the least or greatest value of.
        joined: The pairs of columns, in lower case, of which it wants the same value.
        matched: The columns, in lower case, of whose values it asks which are the same, as groups,
            comparisons and counts of distinct ones do; "*" for all.
    """

    sql: str
    tables: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...] | None
    aliases: tuple[str, ...]
    order_keys: int
    is_limited: bool
    is_timeless: bool
    lists_tables: bool
    asks_engine: bool
    scans: int
    scanned: str
    width: int | None
    functions: tuple[str, ...]
    is_grouped: bool
    converted: tuple[str, ...]
    ranked: tuple[str, ...]
    joined: tuple[tuple[str, str], ...]
    matched: tuple[str, ...]


def checked_statement(connection: duckdb.DuckDBPyConnection, query: str) -> Statement:
    """Return a query as a statement that may run.

    Args:
        connection: To parse with; nothing is executed from the query.
        query: The text, as the model wrote it.

    Raises:
        ValidationFailed: It is not one statement that only reads, or does not parse.
    """
    if len(query) > _MAX_STATEMENT_CHARACTERS:
        raise ValidationFailed(f"the query is longer than {_MAX_STATEMENT_CHARACTERS} characters")
    if "\0" in query:
        raise ValidationFailed("the query holds a NUL character")
    try:
        statements = connection.extract_statements(query)
    except duckdb.Error as error:
        raise ValidationFailed(duckdb_message(error)) from None
    if len(statements) != 1:
        raise ValidationFailed(f"the query must be {_ALLOWED}; it has {len(statements)} statements")
    if statements[0].type != duckdb.StatementType.SELECT:
        kind = str(statements[0].type).rpartition(".")[2]
        raise ValidationFailed(f"the query must be {_ALLOWED}; {kind} is not allowed")
    sql = _without_end(query)
    tree = _tree(connection, sql)
    # Walked once: a statement of a few thousand characters has ten thousand of them.
    parts = tuple(_nodes(tree))
    _check_nodes(parts)
    _check_repeatable(parts)
    modifiers = [each.get("type") for each in tree["node"].get("modifiers", ())]
    return Statement(
        sql=sql,
        tables=_tables(tree),
        columns=_columns(parts),
        aliases=_aliases(parts),
        order_keys=_order_keys(tree),
        is_limited="LIMIT_MODIFIER" in modifiers or "LIMIT_PERCENT_MODIFIER" in modifiers,
        is_timeless=_MOMENTARY.isdisjoint(re.findall(r"\w+", sql.lower())),
        lists_tables=_lists_tables(tree),
        asks_engine=_asks_engine(parts),
        scans=sum(part.get("type") == "BASE_TABLE" for part in parts),
        scanned=_scanned(tree, parts),
        width=_width(tree),
        functions=_functions(parts),
        is_grouped=_is_grouped(parts),
        converted=_converted(parts),
        ranked=_ranked(parts),
        joined=_joined(parts),
        matched=_matched(parts),
    )


def all_statements(statements: Sequence[Statement]) -> Statement:
    """Return several statements as one, as far as it matters for loading their tables."""
    first = statements[0]
    if len(statements) == 1:
        return first
    needs_all = any(each.columns is None for each in statements)
    return msgspec.structs.replace(
        first,
        sql="\n".join(each.sql for each in statements),
        tables=_united(each.tables for each in statements),
        columns=None if needs_all else _united(each.columns or () for each in statements),
        aliases=_united(each.aliases for each in statements),
        asks_engine=any(each.asks_engine for each in statements),
        scans=max(each.scans for each in statements),
    )


def _united(parts: Iterable[tuple[_Part, ...]]) -> tuple[_Part, ...]:
    return tuple(dict.fromkeys(each for part in parts for each in part))


def works_out_figures(statement: Statement) -> bool:
    """Tell whether a statement groups or aggregates, so that it depends on which rows there are."""
    return statement.is_grouped or not AGGREGATES.isdisjoint(statement.functions)


def with_whole_order(
    connection: duckdb.DuckDBPyConnection, statement: Statement, keys: Sequence[str]
) -> str | None:
    """Return a statement that orders rows with equal keys, too.

    Windows of it fit together: else each window may have rows with equal keys in another order, and
    of 3,000 rows in 30 windows 1,666 were found twice.

    Args:
        connection: To parse with.
        statement: It has an ORDER BY, and no LIMIT after it.
        keys: More keys; rows that are equal in them, too, are the same.

    Returns:
        None where its text does not end with its ORDER BY, as within brackets.
    """
    sql = f"{statement.sql}\n, {', '.join(keys)}"
    try:
        tree = _tree(connection, sql)
    except ValidationFailed:
        return None
    return sql if _order_keys(tree) == statement.order_keys + len(keys) else None


def may_be_threaded(connection: duckdb.DuckDBPyConnection, statement: Statement) -> bool:
    """Tell whether a statement answers the same in several threads as in one."""
    if not statement.scanned:
        return False
    # Rows with equal keys come in any order, unless the order can be made whole.
    return not statement.order_keys or with_whole_order(connection, statement, ["1"]) is not None


def _without_end(query: str) -> str:
    """Cut semicolons and comments off the end; tokens know their place in bytes."""
    data = query.encode(errors="surrogatepass")
    tokens = duckdb.tokenize(query)
    end = len(data)
    for start, kind in reversed(tokens):
        is_comment = str(kind).rpartition(".")[2] == "comment"
        if not is_comment and data[start:end].strip() != b";":
            break
        end = start
    return data[:end].decode().strip()


def _tree(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    """Return the syntax tree of a SELECT.

    Raises:
        ValidationFailed: DuckDB does not count it as one.
    """
    row = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    assert row is not None
    tree = json.loads(row[0])
    if tree["error"] or len(tree["statements"]) != 1:
        raise ValidationFailed(f"the query must be {_ALLOWED}")
    return tree["statements"][0]


def _check_nodes(parts: _Parts) -> None:
    """Refuse a tree with a node that does more than read.

    Raises:
        ValidationFailed: A CTE or a subquery writes.
    """
    for part in parts:
        kind = part.get("type")
        if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _READING_NODES:
            what = kind.removesuffix("_NODE").removesuffix("_QUERY")
            raise ValidationFailed(f"the query must be {_ALLOWED}; it holds a {what}")


def _check_repeatable(parts: _Parts) -> None:
    """Refuse what would answer otherwise when the statement is run again.

    Raises:
        ValidationFailed: It goes past the pinned clock, depends on the moment, hides a statement
            in a text, or takes a sample that chance alone decides.
    """
    for part in parts:
        if part.get("class") == "FUNCTION":
            name = part.get("function_name", "").lower()
            path = part.get("qualified_name", {}).get("path", ())
            if name in CLOCKS and "system" in [step.lower() for step in path[:-1]]:
                raise ValidationFailed(f"write {name} without the schema system before it")
            if name in _VOLATILE:
                raise ValidationFailed(f"{name} is not allowed: it answers otherwise each time")
            if name in _HIDING:
                raise ValidationFailed(f"{name} is not allowed; write the statement itself")
        if part.get("is_percentage") and not part.get("repeatable") and (
            part.get("method") in ("System", "Bernoulli")
        ):  # fmt: skip
            raise ValidationFailed(
                "a sample of a percentage must be repeatable: write USING SAMPLE 10% (bernoulli, 1)"
                " with a number of your choice, or take a number of rows: USING SAMPLE 100 ROWS"
            )


def _order_keys(tree: Any) -> int:
    """Return by how many keys the outermost query orders its rows."""
    modifiers = tree["node"].get("modifiers", ())
    return sum(
        len(modifier["orders"]) for modifier in modifiers if modifier["type"] == "ORDER_MODIFIER"
    )


def _lists_tables(tree: Any) -> bool:
    """Tell whether a statement is SHOW TABLES, or a form of it."""
    shown = tree["node"].get("from_table") or {}
    return shown.get("type") == "SHOW_REF" and shown.get("table_name") in _LISTS


def _asks_engine(parts: _Parts) -> bool:
    """Tell whether a statement calls what may tell of more than the tables that it names.

    Of functions in a FROM all but a few do, so these few are known, not the others.
    """
    for part in parts:
        if part.get("type") == "SHOW_REF":
            return True
        if part.get("type") == "TABLE_FUNCTION":
            if part["function"].get("function_name", "").lower() not in _ROW_MAKERS:
                return True
        elif part.get("function_name", "").lower() in _SETTING_READERS:
            return True
    return False


def _scanned(tree: Any, parts: _Parts) -> str:
    """Return what a statement calls the one table of which it only picks columns and rows."""
    node = tree["node"]
    source = node.get("from_table") or {}
    is_plain = (
        node["type"] == "SELECT_NODE"
        and source.get("type") == "BASE_TABLE"
        and not any(node.get(part) for part in ("group_expressions", "having", "qualify", "sample"))
        and not source.get("sample")
        and all(each.get("type") == "ORDER_MODIFIER" for each in node.get("modifiers", ()))
    )
    if is_plain and all(
        part["class"] in _PER_ROW or part.get("is_operator") for part in parts if "class" in part
    ):
        return str(source["alias"] or source["qualified_name"]["path"][-1])
    return ""


def _functions(parts: _Parts) -> tuple[str, ...]:
    """Return the functions that a statement calls; of an aggregate over a window, too."""
    called = (str(part.get("function_name") or "").lower() for part in parts)
    return tuple(sorted(set(called) - {""}))


def _is_grouped(parts: _Parts) -> bool:
    """Tell whether a statement has a GROUP BY, or is a SUMMARIZE."""
    return any(
        part.get("group_expressions") or part.get("show_type") == "SUMMARY" for part in parts
    )


def _converted(parts: _Parts) -> tuple[str, ...]:
    """Return the columns whose values a statement casts, parses or compares; "*" for all."""
    found: set[str] = set()
    for part in parts:
        found.update(_compared(part))
        if part.get("class") == "CAST" and not _is_text_type(part["type_expr"]):
            found.update(_columns_in(part["child"]))
        elif str(part.get("function_name") or "").lower() in _PARSERS:
            found.update(_columns_in(part.get("arguments")))
    if found and any(part.get("column_name_alias") for part in parts):
        # Columns that are called otherwise by their places.
        found.add("*")
    return tuple(sorted(found))


def _compared(part: dict[str, Any]) -> Iterator[str]:
    """Yield the columns that an expression compares, but with a text that they are or are not.

    DuckDB makes a number of a text that is compared with one.
    """
    match part.get("class"):
        case "COMPARISON":
            sides = [part["left"], part["right"]]
        case "BETWEEN":
            sides = [part["input"], part["lower"], part["upper"]]
        case "OPERATOR" if part["type"] in _EQUALITIES:
            sides = part["children"]
        case "SUBQUERY":
            sides = [part.get("child")]
        case _:
            yield from (name.lower() for name in part.get("using_columns") or ())
            if part.get("ref_type") == "NATURAL":
                yield "*"
            return
    columns = [side for side in sides if _own_name(side)]
    texts = [side for side in sides if _is_text(side)]
    if part.get("type") in _EQUALITIES and len(columns) == 1 and len(texts) == len(sides) - 1 > 0:
        return
    for column in columns:
        yield from _own_name(column)


def _joined(parts: _Parts) -> tuple[tuple[str, str], ...]:
    """Return the pairs of columns of which a statement wants the same value."""
    found: dict[tuple[str, str], None] = {}
    for part in parts:
        for name in part.get("using_columns") or ():
            found[name.lower(), name.lower()] = None
        sides = [part.get("left"), part.get("right")]
        if part.get("class") == "SUBQUERY":
            # `IN (SELECT …)`: the first column of the query that is written there.
            selected = part["subquery"]["node"].get("select_list") or [None]
            sides = [part.get("child"), selected[0]]
        elif part.get("type") != "COMPARE_EQUAL":
            continue
        names = [name for side in sides for name in _own_name(side)]
        if len(names) == len(sides):
            found[names[0], names[1]] = None
    return tuple(found)


def _matched(parts: _Parts) -> tuple[str, ...]:
    """Return the columns of whose values a statement asks which are the same; "*" for all."""
    found: set[str] = set()
    for part in parts:
        found.update(name.lower() for name in part.get("using_columns") or ())
        match part.get("class"):
            case "COMPARISON" if part["type"] in _EQUALITIES:
                sides = [part["left"], part["right"]]
            case "OPERATOR" if part["type"] in _EQUALITIES:
                sides = part["children"]
            case "SUBQUERY":
                sides = [part.get("child")]
            case _:
                sides = []
        found.update(name for side in sides for name in _own_name(side))
        is_of_letters = str(part.get("function_name") or "").lower() in _OF_LETTERS
        if part.get("distinct") or is_of_letters:
            found.update(_columns_in(part.get("arguments")))
        found.update(_columns_in(part.get("partitions")))
        selected = part.get("select_list") or ()
        for key in part.get("group_expressions") or ():
            is_place = key.get("class") == "CONSTANT"
            found.update(_by_place(key, selected) if is_place else _own_name(key))
        whole_rows = [one.get("type") for one in part.get("modifiers") or ()]
        if "DISTINCT_MODIFIER" in whole_rows or part.get("aggregate_handling") == _GROUPS_BY_ALL:
            found.update(name for each in selected for name in _own_name(each))
            found.update("*" for each in selected if each.get("class") == "STAR")
    return tuple(sorted(found))


def _is_text(part: Any) -> bool:
    """Tell whether an expression is a text that is written out."""
    literal = part.get("literal") if isinstance(part, dict) else None
    return literal is not None and literal["kind"] == "STRING"


def _ranked(parts: _Parts) -> tuple[str, ...]:
    """Return the columns that a statement orders by, or takes the least or greatest of."""
    found: set[str] = set()
    for part in parts:
        if str(part.get("function_name") or "").lower() in _EXTREMES:
            values = [each.get("expression") for each in part.get("arguments") or ()]
            found.update(name for each in values for name in _own_name(each))
        elif "null_order" in part:
            found.update(_own_name(part.get("expression")))
        for modifier in part.get("modifiers") or ():
            for order in modifier.get("orders") or ():
                found.update(_by_place(order["expression"], part.get("select_list") or ()))
    return tuple(sorted(found))


def _by_place(key: dict[str, Any], selected: Sequence[Any]) -> Iterator[str]:
    """Yield the columns that a key is of which is a place among those selected, or all of them."""
    if key.get("class") == "STAR":
        yield "*"
    elif key.get("class") == "CONSTANT":
        place = str(key.get("literal", {}).get("text", ""))
        is_known = place.isdecimal() and 0 < int(place) <= len(selected)
        if is_known and not any(each.get("class") == "STAR" for each in selected):
            yield from _columns_in(selected[int(place) - 1])
        else:
            yield "*"


def _is_text_type(kind: dict[str, Any]) -> bool:
    children = kind.get("children") or ()
    names = {str(one.get("type_name", "")).lower() for one in (kind, *children)}
    return bool(names & _TEXT_TYPES)


def _columns_in(tree: Any) -> Iterator[str]:
    for part in _nodes(tree):
        if part.get("class") == "STAR":
            yield "*"
        yield from _own_name(part)


def _own_name(part: Any) -> tuple[str, ...]:
    names = part.get("column_names") if isinstance(part, dict) else None
    return (str(names[-1]).lower(),) if names else ()


def _width(tree: Any) -> int | None:
    """Return how many columns a statement has, where each of its expressions is one."""
    node = tree["node"]
    if node["type"] != "SELECT_NODE" or any(
        part.get("class") == "STAR" or str(part.get("function_name", "")).lower() in _WIDENING
        for part in _nodes(node["select_list"])
    ):
        return None
    return len(node["select_list"])


def _tables(tree: Any) -> tuple[tuple[str, ...], ...]:
    """Return the names of the tables that a statement reads, in no order that means anything.

    What a CTE is called is one in its own query only if it is recursive, in those of later ones and
    in the statement that it belongs to.
    """
    found: dict[tuple[str, ...], None] = {}
    stack: list[tuple[Any, frozenset[str]]] = [(tree, frozenset())]
    while stack:
        part, hidden = stack.pop()
        if isinstance(part, list):
            stack.extend((each, hidden) for each in part)
            continue
        if not isinstance(part, dict):
            continue
        is_shown = part.get("type") == "SHOW_REF" and part.get("show_type") == "SHOW"
        if part.get("type") == "BASE_TABLE" or (is_shown and not part.get("query")):
            path = tuple(part["qualified_name"]["path"])
            if len(path) > 1 or path[0].lower() not in hidden:
                found[path] = None
        for entry in (part.get("cte_map") or {}).get("map", ()):
            name = entry["key"].lower()
            is_recursive = entry["value"]["query_node"]["type"] == "RECURSIVE_CTE_NODE"
            stack.append((entry["value"], hidden | {name} if is_recursive else hidden))
            hidden |= {name}
        stack.extend((each, hidden) for key, each in part.items() if key != "cte_map")
    return tuple(found)


def _columns(parts: _Parts) -> tuple[str, ...] | None:
    """Return the names that may be columns, or None where all columns may be needed."""
    needed: set[str] = set()
    for part in parts:
        if part.get("class") == "STAR" or part.get("type") == "SHOW_REF":
            return None
        if part.get("ref_type") in ("NATURAL", "POSITIONAL"):
            return None
        names = part.get("column_names")
        # The last part, for the table's name may stand before it; a field of a struct is no column,
        # and has all of them loaded.
        mentioned = [names[-1]] if names else []
        needed.update(name.lower() for name in [*mentioned, *part.get("using_columns", ())])
    return tuple(sorted(needed))


def _aliases(parts: _Parts) -> tuple[str, ...]:
    """Return the names that can only mean values that the statement computes."""
    values: set[str] = set()
    tables: set[str] = set()
    for part in parts:
        known = values if "class" in part else tables
        known.update(str(part.get(key) or "").lower() for key in ("alias", "table_name"))
    return tuple(sorted(values - tables - {""}))


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a tree; a stack, since trees nest deeper than Python calls may."""
    stack = [tree]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            yield part
            stack.extend(part.values())
        elif isinstance(part, list):
            stack.extend(part)
