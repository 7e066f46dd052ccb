"""What the tables of the reference name exists, and what exists is named there."""

import argparse
import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kbd_toolcall
from documentation import ROOT, names, table, tables
from kbd import errors, hookspecs
from kbd.cli import command, exits, watch, workbench
from kbd.core.api import daemon
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.runtime import paths
from kbd.core.runtime.settings import Settings
from kbd.events import VERSIONS
from kbd.formats import Editable, Tabular
from kbd.requests import METHODS, notifications
from kbd.requests.base import Notification
from kbd.rpc.parsing import Code
from kbd.types import Phase
from kbd_openai import OpenAIProvider
from kbd_openai.embedder import OpenAIEmbedder
from kbd_semantic import LocalEmbedder
from kbd_tables.jobs import QueryLimits


def told(record: type[msgspec.Struct], *but: str) -> list[str]:
    """A record's fields as the reference names them: with `?` where they have a default."""
    fields = [field for field in msgspec.structs.fields(record) if field.name not in but]
    return [field.encode_name if field.required else f"{field.encode_name}?" for field in fields]


@pytest.fixture(scope="module")
def plugins() -> Plugins:
    """The built-in plugins."""
    return Plugins.discover(Settings())


@cache
def sources() -> tuple[tuple[Path, str], ...]:
    """The text of every source file of kbd and its plugins; to parse all takes seconds."""
    files = [*(ROOT / "kbd").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    return tuple((path, path.read_text("utf-8")) for path in files)


class Asked(Mapping[str, str]):
    """Settings or an environment with a few values, that remembers what was looked up in it."""

    def __init__(self, **values: str) -> None:
        self.names: set[str] = set()
        self._values = values

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return True


def test_requests_are_documented() -> None:
    """Each method stands in the table with its parameters and the fields of its answer."""
    rows = table("reference/requests.md", "Requests")

    assert list(METHODS) == list(rows)
    for method, request in METHODS.items():
        assert told(request, "api_version") == names(rows[method]["parameters"]), method
        if isinstance(request.answer, type) and issubclass(request.answer, msgspec.Struct):
            assert told(request.answer) == names(rows[method]["answer"]), method


def test_methods_of_formats_are_documented(plugins: Plugins) -> None:
    """Each method that a built-in format contributes stands in the table, likewise."""
    rows = table("reference/formats.md", "Methods of formats")
    methods = [owned.item.kind for owned in plugins.methods]

    assert [kind.method for kind in methods] == list(rows)
    for kind in methods:
        row = rows[kind.method]
        assert told(kind, "api_version") == names(row["parameters"]), kind.method
        if isinstance(kind.answer, type) and issubclass(kind.answer, msgspec.Struct):
            assert told(kind.answer) == names(row["answer"]), kind.method


def test_notifications_are_documented() -> None:
    """Each notification stands in the table with its parameters."""
    kinds: dict[str, type[msgspec.Struct]] = {
        name: kind
        for name, kind in vars(notifications).items()
        if name in notifications.__all__ and isinstance(kind, type)
    }
    common = [field.name for field in msgspec.structs.fields(Notification)]
    rows = table("reference/notifications.md", "Notifications")

    assert kinds.keys() == rows.keys()
    for name, kind in kinds.items():
        but = common if issubclass(kind, Notification) else []
        assert told(kind, *but) == names(rows[name]["parameters"]), name


def test_events_are_documented() -> None:
    """Each type of event stands in the table with its data."""
    rows = table("reference/events.md", "Events")

    assert [kind.__name__ for kind in VERSIONS] == list(rows)
    for kind in VERSIONS:
        assert told(kind) == names(rows[kind.__name__]["data"]), kind


def test_tools_are_documented(plugins: Plugins) -> None:
    """Each installed tool stands in the table with its plugin, effect, phases and arguments."""
    catalog = Catalog(plugins)
    rows = table("reference/tools.md", "Tools")

    assert [entry.tool.name for entry in catalog.tools()] == list(rows)
    for entry in catalog.tools():
        row = rows[entry.tool.name]
        phases = [phase.value for phase in Phase if entry in catalog.tools_for(phase)]
        assert entry.plugin.name == row["plugin"]
        assert entry.tool.effect.value == row["effect"]
        assert ", ".join(phases) == row["phases"]
        assert told(entry.tool.arguments) == names(row["arguments"]), entry.tool.name


def test_methods_of_tools_are_documented(plugins: Plugins) -> None:
    """Each method that a tool has of its own stands in the table, with its tool."""
    rows = table("reference/tools.md", "Methods of tools")
    found = {
        entry.method.method: f"`{entry.tool.name}`"
        for entry in Catalog(plugins).tools()
        if entry.method is not None
    }
    assert found == {method: row["tool"] for method, row in rows.items()}


def test_formats_are_documented(plugins: Plugins) -> None:
    """Each format stands in the table with its plugin, kind, suffixes and what it can do."""
    rows = table("reference/formats.md", "Formats")

    assert {owned.item.name for owned in plugins.formats} == rows.keys()
    for owned in plugins.formats:
        handler, row = owned.item, rows[owned.item.name]
        assert (owned.plugin.name, handler.kind) == (row["plugin"], row["kind"])
        named = set(names(row["names"]))
        assert named <= handler.suffixes.keys()
        assert named == handler.suffixes.keys() or "more" in row["names"]
        assert isinstance(handler, Editable) == ("edited" in row["can be"])
        assert isinstance(handler, Tabular) == ("table" in row["can be"])


OPERATIONS = {
    "docx": "Document operations",
    "pdf": "PDF operations",
    "pptx": "Slide operations",
    "xlsx": "Workbook operations",
}


def test_operations_are_documented(plugins: Plugins) -> None:
    """Each operation of a built-in format stands in its table with its fields."""
    editable = [owned.item for owned in plugins.formats if isinstance(owned.item, Editable)]

    assert {handler.name for handler in editable} == OPERATIONS.keys()
    for handler in editable:
        rows = table("reference/operations.md", OPERATIONS[handler.name])
        assert [record.__struct_config__.tag for record in handler.operations] == list(rows)
        for record in handler.operations:
            assert told(record) == names(rows[str(record.__struct_config__.tag)]["fields"])


def settings_with_defaults() -> Iterator[tuple[str, Any]]:
    """Each setting with its default, sections unfolded."""
    plain = Settings()
    for field in msgspec.structs.fields(Settings):
        value = msgspec.structs.asdict(plain)[field.name]
        if isinstance(value, msgspec.Struct):
            inner = msgspec.structs.asdict(value)
            yield from ((f"{field.name}.{key}", default) for key, default in inner.items())
        else:
            yield field.name, value


PROMISES = (
    "Files", "Paths and names", "Models and results", "Providers", "Clients",
    "What comes from others", "Secrets and the log",
)  # fmt: skip


def test_promises_name_the_tests_that_show_them() -> None:
    """No promise of the page on security stands alone: its tests are there."""
    for heading in PROMISES:
        for row in tables("explanation/security.md", heading)[0]:
            shown = names(row["shown by"])
            assert shown, row["promise"]
            for path in shown:
                assert "def test_" in (ROOT / path).read_text("utf-8"), path


def test_settings_are_documented() -> None:
    """Each setting stands in the table with its default and its variable."""
    settings = dict(settings_with_defaults())
    rows = table("reference/settings.md", "Settings")

    assert settings.keys() == rows.keys()
    for key, default in settings.items():
        shown = names(rows[key]["default"])
        said = msgspec.json.decode(shown[0]) if shown else None
        assert msgspec.json.decode(msgspec.json.encode(default)) == said, key
        if key not in ("default_model", "models", "plugins"):
            assert [f"KBD_{key.replace('.', '_').upper()}"] == names(rows[key]["variable"])


def test_settings_of_plugins_are_documented() -> None:
    """The tables of the built-in plugins have the keys that those plugins read."""
    rows = set(table("reference/settings.md", "Settings of plugins"))
    tables_keys = {f"plugins.tables.{field}" for field in QueryLimits.__struct_fields__}
    settings = Asked(model="m")
    provider, embedder = OpenAIProvider(settings), OpenAIEmbedder(settings)
    assert provider.models()
    assert not provider.status().configured
    assert not embedder.status().configured
    assert embedder.default_model()
    # kbd reads the key itself, and tells the plugin only whether there is one.
    read = settings.names - {"has_key"} | {"api_key", "api_key_command"}
    openai_keys = {f"plugins.openai.{name}" for name in read}

    asked = re.findall(r'settings\.get\("(\w+)"', inspect.getsource(kbd_toolcall))
    toolcall_keys = {f"plugins.toolcall.{name}" for name in asked}
    asked = re.findall(r'settings\.get\("(\w+)"', inspect.getsource(LocalEmbedder))
    semantic_keys = {f"plugins.semantic.{name}" for name in asked}

    assert toolcall_keys
    assert semantic_keys
    assert openai_keys | tables_keys | toolcall_keys | semantic_keys == rows


def test_environment_is_documented() -> None:
    """Each variable that is read stands in one of the tables; those named there are read."""
    asked = Asked()
    home = paths.Home.find(asked)
    settings = Settings.read(paths.Home(ROOT / "no-such-home", home.socket), asked)
    settings.of_plugin("openai", asked)
    looked_up = re.compile(r"os\.environ(?:\.get\(|\[)'(\w+)'|'(\w+)' in os\.environ")
    for path, text in sources():
        if "cli" in path.parts and "environ" in text:
            for pair in looked_up.findall(ast.unparse(ast.parse(text))):
                asked.names.update(name for name in pair if name)
    by_settings = {
        name
        for row in table("reference/settings.md", "Settings").values()
        for name in names(row["variable"])
    }
    rows = set(table("reference/settings.md", "Environment"))

    assert rows | by_settings == asked.names
    assert not rows & by_settings


def test_errors_are_documented() -> None:
    """Each code stands in the table, with whether it is retryable by default."""
    kinds = {kind.code: kind for kind in raisable().values()}
    rows = table("reference/errors.md", "Errors")

    assert kinds.keys() == rows.keys()
    for name, kind in kinds.items():
        assert ("yes" if kind.retryable_by_default else "no") == rows[name]["retryable"], name
    assert {str(code.value) for code in Code} == table(
        "reference/errors.md", "Errors of the protocol"
    ).keys()


def raisable() -> dict[str, type[errors.KbdError]]:
    """The classes of errors by name, the root left out."""
    return {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.KbdError) and name != "KbdError"
    }


def test_every_error_is_raised() -> None:
    """Each code that clients are told of is made somewhere in kbd or a built-in plugin."""
    unmade = set(raisable())
    for path, text in sources():
        is_theirs = path.name != "errors.py" and "testing" not in path.parts
        # Only a file that has one of the names at all is parsed.
        if is_theirs and any(f"{name}(" in text for name in unmade):
            unmade -= {
                node.func.id
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }

    assert unmade == set()


def test_commands_are_documented() -> None:
    """Each command stands in the table with its options; each action of `wb` and `watch`, too."""
    rows = table("reference/commands.md", "Commands")
    everywhere = {"--help", "--home", "--socket"}

    assert list(command.COMMANDS) == list(rows)
    for name in command.COMMANDS:
        parser = argparse.ArgumentParser()
        command._subcommand(name, parser)
        options = {text for action in parser._actions for text in action.option_strings}
        assert {text for text in options if text.startswith("--")} - everywhere == set(
            names(rows[name]["options"])
        ), name
    for name, actions in {"wb": workbench.ACTIONS, "watch": watch.ACTIONS}.items():
        assert set(actions) == set(names(rows[name]["what it does"])), name


def test_exit_codes_are_documented() -> None:
    """Each code with which a command or the daemon ends stands in the table."""
    codes = {value for name in exits.__all__ if isinstance(value := vars(exits)[name], int)}
    codes |= {value for name, value in vars(daemon).items() if name.startswith("EXIT_")}

    assert {str(code) for code in codes} == table("reference/commands.md", "Exit codes").keys()


def test_hooks_are_documented() -> None:
    """Each hook stands in the table with its arguments."""
    rows = table("reference/hooks.md", "Hooks")

    assert sorted(hookspecs.__all__) == sorted(rows)
    for hook in hookspecs.__all__:
        function = vars(hookspecs)[hook]
        assert list(inspect.signature(function).parameters) == names(rows[hook]["arguments"])


def test_packages_tell_what_is_in_them() -> None:
    """A package's docstring is its contents page: it names each module and package inside."""
    left_out = []
    for path, text in sources():
        if path.name == "__init__.py":
            page = ast.get_docstring(ast.parse(text)) or ""
            modules = {each.stem for each in path.parent.glob("*.py") if each != path}
            if path.parent == ROOT / "kbd" / "cli":
                modules -= command.COMMANDS.keys()  # that table names them
            packages = [each.parent.name for each in path.parent.glob("*/__init__.py")]
            left_out += [
                f"{path.parent.name}: {name}"
                for name in (*modules, *packages)
                if not name.startswith("_") and not re.search(rf"\b{name}\b", page)
            ]

    assert left_out == []


def test_the_glossary_is_sorted() -> None:
    """Each word stands there once, in the order of the alphabet."""
    words = [row["word"] for row in tables("explanation/glossary.md", "Glossary")[0]]

    assert sorted(set(words), key=str.casefold) == words
