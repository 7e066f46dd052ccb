"""A document's text in pieces: nothing is lost, each tells where it stands, none is too long."""

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from kbd.core.plugins.pieces import MAX_BYTES, TextPiece, cut_pieces, read_pieces, write_pieces
from kbd.formats import Passage, Region

SENTENCE = "The ferry crosses the river twice a day, and the toll is paid at the bridge. "


def _cut(*passages: Passage, most: int = 1 << 20) -> list[TextPiece]:
    return list(cut_pieces(passages, most))


def _lines(text: str, first: int = 1) -> Passage:
    count = text.count("\n") + (not text.endswith("\n"))
    region = Region(line_start=first, line_count=count)
    return Passage(text, f"lines {first}-{first + count - 1}", region)


def _check(pieces: Iterable[TextPiece], text: str) -> None:
    """The pieces are the text, and their lines are where they say."""
    pieces = list(pieces)
    assert "".join(piece.text for piece in pieces) == text
    done = 0
    for piece in pieces:
        assert len(piece.text.encode()) <= MAX_BYTES
        assert piece.line_start == text.count("\n", 0, done) + 1
        done += len(piece.text)
        assert piece.line_end == max(piece.line_start, text.count("\n", 0, done - 1) + 1)


def test_pieces_end_with_paragraphs_where_these_are_near() -> None:
    """A heading begins a piece, paragraphs stay whole, and the pieces are of like size."""
    paragraph = SENTENCE * 5 + "\n\n"
    text = "".join(f"# Part {at}\n\n{paragraph}{paragraph}" for at in range(4))
    pieces = _cut(_lines(text))
    _check(pieces, text)
    assert [piece.text.split("\n")[0] for piece in pieces] == [f"# Part {at}" for at in range(4)]


def test_parts_of_lines_and_of_rows_tell_which_they_are() -> None:
    """Coordinates and place are those of the part, where lines or rows say so."""
    text = "".join(f"line {at} {SENTENCE}\n" for at in range(1, 101))
    pieces = _cut(_lines(text, 201))
    _check(pieces, text)
    assert len(pieces) > 5
    for piece in pieces:
        first = int(piece.text.split()[1]) + 200
        count = piece.text.count("\n")
        assert piece.place == f"lines {first}-{first + count - 1}"
        assert piece.region == {"line_start": first, "line_count": count}

    rows = "\tA\tB\n" + "".join(f"{at}\t{SENTENCE}\t{at}\n" for at in range(3, 53) if at != 9)
    sheet = Passage(rows, "Sales!A3:B52", Region(sheet="Sales", range="A3:B52"))
    pieces = _cut(sheet)
    _check(pieces, rows)
    assert pieces[0].region["range"].startswith("A3:B")
    for piece in pieces[1:]:
        numbers = [line.split("\t")[0] for line in piece.text.splitlines()]
        assert piece.place == f"Sales!A{numbers[0]}:B{numbers[-1]}"
        assert piece.region == {"sheet": "Sales", "range": f"A{numbers[0]}:B{numbers[-1]}"}


def test_a_value_over_several_lines_leaves_the_place_of_the_whole() -> None:
    """What cannot be told exactly is not guessed."""
    rows = "\tA\n" + "".join(f"{at}\t{SENTENCE}\nmore of it\n" for at in range(1, 40))
    pieces = _cut(Passage(rows, "S!A1:A39", Region(sheet="S", range="A1:A39")))
    _check(pieces, rows)
    assert {piece.place for piece in pieces} == {"S!A1:A39"}


def test_small_neighbours_are_joined_where_one_region_names_them() -> None:
    """Pages are, slides are not, and a long passage is never joined to another."""
    pages = [Passage(f"page {at}", f"page {at}", Region(pages=str(at))) for at in (1, 2, 3)]
    slides = [Passage("title", f"slide {at}", Region(slide_index=at)) for at in (1, 2)]
    long = Passage(SENTENCE * 9, "page 4", Region(pages="4"))
    said = [(piece.place, piece.region) for piece in _cut(*pages, long, *slides)]
    assert said == [
        ("page 1 – page 3", {"pages": "1-3"}),
        ("page 4", {"pages": "4"}),
        ("slide 1", {"slide_index": 1}),
        ("slide 2", {"slide_index": 2}),
    ]


def test_blank_passages_are_left_out_and_the_longest_text_is_cut_short() -> None:
    """A text that was cut short has exactly as many characters as are allowed."""
    assert _cut(Passage(" \n\n", "page 1"), Passage("", "page 2")) == []
    pieces = _cut(Passage(SENTENCE * 99, "page 1"), Passage(SENTENCE, "page 2"), most=3000)
    assert sum(len(piece.text) for piece in pieces) == 3000


def test_what_utf_8_cannot_hold_is_replaced(tmp_path: Path) -> None:
    """One odd letter does not cost a document its text."""
    (piece,) = _cut(Passage("a \ud800 b", "page 1"))
    assert piece.text == "a ? b\n"
    write_pieces([piece], tmp_path / "pieces")


def test_pieces_come_back_from_their_file(tmp_path: Path) -> None:
    """A file that ends within a piece, or holds something else, is refused."""
    text = SENTENCE * 50
    target = tmp_path / "pieces"
    pieces = _cut(_lines(text + "\n"))
    assert write_pieces(pieces, target) == len(pieces) > 1
    assert list(read_pieces(target)) == pieces
    with pytest.raises(FileExistsError):
        write_pieces(pieces, target)
    target.write_bytes(target.read_bytes()[:-3])
    with pytest.raises(ValueError, match="within one"):
        list(read_pieces(target))
    target.write_bytes(b"\x00\x00\x00\x03abc")
    with pytest.raises(ValueError, match="array"):
        list(read_pieces(target))


def _random_text(choice: random.Random) -> str:
    parts = ["a", "word, ", "One. ", "\n", "\n\n", "# h\n", "漢字。", "x" * 1500, "\t", "é" * 400]
    weights = [9, 9, 5, 5, 2, 1, 3, 0.1, 1, 0.2]
    return "".join(choice.choices(parts, weights, k=choice.randint(1, 900)))


def _check_any(seed: int) -> None:
    choice = random.Random(seed)
    text = _random_text(choice)
    whole = text if text.endswith("\n") else text + "\n"
    pieces = _cut(_lines(text))
    _check(pieces, whole if whole.strip() else "")


def test_any_text_is_cut_without_loss() -> None:
    """Long words, scripts without blanks, and blank lines in any order."""
    for seed in range(40):
        _check_any(seed)


@pytest.mark.full
def test_any_of_many_texts_is_cut_without_loss() -> None:
    """The same for many more."""
    for seed in range(40, 4000):
        _check_any(seed)
