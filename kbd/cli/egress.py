"""`kbd egress`: show which requests left this machine, to whom, and the consent for them."""

import argparse
import json
from collections.abc import Callable
from typing import Any

from kbd.cli.exits import CONFIRMATION_NEEDED, OK, RequestRefused, Stop
from kbd.cli.link import call
from kbd.cli.names import find_workbench
from kbd.cli.start import connect_or_start
from kbd.cli.terminal import (
    ask,
    counted,
    format_time,
    is_interactive,
    note,
    render_table,
    say,
    size,
)
from kbd.client.blocking import Client

__all__ = ["command"]

MAX_SHOWN = 20
"""Rows that are shown without `--all`."""

_PAGE_EVENTS = 1000


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd egress` and return what runs it."""
    parser.epilog = """\
examples:
  kbd egress taxes
  kbd egress taxes --all --json
  kbd egress
  kbd egress --mode allow_all

Each request was recorded before it left. Without a workbench: those that belong
to none, as `kbd providers validate` makes, and traces of all runs. `--mode`
chooses for all workbenches whether you are asked before contents leave (ask) or
agree to everything (allow_all)."""
    parser.add_argument("workbench", nargs="?", metavar="WB", help="its id or name")
    parser.add_argument(
        "--all", action="store_true", help=f"all requests, not the newest {MAX_SHOWN}"
    )
    parser.add_argument("--mode", choices=("ask", "allow_all"), help="whether you are asked")
    parser.add_argument("--yes", action="store_true", help="approve of allow_all")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _egress


def _egress(arguments: argparse.Namespace) -> int:
    with connect_or_start(arguments) as client:
        if arguments.mode:
            _set_mode(client, arguments.mode, yes=arguments.yes)
            return OK
        log_id = (
            find_workbench(client, arguments.workbench)["id"] if arguments.workbench else "daemon"
        )
        consent = _consent(client, {"workbench_id": log_id}) if arguments.workbench else None
        embedder = _embedder_consent(client, log_id, consent)
        mode = call(client, "UserGetConsentMode")["mode"]
        sent = _read_requests(client, log_id)
        if arguments.workbench:
            sent = sorted(sent + _read_traces(client, log_id), key=lambda row: str(row["ts"]))
    if arguments.json:
        shown = sent if arguments.all else sent[-MAX_SHOWN:]
        total = sum(row["bytes_out"] for row in sent)  # also of those not shown
        shown_fields = {"consent": consent, "mode": mode, "events": shown, "bytes_out": total}
        say(json.dumps({**shown_fields, **({"embedder": embedder} if embedder else {})}))
        return OK
    if consent is not None:
        say(_render_consent(consent))
    if embedder is not None:
        say(_render_consent(embedder, "Searches"))
    if mode == "allow_all":
        say("Everything is allowed, for all workbenches: kbd egress --mode ask")
    say(_render_requests(sent, every=arguments.all))
    return OK


def _set_mode(client: Client, mode: str, *, yes: bool) -> None:
    """Set whether people are asked; to allow everything takes a yes of its own."""
    if mode == "allow_all" and not yes:
        note("The files of every workbench may then be sent to its model's provider, unasked.")
        if not is_interactive():
            raise Stop("nobody can be asked here; --yes approves", CONFIRMATION_NEEDED)
        if not ask("Allow everything?"):
            raise Stop("nothing was changed", CONFIRMATION_NEEDED)
    call(client, "UserSetConsentMode", {"mode": mode, "approved": mode == "allow_all"})
    say("You are asked." if mode == "ask" else "Everything is allowed.")


def _consent(client: Client, named: dict[str, str]) -> dict[str, Any] | str:
    """Return the status of consent, or why a model could not be called anyway."""
    try:
        status: dict[str, Any] = call(client, "EgressGetConsentStatus", named)
    except RequestRefused as refused:
        return refused.reason
    return status


def _embedder_consent(
    client: Client, workbench_id: str, consent: dict[str, Any] | str | None
) -> dict[str, Any] | str | None:
    """Return how consent stands to what makes texts vectors elsewhere; None if nothing does."""
    if not isinstance(consent, dict) or "embedder" not in consent:
        return None
    return _consent(client, {"workbench_id": workbench_id, "model_id": consent["embedder"]})


def _render_consent(consent: dict[str, Any] | str, who: str = "Runs") -> str:
    if isinstance(consent, str):
        return consent
    place = consent["endpoint"] or "this machine"
    if consent["consented"]:
        return f"{who} may send to {consent['model_id']} at {place}."
    return f"Nobody agreed to send these files to {consent['model_id']} at {place}."


def _describe_model(row: dict[str, Any]) -> str:
    """Return the model that a request is about, and for what if not for a turn of a run."""
    model_id, purpose = str(row["model_id"]), str(row["purpose"])
    if not model_id:
        return purpose
    return model_id if purpose == "turn" else f"{model_id} ({purpose})"


def _read_requests(client: Client, log_id: str) -> list[dict[str, Any]]:
    """Return all requests of a log, oldest first."""
    rows: list[dict[str, Any]] = []
    after, has_more = 0, True
    while has_more:
        asked = {"workbench_id": log_id, "after": after, "limit": _PAGE_EVENTS}
        found = call(client, "EgressListEvents", asked, slow=True)
        rows += found["events"]
        after, has_more = found["last_seq"], found["has_more"]
    return rows


def _read_traces(client: Client, workbench_id: str) -> list[dict[str, Any]]:
    """Return the requests with traces of a workbench's runs, which are in the daemon's log."""
    return [
        row
        for row in _read_requests(client, "daemon")
        if row["purpose"] == "trace" and row["run_id"].partition("-")[0] == workbench_id
    ]


def _render_requests(sent: list[dict[str, Any]], *, every: bool) -> str:
    """Return the requests, the newest last, and their sum."""
    if not sent:
        return "Nothing was sent."
    shown = sent if every else sent[-MAX_SHOWN:]
    rows = [
        (
            format_time(row["ts"]),
            row["endpoint"],
            f"{row['method']} {row['path']}",
            size(row["bytes_out"]),
            _describe_model(row),
            row.get("run_id", "-"),
        )
        for row in shown
    ]
    total = size(sum(row["bytes_out"] for row in sent))
    left_out = f", {len(sent) - len(shown)} of them older" if len(shown) < len(sent) else ""
    header = ("sent (UTC)", "to", "request", "bytes", "model", "run")
    return (
        f"{render_table(header, rows)}\n{counted(len(sent), 'request')}{left_out}, {total} in all."
    )
