"""Plugins as they are installed that fail at import, or take a name: each is left out, none harms.

They are distributions in a folder of PYTHONPATH, found as those of an installer are.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from backends import halved
from kbd.client.blocking import RemoteError
from real_daemon import RealDaemon

pytestmark = [halved, pytest.mark.full, pytest.mark.timeout(180)]

FORMAT = """
from kbd import hookimpl
from kbd.formats import FormatHandler
class Taken(FormatHandler):
    name = "{name}"
    wire_name = "Taken"
    kind = "text"
    suffixes = {{"{suffix}": "text/plain"}}
@hookimpl
def kbd_register_formats(settings):
    return [Taken()]
"""

MARK = "import os; open(os.environ['KBD_TEST_RAN'], 'a').write(__name__ + chr(10))\n"
"""Notes that a module was run."""


class _Kind(NamedTuple):
    """A distribution with one plugin.

    Args:
        point: The name of its entry point.
        text: Its module.
        reason: Why it is left out; "" if it is not.
        name: What the distribution calls itself; "" for its own name.
        runs: Whether its module may be run at all.
    """

    point: str
    text: str
    reason: str
    name: str = ""
    runs: bool = True


KINDS = {
    "raises": _Kind("raises", "raise RuntimeError('no\\nway')", "RuntimeError: no way"),
    "exits": _Kind("exits", "import sys; sys.exit(3)", "SystemExit: 3"),
    "leaves": _Kind("leaves", "import os; os._exit(0)", "ends the process (exit code 0)"),
    "crashes": _Kind("crashes", "import ctypes; ctypes.string_at(0)", "ends the process (SIGSEGV)"),
    "interrupts": _Kind("interrupts", "raise KeyboardInterrupt", "KeyboardInterrupt"),
    "missing": _Kind("missing", "import no_such_module", "ModuleNotFoundError"),
    "garbled": _Kind("garbled", "this is no Python", "SyntaxError", runs=False),
    "hangs": _Kind("hangs", "import time\nwhile True: time.sleep(0.01)", "took more than "),
    "prints": _Kind(
        "prints",
        'print(\'{"level": "critical"}\')\n' + FORMAT.format(name="prints", suffix=".prints"),
        "",
    ),
    "writes": _Kind(
        "writes",
        'import os; [os.write(each, b\'{"level": "critical"}\\n\') for each in (1, 2)]\n'
        + FORMAT.format(name="writes", suffix=".writes"),
        "",
    ),
    # The name of a built-in plugin, of a built-in format, and of its suffix.
    "shadow": _Kind("xlsx", "", "another plugin is called xlsx", runs=False),
    "inner": _Kind(
        "inner", FORMAT.format(name="csv", suffix=".inner"), "plugin csv brings one, too"
    ),
    "suffix": _Kind("suffix", FORMAT.format(name="mine", suffix=".csv"), ""),
    # Two of one name.
    "twin_a": _Kind("twin", FORMAT.format(name="twin_a", suffix=".twin"), ""),
    "twin_b": _Kind("twin", "", "another plugin is called twin", runs=False),
    # Those that say that they are kbd's, and one that lies as if it were.
    "liar": _Kind("pdf", "", "another plugin is called pdf", name="kbd", runs=False),
    "kbd": _Kind("docx", "", "does not lie beside kbd", name="kbd", runs=False),
}


def _install(site: Path) -> None:
    for name, kind in KINDS.items():
        (site / f"p_{name}").mkdir(parents=True)
        (site / f"p_{name}" / "__init__.py").write_text(MARK + kind.text)
        described = site / f"{name}-99.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(f"Name: {kind.name or name}\nVersion: 99\n\n")
        (described / "entry_points.txt").write_text(f"[kbd]\n{kind.point} = p_{name}\n")


@pytest.fixture(params=["asyncio", "trio"])
def daemon(short_dir: Path, request: pytest.FixtureRequest) -> Iterator[RealDaemon]:
    """A daemon that finds all of them, and waits two seconds for the first import that hangs."""
    site = short_dir / "site"
    _install(site)
    environment = {"PYTHONPATH": str(site), "KBD_TEST_RAN": str(short_dir / "ran")}
    preface = "from kbd.core.plugins import loading_trial\nloading_trial.LOADING_S = 4.0"
    running = RealDaemon(short_dir / "home", request.param, environment, preface)
    running.start()
    try:
        yield running
    finally:
        running.stop()


def _doctor(daemon: RealDaemon) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kbd", "--home", str(daemon.home), "doctor"]
    environment = {**os.environ, **daemon.environment}
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False, timeout=60
    )


def _plugin_events(daemon: RealDaemon) -> list[tuple[str, str]]:
    return [
        (each["type"], each["data"]["name"])
        for each in daemon.events("daemon")
        if each["type"].startswith("Plugin")
    ]


def test_each_is_left_out_and_told_and_none_harms(daemon: RealDaemon, tmp_path: Path) -> None:
    """A status with a reason, an event, a line in `kbd doctor`; built-in plugins are as ever."""
    found = daemon.ask("PluginsList")["plugins"]
    built_in = {each["name"]: each for each in found if each["source"] == "kbd"}
    assert [each for each in built_in.values() if each["version"] != "99"]
    for point in ("xlsx", "csv", "pdf", "docx"):
        (kept,) = (each for each in found if each["name"] == point and each["status"] == "loaded")
        assert kept["source"] == "kbd"
        assert kept["version"] != "99"

    told = {
        (each["name"], each["version"], each["status"]): each.get("reason", "") for each in found
    }
    events = _plugin_events(daemon)
    print()
    for name, kind in KINDS.items():
        status = "left_out" if kind.reason else "loaded"
        reason = told[kind.point, "99", status]
        print(f"H13  {name:<12}{kind.point:<12}{status:<10}{reason}")
        assert kind.reason in reason, name
        if kind.reason:
            assert any(n.split(" of ")[0] == kind.point for t, n in events if t == "PluginLeftOut")
    ran = set((daemon.home.parent / "ran").read_text().split())
    assert ran == {f"p_{name}" for name, kind in KINDS.items() if kind.runs}

    # Built-in formats read their own, and who printed forged no entry.
    file = tmp_path / "a.csv"
    file.write_text("a,b\n1,2\n")
    workbench_id = daemon.workbench(file)
    read = {"workbench_id": workbench_id, "name": "read_file", "arguments": {"path": "a.csv"}}
    assert daemon.ask("ToolsCall", **read)["text"] == "a,b\n1,2\n"
    (row,) = daemon.ask("WorkbenchFilesList", workbench_id=workbench_id)["files"]
    # What a stranger that claims the suffix says is text/plain.
    assert row["mime_type"] == "text/csv"
    log = [json.loads(line) for line in daemon.log.read_text().splitlines()]
    assert all(each["event"] for each in log)
    forged = [each for each in log if each.get("text") == '{"level": "critical"}']
    assert sorted(each["stream"] for each in forged) == ["descriptor", "descriptor", "stdout"]
    said = _doctor(daemon)
    lines = said.stdout.splitlines()
    for kind in KINDS.values():
        if kind.reason:
            start = f"WRONG plugin    {kind.point} 99 left out: "
            assert any(each.startswith(start) and kind.reason in each for each in lines), kind


def test_a_second_start_finds_nothing_new(daemon: RealDaemon) -> None:
    """What is as it was is not recorded again, two plugins of one name included."""
    before = _plugin_events(daemon)
    assert len(before) == len(set(before))
    for _ in range(2):
        assert daemon.stop() == 0
        daemon.start()
        assert _plugin_events(daemon) == before


def test_doctor_without_a_daemon_outlives_them(daemon: RealDaemon) -> None:
    """It loads them as a daemon does, and says the same; it is neither ended nor held up."""
    assert daemon.stop() == 0
    found = _doctor(daemon)
    assert found.returncode == 1
    assert "Interrupted" not in found.stderr
    lines = found.stdout.splitlines()
    for name, kind in KINDS.items():
        reason = "took more than " if name == "hangs" else kind.reason
        if reason:
            start = f"WRONG plugin    {kind.point} 99 left out: "
            assert any(each.startswith(start) and reason in each for each in lines), name
    assert "critical" not in found.stdout


def test_a_blocked_plugin_may_have_any_name(short_dir: Path) -> None:
    """Blocked ones are not imported, whatever they are called."""
    site = short_dir / "site"
    _install(site)
    environment = {
        "PYTHONPATH": str(site),
        "KBD_TEST_RAN": str(short_dir / "ran"),
        "KBD_BLOCKED_PLUGINS": ",".join({kind.point for kind in KINDS.values()}),
    }
    running = RealDaemon(short_dir / "home", "asyncio", environment)
    running.start()
    try:
        assert not (short_dir / "ran").exists()
        with pytest.raises(RemoteError):
            running.ask("XlsxGetMap", workbench_id="0" * 16, path="a.xlsx")
    finally:
        running.stop()
