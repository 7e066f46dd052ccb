"""Expressions as SQL of DuckDB, with the types of what they give.

Names are quoted, values are literals: nothing is pasted in. A text is compared as it is written; an
ISO text that is compared with a date is that date; a date with a time is compared with a date by
day. A number divided by zero is empty. Whole numbers are never divided to whole numbers.
"""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.columns import TYPE_WORDS, ShapeColumn, ShapeType, column_named, near_name
from kbd.jobs.expressions import parse_expression
from kbd.jobs.function_sql import call_sql
from kbd.jobs.functions import FUNCTIONS, Parameter
from kbd.jobs.sql_text import NUMBERS, SQL_TYPES, held_as, identifier, text_literal, text_of
from kbd.jobs.terms import (
    BetweenTerm,
    BinaryTerm,
    CallTerm,
    CaseTerm,
    ColumnTerm,
    EmptyTerm,
    InTerm,
    JunctionTerm,
    LiteralTerm,
    LiteralValue,
    Term,
    UnaryTerm,
)
from kbd.jobs.tokens import expression_fault

__all__ = ["TypedSql", "condition_sql", "expression_sql", "type_of"]

_MAX_SQL_CHARACTERS = 20_000
"""Of one expression: a few functions need an argument twice, and may stand in each other."""

_MOMENTS = ("date", "datetime")

_CLASSES: dict[ShapeType, str] = {
    "integer": "number", "float": "number", "string": "text", "date": "date", "datetime": "date",
    "boolean": "boolean",
}  # fmt: skip


class TypedSql(msgspec.Struct, frozen=True):
    """SQL of an expression, and the type of what it gives."""

    sql: str
    type: ShapeType


def type_of(expression: str | Term, columns: Sequence[ShapeColumn]) -> ShapeType:
    """Return the type of what an expression gives.

    Args:
        expression: It, as text or as a term; of a text, errors show the place.
        columns: Those of the table.

    Raises:
        ValidationFailed: A column is not there, or a type does not fit.
    """
    return expression_sql(expression, columns, date(2000, 1, 1)).type


def expression_sql(
    expression: str | Term, columns: Sequence[ShapeColumn], today: date, *, is_open: bool = False
) -> TypedSql:
    """Return the SQL of an expression.

    Args:
        expression: It, as text or as a term.
        columns: Those of the table.
        today: The day of `today()`.
        is_open: Whether the table may have more columns than are known yet.

    Raises:
        ValidationFailed: As for `type_of`.
    """
    text = expression if isinstance(expression, str) else ""
    term = parse_expression(expression) if isinstance(expression, str) else expression
    return _Translator(text, columns, today, is_open=is_open).typed(term)


def condition_sql(
    expression: str | Term, columns: Sequence[ShapeColumn], today: date, *, is_open: bool = False
) -> str:
    """Return the SQL of an expression that is true, false or empty.

    Raises:
        ValidationFailed: It is something else, or as for `type_of`.
    """
    found = expression_sql(expression, columns, today, is_open=is_open)
    if found.type not in ("boolean", "any"):
        raise ValidationFailed(
            f"the condition is {TYPE_WORDS[found.type]}, not true or false; compare it"
        )
    return held_as(found.sql, found.type, "boolean")


class _Translator:
    """Translator of one expression; its text is for errors, the rest as of `expression_sql`."""

    def __init__(
        self, text: str, columns: Sequence[ShapeColumn], today: date, *, is_open: bool
    ) -> None:
        self._text = text
        self._columns = columns
        self._today = today
        self._is_open = is_open

    def typed(self, term: Term) -> TypedSql:
        """Return a term as SQL with its type."""
        found = self._typed(term)
        if len(found.sql) > _MAX_SQL_CHARACTERS:
            raise self._fault(term, "it is too involved; derive columns of its parts first")
        return found

    def _typed(self, term: Term) -> TypedSql:
        match term:
            case LiteralTerm():
                return _literal(term.value)
            case ColumnTerm():
                return self._column(term)
            case CallTerm():
                return self._call(term)
            case UnaryTerm(operator="-"):
                number = self._number(term.operand, term)
                return TypedSql(f"(- {number.sql})", number.type)
            case UnaryTerm():
                return TypedSql(f"(NOT {self._condition(term.operand)})", "boolean")
            case BinaryTerm():
                return self._binary(term)
            case JunctionTerm():
                word = f" {term.operator.upper()} "
                return TypedSql(f"({word.join(map(self._condition, term.operands))})", "boolean")
            case InTerm():
                return self._one_of(term)
            case BetweenTerm():
                low = self._compared(">=", term.operand, term.low, term)
                high = self._compared("<=", term.operand, term.high, term)
                word = "NOT " * term.negated
                return TypedSql(f"({word}({low} AND {high}))", "boolean")
            case EmptyTerm():
                return self._empty(term)
            case CaseTerm():
                return self._case(term)
            case _:
                assert_never(term)

    def _fault(self, term: Term, what: str) -> ValidationFailed:
        return expression_fault(self._text, term.start, what)

    def _column(self, term: ColumnTerm) -> TypedSql:
        found = column_named(term.name, self._columns)
        if found is not None:
            return TypedSql(identifier(found.name), found.type)
        if self._is_open:
            return TypedSql(identifier(term.name), "any")
        names = [column.name for column in self._columns]
        raise self._fault(term, f'there is no column "{term.name}"{near_name(term.name, names)}')

    def _condition(self, term: Term) -> str:
        found = self.typed(term)
        if found.type not in ("boolean", "any"):
            raise self._fault(term, f"{TYPE_WORDS[found.type]} is no condition; compare it")
        return held_as(found.sql, found.type, "boolean")

    def _number(self, term: Term, whole: BinaryTerm | UnaryTerm) -> TypedSql:
        found = self.typed(term)
        if found.type == "any":
            # A column without a value may be held as one of texts.
            kind: ShapeType = "any" if self._is_open else "float"
            return TypedSql(f"CAST({found.sql} AS DOUBLE)", kind)
        if found.type in NUMBERS:
            return found
        said = TYPE_WORDS[found.type]
        doing = {"+": "added", "-": "subtracted", "*": "multiplied"}.get(whole.operator, "divided")
        helps = {
            "string": "; number(text) makes a number of it, || joins texts",
            "date": "; add_days(date, days) and days_between(start, end) count days",
            "datetime": "; add_days(date, days) and days_between(start, end) count days",
        }.get(found.type, "; if(condition, 1, 0) makes a number of it")
        raise self._fault(whole, f"{said} cannot be {doing}{helps}")

    def _binary(self, term: BinaryTerm) -> TypedSql:
        match term.operator:
            case "=" | "<>" | "<" | "<=" | ">" | ">=":
                sql = self._compared(term.operator, term.left, term.right, term)
                return TypedSql(sql, "boolean")
            case "||":
                parts = [text_of(*self._pair(side)) for side in (term.left, term.right)]
                return TypedSql(f"({' || '.join(parts)})", "string")
            case "+" | "-" | "*" | "/" | "%":
                left, right = self._number(term.left, term), self._number(term.right, term)
                divisor = right.sql
                if term.operator in "/%":
                    divisor = f"nullif({right.sql}, 0)"
                kinds = {left.type, right.type}
                kind: ShapeType = "integer" if kinds == {"integer"} else "float"
                kind = "float" if term.operator == "/" else "any" if "any" in kinds else kind
                return TypedSql(f"({left.sql} {term.operator} {divisor})", kind)
            case _:
                assert_never(term.operator)

    def _pair(self, term: Term) -> tuple[str, ShapeType]:
        found = self.typed(term)
        return found.sql, found.type

    def _compared(self, operator: str, one: Term, other: Term, whole: Term) -> str:
        """Return the SQL of a comparison, both sides of one kind."""
        for side in (one, other):
            if isinstance(side, LiteralTerm) and side.value is None:
                raise self._fault(side, "null is equal to nothing; write is empty, or is not empty")
        left, right = self._sides(one, other)
        if "any" not in (left.type, right.type) and _CLASSES[left.type] != _CLASSES[right.type]:
            said = f"{TYPE_WORDS[left.type]} is compared with {TYPE_WORDS[right.type]}"
            raise self._fault(whole, f"{said}{_conversion(left.type, right.type)}")
        if left.type != right.type and left.type in _MOMENTS and right.type in _MOMENTS:
            # By day: else the last day of a month would end as it begins.
            return f"(CAST({left.sql} AS DATE) {operator} CAST({right.sql} AS DATE))"
        one_sql = held_as(left.sql, left.type, right.type)
        return f"({one_sql} {operator} {held_as(right.sql, right.type, left.type)})"

    def _sides(self, one: Term, other: Term) -> tuple[TypedSql, TypedSql]:
        left, right = self.typed(one), self.typed(other)
        if left.type in _MOMENTS:
            right = self._as_moment(other, right)
        if right.type in _MOMENTS:
            left = self._as_moment(one, left)
        return left, right

    def _as_moment(self, term: Term, found: TypedSql) -> TypedSql:
        """Return a text that is written out as the date that it is."""
        if not isinstance(term, LiteralTerm) or not isinstance(term.value, str):
            return found
        for kind in (date, datetime):
            try:
                return _literal(kind.fromisoformat(term.value.strip()))
            except ValueError:
                continue
        raise self._fault(term, f"{term.value[:40]!r} is no date; write it as '2024-01-31'")

    def _one_of(self, term: InTerm) -> TypedSql:
        tests = [self._compared("=", term.operand, choice, term) for choice in term.choices]
        operand, word = self.typed(term.operand), "NOT IN" if term.negated else "IN"
        choices = [self._sides(term.operand, choice)[1] for choice in term.choices]
        if all(choice.type == operand.type for choice in choices) or operand.type in NUMBERS:
            listed = ", ".join(choice.sql for choice in choices)
            return TypedSql(f"({operand.sql} {word} ({listed}))", "boolean")
        return TypedSql(f"({'NOT ' * term.negated}({' OR '.join(tests)}))", "boolean")

    def _empty(self, term: EmptyTerm) -> TypedSql:
        found = self.typed(term.operand)
        if term.blank and found.type == "string":
            sign = "<>" if term.negated else "="
            return TypedSql(f"(coalesce(trim({found.sql}), '') {sign} '')", "boolean")
        return TypedSql(f"({found.sql} IS {'NOT ' * term.negated}NULL)", "boolean")

    def _case(self, term: CaseTerm) -> TypedSql:
        values = [value for _, value in term.branches]
        if term.otherwise is not None:
            values.append(term.otherwise)
        alike, kind = self._alike(values)
        parts = [
            f"WHEN {self._condition(test)} THEN {value}"
            for (test, _), value in zip(term.branches, alike, strict=False)
        ]
        if term.otherwise is not None:
            parts.append(f"ELSE {alike[-1]}")
        return TypedSql(f"(CASE {' '.join(parts)} END)", kind)

    def _alike(self, terms: Sequence[Term]) -> tuple[list[str], ShapeType]:
        """Return values that must be of one type as such, and the type."""
        found = [self.typed(term) for term in terms]
        kinds = {each.type for each in found} - {"any"}
        if len({_CLASSES[kind] for kind in kinds}) > 1:
            first = next(each for each in found if each.type != "any")
            place, other = next(
                (place, each)
                for place, each in enumerate(found)
                if each.type != "any" and _CLASSES[each.type] != _CLASSES[first.type]
            )
            raise self._fault(
                terms[place],
                f"{TYPE_WORDS[other.type]} and {TYPE_WORDS[first.type]} are in one column; make"
                f" them alike{_conversion(first.type, other.type)}",
            )
        kind: ShapeType = "any"
        if kinds:
            # A number with a fraction among whole ones, a time among days.
            kind = next((one for one in ("float", "datetime") if one in kinds), min(kinds))
        if kind != "datetime":
            return [held_as(each.sql, each.type, kind) for each in found], kind
        return [f"CAST({each.sql} AS TIMESTAMP)" for each in found], kind

    def _call(self, term: CallTerm) -> TypedSql:
        spec = FUNCTIONS[term.function]
        if term.function == "fiscal_year" and not _is_month(term.arguments[1]):
            raise self._fault(term, "the first month of a fiscal year is written out, as 1 to 12")
        arguments: list[TypedSql] = []
        alike = [
            place for place in range(len(term.arguments)) if spec.parameter(place).kind == "alike"
        ]
        unified, kind = self._alike([term.arguments[place] for place in alike])
        for place, argument in enumerate(term.arguments):
            if place in alike:
                arguments.append(TypedSql(unified[alike.index(place)], kind))
            else:
                arguments.append(self._argument(argument, spec.parameter(place), term))
        match spec.result:
            case "alike":
                result = kind if alike else arguments[0].type
            case "moment":
                result = "datetime" if arguments[0].type == "datetime" else "date"
            case result:
                pass
        if term.function == "round" and len(arguments) == 1:
            result = "integer"
        pairs = [(each.sql, each.type) for each in arguments]
        return TypedSql(call_sql(term.function, pairs, result, self._today), result)

    def _argument(self, term: Term, parameter: Parameter, call: CallTerm) -> TypedSql:
        found = self.typed(term)
        match parameter.kind:
            case "date":
                found = self._as_moment(term, found)
                is_right = found.type in _MOMENTS
            case "number":
                is_right = found.type in NUMBERS
            case "integer":
                is_right = found.type == "integer"
            case "text":
                is_right = found.type == "string"
            case "boolean":
                is_right = found.type == "boolean"
            case "any" | "alike":
                is_right = True
            case _:
                assert_never(parameter.kind)
        if is_right:
            return found
        wanted: dict[str, ShapeType] = {
            "date": "date", "number": "float", "integer": "integer", "text": "string",
        }  # fmt: skip
        kind = wanted.get(parameter.kind, "boolean")
        if found.type == "any":
            return TypedSql(f"CAST({found.sql} AS {SQL_TYPES[kind]})", kind)
        said = f"{call.function} takes {TYPE_WORDS[kind]} as {parameter.name}, not"
        if parameter.kind == "integer" and found.type == "float":
            raise self._fault(term, f"{said} a fraction; round(number) makes it whole")
        raise self._fault(term, f"{said} {TYPE_WORDS[found.type]}{_conversion(kind, found.type)}")


def _is_month(term: Term) -> bool:
    return isinstance(term, LiteralTerm) and term.value in range(1, 13)


def _conversion(one: ShapeType, other: ShapeType) -> str:
    """Say what makes values of two types comparable."""
    classes = {_CLASSES.get(one, ""), _CLASSES.get(other, "")}
    if classes == {"text", "number"}:
        return "; number(text) makes a number of a text, text(number) the other way"
    if classes == {"text", "date"}:
        return "; date_of(text) makes a date of a text in the form 2024-01-31"
    if classes == {"number", "date"}:
        return "; year(date) or month(date) is a number"
    return "; text(value) makes a text of each" if "text" in classes else ""


def _literal(value: LiteralValue) -> TypedSql:
    match value:
        case None:
            return TypedSql("NULL", "any")
        case bool():
            return TypedSql("TRUE" if value else "FALSE", "boolean")
        case int():
            # Of a small literal DuckDB would make 32 bits, which a product passes soon.
            kind = "BIGINT" if abs(value) < 2**63 else "HUGEINT"
            return TypedSql(f"CAST({value} AS {kind})", "integer")
        case Decimal():
            return TypedSql(f"({value:f})" if value < 0 else f"{value:f}", "float")
        case str():
            return TypedSql(text_literal(value), "string")
        case datetime():
            return TypedSql(f"TIMESTAMP '{value.isoformat(' ')}'", "datetime")
        case date():
            return TypedSql(f"DATE '{value.isoformat()}'", "date")
        case _:
            assert_never(value)
