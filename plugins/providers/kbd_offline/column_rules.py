"""Rules for columns: chosen, left out, renamed, computed, tidied; duplicates; splits. Pure."""

from collections.abc import Callable, Sequence

from kbd_offline import expressions
from kbd_offline.clauses import DeriveClause, FieldClause, KeyClause, sum_of
from kbd_offline.facts import KnownColumn
from kbd_offline.mentions import STEM, SYNONYM
from kbd_offline.names import stem, tokens
from kbd_offline.patterns import Production, RequestSpan
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, cued, is_cue
from kbd_offline.terminals import NamedColumn, Number

__all__ = ["COLUMN_RULES", "KINDS"]

_Columns = Sequence[NamedColumn]
_Found = tuple[object, ...]
KINDS = {
    "kind_xlsx": ".xlsx", "kind_csv": ".csv", "kind_tsv": ".tsv", "kind_psv": ".psv",
    "kind_parquet": ".parquet",
}  # fmt: skip
_FILE_WORDS = {"csv": ".csv", "excel": ".xlsx"}
_SIGNS = {"times": "*", "divided": "/", "added": "+", "less_than_by": "-"}
_TIDIED = {
    "trim": "without blanks around it", "upper": "in capitals", "lower": "in small letters",
}  # fmt: skip
_MAX_NAME = 60
_MAX_SPELLINGS = 60


def _number(span: RequestSpan, number: Number) -> str | None:
    marked = next((column for column in span.scan.table.columns if column.decimal), None)
    return None if number.is_percent else number.of(span.scan, marked)


def _percent(span: RequestSpan, number: Number, whole: str) -> str | None:
    return f"{whole} * {_share(span.scan, number):.12g}" if number.is_percent else None


def _share(scan: RequestScan, number: Number) -> float:
    return float(number.of(scan, None)) / 100


def _days_between(first: KnownColumn, last: KnownColumn) -> str:
    return f"days_between({expressions.column(first.name)}, {expressions.column(last.name)})"


def _equation(span: RequestSpan, name: str, expression: str, called: str | None = None) -> object:
    """Read "profit = revenue - cost"; behind "with" it may be a condition."""
    if span.has("where"):
        raise UnclearError("it may be a new column, or a condition on the rows")
    return _derived(span, name, expression, called)


def _derived(span: RequestSpan, name: str, expression: str, called: str | None = None) -> _Found:
    name = called or name
    if any(column.name.casefold() == name.casefold() for column in span.scan.table.columns):
        raise UnclearError(f'there is a column "{name}" already: name the new one otherwise')
    name = name[:_MAX_NAME]
    return (DeriveClause(name, expression, f"{name} = {expression}"),)


def _derived_text(span: RequestSpan, expression: str, called: str | None = None) -> _Found:
    """Read "quantity x unit cost as new column": what it is made of is its name."""
    return _derived(span, called or _title(span), expression)


def _title(span: RequestSpan) -> str:
    """Return what a new column is made of, without the words that ask for one."""
    start = span.scan.skip(span.start, "add_column", "compute", "filler")
    text = span.scan.text(start if start < span.end else span.start, span.end)
    return text.partition(" as ")[0].partition(" als ")[0].strip("() ")[:_MAX_NAME]


def _explained(span: RequestSpan, name: str, expression: str) -> _Found:
    """Read "stock value (quantity x unit cost)", a name that is made of no groups or columns.

    Raises:
        UnclearError: It would be.
    """
    scan, start = span.scan, span.scan.skip(span.start, "add_column")
    end = next(at for at in range(start, span.end) if scan.word(at) == "(")
    is_column = any(scan.word(at) in ("column", "spalte") for at in range(span.start, end))
    for at in range(start, 0 if is_column else end):
        mention = scan.column(at)
        is_named = mention is not None and mention.level <= STEM and end > start + 1 and not any(
            column.is_number and column.role != "id" for column in mention.columns
        )  # fmt: skip
        if scan.at(at, "by") or is_named:
            raise UnclearError(f'I do not see what "{span.text.partition("(")[0].strip()}" is')
    return _derived(span, name, expression)


def _days_column(
    span: RequestSpan, first: KnownColumn, last: KnownColumn, called: str | None
) -> _Found:
    """Read "days between order date and ship date"."""
    name = called or _title(span)
    return _derived(span, name[:1].upper() + name[1:], _days_between(first, last))


def _days_to(span: RequestSpan, word: str, called: str | None = None) -> object:
    """Read "days to close", of two columns of dates of which one is that."""
    root, moments = word.rstrip("e"), [one for one in span.scan.table.columns if one.is_moment]
    named = [one for one in moments if len(root) >= 4 and one.name.casefold().startswith(root)]
    others = [one for one in moments if one not in named]
    if len(named) != 1 or len(others) != 1 or others[0].minimum > named[0].minimum:
        return None
    return _days_column(span, others[0], named[0], called)


def _duration(span: RequestSpan, word: str, called: str | None = None) -> object:
    """Read "Lieferzeit in Tagen", of two columns of dates, the first of which comes first."""
    moments = [one for one in span.scan.table.columns if one.is_moment]
    if not word.endswith(("zeit", "dauer", "time", "duration")) or len(moments) != 2:
        return None
    first, last = sorted(moments, key=lambda one: one.minimum)
    if word[:5] not in last.name.casefold():
        return None
    return _derived_text(span, _days_between(first, last), called)


def _raised(span: RequestSpan, concept: str, named: NamedColumn, number: Number) -> object:
    """Read "increase salary by 5 %": the column takes the new values."""
    if not number.is_percent:
        return None
    share = _share(span.scan, number) * (1 if concept == "raise" else -1)
    words = f"{number.of(span.scan, None)}% {'more' if concept == 'raise' else 'less'}"
    return _changed((named,), f"{{}} * {1 + share:.12g}", f"{{}} {words}")


def _changed(columns: _Columns | Sequence[KnownColumn], expression: str, text: str) -> _Found:
    """Return that columns take new values; `{}` is each of them in the expression and the text."""
    changed = [one.column if isinstance(one, NamedColumn) else one for one in columns]
    return tuple(
        DeriveClause(
            one.name,
            expression.replace("{}", expressions.column(one.name)),
            text.replace("{}", one.name),
        )
        for one in changed
    )


def _with_percent(span: RequestSpan, named: NamedColumn, concept: str, number: Number) -> object:
    """Read "price plus 19 % VAT", "amount minus 10 %"."""
    is_more, name = concept == "plus_percent", named.column.name
    if not number.is_percent or (not is_more and span.has("vat")):
        return None
    share = _share(span.scan, number)
    made = f"{expressions.column(name)} * {1 + (share if is_more else -share):.12g}"
    word = "with" if is_more else "without"
    return _derived(span, f"{name} {word} {number.of(span.scan, None)}%", made)


def _profit(span: RequestSpan, concept: str, share: str | None) -> object:
    """Read "profit" or "margin" where two columns give it: what comes in less what it costs.

    Raises:
        SeveralError: A margin may be an amount or a share.
    """
    scan = span.scan
    if scan.column(span.start) is not None:
        return None
    revenue, cost, money = (
        [one for one in scan.vocabulary.meaning(meaning) if one.adds_up]
        for meaning in ("revenue", "cost", "money")
    )
    revenue = revenue or [one for one in money if one not in cost]
    if len(revenue) != 1 or len(cost) != 1 or revenue == cost:
        return None
    more, less = expressions.column(revenue[0].name), expressions.column(cost[0].name)
    if share:
        return _derived(span, f"{concept.capitalize()} %", f"({more} - {less}) / {more}")
    if concept == "margin":
        raise SeveralError(
            f'"{span.text}" may be {revenue[0].name} less {cost[0].name}, or the share of that',
            [span.rewritten(word) for word in ("profit", "margin %")],
        )
    return _derived(span, span.text.capitalize(), f"{more} - {less}")


def _ratio(span: RequestSpan, upper: NamedColumn, lower: NamedColumn) -> object:
    """Read "cost per kg", where kg are amounts, too: each row's quotient."""
    over, under = upper.column, lower.column
    is_row = span.scan.is_noun(lower.start)
    if not under.adds_up or under.type != "float" or upper.level > STEM or is_row or over == under:
        return None
    made = f"{expressions.column(over.name)} / {expressions.column(under.name)}"
    return _derived(span, f"{over.name} per {under.name}", made)


def _tidied(span: RequestSpan, concept: str, columns: _Columns = ()) -> _Found:
    texts = [one for one in span.scan.table.columns if one.is_text]
    return _changed(columns or texts, f"{concept}({{}})", f"{{}} {_TIDIED[concept]}")


def _rounded(_: RequestSpan, columns: _Columns, places: int | None) -> _Found:
    text = f"{{}} rounded to {places or 0} decimals"
    return _changed(columns, f"round({{}}, {places or 0})", text)


def _filled(span: RequestSpan, named: NamedColumn, value: Number | str) -> _Found:
    """Read "fill empty regions with 'unknown'"."""
    column = named.column
    if column.is_number != isinstance(value, Number) or not (column.is_number or column.is_text):
        raise UnclearError(f'"{column.name}" holds other values: fill its empty fields with such')
    shown = value.of(span.scan, column) if isinstance(value, Number) else value
    literal = shown if column.is_number else expressions.literal(shown)
    name = expressions.column(column.name)
    text = f"{shown} in the empty fields of {column.name}"
    return (DeriveClause(column.name, f"coalesce({name}, {literal})", text),)


def _unified(_: RequestSpan, columns: _Columns) -> object:
    """Read "make the region names uniform".

    Raises:
        UnclearError: The values of a column are not all known.
    """
    if not all(one.column.is_text for one in columns):
        return None
    return tuple(change for one in columns for change in _unify(one.column))


def _unify(column: KnownColumn) -> _Found:
    if not column.is_listed:
        raise UnclearError(f'"{column.name}" has more values than I look at one by one')
    groups: dict[str, dict[str, int]] = {}
    for value, count in column.values.items():
        groups.setdefault(" ".join(value.split()).casefold(), {})[value] = count
    several = [some for some in groups.values() if len(some) > 1]
    if sum(map(len, several)) > _MAX_SPELLINGS:
        raise UnclearError(f'"{column.name}" has more spellings than fit into one job')
    name = expressions.column(column.name)
    if not several:
        text = f"{column.name} as it is, with one spelling of each value"
        return (DeriveClause(column.name, name, text),)
    whens: list[str] = []
    for some in several:
        # Of several that are there as often, the one with a capital alone in front.
        best = max(some, key=lambda value: (some[value], value.istitle(), value))
        others = ", ".join(expressions.literal(value) for value in some if value != best)
        whens.append(f"when {name} in ({others}) then {expressions.literal(best)}")
    text = f"{column.name} with the spelling that is there most often"
    return (DeriveClause(column.name, f"case {' '.join(whens)} else {name} end", text),)


def _columns(field: str) -> Callable[..., FieldClause]:
    """Return what says that a field of the clauses is some columns."""

    def make(_: RequestSpan, columns: _Columns = (), *_more: object) -> FieldClause:
        return FieldClause(field, tuple(one.column for one in columns or ()))

    return make


def _selected(span: RequestSpan, columns: _Columns, only: str | None = None) -> object:
    """Read "only name and email", "show date, amount", "name and email only"."""
    scan, first = span.scan, columns[0]
    is_one, value = len(columns) == 1, scan.value(first.start)
    if is_one and scan.is_noun(first.start) and (first.level > STEM or only):
        return None
    if value is not None and value.end > first.end:
        return None
    if any(_is_totals(scan, named) for named in columns[1:]):
        return None
    is_listed = is_one and only is None and _asks_for_values(span, first)
    return _columns("unique_list" if is_listed else "selected")(span, columns)


def _is_totals(scan: RequestScan, named: NamedColumn) -> bool:
    """Tell whether "and totals" stands where a column Total is named: that is no column then."""
    text = scan.text(named.start, named.end)
    is_called = text.casefold() == named.column.name.casefold()
    return not is_called and bool(scan.at(named.start - 1, "summary_sheet", "totals_row"))


def _listed_values(span: RequestSpan, thing: NamedColumn, _end: object) -> object:
    """Read "list all salespeople" of a column that is called otherwise."""
    is_listed = thing.level >= SYNONYM and _asks_for_values(span, thing)
    return FieldClause("unique_list", (thing.column,)) if is_listed else None


def _asks_for_values(span: RequestSpan, named: NamedColumn) -> bool:
    """Tell whether "list all departments" asks for the different values of a column."""
    column, word = named.column, span.scan.word(named.end - 1)
    is_plural = word not in tokens(column.name) and (
        named.level >= SYNONYM or stem(word) == stem(tokens(column.name)[-1])
    )
    is_listed = not is_cue(span.scan, span.start, "lists")
    return is_plural and is_listed and column.is_text and column.distinct < span.scan.table.rows


def _dropped(span: RequestSpan, columns: _Columns) -> object:
    """Read "without the phone column", "drop notes"; a value that is left out is a condition."""
    scan, first = span.scan, columns[0]
    value, follows = scan.value(first.start), scan.value(span.end)
    is_lacking = scan.at(span.start, "lacks") and scan.is_noun(span.start - 1)
    if is_lacking or cued(scan, "article", span.start, first.start):
        return None
    if (value is not None and value.end >= first.end) or follows is not None:
        return None
    return _columns("dropped")(span, columns)


def _dropped_all(span: RequestSpan, word: str) -> object:
    """Read "remove the salary columns": all whose names have a word."""
    root = stem(word)
    found = [c for c in span.scan.table.columns if root in {stem(one) for one in tokens(c.name)}]
    return FieldClause("dropped", tuple(found)) if found else None


def _deduplicated(_: RequestSpan, columns: _Columns = ()) -> _Found:
    return (FieldClause("deduplicates"), FieldClause("alike", tuple(one.column for one in columns)))


def _kept(_: RequestSpan, concept: str) -> _Found:
    return (FieldClause("deduplicates"), FieldClause("keep", concept.removeprefix("keep_")))


def _split(into: str) -> Callable[..., _Found]:
    """Return what says that rows are split: into what, and perhaps by what."""

    def make(_: RequestSpan, *keys: KeyClause) -> _Found:
        return (FieldClause("into", (into,)), FieldClause("split_keys", keys))

    return make


def _summary_of(_: RequestSpan, columns: _Columns) -> _Found:
    """Read "a summary with totals of price": of that column, and of no other one."""
    return (FieldClause("has_totals"), *(sum_of(one.column, one.start) for one in columns))


def _said(field: str) -> Callable[..., FieldClause]:
    return lambda *_: FieldClause(field)


def _into_sheets(span: RequestSpan) -> object:
    # "Sheets" alone says no more than the words for what is split.
    return FieldClause("into", ("sheets",)) if span.end > span.start + 1 else ()


def _into_files(span: RequestSpan) -> _Found:
    kinds = [
        FieldClause("suffix", suffix) for word, suffix in _FILE_WORDS.items() if word in span.words
    ]
    return (FieldClause("into", ("files",)), *kinds)


def _unwritten(span: RequestSpan) -> None:
    scan = span.scan
    if scan.column(span.end - 1) is None:
        kind = scan.text(scan.at(span.start, "as_kind"), span.end)
        raise UnclearError(f"I do not write {kind} files, only xlsx, csv, tsv, psv and parquet")


_DAYS = "('days'|'day'|'tage'|'tagen'|'number' 'of' 'days'|'anzahl' 'tage')"
_NEW = (
    "('with'|'mit'|'the'|'den'|'die'|'der'|'of'|'called'|'named'|'namens'|'genannt'|'hinzu'|'for'"
    "|'column'|'spalte'|'neue'|'new'|'extra')*"
)
_OF = "('of'|'von'|'vom'|'der'|'des'|'on'|'auf')"
_ADD = f"(add_column|compute) {_NEW}"
_AS_COLUMN = (
    "('as'|'als'|'in'|'into') ('a'|'an'|'new'|'neue'|'eine'|'extra')* ('column'|'spalte')"
    " ('called'|'named'|'namens')? NAME?"
)
_SPELLING = "('spelling'|'spellings'|'names'|'values'|'schreibweise'|'schreibweisen'|'werte')*"

COLUMN_RULES: tuple[Production, ...] = (
    Production("operand", "ANYNUMBER",
         lambda _, one: expressions.column(one.column.name)),
    Production("operand", "NUMBER", _number),
    Production("operand", f"NUMBER {_OF} operand", _percent),
    Production("operand", "'(' formula ')'", lambda _, inner: f"({inner})"),
    Production("formula", "operand", lambda _, one: one, 0.2),
    Production("formula", "computed", lambda _, one: one),
    Production("computed", f"NUMBER {_OF} operand", _percent),
    Production("computed", "operand :(times|divided|added|less_than_by) formula",
         lambda _, first, concept, second: f"{first} {_SIGNS[concept]} {second}"),
    Production("computed", "DAYS less_than_by DAYS",
         lambda _, last, first: _days_between(first.column, last.column)),
    Production("computed", f"{_DAYS} ('between'|'from'|'zwischen'|'von'|'vom') DAYS"
         " ('and'|'to'|'und'|'bis'|'zum')+ DAYS",
         lambda _, first, last: _days_between(first.column, last.column), 0.3),
    Production("derive_clause", f"{_ADD} NAME is_made_of computed added_suffix?", _derived),
    Production("derive_clause", f"{_ADD} is_made_of? computed added_suffix?", _derived_text, 0.2),
    Production("derive_clause", f"NAME '=' computed ({_AS_COLUMN})?", _equation, 0.1),
    Production("derive_clause", f"({_ADD})? computed {_AS_COLUMN}", _derived_text, 0.1),
    Production("derive_clause", f"NAME computed {_AS_COLUMN}", _derived, 0.1),
    Production("derive_clause", "add_column? NAME '(' computed ')'", _explained, 0.2),
    Production("derive_clause", "NAME by by_key+ '(' computed ')'",
         lambda s, name, keys, made: (*_derived(s, name, made), *keys), 0.2),
    Production("derive_clause", f"(add_column {_NEW})? {_DAYS}"
         f" ('between'|'from'|'zwischen'|'von'|'vom') DAYS"
         f" ('and'|'to'|'und'|'bis'|'zum')+ DAYS ({_AS_COLUMN})?",
         lambda s, first, last, called: _days_column(s, first.column, last.column, called)),
    Production("derive_clause", f"(add_column {_NEW})? {_DAYS} ('to'|'until'|'till'|'bis') WORD"
         f" ({_AS_COLUMN})?", _days_to),
    Production("derive_clause", f"add_column? WORD 'in' ('tagen'|'days') ({_AS_COLUMN})?",
         _duration),
    Production("change_clause", ":(raise|reduce) NUMERIC ('by'|'um') NUMBER", _raised),
    Production("derive_clause", "NUMERIC :(plus_percent|minus_percent) NUMBER vat?", _with_percent),
    Production("derive_clause", "(add_column|compute) NUMBER vat ('to'|'zu'|'zum'|'zur')? NUMERIC",
         lambda s, number, column: _with_percent(s, column, "plus_percent", number)),
    Production("derive_clause", "(add_column|compute)? :(profit|margin) :(share)?", _profit),
    Production("derive_clause", "AMOUNT ('per'|'pro'|'je') AMOUNT", _ratio),
    Production("renaming", "NEAR rename_to NAME renamed?",
         lambda _, one, name: FieldClause("renamed", ((one.column.name, name),))),
    Production("rename_clause", "rename renaming+|rename? renaming 'umbenennen'",
         lambda _, found: found, -0.5),
    Production("change_clause", ":(trim)"
         " ('from'|'around'|'in'|'of'|'aus'|'bei'|'um'|'vom')* TEXTS+",
         _tidied, -0.2),
    Production("change_clause", ":(trim)", _tidied, 0.1),
    Production("change_clause", ":(upper|lower) TEXTS+", _tidied),
    Production("change_clause", "clean TEXTS+ ('to'|'in'|'into')? :(upper|lower)",
         lambda s, columns, concept: _tidied(s, concept, columns)),
    Production("change_clause", "round NUMERIC+ ('to'|'auf'|'zu')? (COUNT decimals|whole_numbers)",
         _rounded),
    Production("change_clause", "fill_empty empty? NEAR filler* fill_with (NUMBER|QUOTED|WORD)",
         _filled),
    Production("change_clause", f"unify {_SPELLING} TEXTS+ {_SPELLING}"
         f"|clean? {_SPELLING} TEXTS+ {_SPELLING} uniform clean?", _unified),
    Production("select_clause", "select only? NEAR+", _selected, 0.1),
    Production("select_clause", "select THING END", _listed_values, -0.2),
    Production("select_clause", "NEAR+ :(only) END", lambda s, c, o, _: _selected(s, c, o), 0.1),
    Production("select_clause", "(select|only)+ NEAR+ END",
         lambda s, c, _: _selected(s, c, "only"), 0.1),
    Production("drop_clause", "drop_column NEAR+ ('column'|'columns'|'spalte'|'spalten')?",
         _dropped, 0.3),
    Production("drop_clause", "drop_column WORD ('columns'|'spalten')", _dropped_all),
    Production("dedupe_clause", "dedupe (row_noun? alike_in)? COLUMN+|one_row_per COLUMN+",
         _deduplicated, -0.4),
    Production("dedupe_clause", "dedupe", _deduplicated),
    Production("dedupe_clause", ":(keep_first|keep_last|keep_latest) row_noun?", _kept),
    Production("dedupe_clause", "duplicates (NOUN? alike_in COLUMN+)?",
         lambda s, _, columns: _columns("duplicates")(s, columns), 0.1),
    Production("dedupe_clause", "duplicates COLUMN+", _columns("duplicates"), -0.2),
    Production("unique_clause", "unique_list COLUMN+ only?|distinct COLUMN+ only"
         "|only distinct COLUMN+|unique_list? NEAR+ ','? each_once", _columns("unique_list"), -0.3),
    Production("split_clause", "split by? key|by key own_sheet", _split("sheets"), -0.3),
    Production("split_clause", "split_files by? key|by key own_file", _split("files"), -0.3),
    Production("split_clause", "split", _split("sheets"), 0.4),
    Production("split_clause", "split_files", _split("files"), 0.4),
    Production("into_clause", "into_sheets", _into_sheets, 0.2),
    Production("into_clause", "into_files", _into_files, 0.2),
    Production("totals_clause", "summary_sheet|totals_row", _said("has_totals")),
    Production("totals_clause", "summary_sheet ('of'|'for'|'von'|'der'|'des'|'fur') NUMERIC+",
         _summary_of, -0.2),
    Production("kind_clause", f"as_kind :({'|'.join(KINDS)})",
         lambda _, kind: FieldClause("suffix", KINDS[kind]), -0.1),
    Production("kind_clause", "as_kind kind_unwritten", _unwritten, 1.0),
    Production("place_clause", "in_place", _said("in_place"), -0.1),
    Production("place_clause", "not_in_place", lambda _: (), -0.1),
)  # fmt: skip
"""Rules of the clauses `derive`, `change`, `rename`, `select`, `drop`, `dedupe`, `split` …"""
