"""The workspace API's document: every example in it runs as written, but for the import path.

The document lies beside the project and is not part of it; where it is absent, this is skipped, and
`test_workspace_tools` and `test_controller` prove the same of the API without it.
"""

import argparse
import ast
import dataclasses
import inspect
import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from conftest import REPOSITORY
from kbd.cli.chat.entry import command
from kbd.cli.chat.slash_commands import COMMANDS
from kbd.core import workspace
from kbd.core.agent import (
    DEFAULT_SYSTEM_PROMPT,
    AgentController,
    find_toolcall,
    render_toolcall,
    render_toolresult,
)
from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.tools import TOOL_REGISTRY, WorkspaceTools

TEXTS = {
    # The first six digits of the id of a document of this name are those of the examples.
    "docs/python-2090883.md": "# Python Guide\n\nPython is good for machine learning.\n",
    "docs/learning.md": "# Machine learning\n\nModels learn from data. " + "They learn. " * 60,
    "notes.txt": "Docs about Python lie in the folder docs.\n",
}
CALL = '<myPT_toolcall>{"name": "workspace.search", "query": "python"}</myPT_toolcall>'


class ScriptedModel:
    """Calls a tool first and answers then, whatever it is asked."""

    def generate(self, prompt: str, max_new_tokens: int = 512) -> str:
        """Return what comes next."""
        assert max_new_tokens == 512
        return "Based on my search, two." if "</myPT_toolresult><" in prompt else CALL


@pytest.fixture(scope="module")
def document() -> str:
    """The document's text."""
    shared = Path(os.environ.get("KBD_SHARED", REPOSITORY.parent / "shared"))
    path = shared / "seeds" / "workspace-api.md"
    if not path.is_file():
        pytest.skip("the workspace API's document is not beside the project")
    return path.read_text("utf-8")


@pytest.fixture(scope="module")
def ran(document: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What the names of the examples mean after all of them ran, in order, in one program."""
    folder = tmp_path_factory.mktemp("api")
    for name, text in TEXTS.items():
        (folder / "workspace" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "workspace" / name).write_text(text)
    said: list[str] = []
    names: dict[str, Any] = {
        # What the document takes for granted.
        "dataclass": dataclasses.dataclass,
        "model": ScriptedModel(),
        "model_output": f"I look. {CALL}",
        "print": lambda *what: said.append(" ".join(map(str, what))),
    }
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("KBD_HOME", str(folder / "home"))
        patch.setenv("KBD_SEARCH_EMBEDDER", "none")
        for block in _fenced(document, "python"):
            if "self" in block or "TOOL_REGISTRY" in block:
                continue
            exec(compile(block.replace("from core.", "from kbd.core."), "document", "exec"), names)
            made.append(names.get("engine"))
        yield {**names, "said": said, "engines": made}
        for engine in made:
            if engine is not None:
                engine.close()


def _fenced(document: str, language: str) -> list[str]:
    """The blocks of a language."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)
    return [text for kind, text in blocks if kind == language]


def _section(document: str, heading: str) -> str:
    """The text from a line that begins so to the next heading."""
    begin = document.index(f"\n{heading}")
    following = re.compile(r"^(?:#|\*\*`)", re.MULTILINE).search(document, begin + len(heading) + 2)
    return document[begin : following.start() if following else len(document)]


def test_nothing_of_the_document_is_left_out(document: str) -> None:
    """It has as many blocks as these tests know; another one would have to be looked at."""
    counted = {kind: len(_fenced(document, kind)) for kind in ("python", "json", "bash", "")}

    assert counted == {"python": 17, "json": 4, "bash": 1, "": 3}


def test_every_python_example_runs(ran: dict[str, Any]) -> None:
    """In order and in one program, and they print what their text promises."""
    said = ran["said"]

    assert "python-2090883 (abc123bf2db1633c)" in said
    assert "Title: python-2090883, Path: workspace/docs/python-2090883.md" in said
    assert TEXTS["docs/python-2090883.md"] in said
    assert any(re.match(r"\[[01]\.\d\d\] .*\.\.\.$", line, re.DOTALL) for line in said)
    assert "Based on my search, two." in said
    assert "2" in said
    assert "Tool: workspace.search, Args: {'query': 'python'}" in said


def test_the_rendered_blocks_are_those_of_the_comments(document: str, ran: dict[str, Any]) -> None:
    """What a comment says a call returns is what it returned."""
    block = next(text for text in _fenced(document, "python") if "render_toolcall(" in text)
    promised = re.findall(r"^# -> (.*)$", block, re.MULTILINE)

    assert promised == [ran["block"], ran["result_block"]]


def test_the_blocks_of_the_protocol_are_read_and_written(document: str) -> None:
    """The call of the text is found, and both blocks are rendered to the letter."""
    call, result = (text.strip() for text in _fenced(document, "")[1:3])
    found = find_toolcall(call)
    assert found is not None
    assert (found.name, found.arguments) == ("workspace.search", {"query": "python", "top_k": 5})
    assert render_toolcall(found.name, found.arguments) == call
    assert render_toolresult({"documents": [...], "total": 5}) == result


@pytest.mark.parametrize("kind", ["Document", "Chunk"])
def test_the_data_models_have_the_fields(document: str, kind: str) -> None:
    """Those of the listing, in their order, of their types."""
    block = next(text for text in _fenced(document, "python") if f"class {kind}:" in text)
    (listed,) = [node for node in ast.parse(block).body if isinstance(node, ast.ClassDef)]
    promised = {
        node.target.id: node.annotation.id
        for node in listed.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.annotation, ast.Name)
    }
    fields = dataclasses.fields(vars(workspace)[kind])
    types = {field.name: getattr(field.type, "__name__", field.type) for field in fields}

    assert len(promised) == len(listed.body)
    assert {name: str(kind).split("[")[0] for name, kind in types.items()} == promised


CALLS: dict[str, dict[str, Any]] = {
    "workspace.search": {"query": "python"},
    "workspace.list_docs": {},
    "workspace.get_doc": {"title": "learning"},
    "workspace.summarize": {"doc_id": "abc123"},
}


@pytest.mark.parametrize("tool", list(CALLS))
def test_the_tools_take_and_return_what_is_listed(
    document: str, ran: dict[str, Any], tool: str
) -> None:
    """Arguments with type, need and default; a result with every key, of the kind shown."""
    section = _section(document, f"**`{tool}`**")
    row = r"^\| `(\w+)` \| (\w+) \| (\w+)\*? \| (.*?) \| (.*?) \|$"
    rows = re.findall(row, section, re.MULTILINE)
    promised = {
        name: (kind, needed == "Yes", None if default == "-" else json.loads(default), what)
        for name, kind, needed, default, what in rows
    }
    entry = TOOL_REGISTRY[tool]
    assert {
        name: (told["type"], told["required"], told.get("default"), told["description"])
        for name, told in entry["args"].items()
    } == promised
    assert section.split("\n\n")[1].strip().removesuffix(".") in entry["description"]
    (shape,) = _fenced(section, "json")
    result = ran["tools"].execute(tool, CALLS[tool])
    assert _misses(json.loads(shape), json.loads(json.dumps(result))) == []


def _misses(shape: Any, value: Any, place: str = "result") -> list[str]:
    """What a value has not of what a shape shows, or of another type."""
    if isinstance(shape, float):
        return [] if isinstance(value, float | int) and 0 <= value <= 1 else [place]
    if type(shape) is not type(value):
        return [place]
    match shape:
        case dict():
            missing = [f"{place}.{key}" for key in shape if key not in value]
            both = [key for key in shape if key in value]
            return missing + [
                miss for key in both for miss in _misses(shape[key], value[key], f"{place}.{key}")
            ]
        case list():
            assert value, place
            return [miss for each in value for miss in _misses(shape[0], each, f"{place}[]")]
        case _:
            return []


def test_the_return_value_of_run_is_the_one_shown(document: str, ran: dict[str, Any]) -> None:
    """Exactly those keys, and in each call exactly those."""
    shown = next(text for text in _fenced(document, "python") if text.startswith("{"))
    promised = eval(shown)
    result = ran["controller"].run([{"role": "user", "content": "Find docs about Python"}])

    assert result.keys() == promised.keys()
    assert (result["role"], result["steps"]) == (promised["role"], promised["steps"])
    assert [call.keys() for call in result["tool_calls"]] == [promised["tool_calls"][0].keys()]
    assert result["tool_calls"][0]["name"] == promised["tool_calls"][0]["name"]


def test_the_signatures_are_those_of_the_headings(document: str) -> None:
    """Each method has the parameters shown, in that order, with those defaults."""
    seen = []
    for written in re.findall(r"^\*\*`(\w+\(.*?\).*?)`\*\*$", document, re.MULTILINE):
        (shown,) = ast.parse(f"def {written.rstrip()}: ...").body
        assert isinstance(shown, ast.FunctionDef)
        owner = AgentController if shown.name.startswith("run") else WorkspaceEngine
        real = inspect.signature(vars(owner)[shown.name]).parameters
        args = [arg.arg for arg in shown.args.args]
        defaults = [ast.literal_eval(node) for node in shown.args.defaults]
        plain = [each for each in real.values() if each.kind is not each.VAR_KEYWORD]
        assert [each.name for each in plain][1:] == args, written
        assert [each.default for each in plain][len(plain) - len(defaults) :] == defaults, written
        assert any(each.kind is each.VAR_KEYWORD for each in real.values()) is bool(
            shown.args.kwarg
        )
        seen.append(shown.name)

    assert seen == [
        "list_docs", "get_doc", "get_doc_text", "search", "reload_index", "run", "run_single",
    ]  # fmt: skip


def test_the_properties_and_the_constructor_are_as_listed(
    document: str, ran: dict[str, Any]
) -> None:
    """The engine tells its numbers; the controller takes its arguments with those defaults."""
    section = _section(document, "#### Properties")
    listed = re.findall(r"^\| `(\w+)` \| (\w+) \|", section, re.MULTILINE)
    values = {name: type(eval(f"engine.{name}", dict(ran))).__name__ for name, _ in listed}
    assert values == dict(listed)
    assert len(listed) == 3
    section = _section(document, "#### Constructor Arguments")
    rows = re.findall(r"^\| `(\w+)` \| .*? \| (\w+) \|", section, re.MULTILINE)
    real = inspect.signature(AgentController).parameters
    defaults = {
        name: "Required"
        if each.default is each.empty
        else "DEFAULT"
        if each.default is DEFAULT_SYSTEM_PROMPT
        else str(each.default)
        for name, each in real.items()
    }
    assert defaults == dict(rows)


def test_a_tool_is_added_by_the_steps_of_the_document(document: str, ran: dict[str, Any]) -> None:
    """The method, the table and the registry as written, what is left out put in its place."""
    method, table, registry = [
        text
        for text in _fenced(document, "python")
        if "self" in text or text.startswith("TOOL_REGISTRY")
    ]
    table = re.sub(r"# \.\.\. existing.*", "**self._tools,", table)
    registry = re.sub(r"# \.\.\. existing.*", "**TOOL_REGISTRY,", registry)
    program = (
        "from typing import Any, Callable, Dict\n"
        "from kbd.core.workspace import TOOL_REGISTRY, WorkspaceTools\n"
        f"{registry}\n"
        "class Tools(WorkspaceTools):\n"
        "    registry = TOOL_REGISTRY\n"
        "    def __init__(self, engine):\n"
        "        super().__init__(engine)\n"
        f"{_indented(table, 8)}\n{_indented(method, 4)}\n"
    )
    names: dict[str, Any] = {}
    exec(compile(program, "document", "exec"), names)
    tools = cast("WorkspaceTools", names["Tools"](ran["engine"]))

    assert tools.execute("workspace.new_tool", {}) == {"result": "..."}
    assert "error" in tools.execute("workspace.new_tool", {"parm": 1})
    assert tools.execute("workspace.list_docs", {})["total"] == len(TEXTS)
    assert "workspace.new_tool" not in TOOL_REGISTRY
    told: list[str] = []

    class Listening(ScriptedModel):
        def generate(self, prompt: str, max_new_tokens: int = 512) -> str:
            told.append(prompt)
            return "Done."

    AgentController(Listening(), tools).run_single("Go")
    assert 'workspace.new_tool {"param"?: str = "default"}: Description of new tool' in told[0]


def _indented(text: str, width: int) -> str:
    return "".join(" " * width + line for line in text.splitlines(keepends=True))


def test_the_command_line_and_its_commands_are_taken(document: str) -> None:
    """`kbd chat` takes the options of the script, and has every command that is listed."""
    (block,) = _fenced(document, "bash")
    _, script, *options = shlex.split(block.replace("\\\n", " "))
    parser = argparse.ArgumentParser()
    command(parser)
    taken = parser.parse_args(options)
    commands = re.findall(r"^- `(/\w+)`", _section(document, "### workspace_chat.py"), re.MULTILINE)

    assert script.endswith("chat.py")
    assert (taken.model, taken.workspace_dir) == ("my_agent", "workspace/")
    assert (taken.index_dir, taken.verbose) == ("workspace/index/latest", True)
    assert len(commands) == 7
    assert set(commands) <= set(COMMANDS)
