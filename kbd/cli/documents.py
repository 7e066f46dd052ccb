"""Jobs and recipes on the command line: the arguments that name them, and their messages."""

import argparse
import os
from collections.abc import Mapping

from kbd.cli.exits import FAILED, USAGE, Stop
from kbd.cli.link import call
from kbd.cli.terminal import line, note
from kbd.client.blocking import Client

__all__ = [
    "add_document_arguments",
    "document_name",
    "document_params",
    "read_document",
    "send_message",
]

_MAX_BYTES = 4_000_000
"""Of a document; a job of a hundred steps has some twenty thousand."""

_WORDS_CHARACTERS = 1_000


def add_document_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name a job or a recipe in the place of words."""
    parser.add_argument("--job", metavar="FILE", help="carry out a job, in TOML or JSON")
    parser.add_argument("--recipe", metavar="NAME", help="do a recipe again, without a model")


def document_params(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the parameters of the message that a job or a recipe is; none where none is named.

    Raises:
        Stop: Both are named, or a model that would not be asked; or the file cannot be read.
    """
    if not arguments.job and not arguments.recipe:
        return {}
    if arguments.job and arguments.recipe:
        raise Stop("--job is a job of your own, --recipe one that is saved: give one", USAGE)
    if arguments.model:
        raise Stop("a job or a recipe asks no model: leave --model out", USAGE)
    if arguments.recipe:
        return {"recipe": arguments.recipe}
    return {"job": read_document(arguments.job)}


def document_name(arguments: argparse.Namespace) -> str:
    """Return what a job or a recipe is called: its name, or that of its file."""
    name = arguments.recipe or os.path.splitext(os.path.basename(arguments.job))[0]
    return str(name)


def read_document(path: str) -> str:
    """Return the text of a document.

    Raises:
        Stop: It cannot be read, or is no text in UTF-8.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise Stop(f"{path}: {error.strerror}", FAILED) from None
    except UnicodeDecodeError:
        raise Stop(f"{path}: it is no text in UTF-8", FAILED) from None
    if len(data) > _MAX_BYTES:
        raise Stop(f"{path}: it has more than {_MAX_BYTES:,} bytes", FAILED)
    if not text.strip():
        raise Stop(f"{path}: it is empty", FAILED)
    return text


def send_message(client: Client, workbench_id: str, message: Mapping[str, str]) -> str:
    """Send a message and return its id; say before its run what a job or a recipe does.

    Args:
        client: The connection.
        workbench_id: The workbench.
        message: Its `text`, `job` or `recipe`.
    """
    sent = call(client, "WorkshopSendUserMessage", {"workbench_id": workbench_id, **message})
    if "understood" in sent:
        note(f"I read this as: {line(sent['understood'], _WORDS_CHARACTERS)}")
    return str(sent["message_id"])
