"""`kbd regenerate`: run on a message again, for another answer."""

import argparse
from collections.abc import Callable

from kbd.cli.conversation import read_conversation, resolve_message
from kbd.cli.job import (
    add_job_arguments,
    choose_model,
    obtain_consent,
    run_until_ended,
    show_result,
)
from kbd.cli.names import find_workbench
from kbd.cli.progress import choose_progress
from kbd.cli.readings import reading_params, settle_readings
from kbd.cli.start import connect_or_start

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd regenerate` and return what runs it."""
    parser.epilog = """\
examples:
  kbd regenerate taxes                         answer the last answered message once more
  kbd regenerate taxes --model openai:NAME     with another model, from now on
  kbd regenerate taxes u1f2e                   another one; `kbd conversation taxes` shows the ids

Files and draft are again what they were when it was asked. The first answer is not lost:
`kbd undo WB ANSWER` brings it back with its files."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument(
        "message", nargs="?", metavar="MESSAGE", help="the message, or its answer, by its id"
    )
    add_job_arguments(parser)
    return _regenerate


def _regenerate(arguments: argparse.Namespace) -> int:
    with connect_or_start(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        message_id = None
        if arguments.message:
            message_id = resolve_message(read_conversation(client, workbench_id), arguments.message)
        settle_readings(client, workbench_id, reading_params(arguments))
        choose_model(client, workbench_id, arguments.model)
        obtain_consent(client, workbench_id, yes=arguments.yes)
        progress = choose_progress(sparse=False)
        run = run_until_ended(
            client, workbench_id, message_id, progress, begin="WorkshopRegenerate"
        )
        return show_result(client, run)
