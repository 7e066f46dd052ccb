"""What may reach a terminal."""

import pytest

from kbd.cli.progress import Told
from kbd.cli.terminal import clean, duration, line, size, table


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain ünïcode → ok\n\tnext", "plain ünïcode → ok\n\tnext"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1bcb", "ab"),
        ("\x9b2Jx\x00\x08\r", "2Jx"),
        ("invoice\u202excod.exe", "invoicexcod.exe"),
        ("half \ud800 pair", "half ? pair"),
    ],
)
def test_control_sequences_do_not_pass(text: str, cleaned: str) -> None:
    """Escape sequences, control characters and direction marks are taken out, the rest stays."""
    assert clean(text) == cleaned


def test_no_printable_character_is_taken_out() -> None:
    """What consists of printable characters alone is clean, whatever the script."""
    printable = "".join(map(chr, range(0x3000)))
    kept = "".join(each for each in printable if each.isprintable())

    assert clean("\n" + kept) == "\n" + kept == "\n" + clean(kept)


def test_a_line_is_one_line() -> None:
    """Newlines become blanks, and a long text ends with an ellipsis within the width."""
    assert line("a\n b\t c") == "a b c"
    assert line("x" * 30, 10) == "x" * 9 + "…"


def test_sizes_are_for_people() -> None:
    """Bytes are whole; what is larger has one decimal."""
    assert [size(0), size(1023), size(1536), size(5 * 1024**4)] == [
        "0 bytes",
        "1023 bytes",
        "1.5 KiB",
        "5.0 TiB",
    ]


def test_a_table_aligns() -> None:
    """Columns are as wide as their widest cell, and no line ends in blanks."""
    assert table(("a", "b"), [("long", "x"), ("s", "")]) == "a     b\nlong  x\ns"


def test_blocks_for_programs_are_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    """What a model writes between fences is left out of the progress; the rest is told."""
    told = Told()
    told.told("WorkshopPhaseStarted", {"phase": "research"})
    text = 'Two files.\n```json\n{"a": 1}\n```\nDone.\n'
    told.told("WorkshopAssistantStreamDelta", {"token_delta": text})
    told.done()

    assert capsys.readouterr().err.splitlines() == [
        "Analyzing files…",
        "  | Two files.",
        "  | Done.",
    ]


def test_columns_stand_below_each_other() -> None:
    """Wide characters take two columns, accents that are characters of their own none."""
    told = table(("file", "size"), [("未来.txt", "1"), ("re\u0301sume\u0301.txt", "2"), ("a", "3")])

    assert told.splitlines() == [
        "file        size",
        "未来.txt    1",
        "re\u0301sume\u0301.txt  2",
        "a           3",
    ]


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.0, "0 ms"),
        (0.0123, "12 ms"),
        (1.26, "1.3 s"),
        (60, "1 min"),
        (125.9, "2 min 5 s"),
        (3 * 3600 + 59, "3 h 59 s"),
        (49 * 3600, "2 d 1 h"),
    ],
)
def test_durations_are_told_to_the_point(seconds: float, told: str) -> None:
    """The two largest units, and no more digits than matter."""
    assert duration(seconds) == told
