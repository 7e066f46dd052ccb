"""What a document reaches out to after an edit: by relations, and by fields that fetch."""

from collections.abc import Iterable, Iterator
from functools import partial

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.office import reach
from kbd.opc.package import xml_root
from kbd.opc.rewriter import Rewriting
from kbd.opc.strict import transitional
from kbd_docx.document import W

__all__ = ["SHOWN_CHARACTERS", "field_instructions", "field_text", "reach_after"]

SHOWN_CHARACTERS = 300
"""How much of an address or a field is shown."""


def reach_after(
    package: Rewriting, new: Iterable[str], source: Source | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what an edit made the document reach out to, and what remains of earlier edits'.

    Args:
        package: The document after the edit.
        new: What the edit brought.
        source: What it was made from.
    """
    return reach.reach_after(tuple(new), source, partial(_targets, package))


def _targets(package: Rewriting) -> set[str]:
    targets = set(reach.external_targets(package))
    targets |= {target[:SHOWN_CHARACTERS] for target in targets}
    for part in reach.live_parts(package):
        targets.update(map(field_text, _fields_of(package, part)))
    return targets


def _fields_of(package: Rewriting, part: str) -> list[str]:
    if not part:
        return []
    try:
        data = package.read(part)
        # Most parts hold no field, and are not parsed.
        if b"instr" not in data:
            return []
        return list(field_instructions(xml_root(transitional(data), part)))
    except (FileReadFailed, etree.LxmlError):
        return []  # What no program can read fetches nothing.


def field_text(instruction: str) -> str:
    """Return how a field that fetches is told."""
    return f"field {' '.join(instruction.split())[:SHOWN_CHARACTERS]}"


def field_instructions(root: etree._Element) -> Iterator[str]:
    """Yield the instructions of fields, those spread over several runs joined."""
    # Joined before they are judged: a word that is cut into runs would pass piece by piece.
    open_: list[list[str]] = []
    for each in root.iter(f"{W}fldSimple", f"{W}fldChar", f"{W}instrText"):
        if each.tag == f"{W}fldSimple":
            yield each.get(f"{W}instr", "")
        elif each.tag == f"{W}instrText":
            if open_:
                open_[-1].append(each.text or "")
            else:
                yield each.text or ""
        elif each.get(f"{W}fldCharType") == "begin":
            open_.append([])
        elif each.get(f"{W}fldCharType") == "end" and open_:
            yield "".join(open_.pop())
    for left in open_:
        yield "".join(left)
