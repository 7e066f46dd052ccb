"""The grammar of a plan: what a model writes, what people read in plan.md, what may be added.

A plan is a checklist, one line an item (contract, section 6):

    - [ ] 1. Entity: Transport — Create the sheet "Transport"      open
    - [x] 2. …                                                     done
    - [!] 3. … [Failed: reason]                                    failed for good

An item's identity is its place, from 1; the number on the line is decoration. A model's text is
parsed once, when it is recorded; plan.md is a rendering (`kbd.core.state.readable`) and is never
read back, so a line of a model that is ticked already is still work to do. Lines are parsed by
hand: a pattern with nested repeats can be made to hang.
"""

from collections.abc import Iterator, Sequence

import msgspec

from kbd.errors import ValidationFailed

__all__ = [
    "MAX_ITEMS",
    "MAX_ITEM_CHARS",
    "Admitted",
    "PlanText",
    "additions",
    "admit",
    "parse",
]

MAX_ITEMS = 200
"""More than a person would review; a plan beyond it is a fault of the model."""

MAX_ITEM_CHARS = 500
"""An item is one line that says what to do; details belong into the notes."""

MAX_SECTION_CHARS = 20_000
"""The longest Task or Notes; the notes are in every item's context."""


class PlanText(msgspec.Struct, frozen=True):
    """A model's plan as parsed: its task, its items in order, its notes."""

    task: str
    items: tuple[str, ...]
    notes: str = ""


class Admitted(msgspec.Struct, frozen=True):
    """What becomes of the items that a model wants to add."""

    added: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    reason: str = ""


class _Checkbox(msgspec.Struct, frozen=True):
    mark: str
    text: str


def parse(text: str) -> PlanText:
    """Read a model's plan.

    Item lines count wherever they stand. Lines below an item that are none themselves are kept as
    notes that name it, for they are what the model knew about that item.

    Raises:
        ValidationFailed: It has no item, more than 200, or one longer than 500 characters.
    """
    sections: dict[str, list[str]] = {"task": [], "notes": []}
    items: list[str] = []
    section = ""
    for line in _lines(text):
        box = _checkbox(line)
        if box is not None:
            items.append(box.text)
            section = "items"
        elif line.lstrip().startswith("#"):
            section = line.strip().strip("#:").strip().casefold()
        elif section in sections:
            sections[section].append(line.rstrip())
        elif section == "items" and items and line.strip():
            sections["notes"].append(f"- Item {len(items)}: {line.strip().lstrip('-* ')}")
    _check(items)
    task, notes = ("\n".join(sections[name]).strip() for name in ("task", "notes"))
    return PlanText(task[:MAX_SECTION_CHARS], tuple(items), notes[:MAX_SECTION_CHARS])


def additions(text: str, existing: Sequence[str]) -> tuple[str, ...]:
    """Find the items that an item's final text asks to add: unchecked numbered lines.

    Ticked lines and bullets without a number are no items. A line that says what an item of the
    plan says already is the model quoting its plan, not an addition.
    """
    known = {_folded(item) for item in existing}
    found: list[str] = []
    for line in _lines(text):
        box = _checkbox(line)
        if box is None or box.mark != " " or _folded(box.text) in known:
            continue
        known.add(_folded(box.text))
        found.append(box.text)
    return tuple(found)


def admit(wanted: Sequence[str], count: int, original_count: int, factor: int = 2) -> Admitted:
    """Decide which additions fit: at most twice the original count in all (contract, section 6).

    Args:
        wanted: The additions, in order.
        count: How many items the plan has now.
        original_count: How many it had at first.
        factor: How many times that it may have in all.
    """
    cap = min(factor * original_count, MAX_ITEMS)
    fitting = [item for item in wanted if len(item) <= MAX_ITEM_CHARS]
    added = tuple(fitting[: max(cap - count, 0)])
    refused = tuple(item[:MAX_ITEM_CHARS] for item in wanted if item not in added)[:MAX_ITEMS]
    if not refused:
        return Admitted(added)
    reason = f"a plan may grow to {cap} items of at most {MAX_ITEM_CHARS} characters"
    return Admitted(added, refused, reason)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines without the fences that models like to put around a document."""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line.lstrip().startswith("```"):
            yield line


def _checkbox(line: str) -> _Checkbox | None:
    """Read one line as an item in linear time, or return None."""
    rest = line.strip()
    if rest[:1] not in ("-", "*"):
        return None
    rest = rest[1:].lstrip()
    if len(rest) < 3 or rest[0] != "[" or rest[2] != "]" or rest[1] not in " xX!":
        return None
    mark, rest = rest[1].lower(), rest[3:].lstrip()
    digits = len(rest) - len(rest.lstrip("0123456789"))
    if digits == 0 or rest[digits : digits + 1] not in (".", ")"):
        return None
    text = _visible(rest[digits + 1 :])
    return _Checkbox(mark, text) if text else None


def _visible(text: str) -> str:
    """Leave out characters that hide or reorder text: controls, zero widths, direction marks."""
    shown = (char if char.isprintable() else " " if char.isspace() else "" for char in text)
    return "".join(shown).strip()


def _folded(item: str) -> str:
    return " ".join(item.split()).casefold()


def _check(items: Sequence[str]) -> None:
    if not items:
        raise ValidationFailed("the plan has no item; an item is a line `- [ ] 1. what to do`")
    if len(items) > MAX_ITEMS:
        raise ValidationFailed(f"the plan has {len(items)} items; at most {MAX_ITEMS} are allowed")
    for place, item in enumerate(items, 1):
        if len(item) > MAX_ITEM_CHARS:
            raise ValidationFailed(
                f"item {place} has {len(item)} characters; at most {MAX_ITEM_CHARS} are allowed,"
                " details belong under ## Notes"
            )
