"""Totals in a source: rows that sum others up, found, left out of the table, and told.

Candidates are rows with a label of totals, and rows that have nothing but figures. They are read
one by one, the plain rows between them only as sums. What is certain is taken out; what is not is a
question, and stays in the table until it is answered.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import duckdb
import msgspec

from kbd.formats import (
    COUNT_PATTERN,
    STATISTIC_LABELS,
    TOTAL_STEMS,
    WEAK_STEMS,
    YEAR_PATTERN,
    AggregateRow,
    TableReading,
    TotalLabel,
    count_label,
    statistic_label,
    total_label,
    weak_label,
    year_label,
)
from kbd_tables.duck import PASSING_PARQUET, parquet_rows, quoted_text
from kbd_tables.formula_totals import FormulaRows
from kbd_tables.group_sums import sums_of_groups
from kbd_tables.outer_sums import outer_sums
from kbd_tables.row_stretches import stretches_of, with_spreads
from kbd_tables.rows_below import rows_below
from kbd_tables.shapes import LETTERS
from kbd_tables.total_notes import (
    SummedColumn,
    counted_note,
    left_out_note,
    totals_question,
    touched,
)
from kbd_tables.total_rows import Judged, TotalCandidate
from kbd_tables.total_verdicts import judge
from kbd_tables.unlabeled_totals import filled_sql, is_odd_last, unlabeled_rows, with_unlabeled

__all__ = ["SummingRow", "Totals", "certain_totals", "take_out_totals"]

_MAX_LABELS = 20_000
_MAX_CANDIDATES = 20_000
"""Rows that are judged one by one; a label of more is not judged, but asked about."""
_MAX_BARE = 1_000
_MAX_COLUMNS = 100
"""Columns of texts that are searched for labels, and columns of figures that are compared."""
_MAX_WEAK_ROWS = 100_000
"""Rows of a table that a person may have written, with sums between them that are called "Q1"."""
_MAX_WEAK = 60
_MAX_WEAK_VALUES = 200
_MAX_COUNTED = 60
_COUNT_CHARACTERS = 40
_COUNTED_SHARE = 1 / 3
"""As many of a column's values look like labels that count rows, if its rows are called so."""
_COUNTED = COUNT_PATTERN.replace(r"[^\pL", f"[^{LETTERS}").replace(r"\pL", f"[{LETTERS}]")
"""The pattern of labels that count rows, which SQL compiles in no time."""
_WEAK_CHARACTERS = 24
_YEARS_SHARE = 1 / 3
"""As many of the rows are years, if these sum up halves, quarters or months."""
_LEAST_ABOVE = 2
_MAX_KEPT = 1_000
_FUNCTIONS = ("sum", "minimum", "maximum", "average")
"""What rows come to as a function of a sheet has it, to the last digit."""
_SHOWN_CHARACTERS = 80


class SummingRow(msgspec.Struct, frozen=True):
    """A row that is kept in its table and sums others up, or says that it does.

    Args:
        row: Its number among the rows, from 1.
        label: What labels it.
        kind: "sum", "minimum", "maximum" or "average".
        columns: The columns in which its figure is what the other rows come to; none where it is
            not.
        ranges: The rows that it sums up: the first and the last of each stretch.
    """

    row: int
    label: str
    kind: str
    columns: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()


class Totals(msgspec.Struct, frozen=True):
    """What became of the totals of a table.

    Args:
        reading: How the table was read, completed.
        rows: The rows that were taken out, from 0 among those of the plain form.
        notes: What a reader of the table must know.
        kept: The rows that sum others up and are kept, as was said; at most 1,000.
    """

    reading: dict[str, Any]
    rows: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    kept: tuple[SummingRow, ...] = ()


def take_out_totals(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    spare: str,
    columns: Sequence[SummedColumn],
    read_as: Mapping[str, Any],
    reading: Mapping[str, Any],
    among: frozenset[int] | None = None,
    aggregates: Sequence[AggregateRow] = (),
) -> Totals:
    """Take the rows out of an untyped table that sum others up.

    Args:
        connection: Where the work is done.
        raw: The Parquet of texts, columns c0, c1, ...; it is written again without those rows.
        spare: A path that may be written meanwhile.
        columns: Its columns, as they would be typed with all rows.
        read_as: How it is to be read: a plain `ReadAs`.
        reading: How the format read it: a plain `TableReading`.
        among: The rows that may be taken out, where it is not all of them; nothing is asked then.
        aggregates: The rows whose formulas sum others up.
    """
    said, told = read_as.get("totals"), msgspec.convert(reading, TableReading)
    judged = _judged(connection, raw, columns, aggregates)
    if said == "keep":
        return Totals(dict(reading), kept=tuple(_kept(judged, columns)))
    judged = [*judged, *rows_below(connection, raw, columns, judged)]
    if among is not None:
        judged = [each for each in judged if each.candidate.row in among]
    out, unsure = _chosen(judged, said)
    counted = [each for each in judged if each.verdict == "counted"]
    if not out and not unsure:
        return Totals(dict(reading))
    rows = tuple(each.candidate.row for each in out)
    if rows:
        _rewrite_without(connection, raw, spare, rows)
    left = touched(out, told, columns)
    notes = [left_out_note(each) for each in left]
    completed = msgspec.structs.replace(told, left_out=(*told.left_out, *left))
    if counted:
        notes.append(counted_note(counted, told, columns))
    if unsure:
        # The rows are counted as the format gave them, with those that are left out here.
        question = totals_question(connection, raw, columns, unsure, out, told)
        completed = msgspec.structs.replace(completed, questions=(*told.questions, question))
        meanings = "; ".join(f"{each.value}: {each.meaning}" for each in question.options)
        notes.append(f"{question.text} ({meanings})")
    return Totals(msgspec.to_builtins(completed), rows, tuple(notes))


def _chosen(judged: Sequence[Judged], said: str | None) -> tuple[list[Judged], list[Judged]]:
    """Return the rows that are left out, and those that have to be asked about."""
    sides, doubts = ("above", "below"), ("unsure", "doubtful")
    left = {
        "leave_out": (*sides, "remark", *doubts),
        "leave_out_proven": sides,
    }.get(said or "", (*sides, "remark"))
    out = [each for each in judged if each.verdict in left]
    unsure = [each for each in judged if each.verdict in doubts and said is None]
    return sorted(out, key=_place), sorted(unsure, key=_place)


def _place(judged: Judged) -> int:
    return judged.candidate.row


def _rewrite_without(
    connection: duckdb.DuckDBPyConnection, raw: str, spare: str, rows: Sequence[int]
) -> None:
    """Write an untyped table again without some rows."""
    connection.execute("CREATE OR REPLACE TEMP TABLE rows_out AS SELECT unnest(?) AS n", [[*rows]])
    connection.execute(
        f"COPY (SELECT * EXCLUDE (file_row_number) FROM {_numbered(raw)}"
        " WHERE file_row_number NOT IN (SELECT n FROM rows_out) ORDER BY file_row_number)"
        f" TO {quoted_text(spare)} ({PASSING_PARQUET})"
    )
    connection.execute(
        f"COPY (FROM {parquet_rows(spare)}) TO {quoted_text(raw)} ({PASSING_PARQUET})"
    )


def _kept(judged: Sequence[Judged], columns: Sequence[SummedColumn]) -> Iterator[SummingRow]:
    """Yield the first rows that sum others up, or bear such a label beside other figures."""
    names = [each.name for each in columns if each.type in ("integer", "float")]
    found = 0
    for each in judged:
        label = each.candidate.label
        kind = label.kind if label else "sum"
        if kind not in _FUNCTIONS or each.verdict == "row" or found == _MAX_KEPT:
            continue
        is_unsure = each.verdict == "unsure"
        if not is_unsure and not each.columns:
            # It agrees, but only as it is rounded.
            continue
        found += 1
        yield SummingRow(
            each.candidate.row + 1,
            each.candidate.text[:_SHOWN_CHARACTERS],
            kind,
            () if is_unsure else tuple(names[place] for place in each.columns),
            () if is_unsure else tuple((first + 1, last + 1) for first, last in each.ranges),
        )


def certain_totals(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    columns: Sequence[SummedColumn],
    aggregates: Sequence[AggregateRow] = (),
) -> frozenset[int]:
    """Return the rows of an untyped table that surely sum others up; the arguments as above."""
    judged = _judged(connection, raw, columns, aggregates)
    out, _ = _chosen([*judged, *rows_below(connection, raw, columns, judged)], None)
    return frozenset(each.candidate.row for each in out)


def _label(text: str) -> TotalLabel | None:
    """Return what a text says of the row that it labels."""
    return total_label(text) or statistic_label(text) or weak_label(text) or year_label(text)


def _is_label(value: str, text: str, *, is_counted: bool) -> bool:
    """Tell whether a field of a row that a text labels says no more than that."""
    if not text or (is_counted and value == text):
        return bool(text)
    found = _label(value)
    # "Net" beside a label is a value like others.
    return found is not None and (value == text or not found.is_weak)


def _numbered(raw: str) -> str:
    return parquet_rows(raw, numbered=True)


def _judged(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    columns: Sequence[SummedColumn],
    aggregates: Sequence[AggregateRow],
) -> list[Judged]:
    """Find the candidates and judge them."""
    figures = [n for n, each in enumerate(columns) if each.type in ("integer", "float")]
    others = [n for n in range(len(columns)) if n not in figures]
    figures = figures[:_MAX_COLUMNS]
    if not figures:
        return []
    count = _one(connection, f"SELECT count(*) FROM {_numbered(raw)}")[0]
    texts = [n for n in others if columns[n].type == "string"]
    labels = _labels(connection, raw, texts[:_MAX_COLUMNS])
    rows, are_too_many = _labeled_rows(connection, raw, labels, figures)
    formulas = FormulaRows(aggregates, {n: columns[n].for_totals for n in figures}, count)
    rows = {**dict.fromkeys(formulas, ""), **rows}
    if are_too_many or len(rows) > _MAX_CANDIDATES:
        return _unjudged(connection, raw, [columns[n] for n in figures], rows)
    counted: dict[int, str] = {}
    if count <= _MAX_WEAK_ROWS:
        rows = {**_weak_rows(connection, raw, texts[:_MAX_COLUMNS], figures, count), **rows}
        found = _counted_rows(connection, raw, texts[:_MAX_COLUMNS], figures, count)
        counted = {row: text for row, text in found.items() if row not in rows}
        rows |= counted
    rows |= dict.fromkeys(_bare_rows(connection, raw, others, figures, count) - {*rows}, "")

    def judged_of(rows: Mapping[int, str]) -> list[Judged]:
        found = _candidates(connection, raw, columns, figures, others, rows, counted, count)
        found = [formulas.proven(each) for each in found]
        return _judged_rows(connection, raw, columns, figures, found)

    judged = judged_of(rows) if rows else []
    if _LEAST_ABOVE < count <= _MAX_WEAK_ROWS:
        more = unlabeled_rows(
            connection, raw, others, texts[:_MAX_COLUMNS], figures, count, _keys(columns, figures)
        )
        if more.keys() - rows.keys():
            judged = with_unlabeled(
                judged,
                judged_of({**more, **rows}),
                more,
                count - 1,
                frozenset(n for n, place in enumerate(figures) if columns[place].is_additive),
                is_odd=lambda: is_odd_last(connection, raw, texts[:_MAX_COLUMNS], count),
            )
    groups = sums_of_groups(connection, raw, columns, figures, judged, count)
    judged = _with(groups, judged)
    if not groups and count <= _MAX_WEAK_ROWS:
        judged = _with(outer_sums(connection, raw, columns, figures, judged, count), judged)
    return judged


def _with(found: Sequence[Judged], judged: Sequence[Judged]) -> list[Judged]:
    """Return judged rows in their order, with what was found of some of them instead."""
    rows = {each.candidate.row for each in found}
    rest = [each for each in judged if each.candidate.row not in rows]
    return sorted([*found, *rest], key=_place)


def _judged_rows(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    columns: Sequence[SummedColumn],
    figures: Sequence[int],
    found: Sequence[TotalCandidate],
) -> list[Judged]:
    """Judge candidates by the plain rows between them."""
    rows = [each.row for each in found]
    values = [columns[n].value for n in figures]
    stretches = stretches_of(connection, raw, values, rows)
    found = with_spreads(connection, raw, values, found)
    return judge([columns[n].for_totals for n in figures], stretches, found)


def _keys(columns: Sequence[SummedColumn], figures: Sequence[int]) -> list[int]:
    """Return the columns of whole numbers that are no amounts by name: years, months, ids."""
    return [n for n in figures if (one := columns[n].for_totals).is_whole and not one.is_additive]


def _labels(
    connection: duckdb.DuckDBPyConnection, raw: str, texts: Sequence[int]
) -> dict[int, dict[str, TotalLabel]]:
    """Return for each column the values that are labels of totals."""
    if not texts:
        return {}
    stems = "|".join(stem.replace(".", "[.]") for stem in (*TOTAL_STEMS, *STATISTIC_LABELS))
    parts = ", ".join(
        f"list(DISTINCT c{n}) FILTER (WHERE length(c{n}) <= {_SHOWN_CHARACTERS}"
        f" AND regexp_matches(lower(c{n}), {quoted_text(stems)}))"
        for n in texts
    )
    found = _one(connection, f"SELECT {parts} FROM {_numbered(raw)}")
    labels: dict[int, dict[str, TotalLabel]] = {}
    for column, values in zip(texts, found, strict=True):
        # Very many different values are names, not labels.
        some = (values or ())[:_MAX_LABELS]
        known = {
            value: label
            for value in some
            if (label := _label(value)) is not None and not label.is_weak
        }
        if known:
            labels[column] = known
    return labels


def _labeled_rows(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    labels: Mapping[int, Mapping[str, TotalLabel]],
    figures: Sequence[int],
) -> tuple[dict[int, str], bool]:
    """Return the rows that have a label and a figure, with the label.

    And whether they are too many to be judged, by labels that say nothing else.
    """
    if not labels:
        return {}, False
    # The column whose value says nothing but the label goes first.
    order = sorted(labels, key=lambda n: not any(each.is_whole for each in labels[n].values()))
    parts = {n: f"c{n} IN ({', '.join(map(quoted_text, labels[n]))})" for n in order}
    label = "coalesce(" + ", ".join(f"CASE WHEN {parts[n]} THEN c{n} END" for n in order) + ")"
    rows = (
        f"SELECT file_row_number AS r, {label} AS label FROM {_numbered(raw)} WHERE"
        f" ({' OR '.join(parts.values())}) AND ({_any_filled(figures)})"
    )
    counted = connection.execute(
        f"SELECT label, count(*) FROM ({rows}) GROUP BY label ORDER BY 2, 1"
    ).fetchall()
    whole = {text for known in labels.values() for text, each in known.items() if each.is_whole}
    rare, total = list[str](), 0
    for text, count in counted:
        total += count
        # What stands in very many rows is a value ("Total care"), unless it says nothing else.
        if total <= _MAX_CANDIDATES:
            rare.append(text)
    common = [text for text, _ in counted if text in whole and text not in rare]
    chosen = ", ".join(map(quoted_text, common or rare))
    if not chosen:
        return {}, False
    found = connection.execute(f"SELECT r, label FROM ({rows}) WHERE label IN ({chosen})")
    return {int(row): str(text) for row, text in found.fetchall()}, bool(common)


def _counted_rows(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    texts: Sequence[int],
    figures: Sequence[int],
    count: int,
) -> dict[int, str]:
    """Return the rows with such a label and a figure, each with its text.

    Args:
        connection: A database.
        raw: The Parquet of texts.
        texts: The columns of texts.
        figures: The columns of figures.
        count: How many rows there are.
    """
    found: dict[int, str] = {}
    filled = " OR ".join(f"c{n} IS NOT NULL" for n in figures)
    for column in texts:
        rows = connection.execute(
            f"SELECT file_row_number, c{column}, ({filled})"
            f" FROM {parquet_rows(raw, numbered=True)}"
            f" WHERE length(c{column}) <= {_COUNT_CHARACTERS}"
            f" AND regexp_matches(c{column}, {quoted_text(_COUNTED)}) LIMIT {_MAX_COUNTED + 1}"
        ).fetchall()
        if len(rows) > min(_MAX_COUNTED, _COUNTED_SHARE * count):
            continue
        for row, text, has_figure in rows:
            if has_figure and count_label(text) is not None:
                found.setdefault(int(row), text)
    return found


def _weak_rows(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    texts: Sequence[int],
    figures: Sequence[int],
    count: int,
) -> dict[int, str]:
    """Return the rows that have a weak label and a figure; none where they are many.

    Then they are what the rows are called, as quarters are, and years where there are no months.
    """
    stems = "|".join((*WEAK_STEMS, YEAR_PATTERN))
    found: dict[int, str] = {}
    for column in texts:
        is_short = f"length(c{column}) <= {_WEAK_CHARACTERS}"
        matches = f"regexp_matches(lower(c{column}), {quoted_text(stems)})"
        values = connection.execute(
            f"SELECT c{column}, count(*) FROM {_numbered(raw)} WHERE {is_short} AND {matches}"
            f" GROUP BY 1 LIMIT {_MAX_WEAK_VALUES}"
        ).fetchall()
        weak = [str(value) for value, _ in values if (one := _label(value)) and one.is_weak]
        years = {value: found for value, found in values if year_label(value)}
        if sum(years.values()) > _YEARS_SHARE * count:
            weak = [value for value in weak if value not in years]
        counted = sum(count for value, count in values if value in weak)
        if not weak or counted > _MAX_WEAK or len(values) == _MAX_WEAK_VALUES:
            continue
        rows = connection.execute(
            f"SELECT file_row_number, c{column} FROM {_numbered(raw)} WHERE c{column} IN"
            f" ({', '.join(map(quoted_text, weak))}) AND ({_any_filled(figures)})"
        )
        found |= {int(row): str(text) for row, text in rows.fetchall()}
    return found


def _unjudged(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    columns: Sequence[SummedColumn],
    rows: Mapping[int, str],
) -> list[Judged]:
    """Return rows that are too many to be judged, each with its figures, as ones to ask about."""
    values = ", ".join(column.value for column in columns)
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE wanted_rows AS SELECT unnest(?) AS n", [[*rows]]
    )
    found = connection.execute(
        f"SELECT file_row_number, {values} FROM {_numbered(raw)}"
        " WHERE file_row_number IN (SELECT n FROM wanted_rows) ORDER BY 1"
    )
    made = []
    while portion := found.fetchmany(_MAX_CANDIDATES):
        for row, *figures in portion:
            text = rows[row]
            label, has = _label(text), False
            made.append(TotalCandidate(row, text, label, tuple(figures), has, has, has, has))
    return [Judged(each, "unsure") for each in made]


def _any_filled(columns: Sequence[int]) -> str:
    return " OR ".join(f"c{n} IS NOT NULL" for n in columns)


def _bare_rows(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    others: Sequence[int],
    figures: Sequence[int],
    count: int,
) -> set[int]:
    """Return the rows that have nothing but figures, where that is a mark of them."""
    if count < 3:
        return set()
    bare = " AND ".join(f"{filled_sql(n)} IS NULL" for n in others) or "true"
    found = connection.execute(
        f"SELECT file_row_number FROM {_numbered(raw)} WHERE ({bare})"
        f" AND ({_any_filled(figures)}) LIMIT {_MAX_BARE + 1}"
    ).fetchall()
    rows = {int(row) for (row,) in found}
    # Beside labeled rows those of groups of two are a third of all, and the last one is one more.
    if len(rows) <= _MAX_BARE and len(rows) * (2 if others else 3) <= count:
        return rows
    # Most rows are so; then only a last one counts, and not for a single column of figures,
    # whose last number is the sum of those before it by chance (1, 2, 3).
    last = _one(
        connection,
        f"SELECT count(*) FROM {_numbered(raw)} WHERE file_row_number = {count - 1} AND ({bare})",
    )[0]
    return {count - 1} if last and len(figures) > 1 and count > 3 else set()


def _candidates(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    columns: Sequence[SummedColumn],
    figures: Sequence[int],
    others: Sequence[int],
    rows: Mapping[int, str],
    counted: Collection[int],
    count: int,
) -> list[TotalCandidate]:
    """Read the candidates and the plain rows beside them.

    Args:
        connection: A database.
        raw: The Parquet of texts.
        columns: All columns.
        figures: Those of figures.
        others: The rest.
        rows: The candidates with their labels.
        counted: Those of them whose label says how many rows they sum up.
        count: How many rows there are.
    """
    wanted = sorted({near for row in rows for near in (row - 1, row, row + 1) if near >= 0})
    values = [f"{columns[n].value}" for n in figures]
    texts = [filled_sql(n) for n in others]
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE wanted_rows AS SELECT unnest(?) AS n", [wanted]
    )
    read = connection.execute(
        f"SELECT file_row_number, {', '.join([*values, *texts])} FROM {_numbered(raw)}"
        " WHERE file_row_number IN (SELECT n FROM wanted_rows)"
    ).fetchall()
    by_row = {int(row): found for row, *found in read}
    width = len(figures)
    made = []
    for row, text in sorted(rows.items()):
        own = by_row[row]
        beside = [
            by_row[near] for near in (row - 1, row + 1) if near in by_row and near not in rows
        ]
        filled = [n for n, value in enumerate(own) if n >= width and value is not None]
        # The labels themselves tell nothing of the row.
        is_counted = row in counted
        other = [n for n in filled if not _is_label(own[n], text, is_counted=is_counted)]
        made.append(
            TotalCandidate(
                row,
                text,
                count_label(text) if is_counted else _label(text),
                tuple(own[:width]),
                not other,
                bool(other) and any(all(near[n] == own[n] for n in other) for near in beside),
                len(others) > len(filled) - len(other),
                row in (0, count - 1),
                tuple(str(own[n]) for n in other),
            )
        )
    return made


def _one(connection: duckdb.DuckDBPyConnection, statement: str) -> tuple[Any, ...]:
    """Return the one row of an aggregate."""
    row = connection.execute(statement).fetchone()
    assert row is not None
    return tuple(row)
