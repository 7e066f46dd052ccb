"""Finding the subcommand, its help, and the exit code that a command ends with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kbd import __version__
from kbd.cli import main
from kbd.cli.command import COMMANDS
from scripted_daemon import AnswerError, ScriptedDaemon

HEAVY = {
    "anyio", "asyncio", "dataclasses", "importlib.metadata", "logging", "msgpack", "msgspec",
    "openai", "pathlib", "pluggy", "rich", "shutil", "structlog", "subprocess", "tempfile",
    "typing",
}  # fmt: skip
"""What costs more to import than `kbd status` costs to run."""


def imported_by(*arguments: str, home: Path) -> tuple[int, set[str]]:
    """Run a command in a Python of its own; return its exit code and the modules it imported."""
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from kbd.cli import main\n"
        "try:\n    code = main(sys.argv[1:])\nexcept SystemExit as end:\n    code = end.code\n"
        "print(*(set(sys.modules) - before), file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        # -I and -S: what a site's .pth files import is not ours to answer for.
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}",
         *arguments],
        env={**os.environ, "KBD_HOME": str(home)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, set(done.stderr.split())


def test_the_version_imports_nothing_heavy(short_dir: Path) -> None:
    """`kbd --version` costs little more than Python itself."""
    code, modules = imported_by("--version", home=short_dir)

    assert code == 0
    assert set() == HEAVY & modules
    assert "kbd.client.blocking" not in modules


def test_status_imports_nothing_heavy(daemon: ScriptedDaemon, short_dir: Path) -> None:
    """`kbd status` is a socket, JSON and argparse; no other subcommand is imported."""
    code, modules = imported_by("status", home=short_dir)

    assert code == 0
    assert set() == HEAVY & modules
    assert {"kbd.cli.status", "json", "socket"} <= modules
    assert "kbd.cli.run" not in modules


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`kbd COMMAND --help` says what the command does, without a daemon: each has its module."""
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])

    assert end.value.code == 0
    assert f"usage: kbd {name}" in capsys.readouterr().out


def test_a_command_without_a_module_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is listed only is a fault, and does not do what another one does."""
    monkeypatch.setitem(COMMANDS, "listed", "do what nobody wrote")

    with pytest.raises(ModuleNotFoundError, match=r"kbd\.cli\.listed"):
        main(["listed", "--help"])


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`kbd --help` is the table of contents."""
    with pytest.raises(SystemExit):
        main(["--help"])

    told = capsys.readouterr().out
    assert [name for name in COMMANDS if f"\n  {name} " not in told] == []


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """`kbd --version` prints it."""
    with pytest.raises(SystemExit) as end:
        main(["--version"])

    assert end.value.code == 0
    assert capsys.readouterr().out == f"kbd {__version__}\n"


@pytest.mark.parametrize("arguments", [["nonsense"], ["status", "--nonsense"], ["rpc"]])
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    """An unknown command or option, or a missing argument, is a usage error."""
    with pytest.raises(SystemExit) as end:
        main(arguments)

    assert end.value.code == 2


def test_no_command_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    """`kbd` alone prints the help to stderr and ends with 2."""
    assert main([]) == 2
    assert "commands:" in capsys.readouterr().err


def test_no_daemon_ends_with_69(short_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing answers, the message says how to start it."""
    assert main(["--home", str(short_dir), "status"]) == 69
    assert "kbd up" in capsys.readouterr().err


def test_the_place_may_follow_the_command(daemon: ScriptedDaemon) -> None:
    """`--socket` is taken before the command and after it."""
    assert main(["--socket", str(daemon.path), "status"]) == 0
    assert main(["status", "--socket", str(daemon.path)]) == 0


def test_a_named_home_beats_the_sockets_variable(
    daemon: ScriptedDaemon, short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who names a home on the command line means the socket in it."""
    monkeypatch.setenv("KBD_SOCKET", "/nowhere/kbd.sock")

    assert main(["status"]) == 69
    assert main(["--home", str(short_dir), "status"]) == 0


def test_a_socket_path_that_is_too_long_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A path over 107 bytes cannot be a socket's: said before anything is tried."""
    assert main(["--socket", "/tmp/" + "x" * 103, "status"]) == 2
    assert "108 bytes" in capsys.readouterr().err


def test_an_error_is_told_with_code_and_advice(
    daemon: ScriptedDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """A refusal prints its code, its message and what can be done, and ends with 1."""
    failure = AnswerError("DISK_FULL", "no space is left", actions=["free some space"])
    daemon.answers["EngineGetInfo"] = _raising(failure)

    assert main(["--socket", str(daemon.path), "status"]) == 1
    assert capsys.readouterr().err == "DISK_FULL: no space is left\n  - free some space\n"


def test_a_broken_connection_ends_with_69(
    daemon: ScriptedDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    """A daemon that dies in the middle of a call is said to be gone, without a traceback."""
    daemon.hang_up.add("EngineGetInfo")

    assert main(["--socket", str(daemon.path), "status"]) == 69
    assert "connection to kbd broke" in capsys.readouterr().err


def _raising(failure: AnswerError) -> object:
    def answer(*_: object) -> None:
        raise failure

    return answer
