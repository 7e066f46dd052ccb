"""Arguments and consent of `kbd watch`: which watch, which rule, what its runs may send."""

import argparse
import os
import shlex
from typing import Any

from kbd.cli.ages import days
from kbd.cli.exits import CONFIRMATION_NEEDED, FAILED, USAGE, Stop
from kbd.cli.link import call
from kbd.cli.pages import all_pages
from kbd.cli.readings import reading_params
from kbd.cli.terminal import ask, counted, is_interactive, line, note
from kbd.client.blocking import Client

__all__ = [
    "add_retention_arguments",
    "add_watch",
    "consent_for",
    "dry_run",
    "find_watch",
    "select_failed",
]


def find_watch(client: Client, named: str) -> dict[str, Any]:
    """Resolve the name of a watch; return its row of `WatchList`.

    A whole id goes before a name, a name before a folder, and that before the beginning of an id.

    Raises:
        Stop: None or several are meant.
    """
    found = _watch_or_folder(client, named)
    if found is None:
        raise Stop(f"there is no watch {named}; `kbd watch list` shows all", FAILED)
    return found


def add_watch(client: Client, arguments: argparse.Namespace) -> str:
    """Add a watch, after asking for the consent that its runs need; return its id.

    Raises:
        Stop: The rule makes no sense, or nobody agreed.
    """
    rule = _rule_params(arguments)
    # The daemon keeps folders with their links followed.
    folder = os.path.realpath(rule["folder"])
    for each in call(client, "WatchList")["watches"]:
        if each["folder"] == folder:
            named = f"{line(each['name'])} ({each['watch_id']})"
            note(f"{named} watches this folder already; what lands is for both.")
    agreed = _consent_param(client, rule, yes=arguments.consent)
    added = call(client, "WatchAdd", {**rule, **agreed}, slow=True)
    patterns = " ".join(rule.get("patterns", ["*"]))
    results = f"; results go to {rule['deliver_to']}" if "deliver_to" in rule else ""
    note(f"Watching {line(rule['folder'])} for {line(patterns)}{line(results)}.")
    if added["passed_over"]:
        passed = counted(added["passed_over"], "file")
        note(
            f"There already, and passed over: {passed}. To have them worked "
            f"on: kbd watch rm {added['watch_id']}, and add it again with --existing."
        )
    if added["waiting"]:
        waiting = counted(added["waiting"], "file")
        note(f"There already, and worked on as soon as they are whole: {waiting}.")
    return str(added["watch_id"])


def add_retention_arguments(rule: "argparse._ArgumentGroup") -> None:
    """Add what says after how long what a rule made goes."""
    rule.add_argument(
        "--archive-after", type=days, metavar="DAYS",
        help="archive what it made and nobody changed for so long, as 30d",
    )  # fmt: skip
    rule.add_argument(
        "--remove-after", type=days, metavar="DAYS", help="remove archives that old, as 365d"
    )


def _retention_param(arguments: argparse.Namespace) -> dict[str, Any] | None:
    archive, remove = arguments.archive_after, arguments.remove_after
    if archive is None and remove is None:
        return None
    if not archive and remove:
        raise Stop("only archives are removed: --remove-after needs --archive-after", USAGE)
    return {"archive_after_days": archive or 0, "remove_after_days": remove or 0}


def consent_for(client: Client, watch: dict[str, Any], *, given: bool) -> dict[str, Any]:
    """Return the consent to what a watch's next run would use, after telling what that is.

    Args:
        client: The daemon.
        watch: Its row of `WatchList`.
        given: Whether it was given beforehand. If not, it is asked for where a restored rule had
            one, for that holds no more.

    Raises:
        Stop: Nobody gave it.
    """
    if not given and not watch["restored"]:
        return {}
    rule = call(client, "WatchGet", {"watch_id": watch["watch_id"]})["watch"]["rule"]
    if not given and "consent" not in rule:
        return {}
    return _consent_param(client, rule, yes=given)


def select_failed(client: Client, watch: dict[str, Any] | None, asked: str) -> list[dict[str, Any]]:
    """Return which failed files are meant, as the parameters of a request for each watch.

    Args:
        client: The daemon.
        watch: Their watch; None for any.
        asked: `all`, or their numbers.

    Raises:
        Stop: One of them is no number, or not that of a failed file.
    """
    if asked == "all":
        watches = [watch] if watch else call(client, "WatchList")["watches"]
        return [{"watch_id": each["watch_id"]} for each in watches if each["failed"]]
    try:
        numbers = list(dict.fromkeys(int(number) for number in asked.split(",")))
    except ValueError:
        raise Stop(f"{asked} is neither `all` nor a number, or several as 3,4", USAGE) from None
    if watch:
        return [{"watch_id": watch["watch_id"], "landing_ids": numbers}]
    failed = all_pages(client, "WatchFailedList", None, "failed")
    of_watch = {row["landing_id"]: row["watch_id"] for row in failed}
    requests: dict[str, list[int]] = {}
    for number in numbers:
        if number not in of_watch:
            msg = f"no failed file has the number {number}; `kbd watch failed` shows them"
            raise Stop(msg, FAILED)
        requests.setdefault(of_watch[number], []).append(number)
    return [{"watch_id": each, "landing_ids": own} for each, own in requests.items()]


def dry_run(client: Client, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the answer of `WatchTest` for a watch, or for a folder that is not watched.

    Raises:
        Stop: Neither is meant.
    """
    named = arguments.named[0]
    rule: dict[str, Any] = {}
    if arguments.pattern:
        rule["patterns"] = arguments.pattern
    if arguments.batch:
        rule["mode"] = "batch"
    if arguments.model:
        rule["model_id"] = arguments.model
    found = _watch_or_folder(client, named)
    if found is not None and not rule:
        params = {"watch_id": found["watch_id"]}
    elif os.path.isdir(named):
        params = {"folder": os.path.abspath(named), **rule}
    elif found is not None:
        msg = "a watch has its own rule; to try another one, name the folder"
        raise Stop(msg, USAGE)
    else:
        raise Stop(f"{named} is neither a watch nor a folder; `kbd watch list` shows all", FAILED)
    tested: dict[str, Any] = call(client, "WatchTest", params, slow=True)
    return tested


def _watch_or_folder(client: Client, named: str) -> dict[str, Any] | None:
    watches: list[dict[str, Any]] = call(client, "WatchList")["watches"]
    folder = os.path.realpath(named)
    # In order of preference: the first kind of name that fits anything decides, if only to refuse.
    for meant in (
        [each for each in watches if each["watch_id"] == named],
        [each for each in watches if each["name"] == named],
        [each for each in watches if each["folder"] == folder],
        [each for each in watches if named and each["watch_id"].startswith(named)],
    ):
        if len(meant) == 1:
            return meant[0]
        if meant:
            ids = ", ".join(each["watch_id"] for each in meant)
            raise Stop(f"several watches are called {named}; name one by its id: {ids}", FAILED)
    return None


def _rule_params(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of `WatchAdd`: what was given, and nothing else."""
    folder, *words = arguments.named
    if arguments.otherwise and not arguments.recipe:
        raise Stop("--otherwise is of a rule with --recipe", USAGE)
    if arguments.otherwise == "model" and not words:
        raise Stop(
            'what is the model asked then? kbd watch add FOLDER "PROMPT" --recipe NAME', USAGE
        )
    if arguments.deliver_to and arguments.publish != "auto":
        msg = "--deliver-to needs --publish auto: what waits for review is not delivered"
        raise Stop(msg, USAGE)
    given: dict[str, Any] = {
        "patterns": arguments.pattern,
        "name": arguments.name,
        "model_id": arguments.model,
        "mode": "batch" if arguments.batch else None,
        "quiet_s": arguments.quiet,
        "deliver_to": arguments.deliver_to and os.path.abspath(arguments.deliver_to),
        "publish": arguments.publish,
        "limits": _param_values(
            runs_per_hour=arguments.runs_per_hour,
            runs_per_path_hour=arguments.runs_per_path,
            chain_depth=arguments.chain_depth,
        ),
        "on_failure": _param_values(
            retries=arguments.retries,
            wait_s=arguments.retry_wait,
            then="pause" if arguments.pause_on_failure else None,
        ),
        "on_outcome": _parse_command(arguments.on_outcome),
        "existing": "run" if arguments.existing else None,
        "read_as": reading_params(arguments),
        "recipe": arguments.recipe,
        "retention": _retention_param(arguments),
        "otherwise": arguments.otherwise,
    }
    given["prompt"] = words[0] if words else None
    return {"folder": os.path.abspath(folder), **_param_values(**given)}


def _param_values(**options: Any) -> dict[str, Any]:
    """Leave out what was not given: the daemon has the defaults."""
    return {name: value for name, value in options.items() if value not in (None, {}, [])}


def _parse_command(command: str | None) -> list[str]:
    """Return a command as its words; a program in a folder gets its absolute path."""
    try:
        words = shlex.split(command or "")
    except ValueError as error:
        raise Stop(f"--on-outcome cannot be read: {error}", USAGE) from None
    # The daemon would take a relative path from its own folder; a bare name it finds in its PATH.
    if words and "/" in words[0]:
        words[0] = os.path.abspath(words[0])
    return words


def _consent_param(client: Client, rule: dict[str, Any], *, yes: bool) -> dict[str, Any]:
    """Return the consent to send, if the model leaves the machine or consent was given anyway.

    Raises:
        Stop: It is needed, and nobody gave it.
    """
    if rule.get("recipe") and rule.get("otherwise", "park") == "park":
        return {}
    model_id = rule.get("model_id") or call(client, "UserGetDefaultModel")["model_id"]
    provider_id = model_id.partition(":")[0]
    providers = call(client, "ProvidersGetStatus")["providers"]
    known = [each for each in providers if each["provider_id"] == provider_id]
    leaves = bool(known) and known[0]["leaves_machine"]
    consent = {"consent": {"provider_id": provider_id, "model_id": model_id}}
    if not leaves:
        return consent if yes else {}
    note(_consent_question(rule, model_id, known[0]))
    if not yes and not is_interactive():
        msg = (
            "consent is needed and nobody can be asked here, so nothing is done; --consent gives it"
        )
        raise Stop(msg, CONFIRMATION_NEEDED)
    if not yes and not ask("May what lands there be sent to this model, now and later?"):
        raise Stop("nothing is watched", CONFIRMATION_NEEDED)
    return consent


def _consent_question(rule: dict[str, Any], model_id: str, provider: dict[str, Any]) -> str:
    where = f" at {line(provider['endpoint'])}" if provider["endpoint"] else ""
    return (
        "The contents of what lands would leave this machine.\n"
        f"  folder    {line(rule['folder'])}\n"
        f"  provider  {line(provider['provider_id'])}{where}\n"
        f"  model     {line(model_id)}"
    )
