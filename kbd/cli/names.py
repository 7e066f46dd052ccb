"""Name resolution of workbenches and runs: by id, the beginning of an id, or a name."""

from typing import Any

from kbd.cli.exits import FAILED, Stop
from kbd.cli.link import call
from kbd.client.blocking import Client

__all__ = ["find_run", "find_workbench", "several_match"]


def find_workbench(client: Client, named: str) -> dict[str, Any]:
    """Resolve the name of a workbench; return its row of `WorkbenchList`.

    A whole id goes before a name, and a name before the beginning of an id.

    Raises:
        Stop: None or several are meant.
    """
    return _single_match(_find_matches(client, named), named)


def find_run(client: Client, named: str) -> dict[str, Any]:
    """Resolve the name of a run; return it as `RunGet` answers it.

    A workbench means its newest run, `WB-2` its second one. A run's id is of that form, too.

    Raises:
        Stop: No workbench or several are meant, or it has no such run.
    """
    meant, number = _find_matches(client, named), ""
    base, _, last = named.rpartition("-")
    # A name may itself end in a hyphen and digits, so it is tried as a whole before.
    if not meant and base and last.isascii() and last.isdigit() and len(last) <= 15:
        meant, number = _find_matches(client, base), last
        named = base if meant else named
    workbench_id = str(_single_match(meant, named)["id"])
    runs: list[dict[str, Any]] = call(client, "RunList", {"workbench_id": workbench_id})["runs"]
    if not runs:
        raise Stop(f"there was no run in workbench {named} yet", FAILED)
    # Runs are numbered as they began, whatever the clock said.
    runs.sort(key=lambda run: int(run["run_id"].rpartition("-")[2]))
    if not number:
        return runs[-1]
    if not 1 <= int(number) <= len(runs):
        have = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
        raise Stop(f"workbench {named} has {have}; there is no run {number}", FAILED)
    return runs[int(number) - 1]


def _find_matches(client: Client, named: str) -> list[dict[str, Any]]:
    if not named:
        return []
    found: list[dict[str, Any]] = call(client, "WorkbenchList", {"named": named})["workbenches"]
    return found


def several_match(named: str, ids: list[str]) -> str:
    """Say that a name means several workbenches."""
    return f"several workbenches are called {named}; name one by its id: {', '.join(ids)}"


def _single_match(meant: list[dict[str, Any]], named: str) -> dict[str, Any]:
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise Stop(several_match(named, [each["id"] for each in meant]), FAILED)
    raise Stop(f"there is no workbench {named}; `kbd wb list` shows all", FAILED)
