"""Events as clients see them."""

from events.logs import APRIL
from kbd.events import codec
from kbd.events.codec import plain_record
from kbd.events.workbenches import ModelChosen
from kbd.types import Seq


def test_run_and_cause_are_shown_as_ids() -> None:
    """The run's number becomes its id, the cause an event's id, the time readable."""
    body = codec.encode([codec.wrap_event(ModelChosen("a:b"), APRIL + 1500, 3, 7)])
    assert plain_record(codec.decode_plain(body)[0], Seq(9), "00ff") == {
        "seq": 9,
        "id": "00ff:9",
        "type": "ModelChosen",
        "version": 1,
        "ts": "2026-03-31T23:33:20.001500Z",
        "data": {"model_id": "a:b"},
        "run_id": "00ff-3",
        "causation_id": "00ff:7",
    }


def test_none_is_left_out() -> None:
    """An event without a run and a cause shows neither."""
    body = codec.encode([codec.wrap_event(ModelChosen("a:b"), APRIL)])
    event = plain_record(codec.decode_plain(body)[0], Seq(1), "daemon")
    assert set(event) == {"seq", "id", "type", "version", "ts", "data"}
