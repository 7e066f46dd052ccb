"""An item is checked by the comparison that the review shows, cut to what the item did."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from backends import mostly
from model_server import Reply, call, calls, phase_of, text, turn_of
from wired import PLAN, Wired, wired

TWO = PLAN.replace("- [ ] 1. Write\n", "- [ ] 1. Write\n- [ ] 2. Correct\n")
BEFORE = "rent 700\nfood 300\nsum 1000\n"
FIRST = "rent 750\nfood 300\nsum 1000\n"
SECOND = "rent 750\nfood 300\nsum 1050\n"
RENT, SUM = "changed line 1: rent 700 -> rent 750", "changed line 3: sum 1000 -> sum 1050"


@pytest.fixture(scope="module", params=mostly("trio"))
def bench(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


class Checking:
    """A model that looks at what changed: in research, and after each write of an item.

    Attributes:
        answers: What the calls answered, by their ids, as the model saw it.
    """

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}

    def play(self, body: dict[str, Any]) -> Reply:
        """Be the model."""
        for message in body["messages"]:
            if message["role"] == "tool":
                self.answers[message["tool_call_id"]] = message["content"]
        phase, turn = phase_of(body), turn_of(body)
        if phase == "plan":
            return text(TWO)
        if turn or phase == "no tools":
            return text("Done.")
        if phase == "research":
            return calls(_asks("research"), _asks("early", since="item"))
        return calls(*self._work(_item_of(body)))

    def _work(self, item: int) -> tuple[dict[str, Any], ...]:
        content = FIRST if item == 1 else SECOND
        write = call("write_text_file", {"path": "a.txt", "content": content}, f"write{item}")
        return (
            _asks(f"before{item}"), write, _asks(f"item{item}"),
            _asks(f"draft{item}", since="draft"), _asks(f"other{item}", path="b.txt"),
        )  # fmt: skip

    def answer(self, call_id: str) -> dict[str, Any]:
        """Return the answer of a call that succeeded."""
        found: dict[str, Any] = json.loads(self.answers[call_id])
        return found


def _item_of(body: dict[str, Any]) -> int:
    opening = next(m["content"] for m in body["messages"] if m["role"] == "user")
    return 2 if "Correct" in opening.rpartition("<item")[2].split("</item>")[0] else 1


def _asks(call_id: str, **more: Any) -> dict[str, Any]:
    return call("get_file_changes", {"path": "a.txt", **more}, call_id)


@pytest.mark.full
def test_an_item_sees_what_it_changed_and_nothing_of_the_others(bench: Wired) -> None:
    """Since its own beginning, or since the draft's; research has the draft alone to ask for.

    The proof does the same calls on the files of their moments and finds the same.
    """
    model = Checking()
    bench.script.instead = model.play
    workbench_id = bench.workbench(a__txt=BEFORE, b__txt="as it was")
    first = bench.daemon.run_prompt(workbench_id, "correct the rent")

    nothing = {"path": "a.txt", "counts": {}, "changed": []}
    assert model.answer("research") == {**nothing, "since": "draft"}
    assert model.answers["early"].startswith("Error: VALIDATION_FAILED: there is no item")
    for item, changed, drafted in ((1, [RENT], [RENT]), (2, [SUM], [RENT, SUM])):
        assert model.answer(f"before{item}") == {**nothing, "since": "item"}
        found = model.answer(f"item{item}")
        assert (found["since"], found["changed"]) == ("item", changed)
        assert found["counts"] == {"line changed": 1}
        assert model.answer(f"draft{item}")["changed"] == drafted
        assert model.answer(f"other{item}")["changed"] == []
    # The next message finds the draft open, and its research can look into it.
    bench.daemon.run_prompt(workbench_id, "go on")
    assert model.answer("research")["changed"] == [RENT, SUM]
    proof = bench.ask("ReplayRun", run_id=first["run_id"])
    assert proof["divergences"] == []
