"""Answer to a message: consent, the run until its end, its text and what it changed."""

from contextlib import nullcontext
from typing import Any

from kbd.cli.chat.busy import without_echo
from kbd.cli.chat.run_view import RunView, ToolTrace
from kbd.cli.chat.session import ChatSession
from kbd.cli.exits import CANCELLED, FAILED, UNREACHABLE, Stop
from kbd.cli.job import exit_code, print_usage, read_summary, run_until_ended
from kbd.cli.review import render_changes
from kbd.cli.terminal import is_interactive, line, note

__all__ = ["answer_message", "resume_run"]


def answer_message(session: ChatSession, text: str) -> int:
    """Send a message, show its answer, and return the code of how that went.

    Raises:
        Stop: It could not be sent: nobody consented, the daemon refused, or it is gone.
    """
    session.consent()
    message_id = str(session.ask("WorkshopSendUserMessage", text=text)["message_id"])
    return _run(session, message_id)


def resume_run(session: ChatSession) -> int:
    """Go on with the run that stopped, and return the code of how that went.

    Raises:
        Stop: As `answer` does, or there is nothing to go on with.
    """
    session.consent()
    return _run(session, None)


def _run(session: ChatSession, message_id: str | None) -> int:
    trace = ToolTrace(session) if session.is_verbose else None
    shown = RunView(trace)
    try:
        with without_echo(), trace or nullcontext():
            run = run_until_ended(session.client, session.workbench_id, message_id, shown)
    except KeyboardInterrupt:
        # The second Ctrl-C may come before the first was passed on.
        session.drop()
        session.ask("WorkshopCancelRun")
        raise
    except Stop as stop:
        if stop.code == UNREACHABLE:
            msg = "kbd ended while it worked. What was recorded is safe; /resume goes on."
            raise Stop(msg, UNREACHABLE) from stop
        raise
    finally:
        shown.done()
    session.runs.append(str(run["run_id"]))
    if run["status"] != "finished":
        return _report_failure(run)
    shown.answered(read_summary(session.client, session.workbench_id))
    # Between what was asked for and what is told beside it; a pipe has them apart.
    if is_interactive():
        note("")
    code = exit_code(run)
    _print_changes(session, str(run["run_id"]))
    print_usage(run)
    return code


def _report_failure(run: dict[str, Any]) -> int:
    """Tell why a run did not finish and how to go on."""
    match run["status"]:
        case "cancelled":
            note("Cancelled; what was done is kept. /resume goes on, /undo takes it back.")
            return CANCELLED
        case "interrupted":
            note("The daemon stopped during the run. /resume goes on.")
        case _:
            error = run.get("error") or {"error_code": "FAILED", "message": "the run failed"}
            note(f"{line(error['error_code'])}: {error['message']}")
            if error.get("retryable"):
                note("/resume goes on where it stopped.")
    return FAILED


def _print_changes(session: ChatSession, run_id: str) -> None:
    """Tell what this run changed in the draft."""
    changes = session.ask("ReviewGetChangeSet")["changes"]
    changed = [each for each in changes if each.get("run_id") == run_id]
    if changed:
        note(render_changes(changed))
        note("In the draft: /review shows it, /publish takes it over, /undo takes it back.")
