"""Tokens of expressions: what none is made of is refused at once, with its place."""

import pytest

from kbd.errors import ValidationFailed
from kbd.jobs.tokens import MAX_CHARACTERS, tokens_of


def test_tokens_know_their_places() -> None:
    """Each token is what stands at its place; quotes are taken off, doubled ones are one."""
    text = """"a""b"<= 'it''s' +1.50"""

    assert [(each.kind, each.text, each.written) for each in tokens_of(text)] == [
        ("name", 'a"b', '"a""b"'), ("sign", "<=", "<="), ("text", "it's", "'it''s'"),
        ("sign", "+", "+"), ("number", "1.50", "1.50"), ("end", "", "the end"),
    ]  # fmt: skip
    assert all(text[each.start : each.end] == each.written for each in tokens_of(text) if each.text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the expression is empty"),
        (" \n", "the expression is empty"),
        ("'a", "the text has no second '"),
        ('"a', 'the name has no second "'),
        ('""', "a column's name stands between the quotes"),
        ("1e5", "a number has figures and a point alone"),
        ("12abc", "a number has figures and a point alone"),
        ("1.2.3", "a number has figures and a point alone"),
        ("1" * 31, "a number has at most 30 digits"),
        ("a == 1", "write = instead"),
        ("a && b", "write and instead"),
        ("a; drop", "write nothing instead"),
        ("a\0", r"'\x00' is no character of expressions"),
        ("'a\x1b[2J'", r"'\x1b' is no character of expressions"),
        ("'\ud800'", r"'\ud800' is no character of expressions"),
        ("a ? b", "'?' is no part of expressions"),
        ("\u0661", "a number has figures and a point alone"),
    ],
)
def test_what_is_no_token_is_refused(text: str, said: str) -> None:
    """A piece that no expression has is refused with its place and what helps."""
    with pytest.raises(ValidationFailed) as caught:
        tokens_of(text)

    assert said in caught.value.message


@pytest.mark.parametrize("piece", ["a", "'", '"', "''", "(", " ", "1", "'a' || "])
def test_a_megabyte_is_refused_unread(piece: str) -> None:
    """A text far too long is refused by its length, whatever it is made of."""
    with pytest.raises(ValidationFailed, match=f"more than {MAX_CHARACTERS}"):
        tokens_of(piece * (1_000_000 // len(piece)))
