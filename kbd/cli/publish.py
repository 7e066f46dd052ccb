"""`kbd publish`: make the draft's changes the workbench's files; deletions are confirmed before."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kbd.cli.approve import describe_approval
from kbd.cli.exits import CONFIRMATION_NEEDED, OK, Stop
from kbd.cli.link import call, connect
from kbd.cli.names import find_workbench
from kbd.cli.pager import has_color, show_lines
from kbd.cli.review import review_lines
from kbd.cli.terminal import ask, ask_text, columns, is_interactive, line, note, say
from kbd.client.blocking import Client

__all__ = ["choose_files", "command", "publish"]

_HELP = "y: publish all   v: view the changes   s: select files   N: keep the draft"


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
        "--accept-external",
        action="store_true",
        help="also files with new external references or active content",
    )
    parser.add_argument("--yes", action="store_true", help="confirm deletions")
    parser.add_argument(
        "--ask", action="store_true", help="publish nothing, but ask for it: see kbd approve"
    )
    return _publish


def _publish(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        workbench_id = str(find_workbench(client, arguments.workbench)["id"])
        if arguments.ask:
            return _request(client, workbench_id, arguments.paths)
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


def _request(client: Client, workbench_id: str, paths: Sequence[str]) -> int:
    """Ask for the publish, by whoever decides with `kbd approve`."""
    params: dict[str, Any] = {"workbench_id": workbench_id}
    if paths:
        params["paths"] = list(paths)
    for row in call(client, "ApprovalRequest", params)["approvals"]:
        say(describe_approval(row))
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


def choose_files(client: Client, workbench_id: str) -> tuple[str, ...]:
    """Ask a person what of the draft to publish, until the answer is yes, no or a choice.

    Returns:
        The files to publish; none for no.
    """
    while True:
        found = call(client, "ReviewGetChangeSet", {"workbench_id": workbench_id})
        changes = found["changes"]
        match ask_text("Publish these changes? [y/N, v to view, s to select]").lower():
            case "y" | "yes":
                return _names(changes)
            case "" | "n" | "no":
                return ()
            case "v":
                lines = review_lines(client, workbench_id, found, columns(otherwise=80))
                show_lines(lines, color=has_color("auto"), paged=True)
            case "s":
                if chosen := _select(changes):
                    return _names(chosen)
            case _:
                note(_HELP)


def _names(changes: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the files' names; of a renamed one both, for it is a deletion and an addition."""
    both = ((change["path"], change.get("previous_path")) for change in changes)
    return tuple(str(name) for names in both for name in names if name)


def _select(changes: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Ask for the numbers of files; none where one of them is not on the list."""
    for number, change in enumerate(changes, 1):
        note(f"  {number}. {line(str(change['path']))}")
    answer = ask_text(f"Which? (1-{len(changes)}, as 1,3-4; empty for none)")
    chosen: set[int] = set()
    for part in answer.replace(",", " ").split():
        first, _, last = part.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            note(f"{line(part)} is no number of a file")
            return []
        start, end = int(first), int(last or first)
        if not 1 <= start <= end <= len(changes):
            note(f"there is no file {line(part)}")
            return []
        chosen.update(range(start, end + 1))
    return [changes[number - 1] for number in sorted(chosen)]


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
