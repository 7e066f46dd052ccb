"""Recognition of the text of one picture by Tesseract, in a worker.

A figure that is read wrong looks as sure as one that is right: of a small card (600 pixels) the
phone number came out with one digit changed and a confidence of 90 %. Twice as large it was right.
So small pictures are enlarged, each picture is read at two sizes, and a word with digits that both
readings do not agree on is uncertain, whatever the confidence.
"""

import io
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from PIL import Image

from kbd.errors import FileReadFailed, ToolTimeout, ToolWorkerUnavailable, ValidationFailed

__all__ = ["RecognizedLine", "RecognizedPage", "RecognizedWord", "recognize"]

ENLARGED_PX = 2000
"""The longer edge that smaller pictures are enlarged to, at most threefold: letters of screens have
10 pixels, and the models have been trained on 30."""

MAX_FACTOR = 3.0

SECOND_SIZE = 0.8
"""How large the second reading is, beside the first."""

SURE, SURE_FIGURE = 60.0, 80.0
"""Confidences in percent below which a word, and a word with digits, is uncertain."""

MAX_OUTPUT_BYTES = 32 * 1024 * 1024
"""Of what the program prints; a full page has 100 KB."""

_GROUP_BEFORE = re.compile(r"(?:^|\D)\d{1,3}[.,]$")
_GROUP_AFTER = re.compile(r"\d{3}(?:\D|$)")

_WORD_LEVEL = "5"
_COLUMNS = 12
_SIGXCPU = 24
_SIGKILL = 9

Box = tuple[float, float, float, float]


class RecognizedWord(msgspec.Struct, frozen=True):
    """A word: its text, its box (left, top, right, bottom) in pixels, its confidence in percent."""

    text: str
    box: Box
    confidence: float


class RecognizedLine(msgspec.Struct, frozen=True):
    """A line.

    Args:
        text: Its words.
        box: Left, top, right and bottom, as shares of the picture's width and height.
        confidence: The mean of its words, in percent.
        uncertain: The words that may be wrong, each with its confidence and what a second reading
            had in its place, if that is something else.
    """

    text: str
    box: Box
    confidence: int
    uncertain: tuple[tuple[str, int, str], ...] = ()


class RecognizedPage(msgspec.Struct, frozen=True):
    """What was read in a picture, the program's name and version, how many words there are."""

    engine: str
    language: str
    word_count: int
    lines: tuple[RecognizedLine, ...] = ()


def recognize(program: str, picture: bytes, language: str | None) -> Any:
    """Return the `RecognizedPage` of a picture as plain values.

    Args:
        program: Where Tesseract is.
        picture: A PNG or JPEG.
        language: Such as "eng" or "deu+eng"; None for English, or what there is.

    Raises:
        ValidationFailed: There is no such language; the message lists those that there are.
        FileReadFailed: The program cannot read the picture.
        ToolTimeout: It used up its time or memory.
        ToolWorkerUnavailable: It cannot be started.
    """
    engine = _run(program, ["--version"]).decode("utf-8", "replace").splitlines()
    chosen = _chosen_language(program, language)
    drawn = _plain(picture)
    first = _words(program, drawn, chosen)
    smaller = (max(1, round(drawn.width * SECOND_SIZE)), max(1, round(drawn.height * SECOND_SIZE)))
    again = _words(program, drawn.resize(smaller, Image.Resampling.LANCZOS), chosen)
    others = [
        msgspec.structs.replace(word, box=_scaled(word.box, 1 / SECOND_SIZE))
        for line in again
        for word in line
    ]
    lines = tuple(_line(words, others, drawn.size) for words in first)
    count = sum(len(words) for words in first)
    page = RecognizedPage(engine[0] if engine else "tesseract", chosen, count, lines)
    return msgspec.to_builtins(page)


def _chosen_language(program: str, language: str | None) -> str:
    """Return the language to read; raises ValidationFailed for one that is not installed."""
    listed = _run(program, ["--list-langs"]).decode("utf-8", "replace").splitlines()[1:]
    there = sorted(name for name in map(str.strip, listed) if name and name != "osd")
    if not there:
        msg = "tesseract has no language installed; install one (tesseract-ocr-eng, say)"
        raise ToolWorkerUnavailable(msg, retryable=False)
    if language is None:
        return "eng" if "eng" in there else there[0]
    missing = [name for name in language.split("+") if name not in there]
    if missing:
        msg = (
            f"the language {missing[0][:40]!r} is not installed; there are: {', '.join(there)} "
            "(several at once: deu+eng)"
        )
        raise ValidationFailed(msg)
    return language


def _plain(picture: bytes) -> Image.Image:
    """Return a picture in gray on white, enlarged if it is small."""
    try:
        opened: Image.Image = Image.open(io.BytesIO(picture))
        opened.load()
    except (OSError, ValueError, Image.DecompressionBombError):
        raise FileReadFailed("the page is drawn as something that is no picture") from None
    if opened.mode in ("RGBA", "LA", "PA") or "transparency" in opened.info:
        shown = opened.convert("RGBA")
        ground = Image.new("RGB", shown.size, "white")
        ground.paste(shown, mask=shown.getchannel("A"))
        opened = ground
    gray = opened.convert("L")
    factor = min(MAX_FACTOR, ENLARGED_PX / max(gray.size))
    if factor <= 1:
        return gray
    size = (round(gray.width * factor), round(gray.height * factor))
    return gray.resize(size, Image.Resampling.LANCZOS)


def _words(program: str, picture: Image.Image, language: str) -> list[list[RecognizedWord]]:
    """Return the words of a picture, line by line."""
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", compress_level=1)
    options = ["stdin", "stdout", "-l", language, "--dpi", "300", "-c", "tessedit_create_tsv=1"]
    printed = _run(program, options, buffer.getvalue())
    lines: dict[tuple[str, ...], list[RecognizedWord]] = {}
    for place, word in _rows(printed.decode("utf-8", "replace")):
        lines.setdefault(place, []).append(word)
    return [*lines.values()]


def _rows(table: str) -> Iterator[tuple[tuple[str, ...], RecognizedWord]]:
    """Yield the words of the program's table, each with the numbers of its line."""
    for row in table.split("\n")[1:]:
        fields = row.split("\t")
        if len(fields) != _COLUMNS or fields[0] != _WORD_LEVEL or not fields[-1].strip():
            continue
        left, top, width, height = map(int, fields[6:10])
        box = (float(left), float(top), float(left + width), float(top + height))
        word = RecognizedWord(fields[-1].strip(), box, float(fields[10]))
        yield tuple(fields[1:5]), word


def _line(
    words: Sequence[RecognizedWord], others: Sequence[RecognizedWord], size: tuple[int, int]
) -> RecognizedLine:
    """Return a line; `others` is what the second reading found on the page."""
    left, top = min(word.box[0] for word in words), min(word.box[1] for word in words)
    right, bottom = max(word.box[2] for word in words), max(word.box[3] for word in words)
    width, height = size
    return RecognizedLine(
        text=" ".join(word.text for word in words),
        box=(left / width, top / height, right / width, bottom / height),
        confidence=round(sum(word.confidence for word in words) / len(words)),
        uncertain=tuple(
            (word.text, round(word.confidence), other)
            for place, word in enumerate(words)
            if (other := _doubt(word, others)) is not None
            or (other := _whole_figure(words, place)) is not None
        ),
    )


def _whole_figure(words: Sequence[RecognizedWord], place: int) -> str | None:
    """Return the figure that a word may be a part of, divided behind a thousand; None for none."""
    for first in (place, place - 1):
        if 0 <= first < len(words) - 1:
            before, after = words[first].text, words[first + 1].text
            if _GROUP_BEFORE.search(before) and _GROUP_AFTER.match(after):
                return before + after
    return None


def _doubt(word: RecognizedWord, others: Sequence[RecognizedWord]) -> str | None:
    """Return what a second reading has in the place of an uncertain word; None for a sure one."""
    there = [other for other in others if _overlaps(word.box, other.box)]
    text = " ".join(other.text for other in there)
    # The second may divide a word. Where it has more than the first, that was divided, and a part
    # of a figure is another figure.
    is_agreed = text.replace(" ", "") == word.text or word.text in [each.text for each in there]
    other = "" if is_agreed else text
    has_digits = _has_digit(word.text) or (not is_agreed and _has_digit(text))
    if word.confidence < (SURE_FIGURE if has_digits else SURE) or (has_digits and not is_agreed):
        return other
    return None


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)


def _overlaps(one: Box, other: Box) -> bool:
    """Tell whether half of the smaller box lies in the other."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return False
    return 2 * width * height >= min(_area(one), _area(other))


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _scaled(box: Box, factor: float) -> Box:
    return (box[0] * factor, box[1] * factor, box[2] * factor, box[3] * factor)


def _run(program: str, options: Sequence[str], data: bytes = b"") -> bytes:
    """Run the program and return what it prints; raises as `recognize` does."""
    # One thread: how its sums are divided would decide about the last digit of a confidence.
    environment = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "OMP_THREAD_LIMIT": "1"}
    try:
        done = subprocess.run(
            [program, *options], input=data, capture_output=True, check=False, env=environment
        )
    except OSError as fault:
        msg = f"tesseract cannot be started: {os.strerror(fault.errno or 0)}"
        raise ToolWorkerUnavailable(msg, retryable=False) from None
    if -done.returncode in (_SIGXCPU, _SIGKILL):
        raise ToolTimeout("tesseract used up its time or memory", detail={"limit": "cpu"})
    if done.returncode != 0 or len(done.stdout) > MAX_OUTPUT_BYTES:
        msg = f"tesseract could not read the picture (it ended with status {done.returncode})"
        trace = done.stderr[-2000:].decode("utf-8", "replace")
        raise FileReadFailed(msg, detail={"trace": trace})
    return done.stdout
