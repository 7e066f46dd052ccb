"""Checks of a job: what must hold of every step, and what the job says must hold, as one query.

Each check asks a few questions of the tables, every one a SELECT of one value; one statement
answers them all. What the answers mean is judged here: it held, it did not, or people are told.

    filter        rows = kept + left out; how many are left out for an empty field
    group, pivot  sums and counts of all groups are those of the rows; spellings that count as one
    join          no row is repeated; how many have no partner
    union         the rows add up
    deduplicate   rows = kept + taken out
    top           how many are alike with the last one and left out
    compare       keys are unique in both
    share         the shares of a whole are 1
    derive        how many rows get no value
    split         the rows of all parts are those of the table
    others        a row of the result for each row

Of each table that is read it is told how many rows have no value at all, and are left out.
"""

from collections.abc import Iterator, Sequence
from typing import Any, assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.check_rules import (
    AgreeRule,
    CheckRule,
    NoneRule,
    NoteRule,
    Outcome,
    RangeRule,
    judged,
    named,
)
from kbd.jobs.columns import TYPE_WORDS, ShapeColumn, near_name
from kbd.jobs.expression_sql import condition_sql
from kbd.jobs.records import (
    Check,
    HoldsCheck,
    KnownValuesCheck,
    RowCountCheck,
    SumsAgreeCheck,
    UniqueCheck,
)
from kbd.jobs.shapes import tables_read
from kbd.jobs.sql_text import NUMBERS, fold_sql, identifier, text_literal, text_of
from kbd.jobs.statements import CompiledJob, valueless_sql
from kbd.jobs.step_checks import count_sql, key_example, keys_twice, step_rules
from kbd.jobs.step_shapes import found_column
from kbd.jobs.step_sql import SqlTable

__all__ = ["CheckPlan", "Judgment", "PlannedRule", "judge_checks", "plan_checks"]

_MAX_STATEMENT_CHARACTERS = 90_000
"""Of one statement: the table tools take 100,000."""

_MAX_EXAMPLES = 5
"""As many values that are not known are told."""


class PlannedRule(msgspec.Struct, frozen=True):
    """A rule, and where it is from.

    Args:
        rule: The rule.
        first: The number of its first question.
        step: The step's number; 0 for a check that the job says.
        check: The check's number; 0 for one of a step; both are 0 for one of an input.
    """

    rule: CheckRule
    first: int
    step: int = 0
    check: int = 0


class CheckPlan(msgspec.Struct, frozen=True):
    """The checks of a job.

    Args:
        rules: What must hold.
        statements: Queries for the answers, nearly always one; their rows are the number of a
            question and its answer as text.
    """

    rules: tuple[PlannedRule, ...]
    statements: tuple[str, ...]


class Judgment(msgspec.Struct, frozen=True):
    """What came of a check.

    Args:
        outcome: Whether it held, or what is said must be told.
        text: A sentence with figures.
        step: The step's number; 0 for a check that the job says.
        check: The check's number; 0 for one of a step; both are 0 for one of an input.
        alike: The column of which it says that several spellings count as one.
    """

    outcome: Outcome
    text: str
    step: int = 0
    check: int = 0
    alike: str = ""


def plan_checks(compiled: CompiledJob) -> CheckPlan:
    """Return the checks of a job.

    Args:
        compiled: The job; the values of all its pivots are known.

    Raises:
        ValidationFailed: A check that the job says names what is not there.
    """
    assert not compiled.wanted
    planned: list[PlannedRule] = []
    first = 1
    for rule in _input_rules(compiled):
        planned.append(PlannedRule(rule, first))
        first += len(rule.asked)
    for number in range(1, len(compiled.job.steps) + 1):
        for rule in step_rules(compiled, number):
            planned.append(PlannedRule(rule, first, step=number))
            first += len(rule.asked)
    for number, check in enumerate(compiled.job.checks, 1):
        try:
            rule = _check_rule(check, compiled)
        except ValidationFailed as fault:
            kind = check.__struct_config__.tag
            raise ValidationFailed(f"check {number} ({kind}): {fault.message}") from None
        planned.append(PlannedRule(rule, first, check=number))
        first += len(rule.asked)
    return CheckPlan(tuple(planned), tuple(_statements(compiled, planned)))


def _input_rules(compiled: CompiledJob) -> Iterator[CheckRule]:
    """Yield what is told of the tables that steps read."""
    read = tables_read(compiled.job, compiled.shapes)
    for each in compiled.job.inputs:
        if each.name in read and each.doubts == "refuse":
            yield from _last_row(each.name, compiled.relations[each.name], compiled.order)
        if each.name in read and each.kind == "table":
            valueless = valueless_sql(compiled.shapes.tables[each.name])
            if valueless is not None:
                yield NoteRule(
                    (f"SELECT count(*) FROM {identifier(each.name)} WHERE {valueless}",), (),
                    f"{{0}} row{{s}} of {each.name} {{have}} no value at all and {{are}} left out",
                )  # fmt: skip


def _last_row(name: str, table: SqlTable, order: str) -> Iterator[CheckRule]:
    """Yield the rule that the last row is no sum or average without a label.

    It has figures and nothing else, as no other row has.
    """
    columns = table.shape.columns
    filled = [identifier(each.name) for each in columns if each.type not in (*NUMBERS, "any")]
    figures = [identifier(each.name) for each in columns if each.type in NUMBERS]
    if not filled or not figures:
        return
    bare = " AND ".join(f"{column} IS NULL" for column in filled)
    figured = " OR ".join(f"{column} IS NOT NULL" for column in figures)
    last = f"SELECT * FROM {table.name} ORDER BY {order} DESC LIMIT 1"
    is_only_one = f"({count_sql(table, bare)}) = 1 AND ({count_sql(table)}) > 2"
    yield NoneRule(
        (f"SELECT count(*) FROM ({last}) WHERE {bare} AND ({figured}) AND {is_only_one}",),
        (table.name,),
        f"the last row of {name} is one like the others",
        f"the last row of {name} has figures alone, unlike all others, and may sum them up",
    )


def _statements(compiled: CompiledJob, planned: Sequence[PlannedRule]) -> list[str]:
    statements: list[str] = []
    parts: list[str] = []
    reads: dict[str, None] = {}
    for each in planned:
        for place, question in enumerate(each.rule.asked):
            asked = f"SELECT {each.first + place} AS number, CAST(({question}) AS VARCHAR) AS value"
            more = {**reads, **dict.fromkeys(each.rule.reads)}
            longer = _statement(compiled, [*parts, asked], more)
            if parts and len(longer) > _MAX_STATEMENT_CHARACTERS:
                statements.append(_statement(compiled, parts, reads))
                parts, more = [], dict.fromkeys(each.rule.reads)
            parts.append(asked)
            reads = more
    return [*statements, _statement(compiled, parts, reads)] if parts else statements


def _statement(compiled: CompiledJob, parts: Sequence[str], reads: dict[str, None]) -> str:
    select = f"SELECT number, value FROM ({' UNION ALL '.join(parts)}) ORDER BY number"
    return compiled.statement(select, tuple(reads))


def judge_checks(plan: CheckPlan, rows: Sequence[Sequence[Any]]) -> tuple[Judgment, ...]:
    """Return what came of each check, in order.

    Args:
        plan: The checks.
        rows: The rows of all their statements: a number and an answer.

    Raises:
        ValidationFailed: A question has no answer.
    """
    answers = {int(number): value for number, value in rows}
    found: list[Judgment] = []
    for each in plan.rules:
        numbers = range(each.first, each.first + len(each.rule.asked))
        if any(number not in answers for number in numbers):
            raise ValidationFailed("the checks were not all answered, so that nothing is known")
        judgment = judged(each.rule, [answers[number] for number in numbers])
        if judgment is not None:
            alike = each.rule.alike if isinstance(each.rule, NoteRule) else ""
            found.append(Judgment(*judgment, step=each.step, check=each.check, alike=alike))
    return tuple(found)


def _check_rule(check: Check, compiled: CompiledJob) -> CheckRule:
    table = _table(check.table, compiled)
    match check:
        case UniqueCheck():
            return _unique(check, table)
        case KnownValuesCheck():
            return _known_values(check, table)
        case SumsAgreeCheck():
            return _sums_agree(check, table, _table(check.other_table, compiled))
        case RowCountCheck():
            return _row_count(check, table, compiled)
        case HoldsCheck():
            return _holds(check, table, compiled)
        case _:
            assert_never(check)


def _table(name: str, compiled: CompiledJob) -> SqlTable:
    if name not in compiled.relations:
        known = [each for each in compiled.relations if " " not in each]
        raise ValidationFailed(f'there is no table "{name}"{near_name(name, known)}')
    return compiled.relations[name]


def _unique(check: UniqueCheck, table: SqlTable) -> CheckRule:
    columns = [found_column(table.shape, name) for name in check.columns]
    listed = ", ".join(named(column.name) for column in columns)
    return NoneRule(
        (keys_twice(table, columns), key_example(table, columns)), (table.name,),
        f"no two rows of {check.table} have one {listed}",
        f"{{0}} value{{s}} of {listed} in {check.table} {{are}} there more than once, such as"
        " {1}",
    )  # fmt: skip


def _known_values(check: KnownValuesCheck, table: SqlTable) -> CheckRule:
    column = found_column(table.shape, check.column)
    value = text_of(identifier(column.name), column.type)
    known = ", ".join(fold_sql(text_literal(each)) for each in check.values)
    other = f"trim({value}) <> ''"
    if known:
        other = f"{other} AND {fold_sql(value)} NOT IN ({known})"
    examples = (
        f"SELECT string_agg(v, ', ') FROM (SELECT DISTINCT {value} AS v FROM {table.name}"
        f" WHERE {other} ORDER BY 1 LIMIT {_MAX_EXAMPLES})"
    )
    return NoneRule(
        (count_sql(table, other), examples), (table.name,),
        f"each {named(column.name)} in {check.table} is one that is known",
        f"{{0}} row{{s}} of {check.table} {{have}} {named(column.name)} that is not known: {{1}}",
        "failed" if check.otherwise == "stop" else "told",
    )  # fmt: skip


def _number_sum(table: SqlTable, name: str) -> tuple[ShapeColumn, str]:
    column = found_column(table.shape, name)
    if column.type not in NUMBERS:
        raise ValidationFailed(
            f'column "{column.name}" is {TYPE_WORDS[column.type]}, of which there is no sum'
        )
    return column, identifier(column.name)


def _sums_agree(check: SumsAgreeCheck, table: SqlTable, other: SqlTable) -> CheckRule:
    column, mine = _number_sum(table, check.column)
    other_column, theirs = _number_sum(other, check.other_column)
    sizes = (
        f"SELECT coalesce((SELECT sum(abs(CAST({mine} AS DOUBLE))) FROM {table.name}), 0)"
        f" + coalesce((SELECT sum(abs(CAST({theirs} AS DOUBLE))) FROM {other.name}), 0)"
    )
    one = f"the sum of {named(column.name)} in {check.table}"
    two = f"the sum of {named(other_column.name)} in {check.other_table}"
    return AgreeRule(
        (
            f"SELECT sum({mine}) FROM {table.name}", f"SELECT sum({theirs}) FROM {other.name}",
            sizes, "SELECT 0",
        ),
        tuple(dict.fromkeys((table.name, other.name))),
        f"{one} is {{0}}, and {two} as well",
        f"{one} is {{0}}, but {two} is {{1}}",
        check.tolerance,
    )  # fmt: skip


def _row_count(check: RowCountCheck, table: SqlTable, compiled: CompiledJob) -> CheckRule:
    if check.same_as is not None:
        other = _table(check.same_as, compiled)
        return RangeRule(
            (count_sql(table), count_sql(other)), tuple(dict.fromkeys((table.name, other.name))),
            f"{check.table} has {{0}} row{{s}}, as many as {check.same_as}",
            f"{check.table} has {{0}} row{{s}}, and {check.same_as} {{1}}",
        )  # fmt: skip
    most = "" if check.maximum is None else f" and at most {check.maximum:,}"
    wanted = f"at least {check.minimum:,}{most}"
    return RangeRule(
        (count_sql(table),), (table.name,),
        f"{check.table} has {{0}} row{{s}}, {wanted}",
        f"{check.table} has {{0}} row{{s}}, and needs {wanted}",
        check.minimum, check.maximum,
    )  # fmt: skip


def _holds(check: HoldsCheck, table: SqlTable, compiled: CompiledJob) -> CheckRule:
    condition = condition_sql(check.condition, table.shape.columns, compiled.today)
    meaning = named(check.text or check.condition)
    return NoneRule(
        (count_sql(table, f"NOT coalesce({condition}, FALSE)"), count_sql(table)), (table.name,),
        f"of each row of {check.table} it is true: {meaning}",
        f"of {{0}} of {{1}} rows of {check.table} it is not true: {meaning}",
    )  # fmt: skip
