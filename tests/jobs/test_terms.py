"""Terms: generated ones come back from their text, and literals know where they stand."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.jobs.expressions import parse_expression
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
    Term,
    UnaryTerm,
    columns_of,
    literals_of,
    render,
)

TEXTS = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t'\""), max_size=8
)
LITERALS: st.SearchStrategy[Term] = st.builds(
    LiteralTerm,
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.decimals(-(10**6), 10**6, places=3, allow_nan=False),
        TEXTS,
        st.dates(),
        st.datetimes(),
    ),
)
COLUMNS: st.SearchStrategy[Term] = st.builds(
    ColumnTerm, TEXTS.filter(bool) | st.sampled_from(["in", "END", "date", "a b", 'a"b', "Größe"])
)


def composed(parts: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    """Terms that are made of others."""
    some = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(
            CallTerm, st.just("coalesce"), st.lists(parts, min_size=2, max_size=3).map(tuple)
        ),
        st.builds(UnaryTerm, st.sampled_from(["-", "not"]), parts),
        st.builds(
            BinaryTerm,
            st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "||", "+", "-", "*", "/", "%"]),
            parts,
            parts,
        ),
        st.builds(_junction, st.sampled_from(["and", "or"]), parts, some),
        st.builds(InTerm, parts, some, st.booleans()),
        st.builds(BetweenTerm, parts, parts, parts, st.booleans()),
        st.builds(EmptyTerm, parts, st.booleans(), st.booleans()),
        st.builds(CaseTerm, st.lists(st.tuples(parts, parts), min_size=1).map(tuple), parts),
    )


def _junction(operator: Any, first: Term, rest: tuple[Term, ...]) -> Term:
    """A junction as the parser makes it: one that begins with its like is one with it."""
    if isinstance(first, JunctionTerm) and first.operator == operator:
        return JunctionTerm(operator, (*first.operands, *rest))
    return JunctionTerm(operator, (first, *rest))


TERMS = st.recursive(LITERALS | COLUMNS, composed, max_leaves=12)


def unplaced(value: Any) -> Any:
    """A term as plain values without places; numbers with their type, for 1 is equal to true."""
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.asdict(value)
        return type(value), {
            name: unplaced(part) for name, part in fields.items() if name not in ("start", "end")
        }
    return [unplaced(part) for part in value] if isinstance(value, tuple) else (type(value), value)


@given(TERMS)
def test_terms_come_back_from_their_text(term: Term) -> None:
    """What is rendered parses to the same term, whatever is in it."""
    text = render(term)

    assert unplaced(term) == unplaced(parse_expression(text))
    assert text == render(parse_expression(text))


@given(TERMS)
def test_literals_know_where_they_stand(term: Term) -> None:
    """The text at a literal's place is that literal alone, and literals come in its order."""
    text = render(term)
    found = literals_of(parse_expression(text))

    assert [each.start for each in found] == sorted(each.start for each in found)
    for each in found:
        assert unplaced(each) == unplaced(parse_expression(text[each.start : each.end]))


def test_columns_are_named_once() -> None:
    """Columns come as written, in their order, each once; texts and functions are none."""
    term = parse_expression("year(Date) = 2024 and \"Net amount\" > Date or Status = 'Date'")

    assert columns_of(term) == ("Date", "Net amount", "Status")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Status = 'it''s' and Amount > -1.50", ["it's", Decimal("-1.50")]),
        ("Day between date '2024-01-31' and '2024-02-01'", [date(2024, 1, 31), "2024-02-01"]),
        ("At > datetime '2024-01-31 10:30'", [datetime.fromisoformat("2024-01-31 10:30")]),
        ("if(Paid, true, null)", [True, None]),
    ],
)
def test_literals_have_their_values(text: str, values: list[Any]) -> None:
    """Each value that is written out is found as what it is, a negative number as a whole."""
    found = literals_of(parse_expression(text))

    assert values == [each.value for each in found]
    assert [type(value) for value in values] == [type(each.value) for each in found]
