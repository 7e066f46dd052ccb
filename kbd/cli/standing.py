"""How a workbench stood after an event, in words."""

from typing import Any

from kbd.cli.terminal import moment, size, table
from kbd.cli.unfolding import indented

__all__ = ["file_lines", "stood"]

TEXT_LINES = 12
"""Lines of a text that are told beside state and files; the plan is the state, and told whole."""


def stood(found: dict[str, Any]) -> list[str]:
    """Return what `StateAt` tells, in lines."""
    which = f"workbench {found['name']} ({found['workbench_id']})"
    lines = [
        f"{which} after event {found['seq']}, {moment(found['ts'])}",
        f"state {found['state_hash']}",
    ]
    run = found.get("run")
    if run is not None:
        item = f", item {run['item']}, attempt {run['attempt']}" if run["item"] else ""
        phase = f", phase {run['phase']}" if run["phase"] else ""
        usage = run["usage"]
        used = f"{usage.get('input_tokens', 0):,} tokens in, {usage.get('output_tokens', 0):,} out"
        lines.append(f"run {run['run_id']}: {run['status']}{phase}{item}; {used}")
    lines += ["", *file_lines(found["files"])]
    for name in ("research", "plan", "summary"):
        if run is not None and run[name]:
            told = run[name].splitlines()
            most = len(told) if name == "plan" else TEXT_LINES
            lines += ["", f"{name}:", *indented(told[:most])]
            if len(told) > most:
                lines.append(f"  … {len(told) - most} more lines: --out DIR or --json has them")
    if found["destination"]:
        lines += ["", f"written to {found['destination']}"]
    return lines


def file_lines(files: list[dict[str, Any]], touched: frozenset[str] = frozenset()) -> list[str]:
    """Return files as a table.

    Args:
        files: As `StateAt` tells them.
        touched: The names of those that get a mark.
    """
    if not files:
        return ["no files"]
    rows = [
        (
            f"{'* ' if file['path'] in touched else ''}{file['state']}",
            file["path"],
            size(file["size_bytes"]) if file["hash"] else "",
            (file["hash"] or "")[:12],
        )
        for file in files
    ]
    return table(("state", "file", "size", "sha256"), rows).splitlines()
