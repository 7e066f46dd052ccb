"""Outline of a plan and its results in a prompt, within a size. Pure.

The context of an item costs the same in a plan of ten and in one of a thousand: what is near is
shown, what is far is counted, and the counts are kept where the plan is.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kbd.core.domain.run_state import Item, ItemState, Plan, item_label
from kbd.core.domain.state_text import item_line
from kbd.core.domain.workbench_state import DraftFile
from kbd.types import FileName

__all__ = ["MAX_OUTLINE_CHARS", "changes", "outline", "plan_room", "results", "with_failures"]

BEFORE, BEHIND = 10, 20
"""How many items are shown before the one that is worked on, and after it, if there is room."""

MAX_WHOLE_ITEMS = 40
"""A plan of so many items is shown whole, if there is room."""

FAILED_NAMED = 10
"""How many of the failed items are named: the latest ones."""

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


def outline(plan: Plan, place: int, most: int) -> str:
    """Render the plan for the context of one item, in the form of plan.md.

    The items near it stand whole, all others are counted by state, and the failed ones are named.

    Args:
        plan: The plan.
        place: The item that is worked on, from 1.
        most: The most characters. The task has a quarter of them and the items a half at most; the
            notes have what is left.
    """
    head = f"# Execution Plan\n\n## Task\n{_truncate(plan.task, most // 4)}\n\n## Items\n"
    near = _nearby_items(plan.items, place, most // 2)
    lines = list(near.values())
    if len(near) < len(plan.items):
        open_items = len(plan.items) - plan.done - len(plan.failed)
        head += (
            f"{len(plan.items):,} in all: {plan.done:,} done, {len(plan.failed):,} failed,"
            f" {open_items:,} open. Shown are {min(near):,} to {max(near):,}.\n"
        )
        lines += _failed_items(plan, most // 8)
    text = head + "\n" + "\n".join(lines) + "\n"
    notes = _relevant_notes(plan.notes, place, max(0, most - len(text)))
    return f"{text}\n## Notes\n{notes}\n" if notes else text


def results(plan: Plan, room: int) -> dict[str, Any]:
    """Render the results of the items for the summary: failed ones are the first to get room.

    Args:
        plan: The plan.
        room: The room of the plan in characters, of which the items take 2.5 times as much; those
            that do not fit are counted.
    """
    most = int(RESULTS_SHARE * room)
    open_items = len(plan.items) - plan.done - len(plan.failed)
    told: dict[str, Any] = {
        "count": {"done": plan.done, "failed": len(plan.failed), "open": open_items}
    }
    longest = max(SHORTEST_ANSWER, most // max(len(plan.items), 1) - RESULT_FORM)
    shown: dict[int, dict[str, Any]] = {}
    left = most
    for place in _by_weight(plan):
        result = _render_result(place, plan.items[place - 1], longest)
        left -= len(msgspec.json.encode(result))
        if left < 0:
            break
        shown[place] = result
    told["items"] = [shown[place] for place in sorted(shown)]
    if len(shown) < len(plan.items):
        told["not_shown"] = len(plan.items) - len(shown)
    if plan.refused:
        told["refused_additions"] = _fit_texts(plan.refused, MAX_REFUSED_CHARS)
        told["refused_count"] = len(plan.refused)
    return told


def changes(files: Mapping[FileName, DraftFile], room: int) -> dict[str, Any]:
    """Render the changes of a draft for the summary.

    Args:
        files: The draft's files.
        room: The room of the plan in characters, of which the list takes as much; the changes that
            do not fit are counted by kind.
    """
    told: list[dict[str, Any]] = []
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
            told.append(change)
    return {"changes": told} | ({"not_shown": dict(not_shown)} if not_shown else {})


def with_failures(text: str, plan: Plan) -> str:
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


def _mentions(text: str, label: str) -> bool:
    """Return whether a text holds a label as words of its own."""
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
    before, behind = (
        (MAX_WHOLE_ITEMS, MAX_WHOLE_ITEMS) if len(items) <= MAX_WHOLE_ITEMS else (BEFORE, BEHIND)
    )
    places = range(max(1, place - before), min(len(items), place + behind) + 1)
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


def _failed_items(plan: Plan, most: int) -> list[str]:
    """Return the items that failed last, within so many characters."""
    named = [item_line(place, plan.items[place - 1]) for place in plan.failed[-FAILED_NAMED:]]
    named = _fit_texts(named, most)
    if not named:
        return []
    others = len(plan.failed) - len(named)
    told = f" ({others:,} others are not named)" if others else ""
    return [f"\nFailed{told}:\n", *named]


def _relevant_notes(notes: str, place: int, most: int) -> str:
    """Return the notes, or of long ones what names this item and then their beginning."""
    if len(notes) <= most:
        return notes
    mark = f"- Item {place}: "
    own = [line for line in notes.split("\n") if line.startswith(mark)]
    return _truncate("\n".join([*own, notes]), most)


def _fit_texts(texts: Sequence[str], most: int) -> list[str]:
    """Return as many texts as fit, from the last one back, in their order."""
    kept: list[str] = []
    for text in reversed(texts):
        most -= len(text) + 1
        if most < 0:
            break
        kept.append(text)
    return kept[::-1]


def _truncate(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "…"
