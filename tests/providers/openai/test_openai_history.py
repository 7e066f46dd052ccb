"""Whatever was recorded, a conversation is sent well-formed."""

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kbd.messages import Message, ToolCall
from kbd.providers import ModelRequest
from kbd.types import CallId
from kbd_openai.chat import chat_body
from kbd_openai.request_body import repaired_history
from kbd_openai.responses import responses_body


def call(call_id: str, arguments: str = "{}", name: str = "look") -> ToolCall:
    """Return a call."""
    return ToolCall(CallId(call_id), name, arguments)


def result(call_id: str, text: str = "done") -> Message:
    """Return a result."""
    return Message("tool", text, tool_call_id=CallId(call_id))


def test_what_is_well_formed_stays_as_it_is() -> None:
    """Also odd white space in arguments, and several calls in one turn."""
    messages = (
        Message("system", "s"),
        Message("user", "u"),
        Message("assistant", "", (call("a", ' {"x" : 1}\n'), call("b"))),
        result("a"),
        result("b"),
        Message("assistant", "said"),
    )

    assert repaired_history(messages) == messages


def test_what_servers_refuse_is_mended() -> None:
    """Broken arguments, repeated and strange ids, unanswered calls, orphans, empty turns, names."""
    sent = repaired_history(
        (
            Message("user", "u"),
            Message("assistant", "", (call("a", '{"x": '), call("a", "[1]"), call("", '"t"'))),
            result("a", "first"),
            result("a", "second"),
            result("lost"),
            Message("assistant", "  "),
            Message("assistant", "", (call("x" * 41, "null", "délete all!"),)),
        )
    )

    asked, first, second, none, empty, named, unanswered = sent[1:]
    ids = [each.id for each in asked.tool_calls]
    assert [each.arguments for each in asked.tool_calls] == ["{}"] * 3
    assert ids[0] == "a"
    assert len(set(ids)) == 3
    assert [(first.tool_call_id, first.text), (second.tool_call_id, second.text)] == [
        (ids[0], "first"), (ids[1], "second"),
    ]  # fmt: skip
    assert (none.tool_call_id, none.text) == (ids[2], "No result of this call was kept.")
    assert (empty.role, empty.text) == ("assistant", "(an empty answer)")
    assert named.tool_calls[0].name == "d_lete_all_"
    assert len(named.tool_calls[0].id) <= 40
    assert unanswered.tool_call_id == named.tool_calls[0].id


def check_chat(messages: list[dict[str, Any]]) -> None:
    """Check what servers want of a conversation: objects, ids, answers."""
    open_ids: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            open_ids.remove(message["tool_call_id"])
            continue
        assert open_ids == []
        for asked in message.get("tool_calls", ()):
            assert isinstance(json.loads(asked["function"]["arguments"]), dict)
            assert re.fullmatch(r"[\w-]{1,64}", asked["function"]["name"], re.ASCII)
            assert asked["id"] not in seen
            seen.add(asked["id"])
            open_ids.append(asked["id"])
        assert message["content"] or message.get("tool_calls") or message["role"] != "assistant"
    assert open_ids == []


_IDS = st.sampled_from(("", "a", "b", "é", "x" * 60))
_CALLS = st.builds(
    call, _IDS, st.sampled_from(("{}", "{", "[]", '{"a":1}', "", "\ud800")), st.text(max_size=80)
)
_MESSAGES = st.one_of(
    st.builds(Message, st.just("user"), st.text(max_size=3)),
    st.builds(result, _IDS),
    st.builds(
        Message, st.just("assistant"), st.sampled_from(("", "t")),
        st.lists(_CALLS, max_size=4).map(tuple),
    ),
)  # fmt: skip


@settings(max_examples=150)
@given(st.lists(_MESSAGES, max_size=8))
def test_any_conversation_is_sent_well_formed(messages: list[Message]) -> None:
    """In both protocols, and mending it again changes nothing."""
    request = ModelRequest("m", tuple(messages))
    check_chat(chat_body(request, official=False)["messages"])
    items = responses_body(request)["input"]
    asked = [item["call_id"] for item in items if item.get("type") == "function_call"]
    answered = [item["call_id"] for item in items if item.get("type") == "function_call_output"]

    assert sorted(asked) == sorted(answered)
    assert len(asked) == len(set(asked))
    assert repaired_history(repaired_history(messages)) == repaired_history(messages)
