"""Copying files into a workbench, from the command line."""

import os
from collections.abc import Sequence
from typing import Any

from kbd.cli.link import call
from kbd.cli.terminal import note
from kbd.client.blocking import Client

__all__ = ["add"]


def add(client: Client, workbench_id: str, files: Sequence[str]) -> list[dict[str, Any]]:
    """Add the files and return those that were skipped, each of which is named with its reason."""
    if not files:
        return []
    params = {
        "workbench_id": workbench_id,
        "source_paths": [os.path.abspath(file) for file in files],
    }
    results = call(client, "WorkbenchFilesAdd", params, slow=True)["add_results"]
    skipped = [each for each in results if each["status"] == "skipped"]
    for each in skipped:
        note(f"{each['source_path']} was not added: {each.get('reason', 'no reason given')}")
    return skipped
