"""`kbd recipe`: keep jobs that were done, look at them, try them on other files, share them."""

import argparse
import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kbd.cli.documents import read_document
from kbd.cli.exits import CONFIRMATION_NEEDED, DECLINED, FAILED, OK, USAGE, RequestRefused, Stop
from kbd.cli.files import add
from kbd.cli.link import call
from kbd.cli.names import find_run
from kbd.cli.start import connect_or_start
from kbd.cli.terminal import (
    ask,
    counted,
    format_time,
    is_interactive,
    line,
    note,
    render_table,
    say,
)
from kbd.client.blocking import Client

__all__ = ["command"]

ACTIONS = ("save", "add", "list", "show", "test", "edit", "rm")

_WIDTH = 400


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd recipe` and return what runs it."""
    parser.usage = "kbd recipe ACTION [RUN | NAME | FILE] [FILE...] [options]"
    parser.epilog = """\
examples:
  kbd recipe save taxes --name monthly-split   of the newest run of a workbench
  kbd recipe save taxes-2 --name monthly-split --agree "'cancelled'" --assume "amounts are EUR"
  kbd recipe list
  kbd recipe show monthly-split                what it does, what stays the same and why
  kbd recipe show monthly-split --sql
  kbd recipe show monthly-split --toml > monthly-split.toml     to share it
  kbd recipe add monthly-split.toml            take a shared one in
  kbd recipe test monthly-split sales/june*       what would be written; nothing is
  kbd recipe edit monthly-split                in $VISUAL or $EDITOR
  kbd recipe rm monthly-split
  kbd run --recipe monthly-split sales/june*

Before a recipe of a run is saved it is tried with changed files: rows added, removed and in another
order, new categories, other amounts. What cannot be explained is named, and may be agreed to."""
    parser.add_argument("action", choices=ACTIONS, metavar="ACTION", help=", ".join(ACTIONS))
    parser.add_argument("named", nargs="?", metavar="NAME", help="a recipe; of `save` a run")
    parser.add_argument("files", nargs="*", metavar="FILE", help="of `test`: what to try it with")
    parser.add_argument("--name", help="save, add: what it is called")
    parser.add_argument(
        "--agree", action="append", default=[], metavar="VALUE",
        help="save: a value that stays the same, as the refusal writes it",
    )  # fmt: skip
    parser.add_argument(
        "--assume",
        action="append",
        default=[],
        metavar="TEXT",
        help="save: what is taken for granted",
    )
    parser.add_argument("--replace", action="store_true", help="save, add: replace one of the name")
    parser.add_argument("--sql", action="store_true", help="show, test: with the statements")
    parser.add_argument("--toml", action="store_true", help="show: the document alone")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--yes", action="store_true", help="save: do not ask")
    return _recipe


def _recipe(arguments: argparse.Namespace) -> int:
    if arguments.action != "list" and not arguments.named:
        raise Stop(f"which one? kbd recipe {arguments.action} NAME (see kbd recipe --help)", USAGE)
    if arguments.files and arguments.action != "test":
        raise Stop(f"kbd recipe {arguments.action} takes no further files", USAGE)
    actions: dict[str, Callable[[Client, argparse.Namespace], int]] = {
        "save": _save, "add": _add, "list": _list, "show": _show, "test": _test, "edit": _edit,
        "rm": _remove,
    }  # fmt: skip
    with connect_or_start(arguments) as client:
        return actions[arguments.action](client, arguments)


def _save(client: Client, arguments: argparse.Namespace) -> int:
    if not arguments.name:
        raise Stop("a recipe needs a name: kbd recipe save RUN --name NAME", USAGE)
    run = find_run(client, arguments.named)
    params = {
        "run_id": run["run_id"], "name": arguments.name, "agree": arguments.agree,
        "assumptions": arguments.assume, "replace": arguments.replace,
    }  # fmt: skip
    asks = is_interactive() and not arguments.yes and not arguments.json
    try:
        kept = call(client, "RecipeSave", {**params, "dry_run": asks}, slow=True)
        if asks:
            _tell_kept(kept)
            if not ask("Save it?"):
                raise Stop("nothing was saved", CONFIRMATION_NEEDED)
            kept = call(client, "RecipeSave", params, slow=True)
    except RequestRefused as refused:
        raise _with_refusals(refused, arguments) from None
    if arguments.json:
        say(json.dumps(kept))
        return OK
    if not asks:
        _tell_kept(kept)
    note(f"Saved as {arguments.name}: kbd run --recipe {arguments.name} FILE...")
    return OK


def _with_refusals(refused: RequestRefused, arguments: argparse.Namespace) -> Stop:
    """Return an error with a line for each literal that has no reason, and how to agree."""
    refusals: Any = refused.detail.get("refusals")
    if not refusals:
        return refused
    lines = ["this is no recipe yet; these are not explained by what was asked:"]
    lines += [
        f"  {line(each['place'])}  {line(each['value'])}: {line(each['reason'], _WIDTH)}"
        for each in refusals
    ]
    values = list(dict.fromkeys(each["value"] for each in refusals if each["may_agree"]))
    if len(values) == len({each["value"] for each in refusals}):
        agreed = "".join(f" --agree {shlex.quote(value)}" for value in (*arguments.agree, *values))
        said = f"kbd recipe save {arguments.named} --name {arguments.name}{agreed}"
        lines.append(f"if they are to stay as they are, whatever the files hold: {said}")
    return Stop("\n".join(lines), FAILED)


def _tell_kept(kept: Mapping[str, Any]) -> None:
    say(line(kept["recipe"]["words"], _WIDTH * 4))
    _tell_constants(kept)
    for text in kept["notes"]:
        say(f"note: {line(text, _WIDTH)}")
    if kept["changes"]:
        say(f"\nTried with {counted(len(kept['changes']), 'changed file')}; all of them held:")
        for each in kept["changes"]:
            held = f" ({counted(each['held'], 'result')} compared)" if each["held"] else ""
            say(f"  {line(each['text'], _WIDTH)}{held}")
    trial = kept.get("trial")
    if trial:
        say(f"\nOne of them, {line(trial['text'], _WIDTH)}:")
        rows = [tuple(_cell(value) for value in row) for row in trial["rows"]]
        say(render_table(tuple(map(line, trial["columns"])), rows))
        if trial["row_count"] > len(rows):
            say(f"… and {trial['row_count'] - len(rows)} more rows")


def _cell(value: Any) -> str:
    return "" if value is None else line(str(value), 40)


def _tell_constants(found: Mapping[str, Any]) -> None:
    if found["constants"]:
        say("\nStays the same whatever the files hold:")
        rows = [
            (line(each["value"], 60), line(each["why"], 100), each["origin"])
            for each in found["constants"]
        ]
        say(render_table(("value", "why", "origin"), rows))
    if found["assumptions"]:
        say("\nTaken for granted:")
        for text in found["assumptions"]:
            say(f"  {line(text, _WIDTH)}")


def _add(client: Client, arguments: argparse.Namespace) -> int:
    params: dict[str, Any] = {
        "document": read_document(arguments.named), "replace": arguments.replace
    }  # fmt: skip
    if arguments.name:
        params["name"] = arguments.name
    kept = call(client, "RecipeSave", params)
    if arguments.json:
        say(json.dumps(kept))
        return OK
    _tell_kept(kept)
    name = line(kept["recipe"]["name"])
    note(f"Saved as {name}; try it first: kbd recipe test {name} FILE...")
    return OK


def _list(client: Client, arguments: argparse.Namespace) -> int:
    found = call(client, "RecipeList")
    if arguments.json:
        say(json.dumps(found))
        return OK
    rows = [
        (
            line(each["name"]), each["sha256"][:12], format_time(each["saved_at"]),
            line(each.get("run_id", "-")), line(each["words"], 100),
        )
        for each in found["recipes"]
    ]  # fmt: skip
    if not rows:
        note("There are no recipes; kbd recipe save RUN --name NAME makes one.")
        return OK
    say(render_table(("recipe", "hash", "saved (UTC)", "run", "what it does"), rows))
    return OK


def _show(client: Client, arguments: argparse.Namespace) -> int:
    found = call(client, "RecipeGet", {"name": arguments.named})
    if arguments.json:
        say(json.dumps(found))
        return OK
    if arguments.toml:
        say(found["document"].rstrip("\n"))
        return OK
    row = found["recipe"]
    say(f"{line(row['name'])}  sha256 {row['sha256']}")
    origin = f", of run {line(row['run_id'])}" if "run_id" in row else ""
    say(f"saved {format_time(row['saved_at'])} UTC{origin}")
    say(f"request: {line(found['request'], _WIDTH)}\n")
    say(line(row["words"], _WIDTH * 4))
    for text in found["steps"]:
        say(f"  {line(text, _WIDTH)}")
    if found["checks"]:
        say("\nIt stops, and writes nothing, unless:")
        for text in found["checks"]:
            say(f"  {line(text, _WIDTH)}")
    _tell_constants(found)
    if arguments.sql:
        _tell_sql(found["sql"])
    note("\nAll of it as a document: kbd recipe show NAME --toml; its statements: --sql")
    return OK


def _tell_sql(statements: Sequence[Mapping[str, Any]]) -> None:
    for each in statements:
        job = f"job {each['job']}, " if "job" in each else ""
        say(f"\n-- {job}step {each['step']}")
        say(str(each["sql"]))


def _test(client: Client, arguments: argparse.Namespace) -> int:
    if not arguments.files:
        raise Stop("what is it tried with? kbd recipe test NAME FILE...", USAGE)
    made = call(client, "WorkbenchCreate", {"name": f"test of {arguments.named}"})
    named = {"workbench_id": made["workbench_id"]}
    try:
        if add(client, made["workbench_id"], arguments.files):
            raise Stop("nothing was tried, because a file could not be added", FAILED)
        tried = call(client, "RecipeTest", {"name": arguments.named, **named}, slow=True)
    finally:
        # It was there for the trial alone.
        call(client, "WorkbenchDelete", named)
    if arguments.json:
        say(json.dumps(tried))
        return OK if tried["holds"] else DECLINED
    for job in tried["jobs"]:
        say(line(job["words"], _WIDTH * 4))
        for kind, texts in (
            ("holds", job["checks"]), ("note", job["notes"]), ("FAILS", job["failed"]),
        ):  # fmt: skip
            for text in texts:
                say(f"  {kind}: {line(text, _WIDTH)}")
        if arguments.sql:
            _tell_sql(job["sql"])
    if tried["holds"]:
        note("It would be carried out so; nothing was written.")
        return OK
    note("A guard fails, so a run would be declined; nothing was written.")
    return DECLINED


def _edit(client: Client, arguments: argparse.Namespace) -> int:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise Stop("set EDITOR to the editor that is to be used", USAGE)
    found = call(client, "RecipeGet", {"name": arguments.named})
    with tempfile.TemporaryDirectory(prefix="kbd-recipe-") as folder:
        path = Path(folder, f"{found['recipe']['name']}.toml")
        path.write_text(found["document"], encoding="utf-8")
        if subprocess.run([*shlex.split(editor), str(path)], check=False).returncode:
            raise Stop("the editor failed, so nothing was saved", FAILED)
        document = read_document(str(path))
        if document == found["document"]:
            note("Nothing was changed.")
            return OK
        try:
            kept = call(client, "RecipeSave", {"document": document, "replace": True})
        except RequestRefused as refused:
            kept_as = _keep_draft(arguments.named, document)
            raise Stop(f"{refused.message}\nyour text is kept as {kept_as}", FAILED) from None
    name = kept["recipe"]["name"]
    if name != arguments.named:
        note(f"It has another name now, {line(name)}; {line(arguments.named)} is there as it was.")
    note(f"Saved, {kept['recipe']['sha256'][:12]}; try it: kbd recipe test {line(name)} FILE...")
    return OK


def _keep_draft(name: str, document: str) -> str:
    """Keep an edited document that was refused, and return where."""
    handle, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".toml")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(document)
    return path


def _remove(client: Client, arguments: argparse.Namespace) -> int:
    call(client, "RecipeRemove", {"name": arguments.named})
    note(f"{line(arguments.named)} is removed; its runs stay, and can be verified.")
    return OK
