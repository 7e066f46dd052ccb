"""What is tried on one real document or deck: an edit, and the judge's word on it.

Every function here takes one file and is run in a child. What is edited is chosen from what the
judge reads, never from what kbd reads.
"""

import random
import re
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union

import docx
import msgspec
import pptx

from fidelity_figures import Outcome, Verdict
from judging.package import Parts
from kbd.errors import KbdError
from kbd.formats import Source
from kbd_docx import DocxFormat
from kbd_pptx import PptxFormat
from office_judge import Appended, Edit, Replaced, Retitled, compare
from office_judge.places import is_deck, paragraph_places, slides, title_shape
from office_judge.spelling import spelling

__all__ = [
    "APPENDED",
    "BY",
    "TITLE",
    "Meant",
    "Way",
    "edited",
    "meant",
    "written",
]

Way = Literal["append", "replace", "retitle"]
Editor = Literal["kbd", "library"]

APPENDED = "Appended by a test: größer & <better>, “quoted”."
TITLE = "A title by a test: größer & <better>"
BY = "Ersatzwort"
_WORD = re.compile(r"[^\W\d_]{3,}")


class Meant(NamedTuple):
    """An edit that fits a file: what the judge is told, kbd's operation, and the library's way."""

    edit: Edit
    operation: dict[str, Any]
    by_library: Callable[[Path, Path], None]


def meant(path: Path, way: Way) -> Meant | None:
    """Choose an edit by the file's name; None if there is no place for it.

    Raises:
        Exception: The file is none that the judge can read.
    """
    parts = Parts(path)
    try:
        match way:
            case "append":
                operation = {"op": "append_paragraph", "text": APPENDED}
                return Meant(Appended(APPENDED), operation, _append)
            case "replace":
                return _replacement(parts, path.name)
            case "retitle":
                names = slides(parts)
                titled = [
                    index for index, name in enumerate(names)
                    if name and title_shape(parts.root(name)) is not None
                ]  # fmt: skip
                return _retitling(titled[0]) if titled else _replacement(parts, path.name)
    finally:
        parts.close()


def _append(path: Path, target: Path) -> None:
    document = docx.Document(str(path))
    document.add_paragraph(APPENDED)
    document.save(str(target))


def _retitling(index: int) -> Meant:
    def by_library(path: Path, target: Path) -> None:
        deck = pptx.Presentation(str(path))
        deck.slides[index].shapes.title.text_frame.text = TITLE
        deck.save(str(target))

    operation = {"op": "set_slide_text", "index": index, "title": TITLE}
    return Meant(Retitled(index, TITLE), operation, by_library)


def _replacement(parts: Parts, seed: str) -> Meant | None:
    texts = [spelling(paragraph).text for _, _, paragraph in paragraph_places(parts)]
    words = sorted({word for text in texts for word in _WORD.findall(text)})
    if not words:
        return None
    word = random.Random(seed).choice(words)
    is_slides = is_deck(parts)

    def by_library(path: Path, target: Path) -> None:
        package = pptx.Presentation(str(path)) if is_slides else docx.Document(str(path))
        runs = _deck_runs(package) if is_slides else _document_runs(package)
        for run in runs:
            if word in run.text:
                run.text = run.text.replace(word, BY)
        package.save(str(target))

    operation = {"op": "replace_text", "search": word, "replace": BY, "match_case": True}
    return Meant(Replaced(word, BY), operation, by_library)


def _document_runs(document: Any) -> list[Any]:
    return [run for paragraph in document.paragraphs for run in paragraph.runs]


def _deck_runs(deck: Any) -> list[Any]:
    frames = [s.text_frame for slide in deck.slides for s in slide.shapes if s.has_text_frame]
    return [run for frame in frames for paragraph in frame.paragraphs for run in paragraph.runs]


def written(path: Path, operation: dict[str, Any], target: Path) -> tuple[str, ...]:
    """Carry out an operation by kbd; return what it says that changed. Raises KbdError."""
    format_: Any = PptxFormat() if path.suffix.lower()[:3] in (".po", ".pp") else DocxFormat()
    vocabulary = Union[format_.operations]  # noqa: UP007
    found = tuple(msgspec.convert([operation], list[vocabulary]))
    changed: tuple[str, ...] = format_.apply(Source(path, path.name), found, target).changed
    return changed


def edited(task: tuple[Path, Way, Editor]) -> Verdict:
    """Make an edit and judge it."""
    path, way, editor = task
    try:
        plan = meant(path, way)
    except Exception:  # noqa: BLE001 - damaged in any way
        return Verdict("unparseable")
    if plan is None:
        return Verdict("no such place")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"after{path.suffix}"
        changed: tuple[str, ...] = ()
        started = time.process_time()
        try:
            if editor == "kbd":
                changed = written(path, plan.operation, target)
            else:
                _quietly(plan.by_library, path, target)
        except KbdError as error:
            return Verdict("refused", (f"{error.code}: {error}"[:300],))
        except Exception as error:
            if editor == "kbd":
                raise
            return Verdict("refused", (f"{type(error).__name__}: {error}"[:100],))
        cpu_s = time.process_time() - started
        if editor == "kbd":
            _reopened(path, target)
        return _judged(path, target, plan.edit, changed, cpu_s)


def _reopened(path: Path, target: Path) -> None:
    """Check that the plain library opens what it opened before."""
    try:
        _opened(path)
    except Exception:  # noqa: BLE001 - it raises anything on what it does not know
        return
    _opened(target)


def _opened(path: Path) -> object:
    if path.suffix.lower()[:3] in (".po", ".pp"):
        return [list(slide.shapes) for slide in pptx.Presentation(str(path)).slides]
    return docx.Document(str(path)).paragraphs


def _quietly(work: Callable[[Path, Path], None], path: Path, target: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        work(path, target)


def _judged(
    path: Path, target: Path, edit: Edit, changed: tuple[str, ...], cpu_s: float
) -> Verdict:
    # The properties of a deck list the titles of its slides: a new title is there, too.
    follows = re.compile(r"docprops/app\.xml(: Properties/TitlesOfParts|$)", re.IGNORECASE)
    found = [
        each
        for each in compare(path, target, edit)
        if not (isinstance(edit, Retitled) and follows.match(each.place))
    ]
    material = [difference for difference in found if difference.material]
    details = [difference.told for difference in material[:5]]
    if isinstance(edit, Replaced) and changed:
        told = sum(int(number) for number in re.findall(r"(\d+) replacement", changed[0]))
        if told != edit.count and not material:
            details.append(f"{told} replacements are told, {edit.count} were to be made")
    outcome: Outcome = "loss" if details else "exact"
    if any(difference.kind == "fault" for difference in material):
        outcome = "corrupt"
    minor = {difference.kind for difference in found if not difference.material}
    return Verdict(outcome, tuple(details), tuple(sorted(minor)), cpu_s)
