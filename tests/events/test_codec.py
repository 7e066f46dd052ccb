"""Records: what is current is decoded fast, what is old is lifted, what is unknown is kept."""

from types import MappingProxyType
from typing import Any

import msgpack
import pytest

from events.logs import APRIL, note
from kbd.errors import LogCorrupt, ValidationFailed
from kbd.events import codec
from kbd.events.runs import ItemStarted
from kbd.events.workbenches import ModelChosen, UserMessageAdded
from logs.make_golden import EVENTS

CURRENT = ["ModelChosen", 1, {"model_id": "a:b"}, APRIL, 0, 0, 0]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_comes_back(event: Any) -> None:
    """Each type of event is decoded to what was encoded, on the fast path and on the slow one."""
    record = codec.wrap_event(event, APRIL, 2, 7)
    body = codec.encode([record])
    assert codec.decode(body) == [record]
    unknown = ["FromTheFuture", 1, {}, 0, 0, 0, 0]
    mixed = msgpack.packb([*codec.decode_plain(body), unknown])
    assert codec.decode(mixed)[0] == record
    assert type(codec.decode(mixed)[0].data) is type(event)


def test_old_versions_are_lifted_step_by_step() -> None:
    """An older version goes through every lifting up to today's; stored bytes stay."""
    liftings = {
        ("ModelChosen", -1): lambda data: {"provider": data["p"], "name": data["n"]},
        ("ModelChosen", 0): lambda data: {"model_id": f"{data['provider']}:{data['name']}"},
    }
    body = msgpack.packb([["ModelChosen", -1, {"p": "a", "n": "b"}, APRIL, 1, 2, 0], CURRENT])
    first, second = codec.decode(body, MappingProxyType(liftings))
    assert first == codec.wrap_event(ModelChosen("a:b"), APRIL, 1, 2)
    assert second == codec.wrap_event(ModelChosen("a:b"), APRIL)
    assert codec.decode_plain(body)[0][:3] == ["ModelChosen", -1, {"p": "a", "n": "b"}]


def test_an_old_version_without_lifting_is_named() -> None:
    """Old data that nothing can lift are not guessed at."""
    body = msgpack.packb([["ModelChosen", 0, {}, APRIL, 0, 0, 0]])
    with pytest.raises(LogCorrupt, match="no lifting is known for an event ModelChosen in version"):
        codec.decode(body)


@pytest.mark.parametrize(("name", "version"), [("FromTheFuture", 1), ("ModelChosen", 2)])
def test_what_is_unknown_is_kept(name: str, version: int) -> None:
    """Types and versions from the future are kept with their data and stop nothing."""
    body = msgpack.packb([CURRENT, [name, version, {"x": [1, {"y": None}]}, APRIL, 3, 1, 0]])
    known, unknown = codec.decode(body)
    assert known.data == ModelChosen("a:b")
    assert unknown.data == codec.Unknown(name, {"x": [1, {"y": None}]})
    assert (unknown.version, unknown.run, unknown.cause) == (version, 3, 1)


def test_what_must_be_understood_stops_a_reader_that_does_not_know_it() -> None:
    """The flag makes an unknown event an error that names it."""
    body = msgpack.packb([["FromTheFuture", 4, {}, APRIL, 0, 0, 1]])
    with pytest.raises(codec.NotUnderstood, match="FromTheFuture in version 4") as caught:
        codec.decode(body)
    assert caught.value.detail == {"type": "FromTheFuture", "version": 4}


def test_the_flag_does_not_matter_for_what_is_known() -> None:
    """A known event that must be understood is understood."""
    (record,) = codec.decode(msgpack.packb([[*CURRENT[:6], 1]]))
    assert record.data == ModelChosen("a:b")
    assert record.flags == 1


def test_unknown_fields_and_elements_are_tolerated_and_shown() -> None:
    """Fields that a newer kbd added do not disturb, and reach the wire as they are."""
    item = ["ModelChosen", 1, {"model_id": "a:b", "mood": "new"}, APRIL, 0, 0, 0, None, "later"]
    body = msgpack.packb([item])
    assert codec.decode(body)[0].data == ModelChosen("a:b")
    assert codec.decode_plain(body) == [item]


def test_an_unknown_event_is_not_written_again() -> None:
    """What is not understood is not encoded by guess."""
    unknown = codec.decode(msgpack.packb([["FromTheFuture", 1, {}, 0, 0, 0, 0]]))
    with pytest.raises(TypeError):
        codec.encode(unknown)


@pytest.mark.parametrize(
    "item",
    [
        ["ModelChosen", 1, {}, APRIL, 0, 0, 0],
        ["ModelChosen", 1, {"model_id": 5}, APRIL, 0, 0, 0],
        ["ModelChosen", "1", {}, APRIL, 0, 0, 0],
        ["ModelChosen", 1, {"model_id": "a:b"}],
        {"type": "ModelChosen"},
        7,
    ],
)
def test_ill_formed_records_are_damage(item: Any) -> None:
    """Records that no kbd wrote are refused, whatever they are."""
    with pytest.raises(LogCorrupt):
        codec.decode(msgpack.packb([item]))


@pytest.mark.parametrize(
    "body",
    [b"", b"\xc1", b"\x91", b"\x80", b"\xdd\xff\xff\xff\xff", b"\x91" * 5000, b"\x91\xa1\xff"],
)
def test_bytes_that_are_no_records_are_damage(body: bytes) -> None:
    """Neither path raises anything but LogCorrupt, whatever the bytes; none believes a length."""
    with pytest.raises(LogCorrupt):
        codec.decode(body)
    with pytest.raises(LogCorrupt):
        codec.decode_plain(body)


def test_defaults_are_left_out() -> None:
    """Fields at their default take no space, so that adding one costs old readers nothing."""
    body = codec.encode([codec.wrap_event(ItemStarted(3), APRIL)])
    assert codec.decode_plain(body) == [["ItemStarted", 1, {"item": 3}, APRIL, 0, 0, 0]]


def test_strange_texts_come_back() -> None:
    """Any text that UTF-8 can say is kept."""
    text = "é\0\x1b[31m\u202e\U0001f600"
    body = codec.encode([codec.wrap_event(UserMessageAdded("m", text), APRIL), note("")])
    assert codec.decode(body)[0].data == UserMessageAdded("m", text)


@pytest.mark.parametrize("event", [UserMessageAdded("m", "\ud800"), ItemStarted(2**64)])
def test_what_msgpack_cannot_say_is_refused(event: Any) -> None:
    """Half a surrogate pair or a number past 64 bits is refused before anything is written."""
    with pytest.raises(ValidationFailed):
        codec.encode([codec.wrap_event(event, APRIL)])
