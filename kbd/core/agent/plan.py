"""Grammar of a plan: parsing of a model's plan, and the admission of additional items. Pure.

A plan is a checklist, one line an item (contract, section 6):

    - [ ] 1. Entity: Transport — Create the sheet "Transport"      open
    - [x] 2. …                                                     done
    - [!] 3. … [Failed: reason]                                    failed for good

An item's identity is its place, from 1; the number on the line is decoration. A model's text is
parsed once, when it is recorded; plan.md is a rendering (`kbd.core.domain.state_text`) and is never
read back, so a line of a model that is ticked already is still work to do. Lines are parsed by
hand: a pattern with nested repeats can be made to hang.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kbd.errors import ValidationFailed

__all__ = [
    "MAX_ITEM_CHARS",
    "AdmittedItems",
    "Known",
    "PlanText",
    "additions",
    "admit",
    "parse",
]

MAX_ITEM_CHARS = 500
"""An item is one line that says what to do; details belong into the notes."""

MAX_TASK_CHARS = 20_000

MAX_NOTES_CHARS = 100_000
"""The longest notes: some lines for each of a thousand items. A context shows its share of them."""


class PlanText(msgspec.Struct, frozen=True):
    """A model's plan as parsed: its task, its items in order, its notes."""

    task: str
    items: tuple[str, ...]
    notes: str = ""


class AdmittedItems(msgspec.Struct, frozen=True):
    """Decision on the items that a model wants to add."""

    added: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    reason: str = ""


class _Checkbox(msgspec.Struct, frozen=True):
    mark: str
    text: str


class Known:
    """Texts of a plan's items, to tell a model that quotes its plan from one that adds to it.

    Args:
        items: The texts of the items.
    """

    def __init__(self, items: Iterable[str]) -> None:
        self._folded = {_fold_text(item) for item in items}

    def add(self, items: Iterable[str]) -> None:
        """Add items that the plan has beyond those."""
        self._folded.update(_fold_text(item) for item in items)

    def __contains__(self, item: str) -> bool:
        return _fold_text(item) in self._folded


def parse(text: str, most: int) -> PlanText:
    """Parse a model's plan.

    Item lines count wherever they stand. Lines below an item that are none themselves are kept as
    notes that name it, for they are what the model knew about that item.

    Args:
        text: What the model wrote.
        most: The most items that it may have.

    Raises:
        ValidationFailed: It has no item, too many, or one longer than 500 characters.
    """
    sections: dict[str, list[str]] = {"task": [], "notes": []}
    items: list[str] = []
    section = ""
    for line in _visible_lines(text):
        box = _parse_checkbox(line)
        if box is not None:
            items.append(box.text)
            section = "items"
        elif line.lstrip().startswith("#"):
            section = line.strip().strip("#:").strip().casefold()
        elif section in sections:
            sections[section].append(line.rstrip())
        elif section == "items" and items and line.strip():
            sections["notes"].append(f"- Item {len(items)}: {line.strip().lstrip('-* ')}")
    _check_item(items, most)
    task, notes = ("\n".join(sections[name]).strip() for name in ("task", "notes"))
    return PlanText(task[:MAX_TASK_CHARS], tuple(items), notes[:MAX_NOTES_CHARS])


def additions(text: str, known: Known) -> tuple[str, ...]:
    """Find the items that an item's final text asks to add: unchecked numbered lines.

    Ticked lines and bullets without a number are no items. A line that says what an item of the
    plan says already is the model quoting its plan, not an addition.
    """
    found: dict[str, str] = {}
    for line in _visible_lines(text):
        box = _parse_checkbox(line)
        if box is not None and box.mark == " " and box.text not in known:
            found.setdefault(_fold_text(box.text), box.text)
    return tuple(found.values())


def admit(wanted: Sequence[str], count: int, cap: int) -> AdmittedItems:
    """Decide which additions fit: at most twice the original count in all (contract, section 6).

    Args:
        wanted: The additions, in order.
        count: How many items the plan has now.
        cap: How many it may have in all.
    """
    fitting = [item for item in wanted if len(item) <= MAX_ITEM_CHARS]
    added = tuple(fitting[: max(cap - count, 0)])
    taken = set(added)
    refused = tuple(item[:MAX_ITEM_CHARS] for item in wanted if item not in taken)
    if not refused:
        return AdmittedItems(added)
    reason = f"a plan may grow to {cap} items of at most {MAX_ITEM_CHARS} characters"
    return AdmittedItems(added, refused, reason)


def _visible_lines(text: str) -> Iterator[str]:
    """Yield the visible lines, without the fences that models like to put around a document."""
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if not line.lstrip().startswith("```"):
            yield _strip_invisible(line)


def _parse_checkbox(line: str) -> _Checkbox | None:
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
    text = rest[digits + 1 :].strip()
    return _Checkbox(mark, text) if text else None


def _strip_invisible(text: str) -> str:
    """Leave out what hides or reorders text: controls, zero widths, direction and comment marks."""
    if not text.isprintable():
        text = "".join(
            char if char.isprintable() else " " if char.isspace() else "" for char in text
        )
    return text.replace("<!--", "<! --")


def _fold_text(item: str) -> str:
    return " ".join(item.split()).casefold()


def _check_item(items: Sequence[str], most: int) -> None:
    if not items:
        raise ValidationFailed("the plan has no item; an item is a line `- [ ] 1. what to do`")
    if len(items) > most:
        raise ValidationFailed(
            f"the plan has {len(items):,} items; at most {most:,} are allowed (setting run.items):"
            " one item may do the same to many rows or files"
        )
    for place, item in enumerate(items, 1):
        if len(item) > MAX_ITEM_CHARS:
            raise ValidationFailed(
                f"item {place} has {len(item)} characters; at most {MAX_ITEM_CHARS} are allowed,"
                " details belong under ## Notes"
            )
