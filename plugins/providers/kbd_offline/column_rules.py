"""Rules for columns: chosen, left out, renamed, computed, tidied; duplicates; splits. Pure."""

from collections.abc import Callable, Sequence
from typing import Literal

from kbd_offline import expressions
from kbd_offline.clauses import (
    DedupeClause,
    DeriveClause,
    DropClause,
    FigureClause,
    Flag,
    FlagName,
    KeyClause,
    RenameClause,
    SelectClause,
    SplitClause,
    SuffixClause,
    UniqueClause,
)
from kbd_offline.condition_rules import ARTICLES
from kbd_offline.facts import KnownColumn
from kbd_offline.mentions import STEM, SYNONYM
from kbd_offline.names import stem, tokens
from kbd_offline.patterns import Production, RequestSpan
from kbd_offline.scan import RequestScan, SeveralError, UnclearError
from kbd_offline.terminals import NamedColumn, Number

__all__ = ["COLUMN_RULES", "KINDS"]

KINDS = {
    "kind_xlsx": ".xlsx", "kind_csv": ".csv", "kind_tsv": ".tsv", "kind_psv": ".psv",
    "kind_parquet": ".parquet",
}  # fmt: skip
_SIGNS = {"times": "*", "divided": "/", "added": "+", "less_than_by": "-"}
_MAX_NAME = 60
_MAX_SPELLINGS = 60


def _operand(_: RequestSpan, named: NamedColumn) -> str:
    return expressions.column(named.column.name)


def _number(span: RequestSpan, number: Number) -> str | None:
    if number.is_percent:
        return None
    marked = next((column for column in span.scan.table.columns if column.decimal), None)
    return number.of(span.scan, marked)


def _percent(span: RequestSpan, number: Number, whole: str) -> str | None:
    if not number.is_percent:
        return None
    return f"{whole} * {_share(span.scan, number):.12g}"


def _share(scan: RequestScan, number: Number) -> float:
    return float(number.of(scan, None)) / 100


def _bracketed(_: RequestSpan, inner: str) -> str:
    return f"({inner})"


def _operation(_: RequestSpan, first: str, concept: str, second: str) -> str:
    return f"{first} {_SIGNS[concept]} {second}"


def _days_less(_: RequestSpan, last: NamedColumn, first: NamedColumn) -> str:
    return _days_between(first.column, last.column)


def _days_between(first: KnownColumn, last: KnownColumn) -> str:
    names = f"{expressions.column(first.name)}, {expressions.column(last.name)}"
    return f"days_between({names})"


def _equation(span: RequestSpan, name: str, expression: str, called: str | None = None) -> object:
    """Read "profit = revenue - cost"; behind "with" it may be a condition."""
    if any(span.scan.at(at, "where") for at in range(span.start, span.end)):
        raise UnclearError("it may be a new column, or a condition on the rows")
    return _derived(span, name, expression, called)


def _derived(span: RequestSpan, name: str, expression: str, called: str | None = None) -> object:
    name = called or name
    if any(column.name.casefold() == name.casefold() for column in span.scan.table.columns):
        raise UnclearError(f'there is a column "{name}" already: name the new one otherwise')
    return (DeriveClause(name[:_MAX_NAME], expression, f"{name[:_MAX_NAME]} = {expression}"),)


def _derived_text(span: RequestSpan, expression: str, called: str | None = None) -> object:
    """Read "quantity x unit cost as new column": what it is made of is its name."""
    return _derived(span, called or _title(span.text), expression)


def _title(text: str) -> str:
    for end in (" as ", " als "):
        text = text.partition(end)[0]
    return text.strip("() ")[:_MAX_NAME]


def _explained(span: RequestSpan, name: str, expression: str) -> object:
    """Read "stock value (quantity x unit cost)"."""
    _check_name(span, span.scan.text(span.start, span.end))
    return _derived(span, name, expression)


def _check_name(span: RequestSpan, text: str) -> None:
    """Check that a new column's name is not made of groups, or of columns that are there.

    Raises:
        UnclearError: It would be.
    """
    scan, start = span.scan, span.start
    while scan.at(start, "add_column"):
        start = scan.at(start, "add_column")
    end = next(at for at in range(start, span.end) if scan.word(at) == "(")
    is_column = any(scan.word(at) in ("column", "spalte") for at in range(span.start, end))
    for at in range(start, 0 if is_column else end):
        mention = scan.column(at)
        is_named = mention is not None and mention.level <= STEM and end > start + 1 and not any(
            column.is_number and column.role != "id" for column in mention.columns
        )  # fmt: skip
        if scan.at(at, "by") or is_named:
            raise UnclearError(f'I do not see what "{text.partition("(")[0].strip()}" is')


def _explained_figure(
    span: RequestSpan, name: str, keys: tuple[object, ...], expression: str
) -> tuple[object, ...]:
    """Read "Lagerwert je Lagerort (Bestand mal Einkaufspreis)"."""
    made = _derived(span, name, expression)
    return (*made, *keys)  # type: ignore[misc]


def _days_column(
    span: RequestSpan, first: NamedColumn, last: NamedColumn, called: str | None = None
) -> object:
    """Read "days between order date and ship date"."""
    name = called or _title(span.text)
    return _derived(span, name[:1].upper() + name[1:], _days_between(first.column, last.column))


def _days_to(span: RequestSpan, word: str, called: str | None = None) -> object:
    """Read "days to close", of two columns of dates of which one is that."""
    root, moments = word.rstrip("e"), [one for one in span.scan.table.columns if one.is_moment]
    named = [one for one in moments if len(root) >= 4 and one.name.casefold().startswith(root)]
    others = [one for one in moments if one not in named]
    if len(named) != 1 or len(others) != 1 or others[0].minimum > named[0].minimum:
        return None
    name = called or _title(span.text)
    return _derived(span, name[:1].upper() + name[1:], _days_between(others[0], named[0]))


def _duration(span: RequestSpan, word: str, called: str | None = None) -> object:
    """Read "Lieferzeit in Tagen", of two columns of dates, the first of which comes first."""
    moments = [one for one in span.scan.table.columns if one.is_moment]
    if not word.endswith(("zeit", "dauer", "time", "duration")) or len(moments) != 2:
        return None
    first, last = sorted(moments, key=lambda one: one.minimum)
    if word[:5] not in last.name.casefold():
        return None
    return _derived(span, called or _title(span.text), _days_between(first, last))


def _raised(span: RequestSpan, concept: str, named: NamedColumn, number: Number) -> object:
    """Read "increase salary by 5 %": the column takes the new values."""
    if not number.is_percent:
        return None
    share = _share(span.scan, number) * (1 if concept == "raise" else -1)
    word, column = ("more" if concept == "raise" else "less"), named.column
    shown = number.of(span.scan, None)
    return _changed(column, f"{expressions.column(column.name)} * {1 + share:.12g}",
                    f"{column.name} {shown}% {word}")  # fmt: skip


def _changed(column: KnownColumn, expression: str, text: str) -> tuple[DeriveClause, ...]:
    return (DeriveClause(column.name, expression, text),)


def _with_percent(span: RequestSpan, named: NamedColumn, concept: str, number: Number) -> object:
    """Read "price plus 19 % VAT", "amount minus 10 %"."""
    if not number.is_percent:
        return None
    word = "with" if concept == "plus_percent" else "without"
    if word == "without" and any(span.scan.at(at, "vat") for at in range(span.start, span.end)):
        return None
    share, name = _share(span.scan, number), named.column.name
    factor = 1 + share if word == "with" else 1 - share
    made = f"{expressions.column(name)} * {factor:.12g}"
    return _derived(span, f"{name} {word} {number.of(span.scan, None)}%", made)


def _vat_to(span: RequestSpan, number: Number, named: NamedColumn) -> object:
    return _with_percent(span, named, "plus_percent", number)


def _profit(span: RequestSpan, concept: str, share: str | None) -> object:
    """Read "profit" or "margin" where two columns give it: what comes in less what it costs.

    Raises:
        SeveralError: A margin may be an amount or a share.
    """
    scan = span.scan
    if scan.column(span.start) is not None:
        return None
    cost = [one for one in scan.vocabulary.meaning("cost") if one.adds_up]
    revenue = [one for one in scan.vocabulary.meaning("revenue") if one.adds_up] or [
        one for one in scan.vocabulary.meaning("money") if one.adds_up and one not in cost
    ]  # fmt: skip
    if len(revenue) != 1 or len(cost) != 1 or revenue == cost:
        return None
    more, less = expressions.column(revenue[0].name), expressions.column(cost[0].name)
    if share:
        return _derived(span, f"{concept.capitalize()} %", f"({more} - {less}) / {more}")
    if concept == "margin":
        raise SeveralError(
            f'"{span.text}" may be {revenue[0].name} less {cost[0].name}, or the share of that',
            [scan.rewritten(span.start, span.end, word) for word in ("profit", "margin %")],
        )
    return _derived(span, span.text.capitalize(), f"{more} - {less}")


def _ratio(span: RequestSpan, upper: NamedColumn, lower: NamedColumn) -> object:
    """Read "cost per kg", where kg are amounts, too: each row's quotient."""
    column = lower.column
    is_row = span.scan.is_noun(lower.start)
    if not column.adds_up or column.type != "float" or upper.level > STEM or is_row or (
        column == upper.column
    ):  # fmt: skip
        return None
    made = f"{expressions.column(upper.column.name)} / {expressions.column(column.name)}"
    return _derived(span, f"{upper.column.name} per {column.name}", made)


def _renamed(_: RequestSpan, named: NamedColumn, name: str) -> RenameClause:
    return RenameClause(named.column, name)


def _tuple(_: RequestSpan, *found: object) -> object:
    (values,) = found
    return tuple(values) if isinstance(values, tuple) else (values,)


def _trimmed(span: RequestSpan, columns: Sequence[NamedColumn] | None) -> object:
    chosen = [one.column for one in columns or ()]
    chosen = chosen or [one for one in span.scan.table.columns if one.is_text]
    return tuple(
        change
        for one in chosen
        for change in _changed(
            one, f"trim({expressions.column(one.name)})", f"{one.name} without blanks around it"
        )
    )


def _cased(_: RequestSpan, concept: str, columns: Sequence[NamedColumn]) -> object:
    words = "capitals" if concept == "upper" else "small letters"
    return tuple(
        change
        for one in columns
        for change in _changed(
            one.column, f"{concept}({expressions.column(one.column.name)})",
            f"{one.column.name} in {words}",
        )
    )  # fmt: skip


def _cased_behind(span: RequestSpan, columns: Sequence[NamedColumn], concept: str) -> object:
    return _cased(span, concept, columns)


def _rounded(_: RequestSpan, columns: Sequence[NamedColumn], places: int | None) -> object:
    return tuple(
        change
        for one in columns
        for change in _changed(
            one.column, f"round({expressions.column(one.column.name)}, {places or 0})",
            f"{one.column.name} rounded to {places or 0} decimals",
        )
    )  # fmt: skip


def _filled(span: RequestSpan, named: NamedColumn, value: Number | str) -> object:
    """Read "fill empty regions with 'unknown'"."""
    column = named.column
    if isinstance(value, Number):
        shown = value.of(span.scan, column)
    else:
        shown = value
    if column.is_number != isinstance(value, Number) or not (column.is_number or column.is_text):
        raise UnclearError(f'"{column.name}" holds other values: fill its empty fields with such')
    literal = shown if column.is_number else expressions.literal(shown)
    return _changed(column, f"coalesce({expressions.column(column.name)}, {literal})",
                    f"{shown} in the empty fields of {column.name}")  # fmt: skip


def _unified(_: RequestSpan, columns: Sequence[NamedColumn]) -> object:
    """Read "make the region names uniform".

    Raises:
        UnclearError: The values of a column are not all known.
    """
    if not all(one.column.is_text for one in columns):
        return None
    return tuple(change for one in columns for change in _unify(one.column))


def _unify(column: KnownColumn) -> tuple[DeriveClause, ...]:
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
        return _changed(column, name, f"{column.name} as it is, with one spelling of each value")
    whens: list[str] = []
    for some in several:
        # Of several that are there as often, the one with a capital alone in front.
        best = max(some, key=lambda value: (some[value], value.istitle(), value))
        others = ", ".join(expressions.literal(value) for value in some if value != best)
        whens.append(f"when {name} in ({others}) then {expressions.literal(best)}")
    text = f"{column.name} with the spelling that is there most often"
    return _changed(column, f"case {' '.join(whens)} else {name} end", text)


def _selected(span: RequestSpan, columns: Sequence[NamedColumn], only: str | None = None) -> object:
    """Read "only name and email", "show date, amount", "name and email only"."""
    scan, first = span.scan, columns[0]
    if len(columns) == 1 and scan.is_noun(first.start) and (first.level > STEM or only):
        return None
    value = scan.value(first.start)
    if value is not None and value.end > first.end:
        return None
    if any(_is_totals(scan, named) for named in columns[1:]):
        return None
    if len(columns) == 1 and only is None and _asks_for_values(span, first):
        return (UniqueClause((first.column,)),)
    return (SelectClause(tuple(one.column for one in columns)),)


def _is_totals(scan: RequestScan, named: NamedColumn) -> bool:
    """Tell whether "and totals" stands where a column Total is named: that is no column then."""
    text = scan.text(named.start, named.end)
    is_called = text.casefold() == named.column.name.casefold()
    return not is_called and bool(scan.at(named.start - 1, "summary_sheet", "totals_row"))


def _listed_values(span: RequestSpan, thing: NamedColumn) -> object:
    """Read "list all salespeople" of a column that is called otherwise."""
    is_listed = thing.level >= SYNONYM and _asks_for_values(span, thing)
    return (UniqueClause((thing.column,)),) if is_listed else None


def _asks_for_values(span: RequestSpan, named: NamedColumn) -> bool:
    """Tell whether "list all departments" asks for the different values of a column."""
    column, word = named.column, span.scan.word(named.end - 1)
    is_plural = word not in tokens(column.name) and (
        named.level >= SYNONYM or stem(word) == stem(tokens(column.name)[-1])
    )
    is_listed = span.scan.word(span.start) not in ("only", "just", "keep", "nur", "with", "mit")
    return is_plural and is_listed and column.is_text and column.distinct < span.scan.table.rows


def _dropped(span: RequestSpan, columns: Sequence[NamedColumn]) -> object:
    """Read "without the phone column", "drop notes"; a value that is left out is a condition."""
    scan, first = span.scan, columns[0]
    value, follows = scan.value(first.start), scan.value(span.end)
    is_lacking = scan.at(span.start, "lacks") and scan.is_noun(span.start - 1)
    if is_lacking or any(scan.word(at) in ARTICLES for at in range(span.start, first.start)):
        return None
    if (value is not None and value.end >= first.end) or follows is not None:
        return None
    return (DropClause(tuple(one.column for one in columns)),)


def _dropped_all(span: RequestSpan, word: str) -> object:
    """Read "remove the salary columns": all whose names have a word."""
    root = stem(word)
    found = [c for c in span.scan.table.columns if root in {stem(one) for one in tokens(c.name)}]
    return (DropClause(tuple(found)),) if found else None


def _deduplicated(_: RequestSpan, columns: Sequence[NamedColumn] | None) -> object:
    return (DedupeClause(tuple(one.column for one in columns or ())),)


_KEEPS: dict[str, Literal["first", "last", "latest"]] = {
    "keep_first": "first", "keep_last": "last", "keep_latest": "latest",
}  # fmt: skip


def _kept(_: RequestSpan, concept: str) -> object:
    return (DedupeClause((), _KEEPS[concept], is_kept=True),)


def _listed_duplicates(_: RequestSpan, columns: Sequence[NamedColumn] | None) -> object:
    return (DedupeClause(tuple(one.column for one in columns or ()), is_listed=True),)


def _unique(_: RequestSpan, columns: Sequence[NamedColumn]) -> object:
    return (UniqueClause(tuple(one.column for one in columns)),)


def _split(_: RequestSpan, key: KeyClause | None = None) -> object:
    return (SplitClause("sheets", (key,) if key else ()),)


def _split_files(_: RequestSpan, key: KeyClause | None = None) -> object:
    return (SplitClause("files", (key,) if key else ()),)


def _summary_of(_: RequestSpan, columns: Sequence[NamedColumn]) -> object:
    """Read "a summary with totals of price": of that column, and of no other one."""
    figures = (FigureClause("sum", one.column, place=one.start) for one in columns)
    return (Flag("summary"), *figures)


def _flag(name: FlagName) -> Callable[..., object]:
    return lambda *_: (Flag(name),)


def _into_sheets(span: RequestSpan) -> object:
    # "Sheets" alone says no more than the words for what is split.
    return (Flag("into_sheets"),) if span.end > span.start + 1 else ()


def _into_files(span: RequestSpan) -> object:
    words = {span.scan.word(at) for at in range(span.start, span.end)}
    kinds = [SuffixClause(suffix) for word, suffix in _FILE_WORDS.items() if word in words]
    return (Flag("into_files"), *kinds)


_FILE_WORDS = {"csv": ".csv", "excel": ".xlsx"}


def _kind(_: RequestSpan, concept: str) -> object:
    return (SuffixClause(KINDS[concept]),)


def _unwritten(span: RequestSpan) -> object:
    written = "xlsx, csv, tsv, psv and parquet"
    scan = span.scan
    if scan.column(span.end - 1) is not None:
        return None
    kind = scan.text(scan.at(span.start, "as_kind"), span.end)
    raise UnclearError(f"I do not write {kind} files, only {written}")


_DAYS = "('days'|'day'|'tage'|'tagen'|'number' 'of' 'days'|'anzahl' 'tage')"
_NEW = (
    "('with'|'mit'|'the'|'den'|'die'|'der'|'of'|'called'|'named'|'namens'|'genannt'|'hinzu'|'for'"
    "|'column'|'spalte'|'neue'|'new'|'extra')*"
)
_ADD = f"(add_column|compute) {_NEW}"
_AS_COLUMN = (
    "('as'|'als'|'in'|'into') ('a'|'an'|'new'|'neue'|'eine'|'extra')* ('column'|'spalte')"
    " ('called'|'named'|'namens')? NAME?"
)
_SPELLING = "('spelling'|'spellings'|'names'|'values'|'schreibweise'|'schreibweisen'|'werte')*"
_ALIKE = "row_noun? alike_in"

COLUMN_RULES: tuple[Production, ...] = (
    Production("operand", "ANYNUMBER", _operand),
    Production("operand", "NUMBER", _number),
    Production("operand", "NUMBER ('of'|'von'|'vom'|'der'|'des'|'on'|'auf') operand", _percent),
    Production("operand", "'(' formula ')'", _bracketed),
    Production("formula", "operand", lambda _, one: one, 0.2),
    Production("formula", "computed", lambda _, one: one),
    Production("computed", "NUMBER ('of'|'von'|'vom'|'der'|'des'|'on'|'auf') operand", _percent),
    Production("computed", "operand :(times|divided|added|less_than_by) formula", _operation),
    Production("computed", "DAYS less_than_by DAYS", _days_less),
    Production("derive_clause", f"{_ADD} NAME is_made_of computed added_suffix?", _derived),
    Production("derive_clause", f"{_ADD} is_made_of? computed added_suffix?", _derived_text, 0.2),
    Production("derive_clause", f"NAME '=' computed ({_AS_COLUMN})?", _equation, 0.1),
    Production("derive_clause", f"({_ADD})? computed {_AS_COLUMN}", _derived_text, 0.1),
    Production("derive_clause", f"NAME computed {_AS_COLUMN}", _derived, 0.1),
    Production("derive_clause", "add_column? NAME '(' computed ')'", _explained, 0.2),
    Production("derive_clause", "NAME by by_key+ '(' computed ')'", _explained_figure, 0.2),
    Production("derive_clause", f"(add_column {_NEW})? {_DAYS}"
         f" ('between'|'from'|'zwischen'|'von'|'vom') DAYS"
         f" ('and'|'to'|'und'|'bis'|'zum')+ DAYS ({_AS_COLUMN})?", _days_column),
    Production("derive_clause", f"(add_column {_NEW})? {_DAYS} ('to'|'until'|'till'|'bis') WORD"
         f" ({_AS_COLUMN})?", _days_to),
    Production("derive_clause", f"add_column? WORD 'in' ('tagen'|'days') ({_AS_COLUMN})?",
         _duration),
    Production("change_clause", ":(raise|reduce) NUMERIC ('by'|'um') NUMBER", _raised),
    Production("derive_clause", "NUMERIC :(plus_percent|minus_percent) NUMBER vat?", _with_percent),
    Production("derive_clause", "(add_column|compute) NUMBER vat ('to'|'zu'|'zum'|'zur')? NUMERIC",
         _vat_to),
    Production("derive_clause", "(add_column|compute)? :(profit|margin) :(share)?", _profit),
    Production("derive_clause", "AMOUNT ('per'|'pro'|'je') AMOUNT", _ratio),
    Production("renaming", "NEAR rename_to NAME renamed?", _renamed),
    Production("rename_clause", "rename renaming+", _tuple, -0.5),
    Production("rename_clause", "rename? renaming 'umbenennen'", _tuple, -0.5),
    Production("change_clause", "trim ('from'|'around'|'in'|'of'|'aus'|'bei'|'um'|'vom')* TEXTS+",
         _trimmed, -0.2),
    Production("change_clause", "trim", lambda s: _trimmed(s, None), 0.1),
    Production("change_clause", ":(upper|lower) TEXTS+", _cased),
    Production("change_clause", "clean TEXTS+ ('to'|'in'|'into')? :(upper|lower)", _cased_behind),
    Production("change_clause", "round NUMERIC+ ('to'|'auf'|'zu')? (COUNT decimals|whole_numbers)",
         _rounded),
    Production("change_clause", "fill_empty empty? NEAR filler* fill_with (NUMBER|QUOTED|WORD)",
         _filled),
    Production("change_clause", f"unify {_SPELLING} TEXTS+ {_SPELLING}", _unified),
    Production("change_clause", f"clean? {_SPELLING} TEXTS+ {_SPELLING} uniform clean?", _unified),
    Production("select_clause", "select only? NEAR+", _selected, 0.1),
    Production("select_clause", "select THING END", lambda s, c, _: _listed_values(s, c), -0.2),
    Production("select_clause", "NEAR+ :(only) END", lambda s, c, o, _: _selected(s, c, o), 0.1),
    Production("select_clause", "(select|only)+ NEAR+ END",
         lambda s, c, _: _selected(s, c, "only"), 0.1),
    Production("drop_clause", "drop_column NEAR+ ('column'|'columns'|'spalte'|'spalten')?",
         _dropped, 0.3),
    Production("drop_clause", "drop_column WORD ('columns'|'spalten')", _dropped_all),
    Production("dedupe_clause", f"dedupe ({_ALIKE})? COLUMN+", _deduplicated, -0.4),
    Production("dedupe_clause", "dedupe", lambda s: _deduplicated(s, None)),
    Production("dedupe_clause", "one_row_per COLUMN+", _deduplicated, -0.4),
    Production("dedupe_clause", ":(keep_first|keep_last|keep_latest) row_noun?", _kept),
    Production("dedupe_clause", "duplicates (NOUN? alike_in COLUMN+)?",
         lambda s, _, c: _listed_duplicates(s, c), 0.1),
    Production("dedupe_clause", "duplicates COLUMN+", _listed_duplicates, -0.2),
    Production("unique_clause", "unique_list COLUMN+ only?", _unique, -0.3),
    Production("unique_clause", "distinct COLUMN+ only", _unique, -0.3),
    Production("unique_clause", "only distinct COLUMN+", _unique, -0.3),
    Production("unique_clause", "unique_list? NEAR+ ','? each_once", _unique, -0.3),
    Production("split_clause", "split by? key", _split, -0.3),
    Production("split_clause", "split_files by? key", _split_files, -0.3),
    Production("split_clause", "by key own_sheet", _split, -0.3),
    Production("split_clause", "by key own_file", _split_files, -0.3),
    Production("split_clause", "split", _split, 0.4),
    Production("split_clause", "split_files", _split_files, 0.4),
    Production("into_clause", "into_sheets", _into_sheets, 0.2),
    Production("into_clause", "into_files", _into_files, 0.2),
    Production("totals_clause", "summary_sheet", _flag("summary")),
    Production("totals_clause", "summary_sheet ('of'|'for'|'von'|'der'|'des'|'fur') NUMERIC+",
         _summary_of, -0.2),
    Production("totals_clause", "totals_row", _flag("totals")),
    Production("kind_clause", f"as_kind :({'|'.join(KINDS)})", _kind, -0.1),
    Production("kind_clause", "as_kind kind_unwritten", _unwritten, 1.0),
    Production("place_clause", "in_place", _flag("in_place"), -0.1),
    Production("place_clause", "not_in_place", _flag("copy"), -0.1),
)  # fmt: skip
"""Rules of the clauses `derive`, `change`, `rename`, `select`, `drop`, `dedupe`, `split` …"""
