"""Answer to a message: consent, the run until its end, its text and what it changed."""

from contextlib import nullcontext
from typing import Any

from kbd.cli.chat.busy import silent_keys
from kbd.cli.chat.run_view import Trace, Working
from kbd.cli.chat.session import Session
from kbd.cli.exits import CANCELLED, FAILED, UNREACHABLE, Stop
from kbd.cli.job import code_of, run_to_its_end, summary_of, tell_what_it_took
from kbd.cli.review import described
from kbd.cli.terminal import interactive, line, note

__all__ = ["answer", "resume"]


def answer(session: Session, text: str) -> int:
    """Send a message, show its answer, and return the code of how that went.

    Raises:
        Stop: It could not be sent: nobody consented, the daemon refused, or it is gone.
    """
    session.consent()
    message_id = str(session.ask("WorkshopSendUserMessage", text=text)["message_id"])
    return _run(session, message_id)


def resume(session: Session) -> int:
    """Go on with the run that stopped, and return the code of how that went.

    Raises:
        Stop: As `answer` does, or there is nothing to go on with.
    """
    session.consent()
    return _run(session, None)


def _run(session: Session, message_id: str | None) -> int:
    trace = Trace(session) if session.is_verbose else None
    shown = Working(trace)
    try:
        with silent_keys(), trace or nullcontext():
            run = run_to_its_end(session.client, session.workbench_id, message_id, shown)
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
        return _ended_early(run)
    shown.answered(summary_of(session.client, session.workbench_id))
    # Between what was asked for and what is told beside it; a pipe has them apart.
    if interactive():
        note("")
    code = code_of(run)
    _tell_changes(session, str(run["run_id"]))
    tell_what_it_took(run)
    return code


def _ended_early(run: dict[str, Any]) -> int:
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


def _tell_changes(session: Session, run_id: str) -> None:
    """Tell what this run changed in the draft."""
    changes = session.ask("ReviewGetChangeSet")["changes"]
    changed = [each for each in changes if each.get("run_id") == run_id]
    if changed:
        note(described(changed))
        note("In the draft: /review shows it, /publish takes it over, /undo takes it back.")
