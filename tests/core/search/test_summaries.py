"""An extractive summary keeps to its length, and says what a text is about."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbd.core.search.summary import extract_summary, split_sentences, truncate_text

ABOUT_MILLS = (
    "The mill of Aldford",
    "The mill of Aldford ground corn for six villages along the river.",
    "Its wheel was rebuilt in 1843, when the old oak shaft broke.",
    "He said so.",
    "The miller paid the village toll in flour, and the river gave the mill its power.",
    "Nobody remembers the weather of that spring.",
    "When steam came, the villages sold their corn elsewhere and the mill fell silent.",
    "Who would have thought it?",
)


@settings(max_examples=40)
@given(st.text(max_size=300), st.integers(min_value=0, max_value=120))
def test_a_summary_is_never_longer_than_wanted(text: str, most: int) -> None:
    """Whatever the text; one that is short enough stays as it is."""
    summary = extract_summary(text, most)

    assert len(summary) <= most
    if len(text.strip()) <= most:
        assert summary == text.strip()


def test_the_sentences_are_the_texts_own_in_its_order() -> None:
    """Title first, then what says most; what says nothing alone is left out."""
    summary = extract_summary("\n\n".join(ABOUT_MILLS), 260)
    title, _, said = summary.partition("\n")
    places = [ABOUT_MILLS.index(sentence) for sentence in split_sentences(said)]

    assert title == ABOUT_MILLS[0]
    assert places == sorted(places)
    assert {1, 4} <= set(places)
    assert not {3, 5, 7} & set(places)


def test_what_was_said_is_not_said_again() -> None:
    """A sentence that repeats another has less worth than one that says something else."""
    first = "The harbour toll doubled in March and the merchants protested."
    again = "In March the harbour toll doubled and the merchants protested loudly."
    other = "A new bridge opened in April and carried the grain inland."
    summary = extract_summary("\n\n".join((first, again, other, again)), 130)

    assert other in summary
    assert summary.count("doubled") == 1


SPLIT = {
    "Dr. Meyer kam am 3. März zu uns, z. B. wegen der Akten. Er blieb lange.": 2,
    "Mr. Smith paid 3.50 dollars to J. R. Ellis. The rest, i.e. 4.2 percent, was lost.": 2,
    "See Fig. 3 and sec. 4 of vol. 2. It is all there!": 2,
    "« Vraiment ? » dit-elle. M. Dupont partit.": 3,
    "¿Vienes mañana? No. 5 está cerrado... pero el Sr. Ruiz viene.": 2,
    "今天下雨。我们在家。": 2,
    "هل أنت هنا؟ نعم.": 2,
    "no mark at all": 1,
    "": 0,
}


@pytest.mark.parametrize("text", list(SPLIT))
def test_sentences_end_where_they_do(text: str) -> None:
    """Not after abbreviations, initials and numbers that count; nothing is lost."""
    found = list(split_sentences(text))

    assert len(found) == SPLIT[text], found
    assert "".join("".join(found).split()) == "".join(text.split())


def test_chinese_needs_no_blanks() -> None:
    """What is common to the sentences is found in writing without words, too."""
    first, last = "水车坊为六个村庄磨谷物。", "蒸汽机来了以后，村庄把谷物卖到别处，水车坊安静了。"
    text = f"水车坊\n\n{first}" + "天气很好。" * 9 + last

    assert extract_summary(text, 45) == f"水车坊\n{first} {last}"


def test_of_a_table_columns_and_first_rows_are_told() -> None:
    """The names of the columns, how many rows there are, and the first of them."""
    rows = "\n".join(f"2025-03-{day:02d},Mill {day},{day * 3}" for day in range(1, 29))

    assert extract_summary(f"Date,Shop,Amount\n{rows}\n", 120) == (
        "Table of 28 rows. Columns: Date, Shop, Amount. First rows: 2025-03-01 | Mill 1 | 3;"
        " 2025-03-02 | Mill 2 | 6"
    )


def test_a_sheets_coordinates_are_no_columns() -> None:
    """They are left out, the pieces of a sheet are one table again, of a formula its value told."""
    head = "\tA\tB\tC\n"
    first = "2\tRegion\tUnits\tTotal\n" + "".join(
        f"{row}\tNorth {row}\t{row}\t=B{row}*2 [stored: {row * 2}]\n" for row in range(3, 20)
    )
    more = "".join(f"{row}\tSouth {row}\t{row}\t{row}\n" for row in range(20, 40))

    assert extract_summary(head + first + head + more, 100) == (
        "Table of 37 rows. Columns: Region, Units, Total. First rows: North 3 | 3 | 6;"
        " North 4 | 4 | 8"
    )


def test_a_table_has_the_room_that_it_has_of_the_text() -> None:
    """Between sentences it is told where it stands, and they are not left out for it."""
    table = "Shop\tMarch\tApril\n" + "".join(f"Shop {n}\t{n}\t{n * 2}\n" for n in range(12))
    before = " ".join(f"The river toll of shop {n} was paid late in the year." for n in range(8))
    after = "\n\nAll shops of the river paid their toll at last, said the ledger."
    summary = extract_summary(f"{before}\n{table}{after}", 330)

    assert "The river toll of shop" in summary
    assert "Table of 12 rows. Columns: Shop, March, April." in summary
    assert summary.index("river toll") < summary.index("Table of")


def test_what_stands_on_every_page_is_left_out() -> None:
    """Page marks and page numbers; a line that a page's width has broken is one sentence again."""
    goods = ("grain", "salt", "flour", "timber", "wool", "slate", "cattle", "barley")
    pages = [
        f"[page {number}]\nACME ledger\nThe toll on {good} was raised by the coun-\n"
        f"cil of the town.\nPage {number} of 8\n"
        for number, good in enumerate(goods, start=1)
    ]
    summary = extract_summary("".join(pages), 200)

    assert "The toll on grain was raised by the council of the town." in summary
    assert "page" not in summary.lower()
    assert summary.count("ACME ledger") <= 1


def test_what_must_be_cut_ends_with_an_ellipsis_after_a_word() -> None:
    """No sentence fits, so the beginning stands for the text."""
    text = "Extraordinarily complicated circumstances " * 20
    summary = extract_summary(text, 50)

    assert summary == "Extraordinarily complicated circumstances…"
    assert truncate_text("abcdefghij", 5) == "abcd…"
    assert truncate_text("one two three", 8) == "one two…"
    assert truncate_text("one two", 0) == ""


def test_a_very_long_text_is_read_all_over() -> None:
    """Of more than half a million characters, parts from the beginning to the end are read."""
    filler = "Nothing of note was written in the ledger about that day at all.\n\n"
    end = "Then the great bridge of the harbour fell, and the harbour toll ended.\n\n"
    text = filler * 8_000 + end * 4_000
    summary = extract_summary(text, 200)

    assert end.strip() in summary
    assert filler.strip() in summary


def test_of_a_very_long_table_no_false_count_is_told() -> None:
    """Not all rows are looked at, and the summary says so."""
    rows = "".join(f"{place},Shop {place},paid\n" for place in range(50_000))
    summary = extract_summary(f"Number,Shop,State\n{rows}", 120)

    assert re.fullmatch(
        r"Table of more than \d+ rows\. Columns: Number, Shop, State\. First rows: 0 \| .*", summary
    )
    assert 20_000 < int(summary.split()[4]) < 50_000


@pytest.mark.full
def test_a_summary_is_the_same_in_another_process() -> None:
    """Nothing hangs on the order of a set."""
    program = (
        "from kbd.core.search.summary import extract_summary\n"
        "import sys; print(extract_summary(sys.stdin.read(), 300))"
    )
    text = "\n\n".join(ABOUT_MILLS) + " ".join(Path(__file__).read_text("utf-8").split("\n"))
    said = {
        subprocess.run(
            [sys.executable, "-c", program], input=text, capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in range(4)
    }  # fmt: skip

    assert len(said) == 1
    assert len(said.pop()) > 100
