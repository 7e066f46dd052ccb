"""Tool that reads the text of pictures and scanned pages: `recognize_text`."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import ChunkInfo, Preview, Previewable, Printable
from kbd.formats.page_numbers import format_page_numbers, parse_page_numbers
from kbd.tools import CallLimits, FileRef, FormatCatalog, Tool, ToolContext, ToolResult
from kbd.types import Effect
from kbd_ocr.recognition import RecognizedLine, RecognizedPage, recognize

__all__ = ["RecognizeArguments", "RecognizeText"]

MAX_PAGES = 2
"""Pages of one call: a full one takes 4 s, a dense one three times that, and a call may take 30."""

EDGE_PX = 4096
"""As large as pages are drawn: the letters of an A4 page have 350 dots an inch."""

MAX_NAMED = 20
"""Uncertain words that a warning names; all are beside their lines."""

_RECOGNIZED = (
    "The text is recognized from pictures: letters and digits may be wrong, and what is not "
    "recognized is missing."
)

_POINT = "pt"
_PIXEL = "px"

Place = Annotated[str | None, Meta(description="Which pages or frames, from 1: 1-3 or 2,7-9.")]
Language = Annotated[
    Annotated[str, Meta(pattern=r"^[A-Za-z0-9_]{2,40}(\+[A-Za-z0-9_]{2,40}){0,4}$")] | None,
    Meta(description="Such as eng or deu+eng; English if it is left out."),
]


class RecognizeArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file, which of its pages, and what language they are in."""

    path: Annotated[str, Meta(description="The file's name in the workbench.")]
    pages: Place = None
    language: Language = None


class RecognizeText(Tool):
    """`recognize_text`: the text that pictures and scanned pages show.

    Args:
        formats: The installed formats; the description names those that are shown as pictures.
    """

    name: ClassVar[str] = "recognize_text"
    arguments = RecognizeArguments
    effect: ClassVar[Effect] = Effect.READ
    limits: ClassVar[CallLimits] = CallLimits(cpu_s=25, wall_s=28.0)
    preload: ClassVar[tuple[str, ...]] = ("kbd_ocr.recognition",)
    program: ClassVar[str] = "tesseract"
    wire_method: ClassVar[str] = "OcrRecognizeText"

    def __init__(self, formats: FormatCatalog) -> None:
        shown = ", ".join(each.name for each in formats.handlers() if isinstance(each, Previewable))
        self.description = (
            "Recognize the text of a picture or of scanned pages, which have no text: lines "
            f"with their boxes, up to {MAX_PAGES} pages a call; chunk_info says "
            "whether there is more. Words may be read wrong: check those under `uncertain`, above "
            "all figures, and tell the user that they come from a picture. Nothing is changed. "
            f"Formats: {shown}."
        )

    async def run(self, context: ToolContext, arguments: RecognizeArguments) -> ToolResult:
        """Return `{path, read_by, language, unit, pages, warnings, chunk_info?}`.

        Raises:
            ValidationFailed: The file is not shown as a picture, or there is no such page or
                language.
            NotFound: There is no such file.
            FileReadFailed: It cannot be read.
            ToolWorkerUnavailable: Tesseract is not installed.
        """
        file = context.files.get(arguments.path)
        handler = context.formats.for_name(file.name)
        if not isinstance(handler, Previewable | Printable):
            reason = context.files.describe(file).get("reason", "its format is not drawn")
            raise ValidationFailed(f"{file.name} cannot be looked at: {reason}")
        told = arguments.pages
        wanted = None if told is None else sorted(parse_page_numbers(told, None, file.name))
        drawn = wanted[0] if wanted else 1
        first = await context.formats.preview(file, drawn - 1, EDGE_PX)
        if wanted and wanted[-1] > first.count:
            raise ValidationFailed(
                f"{file.name} has {first.count} pages; {wanted[-1]} is not one of them"
            )
        whole = wanted or list(range(1, first.count + 1))
        taken = whole[:MAX_PAGES]
        read = [
            (number, await _read(context, file, number, arguments.language, first, drawn))
            for number in taken
        ]
        unit = _POINT if handler.preview_unit else _PIXEL
        return _result(file, unit, read, _chunk_info(taken, whole, first.count))


ReadPage = tuple[Preview, RecognizedPage]


async def _read(
    context: ToolContext,
    file: FileRef,
    number: int,
    language: str | None,
    first: Preview,
    first_number: int,
) -> ReadPage:
    """Return a page as it was drawn, and what was read in it; the first one is drawn already."""
    drawn = first
    if number != first_number:
        drawn = await context.formats.preview(file, number - 1, EDGE_PX)
    arguments = {"picture": drawn.data, "language": language}
    found = await context.isolate(recognize, arguments, with_program=True)
    try:
        return drawn, msgspec.convert(found, RecognizedPage)
    except msgspec.ValidationError as fault:
        msg = f"recognition of {file.name} answered something ill-formed: {fault}"
        raise FileReadFailed(msg) from None


def _chunk_info(taken: list[int], whole: list[int], count: int) -> ChunkInfo | None:
    """Return which part of all pages was read; None if it is all."""
    if taken == list(range(1, count + 1)):
        return None
    total = -(-len(whole) // MAX_PAGES)
    return ChunkInfo(0, total, len(taken) < len(whole), format_page_numbers(taken))


def _result(
    file: FileRef, unit: str, read: list[tuple[int, ReadPage]], chunk_info: ChunkInfo | None
) -> ToolResult:
    named = [
        f"page {number}: {_told(*word)}"
        for number, (_, page) in read
        for line in page.lines
        for word in line.uncertain
    ]
    words = sum(page.word_count for _, (_, page) in read)
    warnings = [
        _RECOGNIZED,
        *dict.fromkeys(warning for _, (drawn, _) in read for warning in drawn.warnings),
    ]
    if named:
        more = ", …" if len(named) > MAX_NAMED else ""
        shown = ", ".join(named[:MAX_NAMED])
        warnings.append(f"{len(named)} of {words} words are uncertain: {shown}{more}.")
    warnings += [f"No text was found on page {n}." for n, (_, page) in read if not page.lines]
    value: dict[str, Any] = {
        "path": file.name,
        "read_by": read[0][1][1].engine,
        "language": read[0][1][1].language,
        "unit": unit,
        "pages": [_plain_page(number, *each) for number, each in read],
        "warnings": warnings,
    }
    if chunk_info is not None:
        value["chunk_info"] = msgspec.to_builtins(chunk_info)
    pages = ", ".join(str(number) for number, _ in read)
    told = f"{file.name}, page {pages}: the text was recognized from a picture"
    if named:
        told += f"; {len(named)} of {words} words are uncertain"
    return ToolResult(value, told=(f"{told}.",))


def _plain_page(number: int, drawn: Preview, page: RecognizedPage) -> dict[str, Any]:
    width, height = drawn.size or (drawn.width, drawn.height)
    return {
        "page": number,
        "width": _rounded(width),
        "height": _rounded(height),
        "lines": [_plain_line(line, width, height) for line in page.lines],
    }


def _plain_line(line: RecognizedLine, width: float, height: float) -> dict[str, Any]:
    """Return a line as a model is shown it; what is plain is left out."""
    sides = zip(line.box, (width, height) * 2, strict=True)
    value: dict[str, Any] = {
        "text": line.text,
        "box": [_rounded(share * side) for share, side in sides],
        "confidence": line.confidence,
    }
    if line.uncertain:
        value["uncertain"] = [*_plain_words(line)]
    return value


def _plain_words(line: RecognizedLine) -> Iterator[dict[str, Any]]:
    for text, confidence, other in line.uncertain:
        word: dict[str, Any] = {"word": text, "confidence": confidence}
        if other:
            word["or"] = other
        yield word


def _told(text: str, confidence: int, other: str) -> str:
    instead = f", or {other}" if other else ""
    return f"{text} ({confidence} %{instead})"


def _rounded(value: float) -> float:
    return round(value, 1)
