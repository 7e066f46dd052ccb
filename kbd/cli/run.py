"""`kbd run`: a whole job in one command, from the files to the results beside them."""

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kbd.cli.documents import (
    add_document_arguments,
    document_name,
    document_params,
    send_message,
)
from kbd.cli.exits import CONFIRMATION_NEEDED, DECLINED, FAILED, USAGE, RequestRefused, Stop
from kbd.cli.files import add, check_folder, extract
from kbd.cli.job import (
    add_job_arguments,
    choose_model,
    exit_code,
    obtain_consent,
    print_usage,
    read_summary,
    report_failure,
    report_refusal,
    run_until_ended,
    show_result,
)
from kbd.cli.link import call
from kbd.cli.names import find_workbench
from kbd.cli.progress import choose_progress
from kbd.cli.publish import choose_files, publish
from kbd.cli.readings import reading_params, settle_readings
from kbd.cli.review import changed_paths, render_changes
from kbd.cli.start import connect_or_start
from kbd.cli.terminal import counted, is_interactive, line, note, say
from kbd.client.blocking import Client

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd run` and return what runs it."""
    parser.epilog = """\
examples:
  kbd run "one sheet per category, with totals" statements/*
  kbd run "total by month" sales/* --out reports --yes
  kbd run "total by month" sales/* --json --publish | python -m json.tool
  kbd run "which customers left?" lists/* --model openai:NAME
  kbd run --job split.toml sales/may*
  kbd run --recipe monthly-split sales/may*
  kbd run taxes --recipe monthly-split
  kbd run --resume WORKBENCH

Your files are copied; kbd never writes where they came from. What changes is shown first, then
published, then copied to --out under free names. Ctrl-C cancels; --resume goes on. A job or a
recipe on a workbench leaves its results in the draft, as `kbd send` does."""
    parser.add_argument("prompt", nargs="?", metavar="PROMPT", help="what to do")
    parser.add_argument("files", nargs="*", metavar="FILE", help="what to do it with")
    add_job_arguments(parser)
    parser.add_argument("--name", help="the workbench's name; else the prompt's first words")
    parser.add_argument(
        "--out", metavar="PATH", default=".",
        help="the folder that results go to (default: .), or the name of the result",
    )  # fmt: skip
    parser.add_argument("--publish", action="store_true", help="publish without asking")
    parser.add_argument("--keep", action="store_true", help="leave the draft, for `kbd review`")
    parser.add_argument("--resume", metavar="WB", help="go on with the run of this workbench")
    add_document_arguments(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _run


def _run(arguments: argparse.Namespace) -> int:
    document = _take_document(arguments)
    if bool(arguments.prompt or document) == bool(arguments.resume):
        raise Stop('what is to be done? kbd run "PROMPT" FILE..., or kbd run --resume WB', USAGE)
    if document and len(arguments.files) == 1 and not os.path.lexists(arguments.files[0]):
        return _run_in_workbench(arguments, document)
    _take_result_name(arguments)
    if not arguments.keep:
        # Before the run: what cannot be handed out would have been paid for.
        check_folder(arguments.out)
    # With --json all fields are there, however far the job came.
    report: dict[str, Any] = dict.fromkeys(
        (
            "run_id",
            "status",
            "workbench_id",
            "summary",
            "changes",
            "extracted",
            "error",
            "reason",
            "suggestions",
            "usage",
            "cost",
            "elapsed_s",
        )
    )
    try:
        with connect_or_start(arguments) as client:
            code = _job(client, arguments, report, document or {"text": arguments.prompt})
    except Stop as stop:
        if not arguments.json:
            raise
        # The run's own error has a code, and goes before the words of this command.
        report["error"] = report["error"] or {
            "error_code": stop.error_code if isinstance(stop, RequestRefused) else None,
            "message": stop.message,
        }
        code = stop.code
    if arguments.json:
        say(json.dumps(report))
    return code


def _take_document(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the message that a job or a recipe is; what stands in a prompt's place is a file."""
    document = document_params(arguments)
    if document and arguments.prompt:
        arguments.files = [arguments.prompt, *arguments.files]
        arguments.prompt = None
    return document


def _run_in_workbench(arguments: argparse.Namespace, document: Mapping[str, str]) -> int:
    """Carry out a job or a recipe with the files of a workbench; what it makes waits in the draft.

    Raises:
        Stop: There is neither a file nor a workbench of that name, or it did not finish.
    """
    if arguments.json:
        raise Stop("with --json a job or a recipe is given files, not a workbench", USAGE)
    with connect_or_start(arguments) as client:
        named = arguments.files[0]
        try:
            workbench_id = str(find_workbench(client, named)["id"])
        except Stop as stop:
            raise Stop(f"there is no file {named}, and {stop.message}", stop.code) from None
        settle_readings(client, workbench_id, reading_params(arguments), None)
        message_id = send_message(client, workbench_id, document)
        run = run_until_ended(client, workbench_id, message_id, choose_progress(sparse=False))
        return show_result(client, run)


def _take_result_name(arguments: argparse.Namespace) -> None:
    """Let `--out FILE` say in the prompt how the result is called, and the folder where it goes."""
    folder, name = os.path.split(arguments.out)
    if os.path.isdir(arguments.out) or not os.path.splitext(name)[1]:
        return
    if arguments.job or arguments.recipe:
        raise Stop("a job says how its results are called; --out names a folder", USAGE)
    arguments.out = folder or "."
    if arguments.prompt:
        arguments.prompt = f"{arguments.prompt}\n\nWrite the result to {name}."


def _job(
    client: Client,
    arguments: argparse.Namespace,
    report: dict[str, Any],
    message: Mapping[str, str],
) -> int:
    workbench_id, message_id = _prepare_workbench(client, arguments, report, message)
    progress = choose_progress(sparse=arguments.json)
    run = run_until_ended(client, workbench_id, message_id, progress)
    report.update(run_id=run["run_id"], status=run["status"], error=run.get("error"))
    report.update(usage=run["usage"], cost=run["cost"], elapsed_s=run["elapsed_s"])
    if run["status"] == "declined":
        return _tell_refusal(client, arguments, report, run)
    if run["status"] != "finished":
        raise report_failure(run)
    try:
        return _deliver_results(client, arguments, report, run)
    finally:
        if not arguments.json:
            print_usage(run)


def _tell_refusal(
    client: Client, arguments: argparse.Namespace, report: dict[str, Any], run: dict[str, Any]
) -> int:
    report.update(reason=run["reason"], suggestions=run["suggestions"], changes=[], extracted=[])
    if not arguments.json:
        return report_refusal(run)
    report["summary"] = read_summary(client, report["workbench_id"])
    return DECLINED


def _deliver_results(
    client: Client, arguments: argparse.Namespace, report: dict[str, Any], run: dict[str, Any]
) -> int:
    """Show what a finished run made, publish it and hand it out; return the exit code."""
    workbench_id = report["workbench_id"]
    report["summary"] = read_summary(client, workbench_id)
    changes = call(client, "ReviewGetChangeSet", {"workbench_id": workbench_id})["changes"]
    report.update(changes=changes, extracted=[])
    if not arguments.json:
        say(f"\n{report['summary']}\n")
        say(render_changes(changes, report["summary"]))
    code = exit_code(run)
    if not changes:
        return code
    if arguments.keep:
        note(f"The draft is kept. See it: kbd review {workbench_id}")
        return code
    chosen = _confirm_publish(client, arguments, workbench_id, changes)
    left = sum(str(change["path"]) not in chosen for change in changes)
    # All of them are not named: a name could have changed meanwhile.
    publish(client, workbench_id, paths=chosen if left else (), yes=arguments.yes)
    changed = [path for path in changed_paths(changes) if path in chosen]
    report["extracted"] = extract(client, workbench_id, arguments.out, changed)
    if not arguments.json:
        for path in report["extracted"]:
            say(f"-> {path}")
        note(f"The workbench is {workbench_id}; `kbd log {workbench_id}` tells all that happened.")
        if left:
            note(f"{counted(left, 'file')} stay in the draft: kbd review {workbench_id}")
    return code


def _prepare_workbench(
    client: Client,
    arguments: argparse.Namespace,
    report: dict[str, Any],
    message: Mapping[str, str],
) -> tuple[str, str | None]:
    """Return a workbench that is ready to run, and the message to run on (None: go on)."""
    if arguments.resume:
        workbench_id = report["workbench_id"] = str(find_workbench(client, arguments.resume)["id"])
        _set_up_run(client, workbench_id, arguments)
        return workbench_id, None
    asked = arguments.prompt or document_name(arguments)
    name = arguments.name or line(asked, 60)
    workbench_id = str(call(client, "WorkbenchCreate", {"name": name})["workbench_id"])
    try:
        if add(client, workbench_id, arguments.files):
            raise Stop("nothing was done, because a file could not be added", FAILED)
        _set_up_run(client, workbench_id, arguments)
        message_id = send_message(client, workbench_id, message)
    except Stop:
        # Nothing was asked in it yet: nobody would miss it.
        call(client, "WorkbenchDelete", {"workbench_id": workbench_id})
        raise
    report["workbench_id"] = workbench_id
    return workbench_id, message_id


def _set_up_run(client: Client, workbench_id: str, arguments: argparse.Namespace) -> None:
    if arguments.job or arguments.recipe:
        settle_readings(client, workbench_id, reading_params(arguments), None)
        return
    settle_readings(client, workbench_id, reading_params(arguments), arguments.prompt or "")
    choose_model(client, workbench_id, arguments.model)
    obtain_consent(client, workbench_id, yes=arguments.yes)


def _confirm_publish(
    client: Client,
    arguments: argparse.Namespace,
    workbench_id: str,
    changes: Sequence[Mapping[str, Any]],
) -> tuple[str, ...]:
    """Return the files to publish: all, or those that a person chooses.

    Raises:
        Stop: The answer is no, or nobody can be asked.
    """
    if arguments.publish or arguments.yes:
        return tuple(str(change["path"]) for change in changes)
    later = f"the draft is kept: kbd review {workbench_id}; kbd publish {workbench_id}"
    if not is_interactive():
        msg = f"publishing needs a yes, and nobody can be asked here (--publish); {later}"
        raise Stop(msg, CONFIRMATION_NEEDED)
    chosen = choose_files(client, workbench_id)
    if not chosen:
        raise Stop(later, CONFIRMATION_NEEDED)
    return chosen
