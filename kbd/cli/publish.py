"""`kbd publish`: make the draft's changes the workbench's files; deletions are confirmed before."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from kbd.cli.exits import CONFIRMATION_NEEDED, OK, Stop
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.terminal import ask, is_interactive, line, note, say
from kbd.client.blocking import Client

__all__ = ["command", "publish"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd publish` and return what runs it."""
    parser.epilog = """\
examples:
  kbd publish taxes
  kbd publish taxes summary-2025     # only this file; the rest stays in the draft
  kbd publish taxes --keep-both      # where a published file changed meanwhile

Files that you added from elsewhere are never written; `kbd wb extract` copies results out."""
    parser.add_argument("workbench", metavar="WB", help="its id, the beginning of it, or its name")
    parser.add_argument("paths", nargs="*", default=[], metavar="PATH", help="only these files")
    parser.add_argument("--keep-both", action="store_true", help="on a conflict, keep both files")
    parser.add_argument(
        "--accept-external", action="store_true", help="also files with new external references"
    )
    parser.add_argument("--yes", action="store_true", help="confirm deletions")
    return _publish


def _publish(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        published = publish(
            client,
            workbench_id,
            paths=arguments.paths,
            keep_both=arguments.keep_both,
            yes=arguments.yes,
            accept_external=arguments.accept_external,
        )
    for path in published["published"]:
        say(f"published {line(path)}")
    say(f"Checkpoint {published['checkpoint_id']} holds what was there before.")
    return OK


def publish(
    client: Client,
    workbench_id: str,
    *,
    paths: Sequence[str] = (),
    keep_both: bool = False,
    yes: bool = False,
    accept_external: bool = False,
) -> dict[str, Any]:
    """Publish the draft, or only some paths, and return the answer of `DraftPublish`.

    Raises:
        RequestRefused: A published file changed meanwhile, or the draft cannot be published.
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
    for both in published["kept_both"]:
        note(f"{line(both['path'])} had changed; yours is {line(both['published_as'])}.")
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
    if not yes and not is_interactive():
        msg = f"publishing deletes {listed}, so the draft is kept; --yes confirms it"
        raise Stop(msg, CONFIRMATION_NEEDED)
    if not yes and not ask(f"Publishing deletes {listed}. Delete?"):
        raise Stop("nothing was published; the draft is kept", CONFIRMATION_NEEDED)
    call(
        client, "ReviewSetDeletionConfirmations", {**named, "paths": [*asked["confirmed"], *wanted]}
    )
