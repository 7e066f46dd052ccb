"""A server of a model that can only write text: it refuses whatever asks it for calls."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from kbd.toolcall.blocks import render_toolcall
from model_server import Reply, failure, text

__all__ = ["block", "phase_told", "results", "text_only", "turns_taken"]

Speak = Callable[[dict[str, Any]], str | Reply]


def block(name: str, **arguments: Any) -> str:
    """Return a call as such a model writes it."""
    return render_toolcall(name, arguments)


def text_only(speak: Speak) -> Callable[[dict[str, Any]], Reply]:
    """Return a play of a server that knows no tools."""

    def play(body: dict[str, Any]) -> Reply:
        known = {"model", "messages", "stream", "stream_options"}
        strange = set(body) - known
        roles = [message["role"] for message in body["messages"]]
        if strange or set(roles) - {"system", "user", "assistant"}:
            return failure(400, f"no such thing here: {sorted(strange)} {roles}")
        if any(a == b for a, b in pairwise(roles)):
            return failure(400, f"roles must alternate: {roles}")
        said = speak(body)
        return text(said) if isinstance(said, str) else said

    return play


def phase_told(body: dict[str, Any]) -> str:
    """Tell the phase by the tools that are told in words, as a model could."""
    told = body["messages"][0]["content"]
    if "### write_text_file " in told:
        return "implement"
    if "### list_files " in told:
        return "research"
    return "plan" if "### read_file " in told else "no tools"


def turns_taken(body: dict[str, Any]) -> int:
    """Tell how many turns the model has answered in this chain."""
    return sum(message["role"] == "assistant" for message in body["messages"])


def results(body: dict[str, Any]) -> list[str]:
    """Return the results that the model was told of its last calls."""
    said = body["messages"][-1]["content"]
    return [
        part.removeprefix("<myPT_toolresult>").removesuffix("</myPT_toolresult>")
        for part in said.split("\n\n")
        if part.startswith("<myPT_toolresult>")
    ]
