"""Texts of any size: measured once, read from near by, in small memory."""

import os
import random
import resource
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kbd.formats import Region, Source
from kbd.plaintext import lines
from kbd.plaintext.encodings import BLOCK_BYTES
from kbd.plaintext.lines import MAX_READ_CHARS
from kbd_text.handler import TextFormat

FORMAT = TextFormat()
MIB = 1 << 20


def source(folder: Path, data: bytes, *, is_kept: bool = True) -> Source:
    path = folder / "blob"
    path.write_bytes(data)
    return Source(path, "a.txt", folder / "shelf" if is_kept else None)


def lines_at(found: Source, start: int, count: int) -> str:
    return FORMAT.read(found, Region(line_start=start, line_count=count)).text


def test_lines_far_down_are_read_from_near_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the map of a large text a range at its end costs blocks, not the file."""
    count = 1_500_000
    found = source(tmp_path, b"".join(b"%09d\n" % n for n in range(1, count + 1)))
    assert FORMAT.map(found)["line_count"] == count
    # Whatever looks at the whole file again would see this one.
    before = lines.measure_text(found)
    os.truncate(found.path, 0)
    with found.path.open("r+b") as file:
        file.seek(10 * (count - 200_000))
        file.write(b"".join(b"%09d\n" % n for n in range(count - 199_999, count + 1)))

    assert lines_at(found, count - 1, 2) == f"{count - 1:09}\n{count:09}\n"
    assert len(before.marks) == -(-found.path.stat().st_size // BLOCK_BYTES)


def test_a_damaged_shelf_is_made_anew(tmp_path: Path) -> None:
    """What lies there is believed only if it is what was put there."""
    data = b"".join(b"line %d\n" % n for n in range(1, 500_001))
    found = source(tmp_path, data)
    FORMAT.map(found)
    kept = next((tmp_path / "shelf").iterdir())
    good = kept.read_bytes()

    for bad in (b"", b"x", good[:-1], good[:9] + bytes([good[9] ^ 1]) + good[10:]):
        kept.write_bytes(bad)
        assert lines_at(found, 499_999, 5) == "line 499999\nline 500000\n"
        assert kept.read_bytes() == good


def test_small_texts_are_not_kept(tmp_path: Path) -> None:
    """They are measured as fast again."""
    found = source(tmp_path, b"a\n" * 1000)

    assert lines_at(found, 1000, 1) == "a\n"
    assert not (tmp_path / "shelf").exists()


def test_a_shelf_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    """Then every call measures anew."""
    (tmp_path / "shelf").write_bytes(b"a file")
    found = source(tmp_path, b"a\n" * 3_000_000)

    assert lines_at(found, 3_000_000, 1) == "a\n"


PIECES = st.sampled_from(["a", "é", "語", "\n", "\r", "\r\n", "𝄞", "\u0a0a", "\u2028"])


@given(
    pieces=st.lists(PIECES, max_size=90),
    codec=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
)
@example(pieces=["\r\n"] * 40 + ["a", "\r", "\n"], codec="utf-16")
@example(pieces=["\u0a0a"] * 30, codec="utf-16")
def test_every_line_is_found_from_its_mark(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[str], codec: str
) -> None:
    """In blocks of a few bytes: what is read from a mark is the text from its line on."""
    text = "".join(pieces)
    whole = text.replace("\r\n", "\n").replace("\r", "\n")
    found = source(tmp_path_factory.mktemp("text"), text.encode(codec), is_kept=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK_BYTES", 16)
        measured = lines.measure_text(found)

    assert measured.facts.line_count == whole.count("\n") + (whole[-1:] not in ("", "\n"))
    assert measured.facts.char_count == len(whole)
    for mark in measured.marks:
        with lines.open_at(found, measured.facts.encoding, mark.offset) as file:
            assert file.read() == "\n".join(whole.split("\n")[mark.line - 1 :])


def test_a_line_of_many_megabytes_costs_no_memory(tmp_path: Path) -> None:
    """What stands before and behind it is read as ever; of itself as much as one reading holds."""
    found = source(tmp_path, b"first\n" + b"x" * (30 * MIB) + b"\nlast\n")
    before = _peak_bytes()

    assert FORMAT.map(found)["line_count"] == 3
    assert lines_at(found, 3, 1) == "last\n"
    assert len(lines_at(found, 2, 1)) == MAX_READ_CHARS
    assert _peak_bytes() - before < 24 * MIB


@pytest.mark.soak
def test_three_hundred_megabytes(tmp_path: Path) -> None:
    """A text of this size is mapped once; then a range at its end is there at once."""
    chance = random.Random(300)
    path = tmp_path / "blob"
    block = b"".join(b"%d %s\n" % (n, b"word " * chance.randrange(20)) for n in range(20_000))
    with path.open("wb") as file:
        while file.tell() < 300 * MIB:
            file.write(block)
        file.write(b"y" * (100 * MIB) + b"\nthe end\n")
    found = Source(path, "a.txt", tmp_path / "shelf")
    before = _peak_bytes()

    count = FORMAT.map(found)["line_count"]

    assert lines_at(found, count, 1) == "the end\n"
    assert len(lines_at(found, count - 1, 1)) == MAX_READ_CHARS
    assert _peak_bytes() - before < 32 * MIB


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
