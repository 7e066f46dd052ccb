"""No tool makes a hidden file, whoever calls it: a model in a run, or a client over the socket.

The cases stand by the tools' names, and the tools are those of the catalog: one that writes and is
added without a case here fails the test.
"""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import pytest

from backends import mostly
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.settings import Settings
from kbd.types import Effect
from model_server import Reply, call, calls, phase_of, text, turn_of
from wired import PLAN, Wired, wired

WRITING = tuple(
    entry.tool.name
    for entry in Catalog(Plugins.discover(Settings())).tools()
    if entry.tool.effect is Effect.WRITE
)
"""The built-in tools that write."""

SHEET = [{"op": "ensure_sheet", "sheet": "S"}]
PARAGRAPH = [{"op": "append_paragraph", "text": "Hello"}]
SLIDE = [{"op": "add_slide", "layout": "title_only", "title": "Hello"}]


def _made(operations: list[dict[str, Any]]) -> dict[str, Any]:
    return {"path": "{}", "operations": operations, "create_new": True}


CASES = MappingProxyType(
    {
        "write_text_file": ({"path": "{}", "content": "x"}, ".json"),
        "copy_file": ({"path": "t.csv", "target_path": "{}"}, ".csv"),
        "table_export": ({"path": "t.csv", "target_path": "{}", "format": "csv"}, ".csv"),
        "table_export_sheets": (
            {
                "path": "t.csv",
                "outputs": [{"target_path": "{}", "sheets": [{"query": "FROM data"}]}],
            },
            ".xlsx",
        ),
        "table_update_from_export": (
            {"path": "t.csv", "target_path": "{}", "sheet": "S", "mode": "replace_sheet"},
            ".xlsx",
        ),
        "run_job": (
            {
                "job": {
                    "inputs": [{"name": "t", "file": "t.csv"}],
                    "steps": [{"do": "write", "file": "{}"}],
                }
            },
            ".xlsx",
        ),
        "xlsx_operations": (_made(SHEET), ".xlsx"),
        "docx_operations": (_made(PARAGRAPH), ".docx"),
        "pptx_operations": (_made(SLIDE), ".pptx"),
        # Its new files are made of others, and there is no PDF file here.
        "pdf_operations": None,
        # It needs an office program to make any file; its refusal is a case of `test_wire_tools`.
        "print_to_pdf": None,
        "save_page_picture": None,
        # These write into a file that is there, and make none.
        "xlsx_copy_assets": None,
        "docx_copy_assets": None,
        "pptx_copy_assets": None,
    }
)
"""What makes a file at `{}`, with the end of its name."""

PLACES = (".vscode/tasks", ".local/bin/x", ".git/hooks/x", "sub/.x/y", ".x", "draft/.x/y")


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend."""
    with wired(str(request.param)) as running:
        yield running


def _filled(arguments: dict[str, Any], path: str) -> dict[str, Any]:
    def put(value: Any) -> Any:
        match value:
            case dict():
                return {name: put(part) for name, part in value.items()}
            case list():
                return [put(part) for part in value]
            case _:
                return path if value == "{}" else value

    return {name: put(value) for name, value in arguments.items()}


def test_every_writing_tool_is_tried() -> None:
    """A tool that writes has a case here."""
    assert sorted(CASES) == sorted(WRITING)


@pytest.mark.full
def test_no_client_makes_a_hidden_file(wire: Wired) -> None:
    """By ToolsCall, and by the methods of formats; a visible name is made by the same call."""
    workbench_id = wire.workbench(t__csv="a,b\n1,2\n")
    for name, case in CASES.items():
        if case is None:
            continue
        arguments, suffix = case
        for place in PLACES:
            given = _filled(arguments, f"{place}{suffix}")
            refused = wire.refused(
                "ToolsCall", workbench_id=workbench_id, name=name, arguments=given
            )
            assert refused.data["error_code"] == "SANDBOX_VIOLATION", (name, place)
            assert "begins with a dot" in refused.message
        seen = _filled(arguments, f"{name}{suffix}")
        wire.ask("ToolsCall", workbench_id=workbench_id, name=name, arguments=seen)
    for method, ops in (("Xlsx", SHEET), ("Docx", PARAGRAPH), ("Pptx", SLIDE)):
        refused = wire.refused(
            f"{method}ApplyOps", workbench_id=workbench_id, path=f".x/a.{method.lower()}",
            ops=ops, create_new=True,
        )  # fmt: skip
        assert refused.data["error_code"] == "SANDBOX_VIOLATION"
    assert not any("/." in f"/{path}" for path in wire.files(workbench_id))


def test_no_model_makes_a_hidden_file(wire: Wired) -> None:
    """Each refusal is told with a name that would do, and the run goes on to its end."""
    workbench_id = wire.workbench(t__csv="a,b\n1,2\n")
    wanted = [
        call(name, _filled(case[0], f"{place}{case[1]}"), f"{name}{number}")
        for name, case in CASES.items()
        if case is not None
        for number, place in enumerate(PLACES[:3])
    ]

    def attack(body: dict[str, Any]) -> Reply:
        match phase_of(body):
            case "plan":
                return text(PLAN)
            case "implement" if turn_of(body) == 0:
                return calls(*wanted, call("write_text_file", {"path": "a.txt", "content": "x"}))
            case _:
                return text("done")

    wire.script.forget()
    wire.script.instead = attack
    run = wire.daemon.run_prompt(workbench_id, "write")
    wire.script.forget()

    assert run["status"] == "finished"
    assert wire.changes(workbench_id) == {"a.txt": "added"}
    events = wire.daemon.events(workbench_id)
    told = [e["data"]["shown"] for e in events if e["type"] == "ToolReturned"]
    hidden = [each for each in told if "SANDBOX_VIOLATION" in each]
    assert len(hidden) == len(wanted)
    assert all("such as" in each for each in hidden)


def test_what_a_person_added_may_be_written(wire: Wired) -> None:
    """That very file, hidden as it is; not another one beside it."""
    workbench_id = wire.daemon.workbench(wire.file(".env", "A=1"))
    change = {"path": ".env", "content": "A=2"}
    wire.ask("ToolsCall", workbench_id=workbench_id, name="write_text_file", arguments=change)
    assert wire.changes(workbench_id) == {".env": "modified"}
    beside = {"path": ".envrc", "content": "x"}
    refused = wire.refused(
        "ToolsCall", workbench_id=workbench_id, name="write_text_file", arguments=beside
    )
    assert refused.data["error_code"] == "SANDBOX_VIOLATION"
