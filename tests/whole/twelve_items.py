"""A run of twelve items over a table, with all that can happen to items, as a pure function.

The model is a function of what it is asked, so it goes on after any cut: it counts its own turns
and uses what its tools answered. Of its items one is retried, one fails, one adds an item and one
asks for an item that is refused; there are parallel calls, a recall, and writes that would show in
the files if they were made twice.
"""

import json
from pathlib import Path
from typing import Any

from kbd.errors import ValidationFailed
from kbd.messages import ToolCall
from kbd.providers import ModelReply, ModelRequest
from kbd.types import CallId, Phase
from model_server import Reply, call, calls, failure, text
from whole.seeded_runs import Asked, asked_by, asked_over_http

__all__ = ["FAILED", "ITEMS", "REFUSED", "REQUEST", "RETRIED", "play", "play_over_http", "table"]

ITEMS, RETRIED, FAILED = 12, 3, 5
"""How many items the plan has at first, and which of them fails once, and which for good."""

REQUEST = "one sheet a region in report.xlsx, all of them together, and letters about it"
REFUSED = "z" * 600
"""An item that is too long to be added."""

_REGIONS = ("North", "East", "South", "West")
_PLAN = (
    "# Execution Plan\n\n## Task\nreports\n\n## Items\n"
    + "".join(f"- [ ] {n}. Entity: Part {n} — do part {n}\n" for n in range(1, ITEMS + 1))
    + "\n## Notes\n- the table has four regions\n"
)

Said = str | tuple[tuple[str, dict[str, Any]], ...] | None
"""A text, calls, or None for a server that refuses the request."""


def table(path: Path, rows: int = 120) -> Path:
    """Write the table that the run works on."""
    lines = [f"2024-{n % 12 + 1:02}-{n % 28 + 1:02},{_REGIONS[n % 4]},{n}.25" for n in range(rows)]
    path.write_text("Day,Region,Amount\n" + "\n".join(lines) + "\n")
    return path


def play(request: ModelRequest) -> ModelReply:
    """Make a turn.

    Raises:
        ValidationFailed: The model's server refuses the request: that fails the attempt.
    """
    match _said(asked_by(request)):
        case None:
            raise ValidationFailed("the model's server refused the request")
        case str(said):
            return ModelReply(text=said)
        case wanted:
            return ModelReply(
                tool_calls=tuple(
                    ToolCall(CallId(f"c{n}"), name, json.dumps(arguments))
                    for n, (name, arguments) in enumerate(wanted)
                )
            )


def play_over_http(body: dict[str, Any]) -> Reply:
    """Make a turn of chat completions."""
    match _said(asked_over_http(body)):
        case None:
            return failure(400)
        case str(said):
            return text(said)
        case wanted:
            return calls(*(call(name, given, f"c{n}") for n, (name, given) in enumerate(wanted)))


def _said(asked: Asked) -> Said:
    match asked.phase:
        case Phase.RESEARCH if asked.turn == 0:
            query = "SELECT Region, count(*) AS n FROM data GROUP BY Region ORDER BY Region"
            return (
                ("get_file_map", {"path": "sales.csv"}),
                ("table_query", {"path": "sales.csv", "query": query}),
                ("read_file", {"path": "sales.csv"}),
            )
        case Phase.RESEARCH:
            rows = next(json.loads(told)["rows"] for told in asked.answers if '"n"' in told)
            return f"# Research\n\nrows a region: {rows}"
        case Phase.PLAN:
            return _PLAN
        case Phase.IMPLEMENT:
            told = asked.opening.partition("<item number=")[2].split('"')
            return _item(int(told[1]), int(told[3]), asked)
        case Phase.SUMMARY:
            return f"All but part {FAILED} was done."


def _export(sheet: str, mode: str, query: str) -> tuple[str, dict[str, Any]]:
    return "table_update_from_export", {
        "path": "sales.csv", "target_path": "report.xlsx", "sheet": sheet, "mode": mode,
        "query": query,
    }  # fmt: skip


def _cells(path: str, row: int, value: str) -> tuple[str, dict[str, Any]]:
    write = {"op": "set_range", "sheet": "Notes", "start": f"A{row}", "values": [[value, row]]}
    ensure = {"op": "ensure_sheet", "sheet": "Notes"}
    operations = {"path": path, "operations": [ensure, write], "create_if_missing": True}
    return "xlsx_operations", operations


def _item(place: int, attempt: int, asked: Asked) -> Said:
    """Do an item: mostly one turn of calls, one of reading back, and a text."""
    turns = _turns(place, attempt)
    if asked.turn < len(turns):
        return turns[asked.turn]
    if place == FAILED or (place == RETRIED and attempt == 1):
        return None
    if any(told.startswith("Error") for told in asked.answers):
        return f"part {place} went wrong: {asked.answers}"
    more = {2: "\n- [ ] 13. Entity: Index — list the parts\n", 4: f"\n- [ ] 14. {REFUSED}\n"}
    return f"part {place} reads {asked.answers[-1][:60]}" + more.get(place, "")


def _turns(place: int, attempt: int) -> list[tuple[tuple[str, dict[str, Any]], ...]]:
    region = _REGIONS[place % 4]
    rows = f"SELECT Day, Amount FROM data WHERE Region = '{region}' ORDER BY Day, Amount"
    back = ("read_file", {"path": "report.xlsx", "sheet": region, "range": "A1:B4"})
    note = {"path": f"part{place}.txt", "content": f"part {place}, attempt {attempt}\n"}
    letter = [{"text": f"Dear {region},"}, {"text": "the figures are in the report."}]
    match place:
        case 1 | 2 | 3 | 4:
            stats = ("table_stats", {"path": "sales.csv"})
            return [(_export(region, "replace_sheet", rows), stats), (back,)]
        case 5:
            return [(_cells("report.xlsx", attempt, "never"), ("write_text_file", note))]
        case 6:
            return [(("recall_tool_result", {"entry_id": 3}),), (("write_text_file", note),)]
        case 7 | 8:
            return [(_export("All", "append_rows", rows),), (_export("All", "append_rows", rows),)]
        case 9:
            copy = {"path": "copy.xlsx", "copy_from": "report.xlsx", "operations": []}
            return [(("xlsx_operations", copy),), (_cells("copy.xlsx", 1, "copied"),)]
        case 10:
            written = {"op": "set_paragraphs", "paragraphs": letter}
            made = {"path": "letter.docx", "operations": [written], "create_if_missing": True}
            return [(("docx_operations", made), ("write_text_file", note))]
        case 11:
            more = {"op": "append_paragraph", "text": "Yours"}
            return [(("docx_operations", {"path": "letter.docx", "operations": [more]}),)] * 2
        case _:
            return [tuple(_cells("index.xlsx", row, f"part {row}") for row in (1, 2, 3))]
