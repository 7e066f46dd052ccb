"""The tool that reads text in pictures: with a program for tests, and with Tesseract."""

import io
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from kbd.errors import FileReadFailed, ToolTimeout, ToolWorkerUnavailable, ValidationFailed
from kbd.testing.tools import Workbench, check_tool
from kbd.tools import Tool
from kbd_image import ImageFormat
from kbd_ocr import kbd_register_tools
from kbd_text import TextFormat

pytestmark = pytest.mark.anyio

TESSERACT = shutil.which("tesseract")


WORDS = (("Total", 96.0, 100), ("458-7890", 90.0, 200), ("EUR", 40.0, 330), ("12", 70.0, 430))
"""What the program for tests reads first, with its confidence and its place."""

FAKE = """#!/bin/sh
case "$*" in
  --version) echo "tesseract 9.9"; exit 0 ;;
  --list-langs) printf 'List:\\neng\\nosd\\nfra\\n'; exit 0 ;;
esac
cat > /dev/null
{act}
count=$(cat {folder}/count 2>/dev/null || echo 1)
echo $((count + 1)) > {folder}/count
cat {folder}/table$count
"""


def table(words: tuple[tuple[str, float, int], ...], scale: float) -> str:
    """A table of words in one line as Tesseract prints it."""
    head = "level\tpage\tblock\tpar\tline\tword\tleft\ttop\twidth\theight\tconf\ttext\n"
    rows = [
        f"5\t1\t1\t1\t1\t{n}\t{round(left * scale)}\t{round(50 * scale)}\t{round(80 * scale)}"
        f"\t{round(20 * scale)}\t{sure}\t{text}"
        for n, (text, sure, left) in enumerate(words, 1)
    ]
    return head + "\n".join(["1\t1\t0\t0\t0\t0\t0\t0\t2000\t1000\t-1\t", *rows, ""])


def fake(folder: Path, second: tuple[tuple[str, float, int], ...], act: str = "") -> str:
    """A program that reads `WORDS`, and `second` in the smaller picture; `act` comes first."""
    (folder / "table1").write_text(table(WORDS, 1))
    (folder / "table2").write_text(table(second, 0.8))
    path = folder / "fake"
    path.write_text(FAKE.format(folder=folder, act=act))
    path.chmod(0o700)
    return str(path)


def picture(lines: list[str], size: int = 28, width: int = 900) -> bytes:
    """A picture of lines of text."""
    drawn = Image.new("RGB", (width, (2 * size) * (len(lines) + 1)), "white")
    font, pen = ImageFont.load_default(size), ImageDraw.Draw(drawn)
    for number, line in enumerate(lines):
        pen.text((size, size + 2 * size * number), line, "black", font)
    buffer = io.BytesIO()
    drawn.save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """A workbench with a picture of 1,000 by 500 pixels and a text."""
    made = Workbench(tmp_path / "bench", [ImageFormat(), TextFormat()])
    buffer = io.BytesIO()
    Image.new("RGB", (1000, 500), "white").save(buffer, "PNG")
    made.add("a.png", buffer.getvalue())
    made.add("n.txt", "text")
    return made


def tool_of(bench: Workbench) -> Tool:
    """The tool."""
    (tool,) = kbd_register_tools(bench.formats)
    return tool


def test_the_tool_keeps_to_what_tools_promise(bench: Workbench) -> None:
    """It names its program, and the formats that are looked at."""
    tool = tool_of(bench)
    check_tool(tool)

    assert (tool.name, tool.program) == ("recognize_text", "tesseract")
    assert "image" in tool.description


async def test_a_figure_that_two_readings_do_not_agree_on_is_named(
    bench: Workbench, tmp_path: Path
) -> None:
    """With what the other one has, however sure the first is; and words that are not sure."""
    second = (WORDS[0], ("456-7890", 95.0, 200), WORDS[2], WORDS[3])
    bench.program = fake(tmp_path, second)
    done = await bench.call(tool_of(bench), path="a.png")

    (page,) = done.value["pages"]
    assert (page["page"], page["width"], page["height"]) == (1, 1000, 500)
    (line,) = page["lines"]
    assert (line["text"], line["confidence"]) == ("Total 458-7890 EUR 12", 74)
    # The picture was enlarged twofold, and the box is in its own pixels.
    assert line["box"] == [50.0, 25.0, 255.0, 35.0]
    assert line["uncertain"] == [
        {"word": "458-7890", "confidence": 90, "or": "456-7890"},
        {"word": "EUR", "confidence": 40},
        {"word": "12", "confidence": 70},
    ]
    assert any("458-7890 (90 %, or 456-7890)" in each for each in done.value["warnings"])
    assert (done.value["unit"], done.value["read_by"]) == ("px", "tesseract 9.9")
    assert done.told == (
        "a.png, page 1: the text was recognized from a picture; 3 of 4 words are uncertain.",
    )


async def test_a_word_that_a_reading_divides_is_the_same(bench: Workbench, tmp_path: Path) -> None:
    """What matters is what stands there, not where a blank was seen."""
    second = (WORDS[0], ("458-", 95.0, 200), ("7890", 95.0, 240), *WORDS[2:])
    bench.program = fake(tmp_path, second)
    done = await bench.call(tool_of(bench), path="a.png")

    named = [each["word"] for each in done.value["pages"][0]["lines"][0]["uncertain"]]
    assert named == ["EUR", "12"]


@pytest.mark.parametrize(
    "second",
    [
        (("468,462.00", 95.0, 200),),
        (("468,", 95.0, 200), ("462.00", 95.0, 300)),
    ],
)
async def test_a_divided_figure_is_named(
    bench: Workbench, tmp_path: Path, second: tuple[tuple[str, float, int], ...]
) -> None:
    """Both its parts, with the whole: where the other reading has it, and where neither has."""
    bench.program = fake(tmp_path, second)
    parts = (("468,", 95.0, 200), ("462.00", 95.0, 300))
    (tmp_path / "table1").write_text(table(parts, 1))
    if len(second) == 1:
        wide = table(second, 0.8).replace("\t64\t16\t", "\t150\t16\t")
        (tmp_path / "table2").write_text(wide)
    done = await bench.call(tool_of(bench), path="a.png")

    named = done.value["pages"][0]["lines"][0]["uncertain"]
    assert [each["word"] for each in named] == ["468,", "462.00"]
    assert {each["or"] for each in named} == {"468,462.00"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"path": "n.txt"}, "n.txt cannot be looked at"),
        ({"path": "a.png", "pages": "2"}, "a.png has one frame"),
        ({"path": "a.png", "pages": "1-2"}, "2 is not one of them"),
        ({"path": "a.png", "pages": "x"}, "2,7-9"),
        ({"path": "a.png", "language": "deu+eng"}, "'deu' is not installed; there are: eng, fra"),
        ({"path": "a.png", "language": "../eng"}, "language"),
    ],
)
async def test_what_cannot_be_is_refused(
    bench: Workbench, tmp_path: Path, arguments: dict[str, Any], told: str
) -> None:
    """By an error that says what there is."""
    bench.program = fake(tmp_path, WORDS)
    with pytest.raises(ValidationFailed, match=told.replace("+", r"\+")):
        await bench.call(tool_of(bench), **arguments)


async def test_without_the_program_it_is_refused(bench: Workbench) -> None:
    """By the code of what is not installed."""
    with pytest.raises(ToolWorkerUnavailable):
        await bench.call(tool_of(bench), path="a.png")


@pytest.mark.parametrize(
    ("act", "kind", "told"),
    [
        ("kill -SEGV $$", FileReadFailed, "could not read the picture"),
        ("exit 3", FileReadFailed, "status 3"),
        ("kill -KILL $$", ToolTimeout, "time or memory"),
    ],
)
async def test_a_program_that_fails_is_told(
    bench: Workbench, tmp_path: Path, act: str, kind: type[Exception], told: str
) -> None:
    """By a typed error, never a part of a reading."""
    bench.program = fake(tmp_path, WORDS, act)
    with pytest.raises(kind, match=told):
        await bench.call(tool_of(bench), path="a.png")


@pytest.mark.tesseract
@pytest.mark.full
async def test_a_picture_is_read(bench: Workbench) -> None:
    """Its lines at their places, the same each time; one without text says so."""
    bench.program = TESSERACT
    bench.add("b.png", picture(["Invoice number 4711", "Total 1,234.50"]))
    done = await bench.call(tool_of(bench), path="b.png")
    again = await bench.call(tool_of(bench), path="b.png")
    blank = await bench.call(tool_of(bench), path="a.png")

    (page,) = done.value["pages"]
    assert [line["text"] for line in page["lines"]] == ["Invoice number 4711", "Total 1,234.50"]
    first, second = (line["box"] for line in page["lines"])
    assert 20 < first[0] < first[2] < 900
    assert 20 < first[1] < first[3] <= second[1]
    assert again.value == done.value
    assert blank.value["pages"][0]["lines"] == []
    assert "No text was found on page 1." in blank.value["warnings"]


@pytest.mark.tesseract
@pytest.mark.full
@pytest.mark.parametrize("size", [12, 16, 28])
async def test_no_figure_is_wrong_without_a_word(bench: Workbench, size: int) -> None:
    """Of pages of figures in letters of a screen and larger: each wrong one is named as uncertain.

    And few are missing: it is of use.
    """
    chance = random.Random(size)
    rows = [
        "  ".join(f"{chance.randrange(1, 10**6):,}.{chance.randrange(100):02}" for _ in range(3))
        for _ in range(12)
    ]
    bench.program = TESSERACT
    bench.add("b.png", picture(rows, size, 30 * size))
    done = await bench.call(tool_of(bench), path="b.png")
    lines = done.value["pages"][0]["lines"]
    found = Counter(word for line in lines for word in line["text"].split())
    named = Counter(each["word"] for line in lines for each in line.get("uncertain", ()))
    truth = Counter(" ".join(rows).split())

    right = (found & truth).total() / truth.total()
    silent = (found - truth) - named
    print(f"size {size}: {right:.3f} of figures right, {named.total()} named, {silent} silent")
    assert not silent
    assert right >= (0.9 if size > 12 else 0.5)


@pytest.mark.tesseract
@pytest.mark.corpora
@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("officebench__John_card.jpg", ["(123)", "456-7890", "1234"]),
        (
            "officebench__car_trading.png",
            ["2024-03-18", "2024-04-16", "$15,000", "$12,500", "$20,000", "$52,000", "$62,500",
             "$120,000"],
        ),
    ],
)  # fmt: skip
async def test_pictures_of_offices_are_read(
    bench: Workbench, corpora: Path, name: str, figures: list[str]
) -> None:
    """Each figure that a person sees in them is there."""
    bench.program = TESSERACT
    bench.add(name, (corpora / "image" / name).read_bytes())
    done = await bench.call(tool_of(bench), path=name)

    words = " ".join(line["text"] for line in done.value["pages"][0]["lines"]).split()
    assert [figure for figure in figures if figure not in words] == []
