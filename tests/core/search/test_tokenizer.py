"""The tokenizer: any text is a safe question, and what is asked finds what is written otherwise."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kbd.core.search.tokenizer import (
    COLUMNS,
    FTS5_TOKENIZER,
    MAX_QUERY_WORDS,
    index_terms,
    parse_query,
    snippet,
    stem,
)


@pytest.fixture(scope="module")
def table() -> Iterator[sqlite3.Connection]:
    """An empty index as the engine has it."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        f"CREATE VIRTUAL TABLE words USING fts5({', '.join(COLUMNS)}, tokenize='{FTS5_TOKENIZER}')"
    )
    yield connection
    connection.close()


def found(table: sqlite3.Connection, query: str, *texts: str) -> list[int]:
    """Return which of some texts a query finds, best first."""
    table.execute("DELETE FROM words")
    table.executemany(
        "INSERT INTO words(rowid, title, body) VALUES (?, ?, ?)",
        [(at, *index_terms("", text)) for at, text in enumerate(texts)],
    )
    match = parse_query(query).match
    if not match:
        return []
    rows = table.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank", (match,))
    return [row for (row,) in rows.fetchall()]


@given(query=st.text(max_size=80))
@example(query='NEAR("a" "b", 3) AND NOT title: ^x* {body} + -"')
@example(query='"')
@example(query="a\x00b")
@example(query="\ud800")
@example(query="的 ก \u0940")
def test_any_text_is_a_safe_question(table: sqlite3.Connection, query: str) -> None:
    """Whatever is asked, FTS5 takes it as an expression, and a text finds itself."""
    terms = index_terms("", query)[1]
    assert found(table, query, query) == ([0] if terms else [])


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("naive cafes", "A naïve owner of a café"),
        ("house", "Many HOUSES stand there"),
        ("connect", "they were connected; connections"),
        ("Rechnung", "Bitte zahlen Sie die Rechnungen, die nicht bezahlt sind"),
        ("Strasse", "an der Straße"),
        ("Hauser", "die Häuser der Stadt und das Haus"),
        ("subvention", "les dispositifs de subventions applicables dans la ville"),
        ("система водоснабжения", "износ систем водоснабжения"),
        ("новый договор", "о новой редакции"),
        ("organizacion", "las organizaciones"),
        ("controlling", "the controls were controlled"),
        ("北京", "我在北京大学学习"),
        ("京", "我住在北京"),
        ("ﬁnance", "finance"),
        ("１２３", "123"),
        ("INV-2024-001", "the invoice inv2024001"),
        ("INV2024001", "invoice INV-2024-001 of May"),
        ("12500", "a sum of $12,500.00"),
        ("12.500,00", "a sum of 12,500"),
        ("created", "things that are cre-\nated there"),
        ("email", "by e-mail"),
        ("हिन्दी", "वह हिन्दी बोलती है"),
        ("who are they", "who are they"),
    ],
)
def test_what_is_written_otherwise_is_found(
    table: sqlite3.Connection, asked: str, written: str
) -> None:
    """Case, marks, endings, joints and the grouping of digits keep nobody from finding."""
    assert found(table, asked, "something else altogether", written) == [1]


def test_an_identifier_is_nearer_as_a_whole_than_in_parts(table: sqlite3.Connection) -> None:
    """What holds the parts of an identifier elsewhere comes after what holds it as it is."""
    texts = ["INV 2024 and 001 INV 001 2024", "pay INV-2024-001 in time, it is due very soon"]
    assert found(
        table, "INV-2024-001", *texts, *["a dozen other words that say nothing of it"] * 9
    ) == [1, 0]


def test_a_phrase_in_quotation_marks_is_nearer_than_its_words(table: sqlite3.Connection) -> None:
    """Of two texts with the same words, the one that has the phrase comes first."""
    texts = ["holidays for the public", "for the public holidays"]
    assert found(table, "“public holiday”", *texts)[0] == 1


def test_unspaced_text_is_asked_for_by_its_pairs() -> None:
    """A single character is asked for only where it stands alone."""
    assert parse_query("北京大学").terms == (("北京",), ("京大",), ("大学",))
    assert parse_query("京").match == '"京" OR "京" *'


def test_words_that_bind_are_not_looked_for() -> None:
    """A question is asked by the words that say what it is about."""
    assert parse_query("What is the price of it?").terms == (("price", "pric"),)


def test_a_question_has_a_bounded_number_of_words() -> None:
    """A page of text is no question for thousands of words."""
    assert len(parse_query(" ".join(f"word{n}" for n in range(5000))).terms) == MAX_QUERY_WORDS


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("agreed", "agre"), ("hopping", "hop"),
        ("filing", "file"), ("happy", "happi"), ("relational", "relat"), ("hopeful", "hope"),
        ("adjustment", "adjust"), ("controlling", "control"), ("rate", "rate"), ("sky", "sky"),
    ],
)  # fmt: skip
def test_english_is_stemmed_as_snowball_says(word: str, expected: str) -> None:
    """Words through all steps of the algorithm have the stems that it gives them."""
    assert stem(word, "english") == expected


def test_a_snippet_shows_where_most_of_the_question_is() -> None:
    """It is one line, not longer than asked for, cut between words, the same each time."""
    text = (
        "The beginning.\n"
        + "Filler words here. " * 30
        + "The zebra\tin the house\x00. "
        + "z " * 90
    )
    shown = snippet(text, "zebra houses", 80)
    assert "zebra in the house" in shown
    assert len(shown) <= 80
    assert shown.isprintable()
    assert shown.startswith("… ")
    assert shown.endswith(" …")


@given(text=st.text(max_size=300), query=st.text(max_size=20), most=st.integers(20, 120))
def test_a_snippet_is_a_line_of_its_length(text: str, query: str, most: int) -> None:
    """Whatever the text is, the snippet is printable and no longer than asked for."""
    shown = snippet(text, query, most)
    assert len(shown) <= most
    assert not shown or shown.isprintable()
