"""The actor of a record: who asked for what happened, on disk and as it is shown."""

import msgpack
import pytest

from kbd.errors import LogCorrupt
from kbd.events import codec
from kbd.events.base import Actor
from kbd.events.codec import plain_record, wrap_event
from kbd.events.workbenches import ModelChosen
from kbd.types import Seq

CHOSEN = ModelChosen("a:b")
PAGE = Actor("my-page", 7, "1.2", "a browser")


def test_an_actor_comes_back_as_it_was_written() -> None:
    """All of it, by the typed path; and the plain form has it as an object."""
    body = codec.encode([wrap_event(CHOSEN, 5, 2, 1, PAGE)])
    (record,) = codec.decode(body)
    assert (record.data, record.run, record.cause, record.actor) == (CHOSEN, 2, 1, PAGE)
    row = plain_record(codec.decode_plain(body)[0], Seq(3), "daemon")
    assert row["actor"] == {
        "client": "my-page", "connection": 7, "version": "1.2", "host": "a browser",
    }  # fmt: skip


def test_what_a_client_leaves_out_takes_no_space() -> None:
    """Neither on disk nor on the wire."""
    body = codec.encode([wrap_event(CHOSEN, 5, actor=Actor("c", 1))])
    assert plain_record(codec.decode_plain(body)[0], Seq(1), "daemon")["actor"] == {
        "client": "c", "connection": 1,
    }  # fmt: skip


def test_without_an_actor_the_bytes_are_what_they_always_were() -> None:
    """An event of an older kbd is read so, too: nobody is said to have asked."""
    body = codec.encode([wrap_event(CHOSEN, 5)])
    assert msgpack.unpackb(body) == [["ModelChosen", 1, {"model_id": "a:b"}, 5, 0, 0, 0]]
    (record,) = codec.decode(body)
    assert record.actor is None
    assert "actor" not in plain_record(codec.decode_plain(body)[0], Seq(1), "daemon")


def test_the_slow_path_reads_actors_too() -> None:
    """One unknown event beside it costs no record its actor; nil stands for none."""
    item = ["ModelChosen", 1, {"model_id": "a:b"}, 5, 0, 0, 0, {"client": "c", "connection": 2}]
    unknown = ["FromTheFuture", 1, {}, 0, 0, 0, 0, {"client": "c", "connection": 2}]
    nobody = [*item[:7], None, "later"]
    first, _, last = codec.decode(msgpack.packb([item, unknown, nobody]))
    assert (first.actor, last.actor) == (Actor("c", 2), None)


@pytest.mark.parametrize("actor", ["me", 5, {"client": 3, "connection": 1}, {"client": "c"}])
def test_an_ill_formed_actor_is_damage(actor: object) -> None:
    """It is not guessed at."""
    item = ["ModelChosen", 1, {"model_id": "a:b"}, 5, 0, 0, 0, actor]
    with pytest.raises(LogCorrupt, match="actor"):
        codec.decode(msgpack.packb([item]))
