"""`kbd export`: write a run and all that it rests on to one file, which can verify itself.

Or the run as a trace of OpenTelemetry.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kbd.cli.exits import FAILED, OK, USAGE, Stop
from kbd.cli.link import call, connect
from kbd.cli.names import find_run
from kbd.cli.terminal import note, say, size
from kbd.client.blocking import Client

__all__ = ["command"]


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd export` and return what runs it."""
    parser.epilog = """\
examples:
  kbd export taxes                     the newest run of a workbench
  kbd export taxes-2 --out evidence.zip
  kbd export taxes --otel --out -      the run as a trace of OpenTelemetry, in JSON, to stdout
  python3 evidence.zip                 one of your own checks itself, with nothing but Python
  kbd verify theirs.zip                one that you were given: nothing in it is run

The file holds the log up to the end of the run, every file version that it names, a report to open
in a browser, and a verifier. It is written anew: nothing is overwritten, and the log stays as it
is. Keep the head that is printed elsewhere: it tells a rewritten copy from this one. Python runs
what is in a zip that it is given: check a stranger's with `kbd verify`, or a case file of yours.

With --otel nothing is sent: a file is written, with times, models, tools, tokens and errors. With
--content it holds what was asked, said, and read from files, too."""
    parser.add_argument("run", metavar="RUN", help="a run's id, or a workbench: its newest run")
    parser.add_argument(
        "--out", metavar="FILE", help="where to (case-<run id>.zip, or trace-<run id>.json)"
    )
    parser.add_argument("--otel", action="store_true", help="write OpenTelemetry spans of the run")
    parser.add_argument("--all", action="store_true", help="with --otel: all runs, a line each")
    parser.add_argument("--content", action="store_true", help="with --otel: texts, too")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return _export


def _export(arguments: argparse.Namespace) -> int:
    if (arguments.content or arguments.all) and not arguments.otel:
        raise Stop("--content and --all go with --otel", USAGE)
    with connect(arguments) as client:
        run = find_run(client, arguments.run)
        if arguments.otel:
            return _export_traces(arguments, client, run)
        run_id = run["run_id"]
        # The daemon writes it, and works in another folder.
        target = Path(arguments.out or f"case-{run_id}.zip").absolute()
        params = {"run_id": run_id, "target": str(target)}
        made = call(client, "RunExport", params, slow=True)
    if arguments.json:
        say(json.dumps(made))
        return OK
    events = f"{made['seq']} events, {made['blobs']} file versions"
    say(f"{target}: run {run_id}, {events}, {size(made['size_bytes'])}")
    if run["status"] == "running":
        note("The run is under way: the file holds what was recorded by now.")
    say(f"head {made['seq']}:{made['head']}")
    name = target.name
    say(f"Keep the head elsewhere. To verify: kbd verify {name}, or python3 {name}, which runs it")
    return OK


def _export_traces(arguments: argparse.Namespace, client: Client, run: dict[str, Any]) -> int:
    """Write the trace of a run, or of all runs of its workbench, a line each."""
    run_ids = [run["run_id"]]
    if arguments.all:
        of_workbench = {"workbench_id": run["run_id"].partition("-")[0]}
        run_ids = [each["run_id"] for each in call(client, "RunList", of_workbench)["runs"]]
        run_ids.sort(key=lambda run_id: int(run_id.rpartition("-")[2]))
    found = [
        call(client, "RunGetSpans", {"run_id": run_id, "content": arguments.content}, slow=True)
        for run_id in run_ids
    ]
    if arguments.out == "-":
        for each in found:
            say(each["otlp"])
        return OK
    target = Path(arguments.out or f"trace-{run['run_id']}.json")
    try:
        with target.open("x", encoding="utf-8") as file:
            file.writelines(f"{each['otlp']}\n" for each in found)
    except OSError as error:
        raise Stop(f"{target} cannot be written: {error.strerror}", FAILED) from None
    spans = sum(each["spans"] for each in found)
    if arguments.json:
        told = {"run_ids": run_ids, "target": str(target.absolute()), "spans": spans}
        say(json.dumps(told))
    else:
        what = f"run {run_ids[0]}" if len(run_ids) == 1 else f"{len(run_ids)} runs"
        say(f"{target}: {what}, {spans} spans")
    return OK
