"""Plan of a run: the grammar of a model's plan, its amendments, and its outline in prompts. Pure.

A plan is a checklist, one line an item (contract, section 6):

    - [ ] 1. Entity: Transport — Create the sheet "Transport"      open
    - [x] 2. …                                                     done
    - [!] 3. … [Failed: reason]                                    failed for good

An item's identity is its place, from 1; the number on the line is decoration. A model's text is
parsed once, when it is recorded; plan.md is a rendering (`kbd.core.domain.state_text`) and is never
read back, so a line of a model that is ticked already is still work to do. Lines are parsed by
hand: a pattern with nested repeats can be made to hang.

The context of an item costs the same in a plan of ten and in one of a thousand: what is near is
shown, what is far is counted, and the counts are kept where the plan is.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from kbd.core.domain.run_state import Item, ItemState, Plan, Run, item_label
from kbd.core.domain.state_text import item_line
from kbd.core.domain.workbench_state import DraftFile
from kbd.errors import ValidationFailed
from kbd.types import FileName

__all__ = [
    "MAX_ITEM_CHARS",
    "MAX_OUTLINE_CHARS",
    "AdmittedItems",
    "KnownItems",
    "PlanText",
    "admit_additions",
    "append_failures",
    "append_told",
    "find_additions",
    "parse_plan",
    "plan_room",
    "render_changes",
    "render_outline",
    "render_results",
    "told_of",
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


class KnownItems:
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


def parse_plan(text: str, max_items: int) -> PlanText:
    """Parse a model's plan.

    Item lines count wherever they stand. Lines below an item that are none themselves are kept as
    notes that name it, for they are what the model knew about that item.

    Args:
        text: What the model wrote.
        max_items: The most items that it may have.

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
            # Lines below belong to this item until a heading or the next item comes.
            section = "items"
        elif line.lstrip().startswith("#"):
            section = line.strip().strip("#:").strip().casefold()
        elif section in sections:
            sections[section].append(line.rstrip())
        elif section == "items" and items and line.strip():
            sections["notes"].append(f"- Item {len(items)}: {line.strip().lstrip('-* ')}")
    _check_item(items, max_items)
    task, notes = ("\n".join(sections[name]).strip() for name in ("task", "notes"))
    return PlanText(task[:MAX_TASK_CHARS], tuple(items), notes[:MAX_NOTES_CHARS])


def find_additions(text: str, known: KnownItems) -> tuple[str, ...]:
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


def admit_additions(additions: Sequence[str], count: int, cap: int) -> AdmittedItems:
    """Decide which additions fit: at most twice the original count in all (contract, section 6).

    Args:
        additions: The additions, in order.
        count: How many items the plan has now.
        cap: How many it may have in all.
    """
    fitting = [item for item in additions if len(item) <= MAX_ITEM_CHARS]
    added = tuple(fitting[: max(cap - count, 0)])
    accepted = set(added)
    refused = tuple(item[:MAX_ITEM_CHARS] for item in additions if item not in accepted)
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
    # By hand: patterns with nested repeats hang on lines such as `- - - - !` (reliability, F6).
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
    # Nothing in a plan may be hidden from the person who reads it (reliability, F17).
    if not text.isprintable():
        text = "".join(
            char if char.isprintable() else " " if char.isspace() else "" for char in text
        )
    return text.replace("<!--", "<! --")


def _fold_text(item: str) -> str:
    return " ".join(item.split()).casefold()


def _check_item(items: Sequence[str], max_items: int) -> None:
    if not items:
        raise ValidationFailed("the plan has no item; an item is a line `- [ ] 1. what to do`")
    if len(items) > max_items:
        raise ValidationFailed(
            f"the plan has {len(items):,} items; at most {max_items:,} are allowed"
            " (setting run.items): one item may do the same to many rows or files"
        )
    for place, item in enumerate(items, 1):
        if len(item) > MAX_ITEM_CHARS:
            raise ValidationFailed(
                f"item {place} has {len(item)} characters; at most {MAX_ITEM_CHARS} are allowed,"
                " details belong under ## Notes"
            )


BEFORE, AFTER = 10, 20
"""How many items are shown before the one that is worked on, and after it, if there is room."""

MAX_WHOLE_ITEMS = 40
"""A plan of so many items is shown whole, if there is room."""

FAILED_NAMED = 10
"""How many of the failed items are named: the latest ones."""

TOLD_NAMED = 10
"""As many sentences on how tables were read stand below an answer."""

MAX_OUTLINE_CHARS = 24_000
"""The most characters that a plan takes in a context: some 7,000 tokens."""

RESULTS_SHARE = 2.5
"""So many times the room of the plan the final texts of all items take in the summary's context:
60,000 characters at most."""

SHORTEST_ANSWER, RESULT_FORM = 160, 80
"""As much of an item's final text the summary is shown, if it is shown the item at all, and what
its label and its state take beside it."""

MAX_REFUSED_CHARS = 2000
"""The most that the refused additions take in the summary's context."""


def plan_room(context_tokens: int) -> int:
    """Return how many characters a plan may take: about an eighth of a small model's window."""
    return min(MAX_OUTLINE_CHARS, context_tokens * 3 // 8)


def render_outline(plan: Plan, place: int, max_chars: int) -> str:
    """Render the plan for the context of one item, in the form of plan.md.

    The items near it stand whole, all others are counted by state, and the failed ones are named.

    Args:
        plan: The plan.
        place: The item that is worked on, from 1.
        max_chars: The most characters. The task has a quarter of them and the items a half at
            most; the notes have what is left.
    """
    head = f"# Execution Plan\n\n## Task\n{_truncate(plan.task, max_chars // 4)}\n\n## Items\n"
    near = _nearby_items(plan.items, place, max_chars // 2)
    lines = list(near.values())
    if len(near) < len(plan.items):
        open_items = len(plan.items) - plan.done - len(plan.failed)
        head += (
            f"{len(plan.items):,} in all: {plan.done:,} done, {len(plan.failed):,} failed,"
            f" {open_items:,} open. Shown are {min(near):,} to {max(near):,}.\n"
        )
        lines += _failed_items(plan, max_chars // 8)
    text = head + "\n" + "\n".join(lines) + "\n"
    notes = _relevant_notes(plan.notes, place, max(0, max_chars - len(text)))
    return f"{text}\n## Notes\n{notes}\n" if notes else text


def render_results(plan: Plan, room: int) -> dict[str, Any]:
    """Render the results of the items for the summary: failed ones are the first to get room.

    Args:
        plan: The plan.
        room: The room of the plan in characters, of which the items take 2.5 times as much; those
            that do not fit are counted.
    """
    max_chars = int(RESULTS_SHARE * room)
    open_items = len(plan.items) - plan.done - len(plan.failed)
    summary: dict[str, Any] = {
        "count": {"done": plan.done, "failed": len(plan.failed), "open": open_items}
    }
    longest = max(SHORTEST_ANSWER, max_chars // max(len(plan.items), 1) - RESULT_FORM)
    shown: dict[int, dict[str, Any]] = {}
    left = max_chars
    for place in _by_weight(plan):
        result = _render_result(place, plan.items[place - 1], longest)
        left -= len(msgspec.json.encode(result))
        if left < 0:
            break
        shown[place] = result
    summary["items"] = [shown[place] for place in sorted(shown)]
    if len(shown) < len(plan.items):
        summary["not_shown"] = len(plan.items) - len(shown)
    if plan.refused:
        summary["refused_additions"] = _fit_texts(plan.refused, MAX_REFUSED_CHARS)
        summary["refused_count"] = len(plan.refused)
    return summary


def render_changes(
    files: Mapping[FileName, DraftFile],
    room: int,
    contents: Mapping[FileName, dict[str, Any]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Render the changes of a draft for the summary.

    Args:
        files: The draft's files.
        room: The room of the plan in characters, of which the list takes as much; the changes that
            do not fit are counted by kind.
        contents: What changed inside each, as far as it is known; left out where it does not fit.
    """
    rendered: list[dict[str, Any]] = []
    not_shown: Counter[str] = Counter()
    for name, file in sorted(files.items()):
        kind = "added" if file.base is None else "deleted" if file.blob is None else "modified"
        change = {"path": name, "change_type": kind, "size_bytes": file.size_bytes}
        warnings = [*file.warnings, *file.notes]
        change |= {"warnings": warnings} if warnings else {}
        room -= len(msgspec.json.encode(change))
        if room < 0:
            not_shown[kind] += 1
        else:
            rendered.append(change)
    for change in rendered:
        content = contents.get(FileName(str(change["path"])))
        if content is None:
            continue
        room -= len(msgspec.json.encode(content))
        if room < 0:
            break
        change["content"] = content
    return {"changes": rendered} | ({"not_shown": dict(not_shown)} if not_shown else {})


def append_failures(text: str, plan: Plan) -> str:
    """Return a summary with a line for each failed item that it does not name (contract, 6).

    Whatever a model leaves out, a person is told what was not done; the latest ten are named.
    """
    failed = [plan.items[place - 1] for place in plan.failed]
    unnamed = [item for item in failed if not _mentions(text, item_label(item.text))]
    if not unnamed:
        return text
    lines = [f"- {item_label(item.text)}: {item.reason}" for item in unnamed[-FAILED_NAMED:]]
    more = len(unnamed) - len(lines)
    return "\n".join([text, "", "Not done:", *lines, *([f"- and {more:,} more"] if more else [])])


def told_of(run: Run) -> list[str]:
    """Return what an answer tells of how its figures came about.

    Of tables that were only looked at, as candidates, nothing where others were worked with.
    """
    looks = () if run.has_worked else run.told_by_looks
    return [*run.told, *(text for text in looks if text not in run.told)]


def append_told(text: str, told: Sequence[str]) -> str:
    """Return a text with what people must be told of how its figures came about.

    A sentence that stands in it is not said again; the first ten are, and how many more there are.
    """
    unsaid = [each for each in told if each not in text]
    if not unsaid:
        return text
    lines = [f"- {each}" for each in unsaid[:TOLD_NAMED]]
    more = len(unsaid) - len(lines)
    lines += [f"- and {more:,} more"] if more else []
    return "\n".join([text, "", "How the tables were read:", *lines])


def _mentions(text: str, label: str) -> bool:
    """Return whether a text holds a label as words of its own."""
    # Not `\b`, which fails beside a label that begins or ends with a sign.
    return re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text, re.IGNORECASE) is not None


def _by_weight(plan: Plan) -> Iterator[int]:
    """Yield the places of all items: of those that failed or are open first."""
    for is_done in (False, True):
        for place, item in enumerate(plan.items, 1):
            if (item.state is ItemState.DONE) is is_done:
                yield place


def _render_result(place: int, item: Item, longest: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "item": place,
        "label": item_label(item.text),
        "state": item.state.value,
        "text": _truncate(item.answer, longest),
    }
    if item.state is ItemState.FAILED:
        result["reason"] = f"{item.code}: {item.reason}"
    if item.rolled_back:
        result["rolled_back"] = item.rolled_back
    return result


def _nearby_items(items: Sequence[Item], place: int, room: int) -> dict[int, str]:
    """Return the lines of the items around a place that fit, by their places, in order.

    The item itself is always among them. One before it counts as twice as far as one after it.
    """
    before, after = (
        (MAX_WHOLE_ITEMS, MAX_WHOLE_ITEMS) if len(items) <= MAX_WHOLE_ITEMS else (BEFORE, AFTER)
    )
    places = range(max(1, place - before), min(len(items), place + after) + 1)
    lines: dict[int, str] = {}
    for near in sorted(
        places, key=lambda near: near - place if near >= place else 2 * (place - near)
    ):
        line = item_line(near, items[near - 1])
        room -= len(line) + 1
        if room < 0 and lines:
            break
        lines[near] = line
    return dict(sorted(lines.items()))


def _failed_items(plan: Plan, max_chars: int) -> list[str]:
    """Return the items that failed last, within so many characters."""
    named = [item_line(place, plan.items[place - 1]) for place in plan.failed[-FAILED_NAMED:]]
    named = _fit_texts(named, max_chars)
    if not named:
        return []
    others = len(plan.failed) - len(named)
    unnamed_note = f" ({others:,} others are not named)" if others else ""
    return [f"\nFailed{unnamed_note}:\n", *named]


def _relevant_notes(notes: str, place: int, max_chars: int) -> str:
    """Return the notes, or of long ones what names this item and then their beginning."""
    if len(notes) <= max_chars:
        return notes
    mark = f"- Item {place}: "
    own = [line for line in notes.split("\n") if line.startswith(mark)]
    return _truncate("\n".join([*own, notes]), max_chars)


def _fit_texts(texts: Sequence[str], max_chars: int) -> list[str]:
    """Return as many texts as fit, from the last one back, in their order."""
    fitting: list[str] = []
    for text in reversed(texts):
        max_chars -= len(text) + 1
        if max_chars < 0:
            break
        fitting.append(text)
    return fitting[::-1]


def _truncate(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[:max_chars] + "…"
