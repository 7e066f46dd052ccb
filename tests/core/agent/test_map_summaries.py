"""What stays of a map when there is no room for it."""

import random
from typing import Any

import msgspec

from kbd.core.agent.manifest import SUMMARY_BYTES, summarize_map


def test_counts_names_and_sizes_stay() -> None:
    """Of lists their length and first elements, without what is nested or says nothing."""
    sheets = [
        {"name": f"Month {n}", "row_count": n, "hidden": False, "islands": [{"range": "A1:B2"}]}
        for n in range(1, 40)
    ]
    short = summarize_map(
        {"sheets": sheets, "defined_names": [], "has_pivots": False, "title": "x" * 90}
    )

    assert short["sheets"]["count"] == 39
    assert short["sheets"]["first"][0] == {"name": "Month 1", "row_count": 1}
    assert len(short["sheets"]["first"]) > 5
    assert short["title"] == "x" * 59 + "…"
    assert short.keys() == {"sheets", "title"}


def test_any_map_is_bounded() -> None:
    """Whatever a format tells, of whatever depth and length."""
    chance = random.Random(3)

    def some(depth: int) -> Any:
        match chance.randrange(6 if depth else 3):
            case 0:
                return "é\n" * chance.randrange(300)
            case 1:
                return chance.randrange(10**6)
            case 2:
                return chance.choice([None, True, False, 0.5, ""])
            case 3:
                return {f"key {n}" * 4: some(depth - 1) for n in range(chance.randrange(8))}
            case _:
                return [some(depth - 1) for _ in range(chance.randrange(12))]

    for _ in range(100):
        structure = {f"field_{n}": some(2) for n in range(chance.randrange(12))}
        assert len(msgspec.json.encode(summarize_map(structure))) <= SUMMARY_BYTES
