"""Whatever bytes arrive become a request or a refusal with the right code, never an exception."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.requests import METHODS
from kbd.requests.daemon import EngineGetInfo
from kbd.requests.events import EventsRead
from kbd.requests.workbenches import WorkbenchCreate, WorkbenchOpen
from kbd.requests.workshop import RunGet, RunList
from kbd.rpc.parsing import Batch, Cancel, Code, Parser, Refusal, RpcCall
from kbd.types import Seq

PARSER = Parser(METHODS)
WORKBENCH = "0123456789abcdef"


def _parse(**message: Any) -> Any:
    return PARSER.parse(json.dumps({"jsonrpc": "2.0", "id": 1, **message}).encode())


def test_a_request_becomes_its_record() -> None:
    """A request becomes a call with its id and the record of its method, defaults filled in."""
    call = _parse(method="WorkbenchCreate", params={"name": "März"}, id="a")
    assert isinstance(call, RpcCall)
    assert (call.id, call.params) == ("a", WorkbenchCreate(name="März"))
    read = _parse(method="EventsRead", params={"workbench_id": "daemon", "after": 3})
    assert read.params == EventsRead(workbench_id="daemon", after=Seq(3), limit=1000)


def test_parameters_that_may_all_be_absent_may_be_absent_as_a_whole() -> None:
    """A method without required parameters can be asked without `params`."""
    assert _parse(method="EngineGetInfo").params == EngineGetInfo()


@pytest.mark.parametrize("none", [None, []])
def test_parameters_that_hold_nothing_are_none(none: Any) -> None:
    """Some clients send `null` or an empty array where a method takes nothing."""
    assert _parse(method="EngineGetInfo", params=none).params == EngineGetInfo()
    refused = _parse(method="WorkbenchCreate", params=none)
    assert (refused.code, "`name`" in refused.message) == (Code.INVALID_PARAMS, True)


def test_a_notification_has_no_id() -> None:
    """A message without an id is a call that wants no answer."""
    call = PARSER.parse(b'{"jsonrpc":"2.0","method":"RunList"}')
    assert isinstance(call, RpcCall)
    assert call.id is msgspec.UNSET


def test_cancel_names_a_request() -> None:
    """`$/cancelRequest` becomes a Cancel with the id of the request that it names."""
    raw = b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"x"}}'
    assert PARSER.parse(raw) == Cancel("x")


def test_of_a_key_that_occurs_twice_the_last_counts() -> None:
    """Where a message has two methods, the last one is carried out."""
    raw = b'{"jsonrpc":"2.0","id":1,"method":"EngineGetInfo","method":"RunList"}'
    call = PARSER.parse(raw)
    assert isinstance(call, RpcCall)
    assert call.params == RunList()


@pytest.mark.parametrize(
    "message",
    [
        {"method": "NoSuchMethod"},
        {"method": "EngineGetInfo", "params": {"a": 1}},
        {"method": "$/progress"},
        {"method": "EngineGetInfo", "api_version": "2"},
    ],
)
def test_a_notification_that_cannot_be_carried_out_is_not_answered(message: Any) -> None:
    """A faulty message that has no id becomes nothing, as JSON-RPC wants it."""
    assert PARSER.parse(json.dumps({"jsonrpc": "2.0", **message}).encode()) is None


@pytest.mark.parametrize(
    ("message", "code", "says"),
    [
        ({"method": "NoSuchMethod"}, Code.METHOD_NOT_FOUND, "NoSuchMethod"),
        ({"method": "a\n\x1b[31m"}, Code.METHOD_NOT_FOUND, "of that name"),
        ({"method": "WorkbenchOpen"}, Code.INVALID_PARAMS, "`workbench_id`"),
        ({"method": "RunList", "params": ["x"]}, Code.INVALID_PARAMS, "an object"),
        ({"method": "RunList", "params": {"extra": 1}}, Code.INVALID_PARAMS, "`extra`"),
        ({"method": "RunList", "params": {"__proto__": 1}}, Code.INVALID_PARAMS, "`__proto__`"),
        (
            {"method": "WorkbenchOpen", "params": {"workbench_id": "../../etc/passwd"}},
            Code.INVALID_PARAMS,
            "$.workbench_id",
        ),
        (
            {"method": "WorkbenchOpen", "params": {"workbench_id": WORKBENCH + "\n"}},
            Code.INVALID_PARAMS,
            "$.workbench_id",
        ),
        (
            {"method": "EventsRead", "params": {"workbench_id": "daemon\n"}},
            Code.INVALID_PARAMS,
            "$.workbench_id",
        ),
        (
            {"method": "RunGet", "params": {"run_id": WORKBENCH + "-1\n"}},
            Code.INVALID_PARAMS,
            "$.run_id",
        ),
        (
            {"method": "EventsSubscribe", "params": {"workbench_id": WORKBENCH, "after": -1}},
            Code.INVALID_PARAMS,
            "$.after",
        ),
        (
            {"method": "EventsSubscribe", "params": {"workbench_id": WORKBENCH, "after": 2**63}},
            Code.INVALID_PARAMS,
            "$.after",
        ),
        ({"method": 1}, Code.INVALID_REQUEST, "method"),
        ({"result": 1}, Code.INVALID_REQUEST, "method"),
        ({"method": "RunList", "jsonrpc": "1.0"}, Code.INVALID_REQUEST, "jsonrpc"),
        ({"method": "RunList", "id": None}, Code.INVALID_REQUEST, "an id is"),
        ({"method": "RunList", "id": 1.0}, Code.INVALID_REQUEST, "an id is"),
        ({"method": "RunList", "id": -0.0}, Code.INVALID_REQUEST, "an id is"),
        ({"method": "RunList", "id": True}, Code.INVALID_REQUEST, "an id is"),
        ({"method": "RunList", "id": [1]}, Code.INVALID_REQUEST, "an id is"),
        ({"method": "RunList", "id": "x" * 129}, Code.INVALID_REQUEST, "an id is"),
        ({"method": "RunList", "id": 2**53}, Code.INVALID_REQUEST, "an id is"),
    ],
)
def test_what_is_wrong_is_said_with_its_code(message: Any, code: Code, says: str) -> None:
    """Each fault of a request has its own code, and a reason that names what is wrong."""
    refusal = _parse(**message)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code
    assert says in refusal.message


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", Code.PARSE),
        (b"\x00", Code.PARSE),
        (b'{"jsonrpc"', Code.PARSE),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"RunList"}', Code.PARSE),
        (b'{"jsonrpc":"2.0","id":1,"method":"RunList","x":"\\ud800"}', Code.PARSE),
        (b'{"jsonrpc":"2.0","id":1,"method":"RunList","x":NaN}', Code.PARSE),
        (b'{"jsonrpc":"2.0","id":1,"method":"RunList","params":{"x":-Infinity}}', Code.PARSE),
        (b'{"jsonrpc":"2.0","id":1,"method":"RunList"} x', Code.PARSE),
        (b"[" * 65 + b"]" * 65, Code.PARSE),
        (b"1", Code.INVALID_REQUEST),
        (b'"x"', Code.INVALID_REQUEST),
        (b"null", Code.INVALID_REQUEST),
        (b"{}", Code.INVALID_REQUEST),
        (b"[]", Code.INVALID_REQUEST),
        (b"[" + b"1," * 100 + b"1]", Code.INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"RunList"}', Code.INVALID_REQUEST),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"EventsRead","params":{"limit":1e999}}',
            Code.INVALID_PARAMS,
        ),
    ],
)
def test_hostile_bytes_are_refused(raw: bytes, code: Code) -> None:
    """Bytes that are no JSON, no request or beyond a limit are refused with the right code."""
    refusal = PARSER.parse(raw)
    assert isinstance(refusal, Refusal)
    assert refusal.code == code


def test_what_a_client_made_up_is_quoted_without_what_acts_in_a_terminal() -> None:
    """Names of fields and methods with escapes, line feeds or bidi marks are told escaped."""
    evil = "a\x1b[31m\nb\u202ec"
    for message in (
        {"method": "WorkbenchOpen", "params": {evil: 1}},
        {"method": "EventsSubscribe", "params": {"workbench_id": "*", "cursors": {evil: 1}}},
        {"method": evil},
    ):
        refusal = _parse(**message)
        assert isinstance(refusal, Refusal)
        assert refusal.message.isprintable()
        assert refusal.data is None or refusal.data["path"].isprintable()


@pytest.mark.parametrize("beside", [True, False])
def test_another_api_version_is_refused_before_anything_else(beside: bool) -> None:
    """Another version is refused, with ours, even where the method is unknown to us."""
    message: dict[str, Any] = {"method": "RunListV2", "params": {}}
    (message if beside else message["params"])["api_version"] = "2"
    refusal = _parse(**message)
    assert refusal == Refusal(
        1, Code.INVALID_REQUEST, "incompatible api_version", {"expected": "1"}
    )


def test_our_api_version_is_taken_in_both_places() -> None:
    """Our version may stand beside the method or among its parameters."""
    assert isinstance(_parse(method="RunList", api_version="1"), RpcCall)
    assert isinstance(_parse(method="RunList", params={"api_version": "1"}), RpcCall)


def test_a_batch_is_taken_apart_and_each_part_judged_alone() -> None:
    """A fault in one part of a batch leaves the others as they are; silent parts fall out."""
    parts = [
        {"jsonrpc": "2.0", "id": 1, "method": "RunList"},
        {"jsonrpc": "2.0", "method": "NoSuchMethod"},
        {"jsonrpc": "2.0", "id": 2, "method": "NoSuchMethod"},
        [],
    ]
    batch = PARSER.parse(json.dumps(parts).encode())
    assert isinstance(batch, Batch)
    call, unknown, nested = batch.parts
    assert isinstance(call, RpcCall)
    assert isinstance(unknown, Refusal)
    assert unknown.code == Code.METHOD_NOT_FOUND
    assert isinstance(nested, Refusal)
    assert nested.code == Code.INVALID_REQUEST


def test_a_run_is_named_by_its_workbench_and_number() -> None:
    """The ids of a workbench and of a run are taken in the form that the daemon gives them."""
    call = _parse(method="RunGet", params={"run_id": f"{WORKBENCH}-12"})
    assert isinstance(call.params, RunGet)
    assert isinstance(
        _parse(method="WorkbenchOpen", params={"workbench_id": WORKBENCH}).params, WorkbenchOpen
    )


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=10,
)
_MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | _ANY,
        "id": st.integers() | _ANY,
        "method": st.sampled_from([*METHODS, "$/cancelRequest", "x"]) | _ANY,
        "params": st.dictionaries(
            st.sampled_from(["workbench_id", "name", "after", "id", "api_version"]), _ANY
        )
        | _ANY,
        "api_version": _ANY,
    },
)


@given(st.binary(max_size=200) | _MESSAGE.map(lambda m: json.dumps(m).encode()))
def test_no_bytes_at_all_raise(raw: bytes) -> None:
    """Whatever the bytes or the message, parsing returns one of its five outcomes."""
    assert isinstance(PARSER.parse(raw), RpcCall | Cancel | Refusal | Batch | None)


@given(_MESSAGE, st.integers(0, 300), st.integers(0, 255))
def test_no_damaged_byte_raises(message: Any, place: int, byte: int) -> None:
    """A message with any one byte damaged still parses to one of the five outcomes."""
    raw = bytearray(json.dumps(message).encode())
    raw[place % len(raw)] = byte
    assert isinstance(PARSER.parse(bytes(raw)), RpcCall | Cancel | Refusal | Batch | None)
