"""Publishing a draft from the command line, with the confirmation that deletions need."""

from collections.abc import Sequence
from typing import Any

from kbd.cli.exits import CONFIRMATION_NEEDED, Stop
from kbd.cli.link import call
from kbd.cli.terminal import ask, interactive, line, note
from kbd.client.blocking import Client

__all__ = ["publish"]


def publish(
    client: Client,
    workbench_id: str,
    *,
    paths: Sequence[str] = (),
    keep_both: bool = False,
    yes: bool = False,
    accept_external: bool = False,
) -> dict[str, Any]:
    """Publish the draft, or the paths given, and return what `DraftPublish` answers.

    Raises:
        Refused: A published file changed meanwhile, or the draft cannot be published.
        Stop: A deletion was not confirmed.
    """
    _confirm_deletions(client, workbench_id, paths, yes=yes)
    params: dict[str, Any] = {"workbench_id": workbench_id}
    if paths:
        params["paths"] = list(paths)
    if keep_both:
        params["on_conflict"] = "keep_both"
    if accept_external:
        params["accept_external"] = True
    published: dict[str, Any] = call(client, "DraftPublish", params, slow=True)
    for kept in published["kept_both"]:
        note(f"{line(kept['path'])} had changed; yours is {line(kept['published_as'])}.")
    return published


def _confirm_deletions(
    client: Client, workbench_id: str, paths: Sequence[str], *, yes: bool
) -> None:
    named = {"workbench_id": workbench_id}
    asked = call(client, "ReviewGetDeletionConfirmations", named)
    wanted = [path for path in asked["pending"] if not paths or path in paths]
    if not wanted:
        return
    listed = ", ".join(line(path) for path in wanted)
    if not yes and not interactive():
        msg = f"Publishing deletes {listed}; --yes confirms it. The draft is kept."
        raise Stop(msg, CONFIRMATION_NEEDED)
    if not yes and not ask(f"Publishing deletes {listed}. Delete?"):
        raise Stop("Nothing was published; the draft is kept.", CONFIRMATION_NEEDED)
    call(
        client, "ReviewSetDeletionConfirmations", {**named, "paths": [*asked["confirmed"], *wanted]}
    )
