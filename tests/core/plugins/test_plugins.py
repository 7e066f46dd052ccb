"""The plugin host: whatever a plugin does at start, it becomes a status, and the others work."""

import importlib.metadata
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kbd.core.plugins.hooks import GROUP, EntryPoint
from kbd.core.plugins.host import Plugins, PluginStatus
from kbd.core.runtime.settings import Settings

Discover = Callable[..., Plugins]

HEAD = """
from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd.tools import Tool, ToolResult
from kbd.types import Effect
import msgspec

class Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str

class Look(Tool):
    name = "look"
    description = "Look at a file."
    arguments = Arguments
    effect = Effect.READ
    preload = ("heavy_tool",)
    async def run(self, context, arguments):
        return ToolResult(None)

class Rune(FormatHandler):
    name = "rune"
    wire_name = "Rune"
    kind = "text"
    suffixes = {".rune": "text/x-rune"}
    preload = ("heavy_format", "heavy_tool")
"""

GOOD = (
    HEAD
    + """
@hookimpl
def kbd_register_formats(settings):
    return [Rune()]

@hookimpl
def kbd_register_tools(formats):
    assert [handler.name for handler in formats.handlers()]
    return (Look(),)
"""
)


@pytest.fixture
def discover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Discover:
    """Make modules of the given texts, and discover them as plugins of the same names."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def discovered(settings: Settings | None = None, **texts: str) -> Plugins:
        points = []
        for name, text in texts.items():
            module = f"plug_{name}_{tmp_path.name.replace('-', '_')}"
            (tmp_path / f"{module}.py").write_text(text)
            points.append(EntryPoint(name, module))
        return Plugins.discover(settings or Settings(), found=points)

    return discovered


def status(plugins: Plugins, name: str) -> PluginStatus:
    """Return the status of one plugin."""
    return next(each for each in plugins.statuses if each.name == name)


def test_a_good_plugin_is_loaded(discover: Discover) -> None:
    """Its declarations are there with their owner; its status says what it brings."""
    plugins = discover(good=GOOD)

    assert status(plugins, "good").status == "loaded"
    assert status(plugins, "good").kind == "format, tool"
    assert status(plugins, "good").contributions == ("format rune", "tool look")
    assert status(plugins, "good").reason is None
    assert [each.item.name for each in plugins.formats] == ["rune"]
    assert plugins.tools[0].plugin is plugins.get("good")
    assert plugins.preload("good") == ("heavy_format", "heavy_tool")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError: No module named"),
        ("def (", "SyntaxError"),
        ("raise SystemExit(2)", "SystemExit: 2"),
        ("open('/root/of/all/evil')", "evil"),
        ("", "it declares nothing"),
        ("import kbd\n@kbd.hookimpl\ndef kbd_register_format(): return []",
         "there is no hook kbd_register_format; did you mean kbd_register_formats?"),
        ("import kbd\n@kbd.hookimpl\ndef kbd_register_formats(setings): return []", "setings"),
        ("import kbd\n@kbd.hookimpl\nasync def kbd_register_formats(): return []", "asynchronous"),
        ("import kbd\n@kbd.hookimpl\nasync def kbd_register_formats(): yield", "asynchronous"),
        ("import kbd\n@kbd.hookimpl(wrapper=True)\ndef kbd_register_formats(): return (yield)",
         "is a wrapper"),
        ("import kbd\n@kbd.hookimpl\ndef kbd_register_formats(): 1/0",
         "kbd_register_formats: ZeroDivisionError: division by zero"),
        ("import kbd\n@kbd.hookimpl\ndef kbd_register_formats(): raise SystemExit", "SystemExit"),
        ("import kbd\n@kbd.hookimpl\ndef kbd_register_formats(): return 5",
         "kbd_register_formats: it returned int where a list is due"),
        ("import kbd\n@kbd.hookimpl\ndef kbd_register_formats(): return [5]",
         "it returned int where a FormatHandler is due"),
        (GOOD.replace('name = "rune"', 'name = "R!"').replace("return (Look(),)", "return ()"),
         "Rune.name is 'R!'"),
        (GOOD.replace('suffixes = {".rune"', 'suffixes = {".RUNE"').replace("(Look(),)", "()"),
         "Rune.suffixes"),
        (GOOD.replace('"text"', '"text"; style_file = "../a.md"').replace("(Look(),)", "()"),
         "Rune.style_file"),
        (GOOD.replace('"text"', '"text"; style_words = "slides"').replace("(Look(),)", "()"),
         "Rune.style_words"),
    ],
)  # fmt: skip
def test_a_bad_plugin_is_left_out(discover: Discover, text: str, reason: str) -> None:
    """The reason is told in one line without a folder, and the others are loaded."""
    plugins = discover(a_bad=text, good=GOOD)

    bad = status(plugins, "a_bad")
    assert bad.status == "left_out"
    assert reason in (bad.reason or "")
    assert "/root" not in (bad.reason or "")
    assert "\n" not in (bad.reason or "")
    assert status(plugins, "good").status == "loaded"
    assert [each.item.name for each in plugins.tools] == ["look"]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"look"', '"look at"', "Look.name is 'look at'"),
        ('description = "Look at a file."', "description = ''", "Look.description"),
        ("Effect.READ", "'read'", "Look.effect"),
        ("arguments = Arguments", "arguments = dict", "Look.arguments"),
        (", forbid_unknown_fields=True", "", "forbid_unknown_fields"),
        ("path: str", "path: complex", "TypeError"),
        ("path: str", "path: list['Arguments']", "within itself"),
        ("async def run", "async def walk", "TypeError: Can't instantiate"),
    ],
)
def test_a_bad_tool_is_left_out(discover: Discover, old: str, new: str, reason: str) -> None:
    """What else its plugin brings is kept, and the status says what was not."""
    assert old in GOOD
    plugins = discover(half=GOOD.replace(old, new))

    assert status(plugins, "half").status == "loaded"
    assert status(plugins, "half").contributions == ("format rune",)
    assert reason in (status(plugins, "half").reason or "")
    assert plugins.tools == ()


def test_names_are_taken_once(discover: Discover) -> None:
    """Of two tools of one name the later plugin's is left out, with its rival's name."""
    plugins = discover(b=GOOD, a=GOOD)

    assert [each.plugin.name for each in plugins.tools] == ["a"]
    assert status(plugins, "b").status == "left_out"
    assert "tool look is left out: plugin a brings one, too" in (status(plugins, "b").reason or "")


def test_two_plugins_of_one_name(discover: Discover, tmp_path: Path) -> None:
    """The first is loaded, the second reported."""
    discover(good=GOOD, other=GOOD)
    modules = sorted(path.stem for path in tmp_path.glob("plug_*.py"))
    points = [EntryPoint("same", module) for module in modules]
    plugins = Plugins.discover(Settings(), found=points)

    assert [each.status for each in plugins.statuses] == ["loaded", "left_out"]
    assert plugins.statuses[1].reason == "another plugin is called same"


def test_a_blocked_plugin_is_not_imported(discover: Discover) -> None:
    """Its code does not run, and its names are free."""
    text = "raise SystemExit('was imported')"
    plugins = discover(Settings(blocked_plugins=("a",)), a=text, b=GOOD)

    assert status(plugins, "a").status == "blocked"
    assert "blocked_plugins" in (status(plugins, "a").reason or "")
    assert plugins.get("b").name == "b"
    with pytest.raises(KeyError):
        plugins.get("a")


def test_a_hook_is_given_its_plugins_table(discover: Discover) -> None:
    """With what the environment says, a copy of its own, and no one else's."""
    text = GOOD.replace(
        "return [Rune()]", "settings['x'] = 1; return [Rune()] if settings['y'] == 2 else 0"
    )
    plugins = discover(Settings(plugins={"good": {"y": 2}, "other": {"z": 3}}), good=text)

    assert plugins.get("good").settings == {"y": 2}


def test_built_in_plugins_come_first(discover: Discover) -> None:
    """A stranger called before them in the alphabet cannot take their names."""
    installed = Plugins.discover(Settings())
    names = [each.name for each in installed.statuses]

    assert names == sorted(names)
    assert {each.source for each in installed.statuses} == {"kbd"}


def test_the_daemon_imports_no_heavy_library() -> None:
    """Loading every built-in plugin imports no parser, no engine, no client."""
    heavy = ("calamine", "charset_normalizer", "duckdb", "lxml", "numpy", "openai", "openpyxl",
             "pandas", "pyarrow", "python_calamine")  # fmt: skip
    code = (
        "import sys\n"
        "from kbd.core.plugins.host import Plugins\n"
        "from kbd.core.runtime.settings import Settings\n"
        "print(len(Plugins.discover(Settings()).statuses))\n"
        f"print(sorted(set({heavy!r}) & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    count = len(importlib.metadata.entry_points(group=GROUP))
    assert done.stdout.splitlines() == [str(count), "[]"]
