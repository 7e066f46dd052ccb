"""Plans as models are shown them: what is near whole, what is far counted, never more than fits."""

import msgspec
import pytest

from kbd.core.agent.plan import plan_room, render_changes, render_outline, render_results
from kbd.core.domain.run_state import Item, ItemState, Plan
from kbd.core.domain.workbench_state import DraftFile
from kbd.types import BlobHash, FileName

ROOM = 24_000


def planned(count: int, done: int = 0, failed: tuple[int, ...] = (), **fields: str) -> Plan:
    """A plan whose first items are done, but for those that failed."""
    items = [Item(f"Entity: Thing {n} — do {n} well") for n in range(1, count + 1)]
    for item in items[:done]:
        item.state, item.answer = ItemState.DONE, "done it"
    for place in failed:
        item = items[place - 1]
        item.state, item.code, item.reason = ItemState.FAILED, "TURN_LIMIT", f"why {place}"
    task, notes = fields.get("task", "the task"), fields.get("notes", "the notes")
    return Plan(task, notes, items, count, done=done - len(failed), failed=list(failed))


def test_a_short_plan_is_shown_whole() -> None:
    """Every item with its mark, the task and the notes."""
    text = render_outline(planned(3, done=2, failed=(2,)), 3, ROOM)

    assert text == (
        "# Execution Plan\n\n## Task\nthe task\n\n## Items\n\n"
        "- [x] 1. Entity: Thing 1 — do 1 well\n"
        "- [!] 2. Entity: Thing 2 — do 2 well [Failed: why 2]\n"
        "- [ ] 3. Entity: Thing 3 — do 3 well\n\n## Notes\nthe notes\n"
    )


def test_of_a_long_plan_the_near_items_stand_and_the_others_are_counted() -> None:
    """Ten before and twenty after; those that failed last are named wherever they are."""
    text = render_outline(planned(1000, done=499, failed=tuple(range(2, 40))), 500, ROOM)

    assert "1,000 in all: 461 done, 38 failed, 501 open. Shown are 490 to 520.\n" in text
    assert "- [x] 490. " in text
    assert "- [ ] 500. Entity: Thing 500 — do 500 well\n" in text
    assert "- [ ] 520. " in text
    assert " 489. " not in text
    assert " 521. " not in text
    assert "Failed (28 others are not named):" in text
    assert "- [!] 39. Entity: Thing 39 — do 39 well [Failed: why 39]\n" in text


@pytest.mark.parametrize("most", [500, 3000, ROOM])
@pytest.mark.parametrize("place", [1, 500, 1000])
def test_an_outline_keeps_to_its_room(most: int, place: int) -> None:
    """However long the texts are; the item itself is always there."""
    plan = planned(1000, done=999, failed=tuple(range(1, 999)), task="t" * 9999, notes="n" * 99_999)
    for item in plan.items:
        item.text = item.text + "x" * 200

    text = render_outline(plan, place, most)

    assert len(text) <= most + 300
    assert f"] {place}. Entity" in text


def test_long_notes_give_what_is_about_the_item_first() -> None:
    """The rest is their beginning."""
    notes = "\n".join(["general", *(f"- Item {n}: hint {n} " + "z" * 90 for n in range(1, 1000))])

    text = render_outline(planned(999, notes=notes), 700, 6000)

    own, *rest = text.split("## Notes\n")[1].split("\n")
    assert own.startswith("- Item 700: hint 700 ")
    assert rest[0] == "general"


def test_a_small_window_gives_a_plan_less_room() -> None:
    """About an eighth of it, and no more than some 7,000 tokens."""
    assert plan_room(8000) == 3000
    assert plan_room(10**6) == ROOM


def test_the_context_of_an_item_does_not_grow_with_the_plan() -> None:
    """A plan of thirty and one of a thousand show an item the same amount, give or take a count."""
    sizes = [len(render_outline(planned(count, done=count // 2), count // 2 + 1, ROOM)) for count in
             (100, 300, 1000)]  # fmt: skip

    assert max(sizes) - min(sizes) < 100


def test_the_results_of_a_long_plan_are_bounded_and_failures_are_all_told_first() -> None:
    """What does not fit is counted; the counts are of all items."""
    plan = planned(1000, done=999, failed=tuple(range(3, 1000, 100)))
    for item in plan.items:
        item.answer = "y" * 5000
    plan.refused = [f"more {n}" for n in range(5000)]

    told = render_results(plan, ROOM)

    places = [each["item"] for each in told["items"]]
    assert len(msgspec.json.encode(told)) < 64_000
    assert told["count"] == {"done": 989, "failed": 10, "open": 1}
    assert set(plan.failed) | {1000} < set(places)
    assert places == sorted(places)
    assert told["items"][2]["reason"] == "TURN_LIMIT: why 3"
    assert told["not_shown"] == 1000 - len(places)
    assert told["refused_count"] == 5000
    assert told["refused_additions"][-1] == "more 4999"


def test_the_changes_of_a_large_draft_are_bounded_and_counted() -> None:
    """Those that are not listed are counted by kind."""
    blob = BlobHash("0" * 64)
    files = {
        FileName(f"{n:04}.txt"): DraftFile(None if n % 2 else blob, blob, n) for n in range(3000)
    }

    told = render_changes(files, ROOM)

    assert len(msgspec.json.encode(told)) < ROOM + 1000
    assert told["changes"][1] == {"path": "0001.txt", "change_type": "added", "size_bytes": 1}
    assert sum(told["not_shown"].values()) + len(told["changes"]) == 3000
    assert "not_shown" not in render_changes(dict(list(files.items())[:3]), ROOM)
