"""The OpenRPC document has the shape that OpenRPC asks for, and all that a client must know."""

import json
from typing import Any

import msgspec
import pytest

from kbd.requests import METHODS
from kbd.requests import notifications as notified
from kbd.requests.base import Answer, Request
from kbd.requests.openrpc import WireError, openrpc_document


class Fault(msgspec.Struct):
    """What stands beside an error."""

    error_code: str


ERRORS = (
    WireError(name="Refused", code=-32000, message="It was refused.", data=Fault),
    WireError(name="Unread", code=-32700, message="It was not read.", is_of_methods=False),
)


@pytest.fixture(scope="module")
def document() -> Any:
    """The document as a client reads it."""
    return json.loads(msgspec.json.encode(openrpc_document(METHODS, "1.2.3", ERRORS)))


def test_it_has_the_members_of_openrpc_and_no_others(document: Any) -> None:
    """What the schema of OpenRPC 1.3.2 requires is there, and nothing that it refuses."""
    assert document["openrpc"] == "1.3.2"
    assert document["info"] == {"title": "kbd", "version": "1.2.3"}
    known = {"openrpc", "info", "methods", "components"}
    assert {name for name in document if not name.startswith("x-")} == known
    assert [each["name"] for each in document["methods"]] == sorted(METHODS)
    for method in document["methods"]:
        assert set(method) == {
            "name", "summary", "description", "params", "paramStructure", "result", "errors",
        }  # fmt: skip
        assert method["paramStructure"] == "by-name"
        assert method["summary"]
        assert set(method["result"]) == {"name", "schema"}
        names = [each["name"] for each in method["params"]]
        assert len(set(names)) == len(names)
        required = [each["required"] for each in method["params"]]
        assert required == sorted(required, reverse=True)
        for each in method["params"]:
            assert {"name", "required", "schema"} <= set(each)
            assert set(each) <= {"name", "required", "schema", "description"}
    for error in document["components"]["errors"].values():
        assert {"code", "message"} <= set(error) <= {"code", "message", "data"}


def test_what_it_refers_to_is_there(document: Any) -> None:
    """Each schema and each error that is referred to, but for OpenRPC's own."""
    refers_to = set(_references(document))
    assert {"#/components/schemas/RunAnswered", "#/components/errors/Refused"} <= refers_to
    for reference in refers_to - {"https://meta.open-rpc.org/"}:
        found = document
        for name in reference.removeprefix("#/").split("/"):
            found = found[name]


def test_it_says_what_a_parameter_is(document: Any) -> None:
    """Whether it is required, what it is if it is left out, what it means."""
    (run,) = (each for each in document["methods"] if each["name"] == "WorkshopRunAgent")
    found = {each["name"]: each for each in run["params"]}
    assert [name for name, each in found.items() if each["required"]] == ["workbench_id"]
    assert set(found) == set(METHODS["WorkshopRunAgent"].__struct_fields__)
    assert found["wait"] == {
        "name": "wait",
        "required": False,
        "schema": {"type": "boolean", "default": True},
        "description": "Whether to answer when the run has ended, or at once.",
    }
    assert "Args:" not in run["description"]


def test_it_has_the_errors_and_the_notifications(document: Any) -> None:
    """A method's answer may be an error of methods; a program finds every code, every notice."""
    assert all(
        method["errors"] == [{"$ref": "#/components/errors/Refused"}]
        for method in document["methods"]
    )
    assert document["components"]["errors"]["Refused"]["data"] == {
        "$ref": "#/components/schemas/Fault"
    }
    codes = {each["error_code"]: each for each in document["x-error-codes"]}
    assert codes["NETWORK_UNAVAILABLE"]["retryable"]
    assert codes["NOT_FOUND"]["meaning"] == "The thing named does not exist."
    told = {each["name"]: each for each in document["x-notifications"]}
    assert set(told) <= set(notified.__all__)
    delta = {each["name"] for each in told["WorkshopAssistantStreamDelta"]["params"]}
    assert {"workbench_id", "token_delta", "phase"} <= delta


def test_two_records_of_one_name_are_kept_apart() -> None:
    """Plugins bring records, too, and know of no others."""

    def method(name: str, part: type[Any]) -> type[Request]:
        made = msgspec.defstruct("Part", [("value", part)], module=f"of.{name}")
        answered = msgspec.defstruct(
            f"{name}Answer", [("part", made)], bases=(Answer,), kw_only=True
        )
        space = {"method": name, "answer": answered, "__annotations__": {}}
        return type(name, (Request,), space)

    kinds = {name: method(name, part) for name, part in (("A", int), ("B", str))}
    document = openrpc_document(kinds, "1")
    shown = document["components"]["schemas"]
    parts = [
        shown[shown[f"{name}Answer"]["properties"]["part"]["$ref"].rpartition("/")[2]]
        for name in kinds
    ]
    assert [part["properties"]["value"]["type"] for part in parts] == ["integer", "string"]


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        return own + [ref for each in value.values() for ref in _references(each)]
    if isinstance(value, list):
        return [ref for each in value for ref in _references(each)]
    return []
