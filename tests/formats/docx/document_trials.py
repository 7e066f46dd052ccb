"""What is tried with one operation on one real document, and all that is found wrong with it.

Run in a child: a document may make a library hang.
"""

import re
import tempfile
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import docx
from lxml import etree

from deleted_texts import left_in_bytes
from document_choices import CHOICES, NEW, Choice, DocumentFacts, W, texts_of
from kbd.errors import FileReadFailed, KbdError, ValidationFailed
from kbd.formats import CompareOptions, Source
from kbd_docx import DocxFormat
from made_documents import edit

__all__ = ["SLOW_S", "DocumentTrial", "tried_document"]

FORMAT = DocxFormat()
SLOW_S = 20
"""How long one call may take on a real document."""


class DocumentTrial(NamedTuple):
    """What came of an operation: applied, refused, none to address, unreadable; and findings."""

    outcome: str
    reason: str = ""
    findings: tuple[str, ...] = ()
    seconds: float = 0
    operation: str = ""


def tried_document(task: tuple[Path, str, Path | None]) -> DocumentTrial:
    """Apply an operation to a copy of a document and look at the result from all sides.

    Args:
        task: The document, the operation's name, and where the result is kept, if so.
    """
    path, op, kept = task
    try:
        FORMAT.map(Source(path, path.name))
        facts = DocumentFacts(path)
    except (KbdError, etree.LxmlError, zipfile.BadZipFile):
        return DocumentTrial("unreadable")
    choice = CHOICES[op].choose(facts)
    if choice is None:
        return DocumentTrial("none")
    operation = {"op": CHOICES[op].op or op, **choice.arguments}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, f"document{path.suffix}")
        copy.write_bytes(path.read_bytes())
        once = copy.with_stem("once")
        started = time.monotonic()
        try:
            applied = edit(copy, operation, to=once)
        except FileReadFailed:
            return DocumentTrial("unreadable")
        except ValidationFailed as error:
            return DocumentTrial("refused", error.message, operation=str(operation)[:300])
        seconds = time.monotonic() - started
        again = copy.with_stem("again")
        edit(copy, operation, to=again)
        findings = [] if again.read_bytes() == once.read_bytes() else ["other bytes again"]
        if seconds > SLOW_S:
            findings.append(f"slow: {seconds:.0f} s")
        findings += _parts(copy, once, op)
        findings += _lost(facts, once, choice)
        findings += _review(copy, once, op, choice)
        # Of a text that was replaced in part the rest is not gone.
        left = left_in_bytes(copy, once, applied.warnings) if op != "replace_text" else []
        findings += [f"left in the bytes: {each}" for each in left[:3]]
        if _opens(copy) and not _opens(once):
            findings.append("python-docx does not open it")
        findings += _on_top(once)
        if kept is not None:
            kept.write_bytes(once.read_bytes())
    return DocumentTrial("applied", "", tuple(findings), seconds, str(operation)[:300])


def _entries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {each.filename: archive.read(each) for each in archive.infolist()}


def _parts(before: Path, after: Path, op: str) -> list[str]:
    """The parts that differ and should not."""
    old, new = _entries(before), _entries(after)
    allowed = rf"(.*document\d*\.xml|\[Content_Types\]\.xml|.*\.rels|{CHOICES[op].parts})"
    different = [name for name in {*old, *new} if old.get(name) != new.get(name)]
    return [f"part {name} differs" for name in different if not re.fullmatch(allowed, name)]


def _marks(root: etree._Element) -> Counter[str]:
    """Ends of ranges that have no other one, and fields that do not end, by what they are."""
    found: Counter[str] = Counter()
    ends: dict[tuple[str, str | None], int] = {}
    depth = 0
    for each in root.iter(f"{W}*"):
        name = etree.QName(each).localname
        kind = re.sub("(Range)?(Start|End)$", "", name)
        if kind != name and kind in ("bookmark", "comment", "perm", "moveFrom", "moveTo"):
            step = 1 if name.endswith("Start") else -1
            key = kind, each.get(f"{W}id")
            ends[key] = ends.get(key, 0) + step
        elif name == "fldChar":
            depth += {"begin": 1, "end": -1}.get(each.get(f"{W}fldCharType", ""), 0)
    for (kind, _), balance in ends.items():
        found[kind] += balance != 0
    found["field"] = abs(depth)
    return found


def _lost(facts: DocumentFacts, after: Path, choice: Choice) -> list[str]:
    """Texts that went or came beside those that should, and ends of ranges without another."""
    there = DocumentFacts(after)
    findings = []
    old, new = texts_of(facts.root), texts_of(there.root)
    if choice.gone is not None:
        gone = old - new - choice.gone
        left = choice.gone & (new - (old - choice.gone)) if choice.gone else Counter()
        came = +Counter({k: v for k, v in (new - old).items() if k not in choice.new})
        findings += [f"lost: {text[:60]!r}" for text in list(gone)[:2]]
        findings += [f"still there: {text[:60]!r}" for text in list(left)[:2]]
        findings += [f"came: {text[:60]!r}" for text in list(came)[:2]]
    more = _marks(there.root) - _marks(facts.root)
    findings += [f"{count} broken {kind}" for kind, count in more.items()]
    findings += _shape(there, facts)
    return findings


def _shape(there: DocumentFacts, before: DocumentFacts) -> list[str]:
    """What no program takes: rows without cells, cells that do not end in a paragraph."""
    bad = Counter[str]()
    for facts, sign in ((there, 1), (before, -1)):
        for cell in facts.root.iter(f"{W}tc"):
            last = [each.tag for each in cell if each.tag in (f"{W}p", f"{W}tbl", f"{W}sdt")]
            bad["cell without a paragraph at its end"] += sign * (not last or last[-1] == f"{W}tbl")
        for row in facts.root.iter(f"{W}tr"):
            bad["row without a cell"] += sign * (next(row.iter(f"{W}tc"), None) is None)
        for index, rows in enumerate(facts.grids):
            for number, row in enumerate(rows):
                for start, _, merge, _ in row:
                    above = rows[number - 1] if number else []
                    alone = not any(each[0] == start and each[2] for each in above)
                    bad[f"merge without a beginning in table {index}"] += sign * (
                        merge == "continue" and alone
                    )
    return [f"{count} {what}" for what, count in bad.items() if count > 0]


def _review(before: Path, after: Path, op: str, choice: Choice) -> list[str]:
    """What the review names and should not, or does not name."""
    found = FORMAT.compare(Source(before, before.name), Source(after, after.name), CompareOptions())
    named = [f"{each.what} {each.kind}" for each in found.changes]
    wrong = [
        f"review names {text} {each.place.title}"
        for text, each in zip(named, found.changes, strict=True)
        if not re.fullmatch(CHOICES[op].named, text)
    ]
    # One paragraph without text in place of another is no change to anybody.
    is_same = _entries(before) == _entries(after)
    is_blank = choice.gone == Counter() and not choice.new and op.startswith(("delete", "set_all"))
    return wrong[:3] if named or is_same or is_blank else ["review names nothing"]


def _opens(path: Path) -> bool:
    """Whether python-docx opens a document and reads its tables."""
    try:
        opened: Any = docx.Document(str(path))
        for table in opened.tables:
            for row in table.rows:
                _ = row.cells
    except Exception:  # noqa: BLE001 - whatever it is, it does not open it
        return False
    return True


def _on_top(once: Path) -> list[str]:
    """Whether another edit goes on top, and nothing but its text is then new."""
    twice = once.with_stem("twice")
    try:
        edit(once, {"op": "append_paragraph", "text": f"{NEW}, on top"}, to=twice)
    except KbdError as error:
        return [f"second edit: {error.message}"]
    old, new = texts_of(DocumentFacts(once).root), texts_of(DocumentFacts(twice).root)
    is_alone = new - old == Counter([f"{NEW}, on top"]) and not old - new
    return [] if is_alone else ["second edit changed more"]
