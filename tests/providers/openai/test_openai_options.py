"""What a server does not take is recognised by whatever it says, and left out when told so."""

from typing import Any

import pytest

from backends import on_asyncio, on_trio
from kbd.errors import (
    ContextExhausted,
    KbdError,
    ProviderUnavailable,
)
from kbd.providers import OPTIONS, ModelRequest, OptionRefused, ToolSchema
from kbd_openai import OpenAIProvider
from kbd_openai.chat import chat_body
from kbd_openai.request_body import refused_option
from providers.openai.lent import asking, lending
from providers.openai.scripted_server import Answer, Connection, serving

STRICT = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
LOOSE = {"type": "object", "properties": {}}
ALL = ModelRequest(
    model="m",
    messages=asking("m").messages,
    tools=(ToolSchema("look", "Looks", LOOSE, STRICT),),
    tool_choice="required",
    max_output_tokens=9,
    effort="high",
)

REFUSALS: tuple[tuple[str, int, dict[str, Any]], ...] = (
    # As servers were seen to say it; none is made up but for its names.
    ("effort", 400, {"message": "Unsupported parameter: 'reasoning_effort' is not supported with"
                     " this model.", "param": "reasoning_effort", "code": "unsupported_parameter"}),
    ("effort", 400, {"message": "Unsupported value: 'xhigh'", "param": "reasoning.effort"}),
    ("effort", 400, {"message": "Validation error for `reasoning_effort`: expected one of 'low'"}),
    ("usage", 400, {"detail": "Extra parameters ['stream_options'] are not allowed when"
                    " extra-parameters is not set or set to be 'error'."}),
    ("usage", 422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"],
                                "msg": "Extra inputs are not permitted",
                                "input": {"tool_choice": "required"}}]}),
    ("tool_choice", 400, {"object": "error", "message": "[{'type': 'extra_forbidden', 'loc':"
                          " ('body', 'tool_choice'), 'msg': 'Extra inputs are not permitted',"
                          " 'input': 'auto'}]", "param": None, "code": 400}),
    ("tool_choice", 404, {"message": "No endpoints found that support the provided 'tool_choice'"
                          " value.", "code": 404}),
    ("tool_choice", 501, {"message": "Only 'auto' or 'none' tool_choice is supported"}),
    ("tool_choice", 400, {"message": "Tool choice is not supported"}),
    ("tool_choice", 400, {"message": "Input should be 'auto' or 'none', got 'required'"}),
    ("strict", 400, {"message": "Invalid schema for function 'look': In context=(), 'required' is"
                     " required to be supplied and to be an array including every key in"
                     " properties.", "param": "tools[0].function.parameters",
                     "code": "invalid_function_parameters"}),
    ("strict", 400, {"message": "Invalid schema for response_format or tools",
                     "code": "invalid_function_parameters"}),
    ("strict", 422, {"detail": [{"loc": ["body", "tools", 0, "function", "strict"],
                                 "msg": "Extra inputs are not permitted"}]}),
    ("strict", 400, {"message": "Unrecognized request argument supplied: strict"}),
    ("max_output_tokens", 400, {"message": "Unsupported parameter: 'max_tokens' is not supported"
                                " with this model. Use 'max_completion_tokens' instead.",
                                "param": "max_tokens"}),
    ("max_output_tokens", 400, {"message": "max_tokens is too large: 9."}),
)  # fmt: skip


@pytest.mark.parametrize(("option", "status", "fields"), REFUSALS)
def test_a_refusal_names_the_option(option: str, status: int, fields: dict[str, Any]) -> None:
    """By its parameter, code, path or words; not when the request did not have it."""
    assert option == refused_option(status, fields, ALL)
    held = ModelRequest(ALL.model, ALL.messages, ALL.tools, "required", without=OPTIONS)
    assert refused_option(status, fields, held) is None


@pytest.mark.parametrize(
    ("status", "fields"),
    [
        (400, {"message": "the model does not exist"}),
        (404, {"message": "no such model", "param": "model"}),
        (401, {"message": "reasoning_effort"}),
        (429, {"message": "tool_choice"}),
        (500, {"message": "strict"}),
    ],
)
def test_what_is_no_refusal_of_an_option(status: int, fields: dict[str, Any]) -> None:
    """Other faults, and other statuses whatever they name."""
    assert refused_option(status, fields, ALL) is None


def test_what_was_refused_is_left_out() -> None:
    """Each option has its fields; without it they are not sent, and the rest stays."""
    whole = chat_body(ALL, official=True)
    fields = {
        "tool_choice": "tool_choice",
        "effort": "reasoning_effort",
        "usage": "stream_options",
        "max_output_tokens": "max_completion_tokens",
    }
    for option, field in fields.items():
        held = {name: getattr(ALL, name) for name in ALL.__struct_fields__} | {"without": (option,)}
        body = chat_body(ModelRequest(**held), official=True)
        assert set(whole) - set(body) == {field}
    assert whole["tools"][0]["function"] == {
        "name": "look", "description": "Looks", "parameters": STRICT, "strict": True,
    }  # fmt: skip
    loose = ModelRequest(ALL.model, ALL.messages, ALL.tools, "required", without=("strict",))
    assert chat_body(loose, official=True)["tools"][0]["function"] == {
        "name": "look", "description": "Looks", "parameters": LOOSE,
    }  # fmt: skip
    assert "parallel_tool_calls" not in whole


def refusing(status: str, body: object) -> Answer:
    """Return an answer with a status."""

    async def answer(connection: Connection) -> None:
        await connection.whole(status, body)

    return answer


@on_trio
@pytest.mark.anyio
@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
async def test_a_refusal_over_the_wire() -> None:
    """It is an error that names the option; a request that is too long is told so first."""
    error = {"error": {"message": "tool_choice: not here", "type": "invalid_request_error"}}
    long = {"error": {"message": "maximum context length is 9; reduce max_tokens"}}
    held = {"detail": [{"loc": ["body", "tools", 0, "function", "strict"], "msg": "Extra inputs"}]}
    answers = {
        "a": refusing("400 Bad Request", error),
        "b": refusing("400 Bad Request", long),
        "c": refusing("422 Unprocessable Content", held),
    }
    found = {}
    async with serving(**answers) as server, lending(server.port) as access:
        for model in answers:
            asked = ModelRequest(model, ALL.messages, ALL.tools, "required", max_output_tokens=9)
            with pytest.raises(KbdError) as caught:
                await OpenAIProvider({}).complete(asked, access, lambda _: None)
            found[model] = caught.value

    assert [getattr(error, "option", None) for error in found.values()] == [
        "tool_choice", None, "strict",
    ]  # fmt: skip
    assert type(found["a"]) is OptionRefused
    assert type(found["b"]) is ContextExhausted


@on_asyncio
@pytest.mark.anyio
async def test_strict_schemas_can_be_switched_off() -> None:
    """The setting `strict = false` sends the plain schemas from the beginning."""
    async with serving(m=refusing("500 No", {})) as server, lending(server.port) as access:
        for settings in ({}, {"strict": False}):
            with pytest.raises(ProviderUnavailable):
                await OpenAIProvider(settings).complete(ALL, access, lambda _: None)

    sent = [request["tools"][0]["function"]["parameters"] for request in server.requests]
    assert sent == [STRICT, LOOSE]
