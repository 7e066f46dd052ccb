"""Job of `kbd run` and `kbd send`: consent, the message, the run until its end, its summary."""

import argparse
import shlex
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Self

from kbd.cli.exits import CANCELLED, CONFIRMATION_NEEDED, DECLINED, FAILED, OK, UNREACHABLE, Stop
from kbd.cli.link import call, listen
from kbd.cli.progress import Progress, render_usage
from kbd.cli.readings import add_reading_arguments
from kbd.cli.review import render_changes
from kbd.cli.terminal import (
    ask,
    counted,
    duration,
    is_interactive,
    line,
    note,
    render_table,
    say,
    size,
)
from kbd.client.blocking import Client

__all__ = [
    "add_job_arguments",
    "choose_model",
    "exit_code",
    "obtain_consent",
    "obtain_consent_to_search",
    "print_usage",
    "read_summary",
    "report_failure",
    "run_until_ended",
    "show_result",
]

RUN_END_METHODS = {"WorkshopRunFinished", "WorkshopRunFailed"}
"""The notifications after which it is worth asking how the run stands."""

POLL_S = 1.0
"""How long to listen before asking anyway."""

DRAIN_TIMEOUT_S = 0.001
"""For what has been sent already."""

LISTEN_TIMEOUT_S = 0.2
"""How soon a Ctrl-C is noticed."""


def choose_model(client: Client, workbench_id: str, model_id: str | None) -> None:
    """Choose the model of the workbench's next run, if one was named."""
    if model_id:
        params = {"workbench_id": workbench_id, "model_id": model_id}
        call(client, "WorkshopSetActiveModel", params)


def obtain_consent(
    client: Client, workbench_id: str, *, yes: bool, declined: set[str] | None = None
) -> None:
    """Obtain consent to send the files to the model; ask only where some is needed and missing.

    What makes texts vectors elsewhere is asked for, too, as `obtain_consent_to_search` does.

    Raises:
        Stop: Nobody agreed to the model, with the code that says so.
    """
    named = {"workbench_id": workbench_id}
    status = call(client, "EgressGetConsentStatus", named)
    if not status["consented"]:
        _request_consent(client, named, status, yes=yes)
    _request_embedder_consent(client, named, status, yes=yes, declined=declined)


def obtain_consent_to_search(
    client: Client, workbench_id: str, *, yes: bool, declined: set[str] | None = None
) -> None:
    """Ask whether the files may go to what makes texts vectors, where it is elsewhere.

    Who declines searches by words alone.

    Args:
        client: The daemon.
        workbench_id: Whose files.
        yes: Whether to agree without asking.
        declined: The scopes that were declined before, which are not asked about again.
    """
    named = {"workbench_id": workbench_id}
    status = call(client, "EgressGetConsentStatus", named)
    _request_embedder_consent(client, named, status, yes=yes, declined=declined)


def _request_embedder_consent(
    client: Client,
    named: dict[str, str],
    of_model: dict[str, Any],
    *,
    yes: bool,
    declined: set[str] | None,
) -> None:
    if "embedder" not in of_model:
        return
    status = call(client, "EgressGetConsentStatus", {**named, "model_id": of_model["embedder"]})
    if status["consented"] or status["scope_hash"] in (declined or ()):
        return
    try:
        _request_consent(client, named, status, yes=yes, why=", to be found by what they mean")
    except Stop as stop:
        if stop.code != CONFIRMATION_NEEDED:
            raise
        note(f"Searches go by words alone: {stop.message}")
        if declined is not None:
            declined.add(status["scope_hash"])


def _request_consent(
    client: Client, named: dict[str, str], status: dict[str, Any], *, yes: bool, why: str = ""
) -> None:
    """Ask whether the files may go where a model is, and have that recorded.

    Raises:
        Stop: Nobody agreed, with the code that says so.
    """
    files = call(client, "WorkbenchFilesList", named)["files"]
    text = call(client, "ContextList", named)["items"]
    note(_consent_question(status, files, [item for item in text if item["status"] == "set"], why))
    if not yes and not is_interactive():
        msg = "consent is needed and nobody can be asked here, so nothing was sent; --yes gives it"
        raise Stop(msg, CONFIRMATION_NEEDED)
    if not yes and not ask("May these files be sent there?"):
        raise Stop("nothing was sent", CONFIRMATION_NEEDED)
    # The hash is of what was shown: with other files the consent does not hold.
    agreed = {name: status[name] for name in ("provider_id", "model_id", "scope_hash")}
    call(client, "EgressGrantWorkshopConsent", {**named, **agreed, "persist": True})


def _consent_question(
    status: dict[str, Any], files: list[dict[str, Any]], context: list[dict[str, Any]], why: str
) -> str:
    where = f" at {line(status['endpoint'])}" if status.get("endpoint") else ""
    rows = [(file["path"], size(file["size"])) for file in files]
    rows += [(item["category"], counted(item["characters"], "character")) for item in context]
    listed = render_table(("file", "size"), rows).replace("\n", "\n  ")
    return (
        f"The contents of these files would leave this machine{why}.\n"
        f"  provider  {line(status['provider_id'])}{where}\n"
        f"  model     {line(status['model_id'])}\n"
        f"  {listed}"
    )


def run_until_ended(
    client: Client,
    workbench_id: str,
    message_id: str | None,
    progress: Progress,
    begin: str = "WorkshopRunAgent",
) -> dict[str, Any]:
    """Run the agent, or resume its run, and return the run as `RunGet` answers it.

    `begin` is the method that does so; "WorkshopRegenerate" runs it anew on what was answered.

    Beside that, `elapsed_s` in it is how long it was waited for. Ctrl-C cancels the run and waits
    for its end; a second Ctrl-C stops waiting.
    """
    last_method, began_s = "", time.monotonic()

    def on_notification(method: str, params: dict[str, Any]) -> None:
        nonlocal last_method
        if params.get("workbench_id") == workbench_id:
            last_method = method
            progress.on_notification(method, params)

    # Before the run begins: what came earlier would be queued for a reader that there is not.
    client.on_notification = on_notification
    params: dict[str, Any] = {"workbench_id": workbench_id, "wait": False}
    if message_id is not None:
        params["message_id"] = message_id
    try:
        with _CtrlC() as ctrl_c:
            run_id = str(call(client, begin, params, slow=True)["run_id"])
            run = _until_ended(
                client, run_id, ctrl_c, progress, lambda: last_method in RUN_END_METHODS
            )
            return run | {"elapsed_s": round(time.monotonic() - began_s, 3)}
    except Stop as stop:
        if stop.code == UNREACHABLE:
            raise Stop(f"{stop.message}\n{_resume_hint(workbench_id)}", UNREACHABLE) from stop
        raise
    finally:
        progress.finish()


def _until_ended(
    client: Client,
    run_id: str,
    ctrl_c: "_CtrlC",
    progress: Progress,
    seems_ended: Callable[[], bool],
) -> dict[str, Any]:
    """Listen until `RunGet` says that the run has ended.

    What is heard only says when to ask: a notification may be lost, the answer is not.
    """
    while True:
        run: dict[str, Any] = call(client, "RunGet", {"run_id": run_id})
        progress.on_status(run)
        if run["status"] != "running":
            # Notifications that were sent before the answer may still be on their way to the
            # display.
            while listen(client, DRAIN_TIMEOUT_S):
                pass
            return run
        ask_again = time.monotonic() + POLL_S
        while time.monotonic() < ask_again and not ctrl_c.waits:
            if listen(client, LISTEN_TIMEOUT_S) and seems_ended():
                break
        if ctrl_c.waits:
            ctrl_c.waits = False
            progress.interrupted()
            call(client, "WorkshopCancelRun", {"workbench_id": run["workbench_id"]})


class _CtrlC:
    """Notes a first Ctrl-C instead of breaking off in the middle of a message; a second breaks."""

    def __init__(self) -> None:
        self.waits = False
        self._pressed = False

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _press(self, _signal: int, _frame: FrameType | None) -> None:
        if self._pressed:
            raise KeyboardInterrupt
        self._pressed = self.waits = True


def read_summary(client: Client, workbench_id: str) -> str:
    """Return the last answer in the workbench's conversation, or ""."""
    params = {
        "workbench_id": workbench_id, "types": ["assistant_message"], "descending": True,
        "limit": 1,
    }  # fmt: skip
    answers = call(client, "WorkshopGetConversation", params)["messages"]
    return str(answers[0]["text"]) if answers else ""


def show_result(client: Client, run: dict[str, Any]) -> int:
    """Print a run's answer and changes, and the next step; return the exit code.

    Raises:
        Stop: It did not finish.
    """
    if run["status"] == "declined":
        return report_refusal(run)
    if run["status"] != "finished":
        raise report_failure(run)
    workbench_id = run["workbench_id"]
    answer = read_summary(client, workbench_id)
    say(f"\n{answer}\n")
    changes = call(client, "ReviewGetChangeSet", {"workbench_id": workbench_id})["changes"]
    say(render_changes(changes, answer))
    code = exit_code(run)
    if changes:
        note(f"The draft waits: kbd review {workbench_id}; kbd publish {workbench_id}")
    print_usage(run)
    return code


def print_usage(run: dict[str, Any]) -> None:
    """Print how long a run took, and what it consumed: the last line of a job."""
    note(f"{_render_duration(run)}.")


def _render_duration(run: dict[str, Any]) -> str:
    took = duration(float(run["elapsed_s"]))
    return f"{line(run['model_id'])} took {took}, {render_usage(run)}"


def exit_code(run: dict[str, Any]) -> int:
    """Return the exit code of a run that finished, after telling of items that it could not do."""
    failed = [item for item in run["items"] if item["state"] == "failed"]
    if not failed:
        return OK
    note(f"{len(failed)} of {len(run['items'])} items failed:")
    for item in failed:
        note(f"  {item['index']}. {line(item['label'], 80)}: {line(item.get('reason', ''))}")
    return FAILED


def report_refusal(run: dict[str, Any]) -> int:
    """Tell of a run that did nothing, in three lines: the request, why not, what to type instead.

    The request stands as it was read, or where it was not, as it was asked.

    Returns:
        The exit code.
    """
    read_as = run.get("understood") or run["request"]
    # A request that comes back as it was typed was not read.
    label = "You asked" if read_as == run["request"] else "I read this as"
    note(f"{label}: {line(read_as, _REFUSAL_CHARACTERS)}")
    note(f"Nothing was done: {line(run['reason'], _REFUSAL_CHARACTERS)}")
    named = map(line, run["suggestions"][:_SUGGESTIONS])
    # A request with quotes of its own stands in those of a shell, where it is pasted.
    suggestions = " or ".join(shlex.quote(one) if '"' in one else f'"{one}"' for one in named)
    if suggestions:
        note(f"What can be done: {suggestions}")
    return DECLINED


_REFUSAL_CHARACTERS = 300
_SUGGESTIONS = 3


def report_failure(run: dict[str, Any]) -> Stop:
    """Return the error of a run that did not finish: why, and the next step."""
    again = f"{_render_duration(run)}\n{_resume_hint(run['workbench_id'])}"
    match run["status"]:
        case "cancelled":
            return Stop(f"cancelled; what was done is kept\n{again}", CANCELLED)
        case "interrupted":
            return Stop(f"the daemon stopped during the run\n{again}", FAILED)
        case _:
            error = run.get("error") or {"error_code": "FAILED", "message": "the run failed"}
            text = f"{error['error_code']}: {error['message']}"
            return Stop(
                f"{text}\n{again if error.get('retryable') else _render_duration(run)}", FAILED
            )


def _resume_hint(workbench_id: str) -> str:
    return (
        f"go on where it stopped: kbd run --resume {workbench_id}\n"
        f"(or, to leave the result in the draft: kbd send {workbench_id} --resume)"
    )


def add_job_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `run` and `send` share."""
    parser.add_argument("--model", metavar="ID", help="provider:model, as `openai:NAME`")
    parser.add_argument("--yes", action="store_true", help="answer every question with yes")
    add_reading_arguments(parser)
