"""`kbd send`: send a message to a workbench and run on it, or resume the run that stopped."""

import argparse
from collections.abc import Callable

from kbd.cli.documents import add_document_arguments, document_params, send_message
from kbd.cli.exits import USAGE, Stop
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
    """Add the arguments of `kbd send` and return what runs it."""
    parser.epilog = """\
examples:
  kbd send taxes "total by month"
  kbd send taxes "the same for 2024"
  kbd send taxes --recipe monthly-split
  kbd send taxes --resume

What it changes waits in the draft: see `kbd review` and `kbd publish`."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument("text", nargs="?", metavar="TEXT", help="what to do")
    parser.add_argument("--resume", action="store_true", help="go on with the run that stopped")
    add_document_arguments(parser)
    add_job_arguments(parser)
    return _send


def _send(arguments: argparse.Namespace) -> int:
    message = document_params(arguments)
    if arguments.text and message:
        raise Stop("a job or a recipe is sent without a text", USAGE)
    if arguments.text:
        message = {"text": arguments.text}
    if bool(message) == arguments.resume:
        raise Stop("say what to do, or --resume: kbd send WB TEXT | kbd send WB --resume", USAGE)
    with connect_or_start(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        asked = None if message and not arguments.text else arguments.text or ""
        settle_readings(client, workbench_id, reading_params(arguments), asked)
        if asked is not None:
            choose_model(client, workbench_id, arguments.model)
            obtain_consent(client, workbench_id, yes=arguments.yes)
        message_id = send_message(client, workbench_id, message) if message else None
        run = run_until_ended(client, workbench_id, message_id, choose_progress(sparse=False))
        return show_result(client, run)
