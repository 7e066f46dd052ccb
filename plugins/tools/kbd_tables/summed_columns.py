"""Columns that a statement of SQL names, or sums as they are. Pure: the text alone is looked at.

A statement is taken apart into its words and signs. A sum counts as one of a column where its
argument is that column, by its name or one that the statement gives it, rounded, cast or chosen by
a condition; not where it is multiplied by or divided by another column, or only compared.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["mentions", "named_columns", "summed_columns", "tells_capitals_apart"]

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$|"(?:[^"]|"")*"|"""
    r"""[^\W\d]\w*|\d[\w.]*|::|<=|>=|<>|!=|==|\|\||[^\s\w]""",
    re.DOTALL,
)
_SUMS = frozenset(
    ("sum", "fsum", "kahan_sum", "sumkahan", "sum_no_overflow", "list_sum", "array_sum")
)
_AVERAGES = frozenset(("avg", "mean", "favg"))
_LISTS = frozenset(("list", "array_agg"))
_SAME = frozenset(
    ("round", "cast", "try_cast", "coalesce", "ifnull", "nullif", "abs", "floor", "ceil", "ceiling",
     "trunc", "if", "iff", "float", "double", "columns")
) | _LISTS  # fmt: skip
"""Functions of a column that are still that column, to whoever sums them."""
_COMPARING = frozenset(
    ("=", "==", "<", ">", "<=", ">=", "<>", "!=", "like", "ilike", "in", "is", "between", "not")
)
_CLAUSES = frozenset(
    ("select", "from", "where", "group", "order", "by", "having", "limit", "as", "and", "or", "on",
     "join", "left", "right", "inner", "outer", "full", "cross", "union", "all", "distinct", "with",
     "when", "then", "else", "end", "case", "over", "partition", "filter", "using", "asc", "desc",
     "not", "in", "is", "between", "like", "ilike", "null", "true", "false", "qualify", "window",
     "offset", "except", "intersect", "exclude", "replace", "nulls", "first", "last", "rows")
)  # fmt: skip

_FOLDING = frozenset(("ilike", "lcase", "lower", "nocase", "ucase", "upper"))
"""Words by which capitals do not count."""

Tokens = Sequence[str]


def summed_columns(sql: str, names: Iterable[str], *, with_averages: bool = False) -> list[str]:
    """Return the columns that a statement sums as they are, of some; or makes averages of."""
    wanted = {name.casefold(): name for name in names}
    functions = _SUMS | _AVERAGES if with_averages else _SUMS
    if not wanted or not any(one in sql.casefold() for one in ("sum", *functions)):
        return []
    tokens = _tokens(sql)
    meanings = _Meanings(tokens, wanted)
    summed: list[str] = []
    for place, token in enumerate(tokens[:-1]):
        if token.casefold() in functions and tokens[place + 1] == "(":
            summed += meanings.of(_argument(tokens, place + 1))
    return [name for name in wanted.values() if name in summed]


def named_columns(sql: str, names: Iterable[str]) -> list[str]:
    """Return the columns that a statement names, of some; all of them where it asks for all."""
    wanted = {name.casefold(): name for name in names}
    if not wanted:
        return []
    tokens = _tokens(sql)
    if any(_is_all(tokens, place) for place in range(len(tokens))):
        return list(wanted.values())
    found = {_name(token) for token in tokens}
    return [name for folded, name in wanted.items() if folded in found]


def mentions(sql: str, name: str) -> bool:
    """Tell whether a statement names a column."""
    return name.casefold() in map(_name, _tokens(sql))


def tells_capitals_apart(sql: str) -> bool:
    """Tell whether a statement has none of the words by which capitals do not count."""
    return _FOLDING.isdisjoint(token.casefold() for token in _tokens(sql))


def _tokens(sql: str) -> list[str]:
    return [
        found.group() for found in _TOKEN.finditer(sql)
        if not found.group().startswith(("--", "/*"))
    ]  # fmt: skip


def _is_all(tokens: Tokens, place: int) -> bool:
    """Tell whether all columns are meant: by a star that multiplies and counts nothing, or FROM."""
    before = tokens[place - 1].casefold() if place else ""
    if tokens[place].casefold() in ("columns", "summarize"):
        return True
    is_first = place == 0 or before == "("
    if tokens[place].casefold() == "from":
        # FROM alone is SELECT * of that.
        return is_first
    return tokens[place] == "*" and before in ("select", ",", ".", "distinct", "all")


class _Meanings:
    """What the names in a statement stand for.

    Args:
        tokens: The statement.
        wanted: The columns to look for, by their folded names.
    """

    def __init__(self, tokens: Tokens, wanted: Mapping[str, str]) -> None:
        self._columns = {folded: {name} for folded, name in wanted.items()}
        # The name of a sum is that of a result, which is not summed again.
        aliased = [(alias, made) for alias, made in _aliases(tokens) if not _has_sum(made)]
        made = {alias for alias, _ in aliased}
        # A column that the statement makes anew under an old name is what it is made of.
        own = {alias: self._columns.pop(alias) for alias in made if alias in self._columns}
        for _ in range(len(aliased) + 1):
            before = {alias: set(names) for alias, names in self._columns.items()}
            for alias, expression in aliased:
                found = self._found(expression, own if alias in own else {})
                if found:
                    self._columns.setdefault(alias, set()).update(found)
            if before == self._columns:
                break

    def of(self, expression: Tokens) -> set[str]:
        """Return the columns that a sum of an expression sums."""
        return self._found(expression, {})

    def _found(self, expression: Tokens, own: Mapping[str, set[str]]) -> set[str]:
        plain = _without_conditions(expression)
        columns = {**self._columns, **own}
        words = [_name(token) for token in plain]
        if any(_is_function(plain, place) for place in range(len(plain))):
            return set()
        if "columns" in words:
            return _matching(plain, columns)
        if any(word in _COMPARING for word in words):
            return set()
        found = {name for word in words for name in columns.get(word, ())}
        is_scaled = "*" in plain or "/" in plain
        # A product of two columns is another figure, one with a number is not.
        return set() if is_scaled and len(_factors(plain)) > 1 else found


def _has_sum(tokens: Tokens) -> bool:
    return any(token.casefold() in _SUMS for token in tokens)


def _factors(tokens: Tokens) -> set[str]:
    """Return the columns that an expression names, by folded names."""
    following = [*tokens[1:], ""]
    return {
        _name(token)
        for token, after in zip(tokens, following, strict=True)
        # Before a parenthesis stands a function, before a point a table.
        if _is_name(token) and after not in ("(", ".") and token.casefold() not in _SAME
    }


def _matching(expression: Tokens, columns: Mapping[str, set[str]]) -> set[str]:
    """Return the columns that `COLUMNS(...)` stands for: all, unless a pattern chooses them."""
    pattern = next((token[1:-1] for token in expression if token.startswith("'")), "")
    try:
        chosen = re.compile(pattern)
    except re.error:
        chosen = re.compile("")
    return {name for names in columns.values() for name in names if chosen.search(name)}


def _name(token: str) -> str:
    """Return a token as it is compared: a name without its quotes, without regard to case."""
    if token.startswith('"') and len(token) > 1:
        return token[1:-1].replace('""', '"').casefold()
    return token.casefold()


def _is_name(token: str) -> bool:
    return token.startswith('"') or (token[:1].isidentifier() and token.casefold() not in _CLAUSES)


def _is_function(tokens: Tokens, place: int) -> bool:
    """Tell whether a function is called whose result is another figure than its argument."""
    token = tokens[place].casefold()
    called = place + 1 < len(tokens) and tokens[place + 1] == "("
    is_word = token[:1].isidentifier() and token not in _CLAUSES
    return called and is_word and token not in _SAME | {"decimal", "numeric", "varchar"}


def _argument(tokens: Tokens, opened: int) -> Tokens:
    """Return what stands between a parenthesis and the one that closes it."""
    closed = _closing(tokens, opened)
    inside = tokens[opened + 1 : closed]
    # DISTINCT, and an order of what is summed, change nothing of what it is.
    order = next((n for n, token in enumerate(inside) if token.casefold() == "order"), len(inside))
    return [token for token in inside[:order] if token.casefold() != "distinct"]


def _closing(tokens: Tokens, opened: int) -> int:
    depth = 0
    for place in range(opened, len(tokens)):
        depth += (tokens[place] in "([") - (tokens[place] in ")]")
        if depth == 0:
            return place
    return len(tokens)


def _without_conditions(tokens: Tokens) -> list[str]:
    """Return an expression without what only chooses: conditions of CASE and `if`."""
    kept: list[str] = []
    place = 0
    while place < len(tokens):
        word = tokens[place].casefold()
        if word in ("case", "when"):
            # From CASE to WHEN is what is compared, from WHEN to THEN the condition.
            place = _until(tokens, place + 1, ("then",) if word == "when" else ("when",))
            place += word == "when"
        elif word in ("if", "iff") and tokens[place + 1 : place + 2] == ["("]:
            end = _closing(tokens, place + 1)
            comma = _until(tokens, place + 2, (",",))
            kept += ["(", *_without_conditions(tokens[comma + 1 : end]), ")"]
            place = end + 1
        else:
            kept.append(tokens[place])
            place += 1
    return kept


def _until(tokens: Tokens, start: int, ends: tuple[str, ...]) -> int:
    """Return the place of the first of some words that is not in parentheses."""
    depth = 0
    for place in range(start, len(tokens)):
        word = tokens[place].casefold()
        if depth == 0 and word in ends:
            return place
        depth += (word in ("(", "case")) - (word in (")", "end"))
    return len(tokens)


def _aliases(tokens: Tokens) -> Iterable[tuple[str, Tokens]]:
    """Yield the names that a statement gives to expressions, folded, with the expression."""
    for place, token in enumerate(tokens):
        before = tokens[place - 1] if place else ""
        if not _is_name(token):
            continue
        is_named = before.casefold() == "as"
        # Without the word: a name that follows another one, or a parenthesis that is closed.
        is_bare = bool(before) and (_is_name(before) or before == ")")
        if not (is_named or is_bare):
            continue
        end = place - 1 if is_named else place
        yield _name(token), tokens[_beginning(tokens, end) : end]


def _beginning(tokens: Tokens, end: int) -> int:
    """Return where the expression begins that ends before a place."""
    depth = 0
    for place in range(end - 1, -1, -1):
        token = tokens[place].casefold()
        depth += (token in (")", "end")) - (token in ("(", "case"))
        if depth < 0 or (depth == 0 and token in (",", "select", "distinct", "from", "join")):
            return place + 1
    return 0
