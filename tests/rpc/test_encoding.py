"""What goes back has the shape of JSON-RPC and of the contract's errors."""

import json
from typing import Any

from kbd.errors import DiskFull, EgressConsentRequired
from kbd.requests.daemon import RendererInfo, SandboxInfo, ToolWorkerStatus
from kbd.requests.notifications import EventsSynced, WorkshopPhaseStarted
from kbd.rpc import encode_answer, encode_batch, encode_failure, encode_notification, encode_refusal
from kbd.types import Phase, Seq


def _read(line: bytes) -> Any:
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    return json.loads(line)


def test_an_answer_leaves_out_what_there_is_not() -> None:
    """An answer carries the request's id and its record, without the fields that are not set."""
    status = ToolWorkerStatus(
        available=True,
        workers=0,
        sandbox=SandboxInfo(level="rlimits"),
        renderer=RendererInfo(program=""),
    )
    assert _read(encode_answer("a", status)) == {
        "jsonrpc": "2.0",
        "id": "a",
        "result": {
            "available": True,
            "workers": 0,
            "sandbox": {"level": "rlimits"},
            "renderer": {"program": ""},
            "programs": [],
        },
    }


def test_a_refusal_without_an_id_says_null() -> None:
    """A refusal of a message whose id cannot be told has `null` for an id, and no data."""
    assert _read(encode_refusal(None, -32700, "parse error")) == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32700, "message": "parse error"},
    }


def test_an_application_error_carries_the_contracts_data() -> None:
    """A KbdError is -32000 with code, phase, actions and context where the contract has them."""
    error = EgressConsentRequired(
        "files would leave",
        actions=("grant consent",),
        detail={"provider_id": "openai", "scope_hash": "ab", "files": ["a.txt"]},
    )
    assert _read(encode_failure(1, error, "egress"))["error"] == {
        "code": -32000,
        "message": "files would leave",
        "data": {
            "error_code": "EGRESS_CONSENT_REQUIRED",
            "phase": "egress",
            "retryable": False,
            "actions": ["grant consent"],
            "provider_id": "openai",
            "scope_hash": "ab",
            "detail": {"files": ["a.txt"]},
        },
    }


def test_an_error_may_name_its_own_phase() -> None:
    """A phase in the error's detail overrules the request's, and the error is left as it was."""
    error = DiskFull("no space", detail={"phase": "workshop", "subphase": "rpi_plan"})
    data = _read(encode_failure(1, error, "daemon"))["error"]["data"]
    assert data == {
        "error_code": "DISK_FULL",
        "phase": "workshop",
        "subphase": "rpi_plan",
        "retryable": True,
    }
    assert error.detail["phase"] == "workshop"


def test_a_notification_is_named_by_its_record() -> None:
    """A notification's method is its record's name; it has no id, and leaves out what is unset."""
    started = WorkshopPhaseStarted(workbench_id="a", seq=Seq(4), phase=Phase.PLAN)
    assert _read(encode_notification(started)) == {
        "jsonrpc": "2.0",
        "method": "WorkshopPhaseStarted",
        "params": {"workbench_id": "a", "seq": 4, "phase": "plan"},
    }
    assert _read(encode_notification(EventsSynced(workbench_id="a")))["params"] == {
        "workbench_id": "a"
    }


def test_the_parts_of_a_batch_are_answered_in_one_line() -> None:
    """The answers to a batch are one line: an array, in the order of its parts."""
    lines = [encode_refusal(1, -1, "x"), encode_refusal(2, -1, "y")]
    assert [part["id"] for part in _read(encode_batch(lines))] == [1, 2]
