"""What may reach a terminal."""

import subprocess
import sys

import pytest

from kbd.cli.progress import LineProgress
from kbd.cli.step_text import render_fields
from kbd.cli.terminal import cell_width, clean, duration, line, render_table, size, truncate, wrap


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
    assert render_table(("a", "b"), [("long", "x"), ("s", "")]) == "a     b\nlong  x\ns"


def test_blocks_for_programs_are_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    """What a model writes between fences is left out of the progress; the rest is told."""
    told = LineProgress()
    told.on_notification("WorkshopPhaseStarted", {"phase": "research"})
    text = 'Two files.\n```json\n{"a": 1}\n```\nDone.\n'
    told.on_notification("WorkshopAssistantStreamDelta", {"token_delta": text})
    told.finish()

    assert capsys.readouterr().err.splitlines() == [
        "Analyzing files…",
        "  | Two files.",
        "  | Done.",
    ]


SCRIPTS = {
    "ASCII": ("plain.txt", 9),
    "CJK": ("未来.txt", 8),
    "accents": ("re\u0301sume\u0301.txt", 10),
    "Thai": ("สวัสดีชาวโลก", 10),
    "Hindi": ("नमस्ते दुनिया", 8),
    "Hangul": ("\u1112\u1161\u11ab\u1100\u1173\u11af", 4),
    "family": ("\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", 2),
    "flag": ("\U0001f1e9\U0001f1ea", 2),
    "rainbow": ("\U0001f3f3\ufe0f\u200d\U0001f308", 2),
    "skin": ("\U0001f44d\U0001f3fd", 2),
    "heart": ("\u2764\ufe0f", 2),
    "no width": ("a\u200bb\u200cc\u2060d\ufeff", 4),
}
"""Texts of scripts that terminals draw in fewer or more columns than they have characters."""


@pytest.mark.parametrize(("text", "columns"), SCRIPTS.values(), ids=SCRIPTS)
def test_a_text_takes_the_columns_that_it_is_drawn_in(text: str, columns: int) -> None:
    """Marks and signs of no width take none, what is joined takes what it is drawn as."""
    assert cell_width(text) == columns
    assert line(text, columns) == text
    cut = truncate(text * 3, columns * 2)
    assert cut.endswith("…")
    assert columns < cell_width(cut) <= columns * 2


def test_columns_stand_below_each_other() -> None:
    """In a table of names of all scripts the second column begins at the same place."""
    rows = [(text, "|") for text, _ in SCRIPTS.values()]
    told = render_table(("file", ""), rows).splitlines()

    assert [one.removesuffix("|").rstrip() for one in told[1:]] == [text for text, _ in rows]
    assert {cell_width(one) for one in told[1:]} == {10 + 2 + 1}


def test_names_of_fields_stand_above_each_other() -> None:
    """The values of a record begin in one column, whatever its names are written in."""
    told = [one for (one,) in render_fields({text: 1 for text, _ in SCRIPTS.values()})]

    assert {cell_width(one) for one in told} == {10 + 2 + 1}


def test_no_sign_is_torn() -> None:
    """A text is cut and broken between what is drawn as one, and nothing of it is lost."""
    family, _ = SCRIPTS["family"]
    assert truncate(family * 4, 6) == f"{family * 2}…"
    assert wrap(family * 4, 5) == [family * 2] * 2
    assert "".join(wrap("कि" * 50, 9)) == "कि" * 50
    assert all(cell_width(one) <= 9 for one in wrap("कि" * 50, 9))


def test_what_takes_no_columns_has_an_end() -> None:
    """A name of marks alone is cut, too, though it fits into one column for ever."""
    assert len(line("e" + "\u0301" * 10_000, 10)) <= 81
    assert len(line("a" + "\u200da" * 10_000, 10)) <= 81
    assert "".join(wrap("e" + "\u0301" * 1000, 10)) == "e" + "\u0301" * 1000


def test_no_library_is_loaded_for_what_is_plain() -> None:
    """What scripts poll prints tables of ASCII: neither Rich nor prompt_toolkit is imported."""
    code = (
        "import sys, kbd.cli.command, kbd.cli.status\n"
        "from kbd.cli.terminal import render_table, wrap\n"
        "print(render_table(('a', 'b'), [('name' * 30, 'x')]), wrap('plain words', 5))\n"
        "sys.exit(bool({'rich', 'prompt_toolkit', 'wcwidth'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_markup_of_libraries_is_text() -> None:
    """What Rich would take for a style or an emoji, and prompt_toolkit for a tag, is shown."""
    name = "[bold red]a[/] :smile: <b>未</b>"
    assert render_table(("file",), [(name,)]) == f"file\n{name}"


def test_a_text_is_wrapped() -> None:
    """Wide characters take two columns; broken lines stay set in, and nothing is lost."""
    assert truncate("報告書", 5) == "報告…"
    assert truncate("plain", 5) == "plain"
    assert truncate("a\tb\n c", 9) == "a b  c"
    assert truncate("plain", 0) == ""
    assert wrap("    one two three four", 14) == ["    one two", "    three four"]
    assert wrap("a\tb\x1b[31mc", 20) == ["a   bc"]
    assert "".join(wrap("報" * 50, 9)) == "報" * 50
    assert all(cell_width(one) <= 9 for one in wrap("報" * 50, 9))


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
