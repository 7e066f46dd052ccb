"""Tool calls that are made up from a seed: plausible ones, and those that must be refused.

What a call names (sheets, columns, paragraphs, slides) comes from the manifest that every opening
of a conversation holds, so the same seed and the same files give the same calls.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from random import Random
from typing import Any

from whole.seeded_operations import operations

__all__ = ["Call", "Caller"]

Call = tuple[str, str]
"""A tool's name and its arguments as JSON text, which need not be JSON."""

EDITED = ("docx", "pptx", "xlsx")
WRITTEN = (*EDITED, "csv")

_QUERIES = (
    "SELECT * FROM data",
    "SELECT count(*), now(), current_date, localtimestamp FROM data",
    "SELECT {0}, count(*) AS n FROM data GROUP BY {0}",
    "SELECT {0}, row_number() OVER () AS place, random() AS chance FROM data ORDER BY chance",
    "SELECT DISTINCT {0}, {1} FROM data",
    "SELECT max({0}), min({1}), approx_count_distinct({0}), any_value({1}) FROM data",
    "SELECT sum(try_cast({0} AS DOUBLE)), avg(try_cast({1} AS DOUBLE)) FROM data",
    "SELECT uuid() AS id, {0} FROM data USING SAMPLE 5 ROWS",
    "SUMMARIZE data",
    "DESCRIBE data",
    "WITH t AS (SELECT {0} AS a FROM data) SELECT a, age(DATE '2020-01-01') FROM t LIMIT 7",
    "SELECT a.{0}, b.{1} FROM data a JOIN data b USING ({0}) LIMIT 20",
    "SELECT date_trunc('minute', now()) - INTERVAL 1 DAY, uuidv7()",
    "SELECT string_agg({0}, '|'), list({1})[:3] FROM data",
    "SELECT no_such_column FROM data",
    "SELECT CAST({0} AS INTEGER) FROM data",
    "DELETE FROM data",
    "SELECT * FROM data USING SAMPLE 10%",
    "SELECT 'x",
)
_BAD_PATHS = ("../outside.csv", "/etc/passwd", "missing.xlsx", "no\0name", "meta/log", "")


class Caller:
    """Makes calls up.

    Args:
        chance: Decides.
        files: What the manifest tells of the files, with their maps if it has them.
        answers: What the tools answered so far in this conversation.
    """

    def __init__(
        self, chance: Random, files: Sequence[dict[str, Any]], answers: Sequence[str]
    ) -> None:
        self._chance, self._files, self._answers = chance, files, answers

    def look(self) -> Call:
        """Return a call that only looks."""
        makers: Sequence[Callable[[], tuple[str, dict[str, Any]]]] = (
            lambda: ("list_files", {}),
            lambda: ("get_file_info", {"path": self._any()}),
            lambda: ("get_file_map", {"path": self._any()}),
            lambda: ("get_file_changes", {"path": self._any()}),
            self._read, self._read, self._styles, self._styles, self._recall,
            lambda: ("table_get_map", self._table()),
            lambda: ("table_describe", self._table()),
            lambda: ("table_stats", self._table()),
            lambda: ("table_read_rows", self._table() | {"row_start": 1, "row_count": 20}),
            self._query, self._query, self._query, self._search, self._document,
        )  # fmt: skip
        name, arguments = self._chance.choice(makers)()
        return name, json.dumps(arguments)

    def check(self) -> Call:
        """Return a call that the plan may make."""
        name, arguments = self._chance.choice((self._read, self._recall))()
        return name, json.dumps(arguments)

    def write(self) -> Call:
        """Return a call that writes."""
        makers = (
            self._operations, self._operations, self._operations, self._operations, self._copy,
            self._copy, self._export, self._sheets, self._update, self._text,
        )  # fmt: skip
        name, arguments = self._chance.choice(makers)()
        return name, json.dumps(arguments)

    def wrong(self) -> Call:
        """Return a call that must be refused, or fail, and change nothing."""
        one = self._chance.choice
        return one(
            (
                ("get_file_maps", '{"path": "a.csv"}'),
                ("read_file", '{"path": "half'),
                ("read_file", "[1, 2]"),
                ("table_query", '{"path": "a.csv"}'),
                ("table_read_rows", '{"path": "a.csv", "row_start": 0, "row_count": 1}'),
                ("get_file_info", json.dumps({"path": one(_BAD_PATHS)})),
                ("write_text_file", json.dumps({"path": one(_BAD_PATHS), "content": "x"})),
                ("write_text_file", json.dumps({"path": self._of("xlsx"), "content": "x"})),
                ("read_file", json.dumps({"path": self._any(), "slide_index": 10_000})),
                ("recall_tool_result", '{"entry_id": 100000}'),
                ("xlsx_operations", json.dumps(self._bad_edit("xlsx"))),
                ("docx_operations", json.dumps(self._bad_edit("docx"))),
                ("pptx_operations", json.dumps(self._bad_edit("pptx"))),
            )
        )

    def _search(self) -> tuple[str, dict[str, Any]]:
        words = "the total of year name date value report and for sales data price in per day"
        asked = " ".join(self._chance.sample(words.split(), self._chance.randint(1, 5)))
        return "workspace_search", {"query": asked, "top_k": self._chance.randint(1, 12)}

    def _document(self) -> tuple[str, dict[str, Any]]:
        title = PurePosixPath(self._any()).stem
        match self._chance.randrange(3):
            case 0:
                return "workspace_list_docs", {}
            case 1:
                return "workspace_get_doc", {"title": title}
            case _:
                name = hashlib.sha256(self._any().encode()).hexdigest()[:16]
                return "workspace_summarize", {"doc_id": name, "max_length": 300}

    def _any(self) -> str:
        return str(self._chance.choice(self._files)["path"]) if self._files else "a.csv"

    def _file(self, *kinds: str) -> dict[str, Any]:
        """Return what is told of a file of some suffixes, if there is one."""
        found = [f for f in self._files if PurePosixPath(f["path"]).suffix[1:].lower() in kinds]
        return self._chance.choice(found) if found else {"path": f"none.{kinds[0]}"}

    def _of(self, *kinds: str) -> str:
        return str(self._file(*kinds)["path"])

    def _new(self, kind: str) -> str:
        return f"made/{self._chance.randrange(4)}.{kind}"

    def _read(self) -> tuple[str, dict[str, Any]]:
        if not self._files:
            return "list_files", {}
        file = self._chance.choice(self._files)
        found, number = file.get("map") or {}, self._chance.randrange
        where: dict[str, Any] = {"path": file["path"]}
        match PurePosixPath(file["path"]).suffix.lower():
            case ".xlsx" | ".xlsm" if number(3):
                where["sheet"] = self._sheet(file)
                if number(2):
                    where["range"] = f"A1:{'ABCDEF'[number(6)]}{number(1, 40)}"
            case ".docx" | ".odt" if number(3):
                headings = [each["heading"] for each in found.get("sections", ())]
                where["section"] = self._chance.choice([*headings, number(4)])
            case ".pptx" if number(3):
                where["slide_index"] = number(max(1, found.get("slide_count", 3)))
            case ".pdf" if number(2):
                where["pages"] = self._chance.choice(("1", "1-2", "2"))
            case ".csv" | ".tsv" | ".txt" | ".md" if number(2):
                where |= {"line_start": number(1, 5), "line_count": number(1, 30)}
        return "read_file", where

    def _sheet(self, file: dict[str, Any]) -> str:
        sheets = [each["name"] for each in (file.get("map") or {}).get("sheets", ())]
        return str(self._chance.choice(sheets or ["Sheet1"]))

    def _recall(self) -> tuple[str, dict[str, Any]]:
        page = {"offset": self._chance.randrange(50), "limit": self._chance.randrange(1, 3000)}
        return "recall_tool_result", {"entry_id": self._chance.randrange(1, 12), **page}

    def _styles(self) -> tuple[str, dict[str, Any]]:
        kind = self._chance.choice(EDITED)
        return f"{kind}_get_styles", {"path": self._of(kind)}

    def _table(self) -> dict[str, Any]:
        file = self._file("csv", "tsv", "xlsx")
        if file["path"].endswith(".xlsx"):
            return {"path": file["path"], "source_sheet": self._sheet(file)}
        return {"path": file["path"]}

    def _sql(self, path: str) -> str:
        told: dict[str, Any] = next((f for f in self._files if f["path"] == path), {})
        columns = list((told.get("map") or {}).get("columns", ()))
        for sheet in (told.get("map") or {}).get("sheets", ()):
            columns += [h for island in sheet.get("islands") or () for h in island["headers"] or ()]
        names = ['"' + str(name).replace('"', '""') + '"' for name in columns] or ["1"]
        choose = self._chance.choice
        return choose(_QUERIES).replace("{0}", choose(names)).replace("{1}", choose(names))

    def _query(self) -> tuple[str, dict[str, Any]]:
        table = self._table()
        window = {"window_rows": self._chance.randrange(1, 200), "window_offset": 0}
        return "table_query", table | {"query": self._sql(table["path"])} | window

    def _operations(self) -> tuple[str, dict[str, Any]]:
        kind, number = self._chance.choice(EDITED), self._chance.randrange
        file: dict[str, Any] = {"path": self._new(kind)} if not number(4) else self._file(kind)
        told = file.get("map") or {}
        made = operations(kind, self._chance, told, number(1, 4))
        edit = {"path": file["path"], "operations": made, "create_if_missing": True}
        if not number(8):
            edit |= {"path": self._new(kind), "copy_from": self._of(kind)}
        return f"{kind}_operations", edit

    def _bad_edit(self, kind: str) -> dict[str, Any]:
        good = operations(kind, self._chance, {}, 1)[0]
        bad = self._chance.choice(({"op": "dance"}, good | {"mood": "high"}, {"op": good["op"]}))
        return {"path": self._of(kind), "operations": [good, bad]}

    def _copy(self) -> tuple[str, dict[str, Any]]:
        kind = self._chance.choice(EDITED)
        told = [text for text in self._answers if '"asset_id"' in text]
        ids = [part.split('"')[1] for text in told for part in text.split('"asset_id":')[1:]]
        usual = {
            "xlsx": ["named_style:Normal", "column_widths:Sheet1", "cell_style:Sheet1!A1"],
            "docx": ["page_setup:section0", "paragraph_style:Normal", "paragraph_style:Heading1"],
            "pptx": ["layout:Title Slide", "layout:Blank", "text_style:Office Theme/title"],
        }[kind]
        picks = self._chance.sample(usual, self._chance.randrange(1, 3))
        if ids and self._chance.randrange(3):
            picks = self._chance.sample(ids, min(len(ids), self._chance.randrange(1, 3)))
        source, target = self._of(kind), self._chance.choice((self._of(kind), self._new(kind)))
        assets = {"source_path": source, "target_path": target, "assets": picks}
        return f"{kind}_copy_assets", assets

    def _export(self) -> tuple[str, dict[str, Any]]:
        kind, table = self._chance.choice(("csv", "xlsx")), self._table()
        export = table | {"target_path": self._new(kind), "format": kind}
        if self._chance.randrange(2):
            export["query"] = self._sql(table["path"])
        return "table_export", export

    def _sheets(self) -> tuple[str, dict[str, Any]]:
        table, choose = self._table(), self._chance.choice
        sheets = [
            {
                "sheet": choose(("Sheet1", "a/b", "A B", "")),
                "query": self._sql(table["path"]),
                "form": {"title": choose(("", "Title")), "plain": choose((True, False))},
            }
            for _ in range(self._chance.randrange(1, 4))
        ]
        target = choose((self._new("xlsx"), self._of("xlsx"), self._new("csv")))
        given = {"target_path": target, "sheets": sheets, "mode": choose(("replace", "append"))}
        return "table_export_sheets", table | {"outputs": [given]}

    def _update(self) -> tuple[str, dict[str, Any]]:
        table, choose = self._table(), self._chance.choice
        mode = choose(("replace_sheet", "append_rows", "write_range"))
        update = table | {"target_path": choose((self._new("xlsx"), self._of("xlsx")))}
        update |= {"sheet": choose(("Sheet1", "Out")), "mode": mode}
        if mode == "write_range":
            update |= {"start_cell": "B2", "clear_target_range": choose((True, False))}
        if self._chance.randrange(2):
            update["query"] = self._sql(table["path"])
        return "table_update_from_export", update

    def _text(self) -> tuple[str, dict[str, Any]]:
        content = "a,b\n1,é\n" * self._chance.randrange(1, 5)
        return "write_text_file", {
            "path": self._new(self._chance.choice(("csv", "md", "txt"))),
            "content": content,
        }
