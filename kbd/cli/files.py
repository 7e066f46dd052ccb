"""Files of a workbench, from the command line: copied in, and published ones copied out."""

import os
from collections.abc import Sequence
from typing import Any

from kbd.cli.exits import FAILED, USAGE, Stop
from kbd.cli.link import call, is_text
from kbd.cli.terminal import note
from kbd.client.blocking import Client

__all__ = ["add", "check_folder", "extract"]


def add(client: Client, workbench_id: str, files: Sequence[str]) -> list[dict[str, Any]]:
    """Add the files and return those that were skipped, each of which is named with its reason."""
    if not files:
        return []
    # The daemon opens them, and works in another folder.
    paths = [os.path.abspath(file) for file in files]
    params = {
        "workbench_id": workbench_id,
        "source_paths": [each for each in paths if is_text(each)],
    }
    results = call(client, "WorkbenchFilesAdd", params, slow=True)["add_results"]
    skipped = [each for each in results if each["status"] == "skipped"]
    reason = "its name is no Unicode text: rename it"
    skipped += [{"source_path": each, "reason": reason} for each in paths if not is_text(each)]
    for each in skipped:
        note(f"{each['source_path']} was not added: {each.get('reason', 'no reason given')}")
    return skipped


def check_folder(directory: str) -> None:
    """Check, before a job begins, that its results can be written where they are wanted.

    Raises:
        Stop: There is a file of that name or above it, or nothing may be written there.
    """
    place = os.path.abspath(directory)
    # What is missing of the path is made, in the nearest folder that is there.
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    if not os.path.isdir(place) or not os.access(place, os.W_OK | os.X_OK):
        raise Stop(f"--out {directory}: {place} is not a folder that can be written to", USAGE)


def extract(
    client: Client, workbench_id: str, directory: str, paths: Sequence[str] | None = None
) -> list[str]:
    """Copy published files to a folder, which is made if need be, and return where they are.

    Raises:
        Stop: A file was not extracted.
        RequestRefused: The folder is kbd's own, or cannot be one.
    """
    # The daemon makes the folder: it refuses one that lies in its home, and follows no link below.
    directory = os.path.abspath(directory)
    params: dict[str, Any] = {"workbench_id": workbench_id, "destination_dir": directory}
    if paths is not None:
        params["workbench_paths"] = list(paths)
    results = call(client, "WorkbenchFilesExtract", params, slow=True)["extract_results"]
    failed = [each for each in results if each["status"] != "extracted"]
    for each in failed:
        note(f"{each['workbench_path']} was not extracted: {each.get('reason', each['status'])}")
    if failed:
        msg = (
            f"{len(failed)} of {len(results)} files were not extracted; they are in the workbench: "
            f"kbd wb extract {workbench_id} --out DIR"
        )
        raise Stop(msg, FAILED)
    return [str(each["final_path"]) for each in results]
