"""`kbd providers`: list models and embedders; try one, enable or disable it, set efforts."""

import argparse
import json
from collections.abc import Callable
from typing import Any

from kbd.cli.exits import FAILED, OK, USAGE, Stop
from kbd.cli.link import call
from kbd.cli.start import connect_or_start
from kbd.cli.terminal import line, note, render_table, say
from kbd.client.blocking import Client

__all__ = ["command"]

ACTIONS = ("list", "validate", "enable", "disable", "effort")
PHASES = ("research", "plan", "implement")


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd providers` and return what runs it."""
    parser.epilog = """\
examples:
  kbd providers
  kbd providers validate openai
  kbd providers disable openai
  kbd providers effort openai --research low --implement high

`validate` asks the provider whether it answers and takes the key; no content of
files is sent. `effort` says how hard its models shall think in each phase;
`default` leaves it to the model, and phases that are not named stay as they are."""
    parser.add_argument("action", nargs="?", metavar="ACTION", default="list",
                        choices=ACTIONS, help=" | ".join(ACTIONS))  # fmt: skip
    parser.add_argument("provider", nargs="?", metavar="NAME", help="the provider")
    for phase in PHASES:
        parser.add_argument(f"--{phase}", metavar="EFFORT", help=f"effort: of the {phase} phase")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _providers


def _providers(arguments: argparse.Namespace) -> int:
    if arguments.action != "list" and not arguments.provider:
        raise Stop(f"kbd providers {arguments.action} needs the name of a provider", USAGE)
    with connect_or_start(arguments) as client:
        match arguments.action:
            case "list":
                answer = call(client, "ProvidersGetStatus")
                text = _render_status(answer, arguments.provider)
            case "validate":
                answer = call(
                    client, "ProvidersValidate", {"provider_id": arguments.provider}, slow=True
                )
                text = f"{arguments.provider} answers."
            case "enable" | "disable":
                enabled = arguments.action == "enable"
                named = {"provider_id": arguments.provider, "enabled": enabled}
                answer = call(client, "ProvidersSetEnabled", named)
                text = f"{arguments.provider} is {arguments.action}d."
            case _:
                answer = _set_effort(client, arguments)
                text = f"{arguments.provider} thinks {_render_efforts(answer)}."
    say(json.dumps(answer) if arguments.json else text)
    return OK


def _set_effort(client: Client, arguments: argparse.Namespace) -> dict[str, Any]:
    """Set what is named, and leave the other phases as they are."""
    rows = call(client, "ProvidersGetStatus")["providers"]
    found = [row for row in rows if row["provider_id"] == arguments.provider]
    now = found[0].get("rpi_reasoning", {}) if found else {}
    asked = {
        "research_effort": arguments.research,
        "plan_effort": arguments.plan,
        "implement_effort": arguments.implement,
    }
    if not any(asked.values()):
        offered = ", ".join(("default", *found[0].get("efforts", ()))) if found else "default"
        note(f"Name a phase: --research, --plan or --implement with one of: {line(offered)}")
        raise Stop("", USAGE)
    wanted = {name: effort or now.get(name, "default") for name, effort in asked.items()}
    answer: dict[str, Any] = call(
        client, "ProvidersSetReasoningEffort", {"provider_id": arguments.provider, **wanted}
    )
    return answer


def _render_status(answer: dict[str, Any], named: str | None) -> str:
    """Return a row for each provider and each embedder, and what searches use."""
    embedders = [row for row in answer.get("embedders", ()) if named in (None, row["provider_id"])]
    rows = [row for row in answer["providers"] if named in (None, row["provider_id"])]
    if not rows and not embedders:
        raise Stop(f"there is no provider {named}; `kbd providers` shows all", FAILED)
    parts = [_render_providers(rows)] if rows else []
    if embedders:
        header = ("embedder", "status", "address", "leaves here", "model", "missing")
        parts.append(render_table(header, [_render_embedder(row) for row in embedders]))
        parts.append(_render_search(answer))
    return "\n\n".join(parts)


def _render_embedder(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["provider_id"],
        _render_provider_status(row),
        row["endpoint"] or "-",
        "yes" if row["leaves_machine"] else "no",
        row["default_model"] or "-",
        row.get("reason", ""),
    )


def _render_search(answer: dict[str, Any]) -> str:
    if answer.get("embedder"):
        return f"Searches go by words and by meaning, with {line(answer['embedder'])}."
    why = line(answer.get("no_embedder", ""))
    return f"Searches go by words alone{f': {why}' if why else '.'}"


def _render_providers(rows: list[dict[str, Any]]) -> str:
    """Return a row for each provider."""
    shown = [
        (
            row["provider_id"],
            _render_provider_status(row),
            row["endpoint"] or "-",
            "yes" if row["leaves_machine"] else "no",
            _render_efforts(row),
            row.get("reason", ""),
        )
        for row in rows
    ]
    return render_table(
        ("provider", "status", "address", "leaves here", "thinks", "missing"), shown
    )


def _render_provider_status(row: dict[str, Any]) -> str:
    if not row["enabled"]:
        return "disabled"
    return "ready" if row["configured"] else "not set up"


def _render_efforts(row: dict[str, Any]) -> str:
    reasoning = row.get("rpi_reasoning")
    if not reasoning:
        return "-"
    words = [reasoning[f"{phase}_effort"] for phase in PHASES]
    return words[0] if len(set(words)) == 1 else "/".join(words)
