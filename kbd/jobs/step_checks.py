"""Checks that every step makes of itself, as rules."""

from collections.abc import Iterator, Sequence
from typing import assert_never

import msgspec

from kbd.jobs.check_rules import AgreeRule, BalanceRule, CheckRule, NoneRule, NoteRule, named
from kbd.jobs.columns import ShapeColumn
from kbd.jobs.expression_sql import condition_sql
from kbd.jobs.expressions import parse_expression
from kbd.jobs.figure_sql import values_sql
from kbd.jobs.records import (
    CompareStep,
    DeduplicateStep,
    DeriveStep,
    Figure,
    FilterStep,
    GroupStep,
    JoinStep,
    OutputStep,
    PivotStep,
    RunningStep,
    SelectStep,
    ShareStep,
    SortStep,
    SplitStep,
    TableStep,
    TopStep,
    UnionStep,
)
from kbd.jobs.sql_text import alike_sql, filled, held_as, identifier
from kbd.jobs.statements import CompiledJob
from kbd.jobs.step_shapes import found_column, joined_columns, pivot_columns
from kbd.jobs.step_sql import SqlTable, alike_keys, key_match, step_sql
from kbd.jobs.terms import columns_of

__all__ = ["count_sql", "key_example", "keys_twice", "step_rules"]

_MAX_SPELLINGS = 5
"""As many ways to write a value are told."""


def step_rules(compiled: CompiledJob, number: int) -> Iterator[CheckRule]:
    """Yield the rules of a step.

    Args:
        compiled: The job.
        number: The step's.
    """
    step = compiled.job.steps[number - 1]
    source_name, made_name = compiled.shapes.sources[number - 1], compiled.shapes.made[number - 1]
    source = None if source_name is None else compiled.relations[source_name]
    if isinstance(step, SplitStep):
        assert source is not None
        yield from _split_rules(step, source)
    elif not isinstance(step, OutputStep):
        assert made_name is not None
        yield from _StepRules(compiled, number, compiled.relations[made_name], source).of(step)


def count_sql(table: SqlTable, where: str = "") -> str:
    """Return the number of a table's rows, of those for which a condition is true."""
    return f"SELECT count(*) FROM {table.name}{f' WHERE {where}' if where else ''}"


def keys_twice(table: SqlTable, columns: Sequence[ShapeColumn]) -> str:
    """Return the number of keys that several rows of a table have; one that is empty is none."""
    return f"SELECT count(*) FROM ({_twice(table, columns, '1')})"


def key_example(table: SqlTable, columns: Sequence[ShapeColumn]) -> str:
    """Return such a key as text."""
    shown = ", ".join(f"CAST({identifier(column.name)} AS VARCHAR)" for column in columns)
    key = f"min(concat_ws(', ', {shown})) AS k"
    return f"SELECT min(k) FROM ({_twice(table, columns, key)})"


def _twice(table: SqlTable, columns: Sequence[ShapeColumn], shown: str) -> str:
    alike = alike_keys(table.shape, [column.name for column in columns])
    filled_keys = " OR ".join(f"({key}) IS NOT NULL" for key in alike)
    return (
        f"SELECT {shown} FROM {table.name} WHERE {filled_keys}"
        f" GROUP BY {', '.join(alike)} HAVING count(*) > 1"
    )


def _and(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    quoted = [named(name) for name in names]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def _split_rules(step: SplitStep, source: SqlTable) -> Iterator[CheckRule]:
    column = found_column(source.shape, step.by)
    values = values_sql(column, source.name, exact=step.exact)
    yield BalanceRule(
        (count_sql(source), f"SELECT sum(n) FROM ({values})"), (source.name,),
        f"{{0}} row{{s}}, each in the part of its {named(column.name)}",
        f"{{0}} row{{s}}, and {{1}} in the parts by {named(column.name)}",
    )  # fmt: skip
    yield NoteRule(
        (count_sql(source, _is_empty(column)), count_sql(source)), (source.name,),
        f"{{0}} of {{1}} rows {{have}} no {named(column.name)} and {{are}} in the part"
        f" {named(step.empty)}",
    )  # fmt: skip
    if not step.exact:
        yield from _spelling_notes(source, [column])


def _is_empty(column: ShapeColumn) -> str:
    name = identifier(column.name)
    return f"({filled(name) if column.type == 'string' else name}) IS NULL"


def _spelling_notes(table: SqlTable, columns: Sequence[ShapeColumn]) -> Iterator[CheckRule]:
    """Yield notes on values that count as one though they are not written alike."""
    for column in columns:
        if column.type != "string":
            continue
        name = identifier(column.name)
        one, exact = alike_sql(name, "string"), filled(name)
        several = (
            f"SELECT {one} AS f FROM {table.name} GROUP BY {one} HAVING count(DISTINCT {exact}) > 1"
        )
        example = (
            f"SELECT string_agg(v, ', ') FROM (SELECT DISTINCT {exact} AS v FROM {table.name}"
            f" WHERE {one} = (SELECT min(f) FROM ({several})) ORDER BY 1 LIMIT {_MAX_SPELLINGS})"
        )
        yield NoteRule(
            (f"SELECT count(*) FROM ({several})", example), (table.name,),
            f"{{0}} value{{s}} of {named(column.name)} {{are}} written in several ways that count"
            " as one: {1}",
            column.name,
        )  # fmt: skip


class _StepRules:
    """The rules of one table step.

    Args:
        compiled: The job.
        number: The step's.
        made: The table that it makes.
        source: The table that it reads; None of a union.
    """

    def __init__(
        self, compiled: CompiledJob, number: int, made: SqlTable, source: SqlTable | None
    ) -> None:
        self._compiled = compiled
        self._number = number
        self._made = made
        self._source = source if source is not None else made
        self._reads = tuple(dict.fromkeys((self._source.name, made.name)))

    def of(self, step: TableStep) -> Iterator[CheckRule]:
        """Yield the rules."""
        match step:
            case FilterStep():
                yield from self._filter(step)
            case GroupStep():
                yield from self._group(step)
            case PivotStep():
                yield from self._pivot(step)
            case JoinStep():
                yield from self._join(step)
            case UnionStep():
                yield from self._union(step)
            case DeduplicateStep():
                yield from self._deduplicate(step)
            case TopStep():
                yield from self._top(step)
            case CompareStep():
                yield from self._compare(step)
            case ShareStep():
                yield self._same_rows()
                yield from self._share(step)
            case DeriveStep():
                yield self._same_rows()
                yield from self._derive(step)
            case SortStep() | SelectStep() | RunningStep():
                yield self._same_rows()
            case _:
                assert_never(step)

    def _column(self, name: str) -> ShapeColumn:
        return found_column(self._source.shape, name)

    def _same_rows(self) -> CheckRule:
        return BalanceRule(
            (count_sql(self._source), count_sql(self._made)), self._reads,
            "{0} row{s}, as before", "{0} row{s} before, {1} after",
        )  # fmt: skip

    def _filter(self, step: FilterStep) -> Iterator[CheckRule]:
        where = condition_sql(step.where, self._source.shape.columns, self._compiled.today)
        rows, kept = count_sql(self._source), count_sql(self._made)
        left_out = count_sql(self._source, f"NOT coalesce({where}, FALSE)")
        yield BalanceRule(
            (rows, kept, left_out), self._reads,
            "{0} row{s}: {1} kept, {2} left out",
            "{0} row{s}, but {1} kept and {2} left out",
        )  # fmt: skip
        names = [self._column(name).name for name in columns_of(parse_expression(step.where))]
        if not names:
            return
        unknown = count_sql(self._source, f"({where}) IS NULL")
        why = f"no {_and(names)}" if len(names) == 1 else f"an empty {_and(names)}"
        yield NoteRule(
            (unknown, rows), (self._source.name,),
            f"{{0}} of {{1}} rows {{have}} {why} and {{are}} left out",
        )  # fmt: skip

    def _derive(self, step: DeriveStep) -> Iterator[CheckRule]:
        for name in step.columns:
            column = found_column(self._made.shape, name)
            yield NoteRule(
                (count_sql(self._made, _is_empty(column)), count_sql(self._made)),
                (self._made.name,),
                f"{{0}} of {{1}} rows {{have}} no {named(column.name)}",
            )

    def _figure_rules(self, figure: Figure, total: str) -> Iterator[CheckRule]:
        """Yield the rules of a figure that adds up.

        Args:
            figure: The figure.
            total: Its sum over all groups.
        """
        heading = named(figure.name)
        if figure.function == "count":
            counted = "count(*)"
            if figure.column is not None:
                column = self._column(figure.column)
                name = identifier(column.name)
                counted = f"count({filled(name) if column.type == 'string' else name})"
            yield BalanceRule(
                (f"SELECT {counted} FROM {self._source.name}", total), self._reads,
                f"{heading}: {{0}} in all, as counted in the rows",
                f"{heading}: {{0}} in the rows, and {{1}} in the groups",
            )  # fmt: skip
        elif figure.function == "sum":
            assert figure.column is not None
            column = self._column(figure.column)
            name, source = identifier(column.name), self._source.name
            if column.type == "any":
                name = f"CAST({name} AS DOUBLE)"
            yield AgreeRule(
                (
                    f"SELECT sum({name}) FROM {source}", total,
                    f"SELECT sum(abs(CAST({name} AS DOUBLE))) FROM {source}",
                    count_sql(self._made),
                ),
                self._reads,
                f"{heading}: {{0}} in all, as in the rows",
                f"{heading}: {{0}} in the rows, and {{1}} in the groups",
            )  # fmt: skip
        if figure.column is not None and figure.function != "count":
            column = self._column(figure.column)
            yield NoteRule(
                (count_sql(self._source, _is_empty(column)), count_sql(self._source)),
                (self._source.name,),
                f"{{0}} of {{1}} rows {{have}} no {named(column.name)}, and {heading} is without"
                " them",
            )

    def _group(self, step: GroupStep) -> Iterator[CheckRule]:
        for figure in step.figures:
            total = f"SELECT sum({identifier(figure.name)}) FROM {self._made.name}"
            yield from self._figure_rules(figure, total)
        keys = [self._column(name) for name in step.by]
        yield from self._group_notes(keys, exact=step.exact)

    def _group_notes(self, keys: Sequence[ShapeColumn], *, exact: bool) -> Iterator[CheckRule]:
        for key in keys:
            yield NoteRule(
                (count_sql(self._source, _is_empty(key)), count_sql(self._source)),
                (self._source.name,),
                f"{{0}} of {{1}} rows {{have}} no {named(key.name)} and {{are}} in a group of"
                " {their} own",
            )
        if not exact:
            yield from _spelling_notes(self._source, keys)

    def _pivot(self, step: PivotStep) -> Iterator[CheckRule]:
        keys = [self._column(name) for name in step.rows]
        column = self._column(step.column)
        values = self._compiled.pivots[self._number]
        cells = [f"coalesce({identifier(name)}, 0)" for name in pivot_columns(step, keys, values)]
        if cells and step.figure.function in ("sum", "count"):
            total = f"SELECT sum({' + '.join(cells)}) FROM {self._made.name}"
            yield from self._figure_rules(step.figure, total)
        yield from self._group_notes([*keys, column], exact=False)

    def _join(self, step: JoinStep) -> Iterator[CheckRule]:
        other = self._compiled.relations[step.other]
        pairs = joined_columns(step, self._source.shape, other.shape)
        reads = tuple(dict.fromkeys((*self._reads, other.name)))
        theirs = [column for _, column in pairs]
        label = named(step.other)
        if not step.many and step.kind != "missing":
            yield NoneRule(
                (keys_twice(other, theirs), key_example(other, theirs)), reads,
                f"no two rows of {label} have one key, so no row is repeated",
                f"{{0}} key{{s}} of {label} {{are}} there more than once, such as {{1}}, and would"
                " repeat rows; deduplicate it first, or say many",
            )  # fmt: skip
        match_sql = key_match(pairs)
        partner = f"FROM {other.name} AS o WHERE {match_sql}"
        alone = (
            f"SELECT count(*) FROM {self._source.name} AS m WHERE NOT EXISTS (SELECT 1 {partner})"
        )
        rows = count_sql(self._source)
        match step.kind:
            case "left" | "full":
                end = "and stay without one"
            case "inner":
                end = "and are left out"
            case "missing":
                end = "and are what is asked for"
            case _:
                assert_never(step.kind)
        yield NoteRule(
            (alone, rows), reads, f"{{0}} of {{1}} rows {{have}} no partner in {label} {end}"
        )
        if step.kind == "full":
            lone = (
                f"SELECT count(*) FROM {other.name} AS o WHERE NOT EXISTS (SELECT 1 FROM"
                f" {self._source.name} AS m WHERE {match_sql})"
            )
            yield NoteRule(
                (lone, count_sql(other)), reads,
                f"{{0}} of {{1}} rows of {label} {{have}} no partner and {{are}} added below",
            )  # fmt: skip
        if any(mine.type == "string" for mine, _ in pairs):
            exactly = " AND ".join(
                f"{held_as(f'm.{identifier(mine.name)}', mine.type, other_key.type)}"
                f" = {held_as(f'o.{identifier(other_key.name)}', other_key.type, mine.type)}"
                for mine, other_key in pairs
            )
            folded_only = (
                f"SELECT count(*) FROM {self._source.name} AS m WHERE EXISTS (SELECT 1 {partner})"
                f" AND NOT EXISTS (SELECT 1 FROM {other.name} AS o WHERE {exactly})"
            )
            yield NoteRule(
                (folded_only, rows),
                reads,
                f"{{0}} of {{1}} rows {{have}} a partner in {label} whose key is written otherwise:"
                " in capitals or accents",
            )

    def _union(self, step: UnionStep) -> Iterator[CheckRule]:
        tables = [self._compiled.relations[name] for name in step.tables]
        parts = " + ".join(f"{{{place}}}" for place in range(1, len(tables) + 1))
        yield BalanceRule(
            (count_sql(self._made), *map(count_sql, tables)),
            (self._made.name, *(table.name for table in tables)),
            f"{{0}} row{{s}}: {parts}", f"{{0}} row{{s}}, and not {parts}",
        )  # fmt: skip

    def _deduplicate(self, step: DeduplicateStep) -> Iterator[CheckRule]:
        names = step.by or [column.name for column in self._source.shape.columns]
        alike = alike_keys(self._source.shape, names, exact=step.exact)
        some = " OR ".join(f"({key}) IS NOT NULL" for key in alike)
        removed = (
            f"SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM {self._source.name}"
            f" WHERE {some} GROUP BY {', '.join(alike)})"
        )
        yield BalanceRule(
            (count_sql(self._source), count_sql(self._made), removed), self._reads,
            "{0} row{s}: {1} stay, {2} taken out", "{0} row{s}, but {1} stay and {2} taken out",
        )  # fmt: skip
        if step.by:
            nothing = " AND ".join(f"({key}) IS NULL" for key in alike)
            yield NoteRule(
                (count_sql(self._source, nothing), count_sql(self._source)), (self._source.name,),
                f"{{0}} of {{1}} rows {{have}} no {_and(step.by)} and {{stay}}",
            )  # fmt: skip

    def _top(self, step: TopStep) -> Iterator[CheckRule]:
        if step.ties:
            return
        context = self._compiled.context(self._number)
        with_ties = msgspec.structs.replace(step, ties=True)
        made = self._made.shape
        sql = step_sql(with_ties, self._source, made, context)
        yield NoteRule(
            (f"SELECT (SELECT count(*) FROM ({sql})) - ({count_sql(self._made)})",), self._reads,
            "{0} more row{s} {are} alike with the last one that is taken, and left out",
        )  # fmt: skip

    def _compare(self, step: CompareStep) -> Iterator[CheckRule]:
        other = self._compiled.relations[step.other]
        reads = tuple(dict.fromkeys((*self._reads, other.name)))
        for table, which in ((self._source, "the earlier table"), (other, named(step.other))):
            keys = [found_column(table.shape, name) for name in step.on]
            yield NoneRule(
                (keys_twice(table, keys), key_example(table, keys)), reads,
                f"no two rows of {which} have one key",
                f"{{0}} key{{s}} of {which} {{are}} there more than once, such as {{1}}; name more"
                " columns of the key",
            )  # fmt: skip
            nothing = " OR ".join(_is_empty(key) for key in keys)
            yield NoteRule(
                (count_sql(table, nothing), count_sql(table)), reads,
                f"{{0}} of {{1}} rows of {which} {{have}} no whole key, so that none matches",
            )  # fmt: skip

    def _share(self, step: ShareStep) -> Iterator[CheckRule]:
        name, column = identifier(step.name), self._column(step.column)
        within = alike_keys(self._source.shape, step.within)
        group = f" GROUP BY {', '.join(within)}" if within else ""
        wholes = (
            f"SELECT sum({name}) AS whole, sum(abs({name})) AS sizes FROM {self._made.name}{group}"
        )
        what = "each whole" if within else "the whole"
        yield NoneRule(
            (f"SELECT count(*) FROM ({wholes}) WHERE abs(whole - 1) > 1e-9 * sizes",), self._reads,
            f"the shares of {what} are 1 in all",
            "of {0} whole{s} the shares are not 1 in all",
        )  # fmt: skip
        yield NoteRule(
            (f"SELECT count(*) FROM ({wholes}) WHERE whole IS NULL",), self._reads,
            f"{{0}} whole{{s}} {{are}} 0 or {{have}} no {named(column.name)}, and no shares",
        )  # fmt: skip
        yield NoteRule(
            (
                count_sql(self._source, f"{identifier(column.name)} < 0"),
                count_sql(self._source),
            ),
            (self._source.name,),
            f"{{0}} of {{1}} rows {{have}} {named(column.name)} below 0, so that shares may be"
            " more than 1",
        )
