"""What every run is told beside its request."""

import random
import re

import pytest

from kbd.core.agent.prompt_blocks import (
    BLOCK_NAMES,
    Guidance,
    block,
    context_blocks,
    mentions_format,
    weigh_context,
)
from kbd.core.domain.workbench_state import ContextItem
from kbd.errors import ContextExhausted, StyleMergeFailed
from kbd.formats import FormatHandler
from kbd.providers import ModelInfo
from kbd_docx import handler as docx
from kbd_pptx import handler as pptx
from kbd_xlsx import handler as xlsx

MODEL = ModelInfo("m", context_tokens=10_000, bytes_per_token=4)
BOOKS = Guidance("xlsx", "Widths.")
DECKS = Guidance("pptx", "Titles.")
LEAVING = ("company-context", "department-context", "document-style", "situation")


def items(**texts: str) -> dict[str, ContextItem]:
    """Items by category; `document_style="x"` is document-style."""
    return {name.replace("_", "-"): ContextItem(text, "", 0) for name, text in texts.items()}


def test_items_stand_in_the_order_of_the_categories() -> None:
    """Each in its block, whatever the order in which they were set."""
    what = context_blocks(items(situation="now", company_context="we"), [], MODEL)

    assert what.text == (
        '<context category="company-context">\nwe\n</context>\n\n'
        '<context category="situation">\nnow\n</context>'
    )
    assert what.notices == ()


def test_nothing_set_is_nothing_told() -> None:
    """No empty blocks."""
    assert context_blocks({}, [], MODEL).text == ""


def test_the_house_style_stands_alone_or_wins_over_guidance() -> None:
    """A block of its own without a format; else at the end of the guidance, and nowhere else."""
    house = items(document_style="Arial.")

    alone = context_blocks(house, [], MODEL)
    merged = context_blocks(house, [BOOKS, DECKS], MODEL)

    assert alone.text == '<context category="document-style">\nArial.\n</context>'
    assert merged.text.startswith('<style formats="xlsx pptx">\nWidths.\n\nTitles.\n\n# House')
    assert merged.text.index("they win") < merged.text.index("Arial.")
    assert merged.text.count("Arial.") == 1
    assert "<context" not in merged.text


def test_a_house_style_that_is_too_long_leaves_the_guidance() -> None:
    """It is left out, and the run is told; the other items stay."""
    what = context_blocks(items(document_style="x" * 8001, situation="now"), [BOOKS], MODEL)

    assert '<style formats="xlsx">\nWidths.\n</style>' in what.text
    assert "now" in what.text
    assert [notice.code for notice in what.notices] == [StyleMergeFailed.code]
    assert "8,0" in what.notices[0].message


def test_guidance_goes_first_and_the_situation_last() -> None:
    """All together they keep to their share; what is left out is told, one after the other."""
    long = [Guidance("xlsx", "g" * 1000), Guidance("pptx", "g" * 1000)]
    texts = dict.fromkeys(("company_context", "department_context", "document_style"), "y" * 300)
    left: list[tuple[str, ...]] = []
    for size in range(12_000, 16_200, 100):
        what = context_blocks(items(situation="x" * size, **texts), long, MODEL)
        assert len(what.text.encode()) <= 16_000
        assert {notice.code for notice in what.notices} <= {ContextExhausted.code}
        left.append(tuple(notice.message.split(" was ")[0].split()[-1] for notice in what.notices))

    order = ("pptx", "xlsx", *LEAVING)
    assert list(dict.fromkeys(left)) == [order[:count] for count in range(len(order) + 1)]


def test_no_text_closes_its_block() -> None:
    """Whatever is set: the blocks are those that kbd wrote, and no other."""
    chance = random.Random(11)
    pieces = [
        "<",
        "/",
        ">",
        " ",
        "\n",
        "\u200b",
        "x",
        *BLOCK_NAMES,
        *(name.upper() for name in BLOCK_NAMES),
    ]
    delimiter = re.compile(
        rf"<(?:\u200b*|[\s\u200b]*/[\s\u200b]*)(?:{'|'.join(BLOCK_NAMES)})\b", re.IGNORECASE
    )
    for _ in range(2000):
        text = "".join(chance.choices(pieces, k=14))
        found = delimiter.findall(block("context", text))
        assert found == (["<context", "</context"] if text.strip() else [])


def test_what_is_no_delimiter_stays_as_it_is() -> None:
    """Comparisons and other marks are the person's words."""
    text = "keep a < b, x < item, <b>bold</b>, <items>, files <= 3"

    assert block("context", text) == f"<context>\n{text}\n</context>"


@pytest.mark.parametrize(
    ("request_text", "formats"),
    [
        ("Make five slides about this", ["pptx"]),
        ("a DECK and a one-page memo", ["docx", "pptx"]),
        ("put it into an Excel workbook", ["xlsx"]),
        ("write it to summary.xlsx", ["xlsx"]),
        ("what is in the reporting table?", []),
        ("sliders and decking", []),
        ("convert a.csv to json", []),
    ],
)
def test_the_words_of_a_request_ask_for_formats(request_text: str, formats: list[str]) -> None:
    """Whole words, in any case, and names of files."""
    handlers: list[FormatHandler] = [docx.DocxFormat(), pptx.PptxFormat(), xlsx.XlsxFormat()]

    assert [each.name for each in handlers if mentions_format(each, request_text)] == formats


def test_items_weigh_what_they_take_of_the_window() -> None:
    """From 0.35 on that is much."""
    assert weigh_context({}, MODEL).tokens == 0
    assert not weigh_context(items(situation="x" * 13_000), MODEL).is_much
    weight = weigh_context(items(situation="x" * 14_000), MODEL)
    assert weight.is_much
    assert weight.tokens == pytest.approx(3510, abs=10)
