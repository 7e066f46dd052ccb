"""Pieces of a review: markup of records made by hand, escaped, bounded, readable without color."""

import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest

from kbd.core.audit.review_page import document
from kbd.core.audit.review_page.change_view import MAX_CHARACTERS, render_change, value_text
from kbd.core.audit.review_page.document import page_of, piece_of
from kbd.core.audit.review_page.file_view import MAX_DRAWN
from kbd.core.audit.review_page.records import DraftReview, FileReview, SheetGrids
from reviewed_drafts import (
    change,
    deck,
    file_of,
    grid,
    letter,
    notes,
    picture,
    review_of,
    scan,
    table,
    varied_review,
    workbook,
)

_VOID = {"br", "col", "hr", "img", "input", "meta"}


class _Outline(HTMLParser):
    """Elements of a piece, with their attributes and text; complains if they are not nested."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(markup)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """See that it ends the one that is open."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text."""
        if self._open[-1:] not in (["script"], ["style"]):
            self.words.append(data)

    @property
    def text(self) -> str:
        """All that is read."""
        return "".join(self.words)

    def having(self, name: str, value: str) -> list[dict[str, str | None]]:
        """Return the elements one of whose words of an attribute is this."""
        return [found for _, found in self.elements if value in (found.get(name) or "").split()]


def _piece(review: FileReview) -> _Outline:
    return _Outline(piece_of(review))


def _rendered(**given: Any) -> str:
    kind = given.pop("kind", "changed")
    return _Outline(render_change(1, 0, change(kind, "thing", "place", **given))).text


@pytest.mark.parametrize("made", [workbook, letter, deck, table, notes, scan])
def test_pieces_are_nested_and_hold_every_change(made: Any) -> None:
    """Each change is drawn once, with an id of its own, its kind and its title."""
    review = made()
    outline = _piece(review)
    drawn = outline.having("class", "change")

    assert review.diff is not None
    assert sorted(str(each["id"]) for each in drawn) == sorted(
        f"f1c{index}" for index in range(len(review.diff.changes))
    )
    for each in drawn:
        index = int(str(each["data-change"]))
        assert each["data-kind"] == review.diff.changes[index].kind
    # A line of a text is known by its numbers, everything else by its title.
    lines = {str(each["id"]) for tag, each in outline.elements if tag == "tr" and each.get("id")}
    for index, change_drawn in enumerate(review.diff.changes):
        assert change_drawn.place.title in outline.text or f"f1c{index}" in lines


def test_a_review_is_made_of_the_answers_json() -> None:
    """What went over the wire and came back gives the same page."""
    review = varied_review()
    again = msgspec.convert(msgspec.json.decode(msgspec.json.encode(review)), DraftReview)

    assert page_of(again) == page_of(review)


def test_hostile_texts_stay_texts() -> None:
    """No element, attribute or handler comes from a text; what is hidden is shown by its name."""
    page = page_of(varied_review())
    outline = _Outline(page)
    tags = [tag for tag, _ in outline.elements]

    assert tags.count("script") == 2
    assert tags.count("img") == len(re.findall(r"data:image/png;base64,", page))
    assert "svg" not in tags
    assert not [name for _, found in outline.elements for name in found if name.startswith("on")]
    assert all(
        str(found.get("href", "#")).startswith("#") and "http" not in str(found.get("src", ""))
        for _, found in outline.elements
    )
    assert outline.text.count("<svg onload=alert(3)>") > 20
    assert not any(mark in page for mark in "\x1b\x00\u202e\u200b\u2028")


def test_the_policy_lets_nothing_in() -> None:
    """Scripts and styles by their hashes only, pictures from the page itself, nothing else."""
    page = page_of(varied_review())
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))

    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    for kind in ("script-src", "style-src"):
        assert re.fullmatch(r"('sha256-[\w+/=]{44}' ?){2}", rules[kind])
    assert "unsafe" not in policy


def test_kinds_are_told_without_color() -> None:
    """A sign that is seen, and its word for those who do not see it."""
    for kind, sign in (("added", "+"), ("removed", "−"), ("changed", "~"), ("moved", "→")):
        outline = _Outline(render_change(1, 0, change(kind, "row", "row 7")))
        assert outline.text.startswith(f"{sign}{kind} row")
        (hidden,) = outline.having("class", "sign")
        assert hidden["aria-hidden"] == "true"


def test_values_are_shown_in_their_forms() -> None:
    """Numbers, texts, nothing, rows, formulas with their results, details as yes and no."""
    assert "was147is1250" in _rendered(before=147, after=1250)
    assert "wasemptyis0" in _rendered(before=None, after=0)
    formula = {"formula": "=A1*2", "value": 84, "current": False}
    assert "=A1*2 = 84 (calculated when it is opened)" in _rendered(before=1, after=formula)
    assert "deskempty12.5" in _rendered(kind="added", after=["desk", None, 12.5])
    assert "font boldno→yes" in _rendered(details={"font_bold": (False, True)})
    assert "size47.0 KiB" in _rendered(kind="added", after={"size_bytes": 48_120})
    assert value_text({"date": "2026-03-01"}) == "2026-03-01"
    assert "the note" in _rendered(note="the note")


def test_words_are_marked() -> None:
    """What went is struck through, what came is underlined, the rest is as it is."""
    words = (("equal", "a "), ("removed", "b"), ("added", "c"))
    found = render_change(1, 0, change("changed", "text", "t", words=words))

    assert '<p class="words" dir="auto">a <del>b</del><ins>c</ins></p>' in found


def test_the_maker_is_told() -> None:
    """The run with its item and reason, the tool, the event; a client without a run."""
    text = _piece(workbook()).text

    assert "made by run 2, item 3 · with edit_cells · event 57" in text
    assert "Bring the second quarter up to date" in text
    assert "made by a client · with ApplyOps · event 61" in text


def test_a_grid_marks_what_changed_in_both_versions() -> None:
    """The changed cell has its value then and now, and leads to its change."""
    outline = _piece(workbook())
    cells = [each for each in outline.having("data-of", "f1c0") if "changed" in str(each["class"])]

    assert [each["title"] for each in cells] == ["147", "1250"]
    assert "Before Sales, rows 1–8" in outline.text
    assert "After Sales, rows 1–9" in outline.text


def test_a_grid_is_shown_alone_where_a_sheet_is_new() -> None:
    """There is no earlier version to show beside it."""
    text = _piece(workbook()).text

    assert "After Notes, row 1" in text
    assert "Before Notes" not in text


def test_rows_that_are_not_aligned_are_not_shown_side_by_side() -> None:
    """Where what is not marked differs all over, the earlier rows are left out, with a reason."""
    numbers: list[list[str | None]] = [[str(row), str(row * 7)] for row in range(20)]
    others: list[list[str | None]] = [[f"x{row}", f"y{row}"] for row in range(20)]
    grids = SheetGrids(
        sheet="S", before=(grid("S", "AB", numbers),), after=(grid("S", "AB", others),)
    )
    one = change("changed", "cell", "S!A9", place={"sheet": "S", "cell": "A9"}, before=1, after=2)
    text = _piece(file_of("a", "b", [one], grids=(grids,))).text

    assert "could not be aligned" in text
    assert "After S, rows 7–11" in text
    assert "Before S" not in text


def test_lines_keep_their_numbers_of_both_sides() -> None:
    """A hunk has them in two columns, with a sign, and changes at the lines that they are of."""
    outline = _piece(notes())
    changed = outline.having("class", "change")

    assert [(each["id"], str(each["class"]).split()[0]) for each in changed] == [
        ("f1c0", "added"),
        ("f1c1", "added"),
    ]
    assert "1212+added gamma = 1" not in outline.text  # an added line has no number before
    assert "12+added gamma = 1" in outline.text
    assert "12−removed beta = 1" in outline.text


def test_pictures_are_embedded_side_by_side() -> None:
    """Both versions of a slide; for one that is new or gone the other side says so."""
    outline = _piece(deck())
    images = [found for tag, found in outline.elements if tag == "img"]

    assert [each["alt"] for each in images] == [
        "slide 2, before", "slide 2, after", "slide 3, after", "slide 5, before",
    ]  # fmt: skip
    assert all(str(each["src"]).startswith("data:image/png;base64,") for each in images)
    assert outline.text.count("not in this version") == 2
    assert "Slide 5 (removed)" in outline.text


def test_what_is_long_is_cut_with_a_word() -> None:
    """Texts, and changes past those that are drawn."""
    found = render_change(1, 0, change("changed", "text", "t", before="a", after="b" * 50_000))
    assert found.count("b" * 100) <= MAX_CHARACTERS // 100
    assert "cut here" in found
    many = [change("added", "line", f"line {n}", place={"paragraph": n}) for n in range(600)]
    outline = _piece(file_of("a", "b", many))
    assert len(outline.having("class", "change")) == MAX_DRAWN
    assert f"Of 600 changes the first {MAX_DRAWN} are shown here." in outline.text


def test_a_page_that_is_full_names_the_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Past what a page may hold each file keeps its head, with the reason."""
    monkeypatch.setattr(document, "MAX_PAGE_CHARACTERS", 4000)
    text = _Outline(page_of(review_of(notes(), letter()))).text

    assert "gamma = 1" in text
    assert "offer.docx" in text
    assert "Not drawn here" in text
    assert "complete package" not in text


def test_the_page_heads_with_what_a_publish_asks() -> None:
    """Deletions to confirm, warnings of files, and how many changes of each kind there are."""
    text = _Outline(page_of(varied_review())).text

    assert "Deletion to confirm: old plan.txt" in text
    assert "Warning: sales 2026.xlsx — Sales!K2 fetches from the web: WEBSERVICE" in text
    assert "The second quarter is in all files" in text


def test_why_something_is_not_shown_is_told() -> None:
    """Notes of the file, what must be known of its pictures, each once, and what was left out."""
    warned = msgspec.structs.replace(picture(4, 4, (0, 0, 0)), warnings=("printed by a program",))
    review = deck()
    pairs = tuple(msgspec.structs.replace(each, after=warned) for each in review.pictures)
    shown = msgspec.structs.replace(
        review, pictures=pairs, pictures_left_out=7, notes=("Cells are left out: no worker",)
    )
    text = _piece(shown).text

    assert text.count("printed by a program") == 1
    assert "Cells are left out: no worker" in text
    assert "7 more pictures left out." in text


@pytest.mark.parametrize("at", [0, 3_000, 30_000])
def test_what_differs_in_a_long_text_is_on_the_page(at: int) -> None:
    """In words, in values and in details, wherever it stands."""
    one, other = ("x" * at + figure + "y" * 9_000 for figure in ("314.60", "341.60"))
    words = [
        ["equal", "x" * at],
        ["removed", "314.60"],
        ["added", "341.60"],
        ["equal", "y" * 9_000],
    ]
    for made in (
        change("changed", "paragraph", "paragraph 1", words=words),
        change("changed", "cell", "A1", before=one, after=other),
        change("changed", "format", "A1", details={"text": [one, other]}),
    ):
        markup = str(render_change(1, 0, made))
        assert "314.60" in markup
        assert "341.60" in markup


def test_values_that_look_alike_are_told_apart() -> None:
    """A no-break space and a letter of another script are written by their numbers."""
    for before, after, expected in (
        ("a b", "a\u00a0b", "U+00A0"),
        ("Total", "T\u043etal", "U+043E"),
    ):
        words = [["removed", before], ["added", after]]
        assert expected in str(
            render_change(1, 0, change("changed", "cell", "A1", before=before, after=after))
        )
        assert expected in str(render_change(1, 0, change("changed", "cell", "A1", words=words)))
        details = {"text": [before, after]}
        assert expected in str(
            render_change(1, 0, change("changed", "format", "A1", details=details))
        )


def test_a_number_and_a_text_that_read_alike_say_what_they_are() -> None:
    """In a cell and in a detail; two numbers are shown as they are."""
    for made in (
        change("changed", "cell", "A1", before=5, after="5"),
        change("changed", "format", "A1", details={"stored": [5, "5"]}),
    ):
        markup = str(render_change(1, 0, made))
        assert "5 (number)" in markup
        assert "5 (text)" in markup
    assert "(number)" not in str(
        render_change(1, 0, change("changed", "cell", "A1", before=5, after=6))
    )
