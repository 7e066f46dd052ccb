"""Which workbench a person means: its id, the beginning of its id, or its name."""

from typing import Any

from kbd.cli.exits import FAILED, Stop
from kbd.cli.link import call
from kbd.client.blocking import Client

__all__ = ["find"]


def find(client: Client, named: str) -> dict[str, Any]:
    """Return the workbench that is named, as `WorkbenchList` tells it.

    A whole id goes before a name, and a name before the beginning of an id.

    Raises:
        Stop: None or several are meant.
    """
    workbenches: list[dict[str, Any]] = call(client, "WorkbenchList")["workbenches"]
    for meant in (
        [each for each in workbenches if each["id"] == named],
        [each for each in workbenches if each["name"] == named],
        [each for each in workbenches if named and each["id"].startswith(named)],
    ):
        if len(meant) == 1:
            return meant[0]
        if meant:
            ids = ", ".join(each["id"] for each in meant)
            raise Stop(f"Several workbenches are called {named}; name one by its id: {ids}", FAILED)
    raise Stop(f"There is no workbench {named}; `kbd wb list` shows all.", FAILED)
