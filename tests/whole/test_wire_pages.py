"""Pages of a workbench's lists over the socket: each row once, while the lists change."""

from collections.abc import Iterator
from typing import Any

import pytest

from backends import mostly
from wired import Wired, wired


@pytest.fixture(scope="module", params=mostly("trio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


def pages(wire: Wired, method: str, field: str, **asked: Any) -> list[list[Any]]:
    """Return the rows of all pages of a list."""
    found = [wire.ask(method, **asked)]
    while "next_cursor" in found[-1]:
        found.append(wire.ask(method, **asked, cursor=found[-1]["next_cursor"]))
    totals = {page["total"] for page in found}
    assert totals == {sum(len(page[field]) for page in found)}
    return [page[field] for page in found]


def joined(found: list[list[Any]]) -> list[Any]:
    """Return the rows of pages, one behind the other."""
    return [row for page in found for row in page]


def said(wire: Wired, wb: str, *texts: str) -> list[str]:
    """Add messages and return their ids."""
    asked = [wire.ask("WorkshopSendUserMessage", workbench_id=wb, text=text) for text in texts]
    return [each["message_id"] for each in asked]


def ids(answer: dict[str, Any]) -> list[str]:
    """Return the ids of a page's entries; those of an undo or a checkpoint are their kind."""
    return [
        each["metadata"]["kind"] if "metadata" in each else each["message_id"]
        for each in answer["messages"]
    ]


def test_pages_of_a_conversation_are_the_conversation(wire: Wired) -> None:
    """In both orders, whatever the limit, and of each type alone; the whole answer is as before."""
    wb = wire.workbench(a__txt="a0")
    wire.draft(wb, b__txt="b1")
    wire.ask("CheckpointCreate", workbench_id=wb)
    said(wire, wb, "one", "two")
    method = "WorkshopGetConversation"
    answer = wire.ask(method, workbench_id=wb)
    whole = answer["messages"]

    assert set(answer) == {"messages"}
    kinds = {each["type"] for each in whole}
    assert kinds == {"user_message", "assistant_message", "tool_result", "system_event"}
    for limit in (1, 2, len(whole) - 1, len(whole), 10_000):
        asked = {"workbench_id": wb, "limit": limit}
        for backward in (False, True):
            found = pages(wire, method, "messages", descending=backward, **asked)
            assert [len(page) for page in found[:-1]] == [limit] * (len(found) - 1)
            assert joined(found) == (whole[::-1] if backward else whole)
    for types in (["user_message"], ["system_event", "tool_result"]):
        named = {"workbench_id": wb, "types": types}
        of_types = [each for each in whole if each["type"] in types]
        assert joined(pages(wire, method, "messages", limit=1, **named)) == of_types
        assert wire.ask(method, **named) == {"messages": of_types}
    assert wire.ask(method, workbench_id=wb, descending=True) == {"messages": whole[::-1]}


def test_a_page_of_a_conversation_goes_on_after_an_undo(wire: Wired) -> None:
    """Behind its cursor's event, on the branch that there is then; undone entries never come."""
    wb = wire.workbench(a__txt="a0")
    named = said(wire, wb, "one", "two", "three", "four")
    asked = {"workbench_id": wb, "limit": 2}
    first = wire.ask("WorkshopGetConversation", **asked)
    back = wire.ask("WorkshopGetConversation", descending=True, **asked)
    wire.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=named[0])
    (five,) = said(wire, wb, "five")
    rest = wire.ask("WorkshopGetConversation", cursor=first["next_cursor"], **asked)
    front = wire.ask(
        "WorkshopGetConversation", descending=True, cursor=back["next_cursor"], **asked
    )

    assert (ids(first), ids(back)) == (named[:2], named[:1:-1])
    assert (ids(rest), ids(front)) == (["undo", five], named[:1])
    assert (first["total"], rest["total"], front["total"]) == (4, 3, 3)
    assert "next_cursor" not in rest
    # And the undo of the undo: what was cut off stands behind the cursor again.
    wire.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=named[3])
    again = wire.ask("WorkshopGetConversation", cursor=first["next_cursor"], **asked)
    assert ids(again) == named[2:]


def test_what_is_said_between_pages_is_on_the_last(wire: Wired) -> None:
    """A conversation that goes on while it is read is read to its end; backward, from its begin."""
    wb = wire.workbench()
    named = said(wire, wb, "one", "two", "three")
    asked = {"workbench_id": wb, "limit": 2}
    first = wire.ask("WorkshopGetConversation", **asked)
    back = wire.ask("WorkshopGetConversation", descending=True, **asked)
    named += said(wire, wb, "four")
    rest = wire.ask("WorkshopGetConversation", cursor=first["next_cursor"], **asked)
    front = wire.ask(
        "WorkshopGetConversation", descending=True, cursor=back["next_cursor"], **asked
    )

    assert ids(first) + ids(rest) == named
    assert ids(back) + ids(front) == named[2::-1]


def test_a_cursor_is_of_one_conversation_its_types_and_its_order(wire: Wired) -> None:
    """In another it is refused, and so is a limit or a type that cannot be."""
    wb, other = wire.workbench(), wire.workbench()
    for bench in (wb, other):
        said(wire, bench, "one", "two")
    types = ["user_message", "system_event"]
    asked: dict[str, Any] = {"workbench_id": wb, "types": types}
    cursor = wire.ask("WorkshopGetConversation", limit=1, **asked)["next_cursor"]

    # In what order types are named makes no other list.
    asked["types"] = types[::-1]
    assert len(wire.ask("WorkshopGetConversation", cursor=cursor, **asked)["messages"]) == 1
    wrong: list[dict[str, Any]] = [
        {"workbench_id": other}, {"types": ["user_message"]}, {"descending": True},
        {"cursor": "nonsense"},
    ]  # fmt: skip
    misfits: list[dict[str, Any]] = [
        {"limit": 0}, {"limit": 10_001}, {"types": []}, {"types": ["x"]}, {"cursor": ""},
    ]  # fmt: skip
    for each in wrong:
        refused = wire.refused("WorkshopGetConversation", **{**asked, "cursor": cursor, **each})
        assert refused.data["error_code"] == "VALIDATION_FAILED"
    for each in misfits:
        assert wire.refused("WorkshopGetConversation", **{**asked, **each}).code == -32602


def test_checkpoints_are_met_once_while_others_are_made(wire: Wired) -> None:
    """Also by an undo, which removes none: each has its place for ever, in both orders."""
    wb = wire.workbench(a__txt="a0")
    (asked_for,) = said(wire, wb, "begin")
    made = [wire.ask("CheckpointCreate", workbench_id=wb)["checkpoint_id"] for _ in range(3)]
    wire.draft(wb, a__txt="a1")
    made.append(wire.ask("DraftPublish", workbench_id=wb)["checkpoint_id"])
    asked = {"workbench_id": wb, "limit": 2}
    first = wire.ask("CheckpointsList", **asked)
    back = wire.ask("CheckpointsList", descending=True, **asked)
    made.append(wire.ask("CheckpointCreate", workbench_id=wb)["checkpoint_id"])
    undone = wire.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=asked_for)
    made.append(undone["checkpoint_id"])
    following = pages(wire, "CheckpointsList", "checkpoints", **asked)
    rest = wire.ask("CheckpointsList", workbench_id=wb, cursor=first["next_cursor"])
    front = wire.ask(
        "CheckpointsList", workbench_id=wb, descending=True, cursor=back["next_cursor"]
    )

    def named(answer: dict[str, Any]) -> list[str]:
        return [row["checkpoint_id"] for row in answer["checkpoints"]]

    assert named(first) + named(rest) == made
    assert named(back) + named(front) == made[3::-1]
    assert (first["total"], rest["total"], front["total"]) == (4, 6, 6)
    whole = wire.ask("CheckpointsList", workbench_id=wb)
    assert set(whole) == {"checkpoints"}
    assert (named(whole), joined(following)) == (made, whole["checkpoints"])
    manual = wire.ask("CheckpointsList", reason="manual", descending=True, **asked)
    assert (named(manual), manual["total"]) == ([made[4], made[2]], 4)
    assert named(wire.ask("CheckpointsList", workbench_id=wb, reason="undo")) == made[5:]
    for wrong in ({"reason": "manual"}, {"descending": True}, {"cursor": "x"}):
        params = {**asked, "cursor": first["next_cursor"], **wrong}
        assert wire.refused("CheckpointsList", **params).data["error_code"] == "VALIDATION_FAILED"
