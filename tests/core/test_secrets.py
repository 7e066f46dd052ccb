"""API keys: found in three places, shown in none."""

import subprocess
import sys
from pathlib import Path

import pytest

from kbd.core.paths import Home
from kbd.core.secrets import Secrets
from kbd.errors import ProviderNotConfigured, ValidationFailed


def secrets(folder: Path, text: str = "", **environment: str) -> Secrets:
    """Make secrets from a settings file of this text."""
    home = Home(folder=folder, socket=folder / "s")
    home.settings_file.write_text(text)
    home.settings_file.chmod(0o600)
    return Secrets(home, environment)


def printing(code: str) -> str:
    """Return a settings file whose command runs some Python."""
    return f"[plugins.openai]\napi_key_command = [{sys.executable!r}, '-c', '{code}']"


def test_the_environment_comes_first(tmp_path: Path) -> None:
    """Then the file, then nothing."""
    text = '[plugins.openai]\napi_key = "from-file"\n[plugins.my-own]\nx = 1'

    assert secrets(tmp_path, text, OPENAI_API_KEY="from-env").key("openai") == "from-env"
    assert secrets(tmp_path, text).key("openai") == "from-file"
    assert secrets(tmp_path, text, MY_OWN_API_KEY="k").key("my-own") == "k"
    assert secrets(tmp_path, text).key("offline") is None


def test_a_command_prints_a_key_once(tmp_path: Path) -> None:
    """Its first line is the key; it is run at the first call and not again."""
    marks = tmp_path / "marks"
    code = f'open("{marks}", "a").write("x"); print("from-command"); print("more")'
    found = secrets(tmp_path, printing(code))
    assert not marks.exists()

    assert [found.key("openai"), found.key("openai")] == ["from-command"] * 2
    assert marks.read_text() == "x"
    assert found.redact("a from-command b") == "a *** b"


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "print()", "print(bytes([255]))"])
def test_a_command_that_fails_says_so(tmp_path: Path, code: str) -> None:
    """The setting is named; what the command printed is not."""
    found = secrets(
        tmp_path,
        printing(code.replace("print(bytes([255]))", "import os; os.write(1, bytes([255]))")),
    )

    with pytest.raises(ProviderNotConfigured, match=r"plugins\.openai\.api_key_command"):
        found.key("openai")


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    """A missing program and an ill-formed setting are told apart."""
    with pytest.raises(ProviderNotConfigured, match="FileNotFoundError"):
        secrets(tmp_path, "[plugins.p]\napi_key_command = '/nowhere/key'").key("p")
    with pytest.raises(ValidationFailed, match="expected a command"):
        secrets(tmp_path, "[plugins.p]\napi_key_command = 5").key("p")


def test_nothing_shows_a_key(tmp_path: Path) -> None:
    """Neither its repr nor a text that went through `redact`, also where one begins another."""
    found = secrets(tmp_path, A_API_KEY="sk-canary", B_API_KEY="sk-canary-long", C_API_KEY="on")

    assert "canary" not in repr(found)
    assert found.redact("x sk-canary-long sk-canary on") == "x *** *** on"


def test_the_environment_is_hidden() -> None:
    """After the call the kernel counts the process as one that others may not look into."""
    code = (
        "import ctypes\n"
        "from kbd.core.secrets import hide_environment\n"
        "hide_environment()\n"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))\n"  # PR_GET_DUMPABLE
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "0\n"
