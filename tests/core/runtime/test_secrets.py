"""API keys: found in three places, shown in none."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kbd.core.runtime.paths import Home
from kbd.core.runtime.secrets import Secrets
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


def test_a_key_that_was_refused_is_asked_for_again(tmp_path: Path) -> None:
    """A command may print another one later; what it printed before is blotted out all the same."""
    marks = tmp_path / "marks"
    code = (
        f'import pathlib; p = pathlib.Path("{marks}"); p.open("a").write("x"); '
        'print("key-number-" + str(len(p.read_text())))'
    )
    found = secrets(tmp_path, printing(code))

    assert found.key("openai") == "key-number-1"
    found.invalidate("openai")
    assert found.key("openai") == "key-number-2"
    assert found.redact("key-number-1 key-number-2") == "*** ***"
    fixed = secrets(tmp_path, OPENAI_API_KEY="from-environment")
    fixed.invalidate("openai")
    assert fixed.key("openai") == "from-environment"


def test_a_command_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time it is killed, and the setting is named."""
    monkeypatch.setattr("kbd.core.runtime.secrets.COMMAND_TIMEOUT_S", 0.2)
    found = secrets(tmp_path, "[plugins.openai]\napi_key_command = ['sleep', '600']")

    with pytest.raises(ProviderNotConfigured, match=r"api_key_command could not be run: Timeout"):
        found.key("openai")


def test_runs_that_start_together_ask_once(tmp_path: Path) -> None:
    """Its user unlocks something once, however many calls wait for the key."""
    marks = tmp_path / "marks"
    code = f'import time; open("{marks}", "a").write("x"); time.sleep(0.1); print("from-command")'
    found = secrets(tmp_path, printing(code))
    with ThreadPoolExecutor(4) as threads:
        keys = list(threads.map(found.key, ["openai"] * 4))

    assert keys == ["from-command"] * 4
    assert marks.read_text() == "x"


@pytest.mark.parametrize("key", ["two words", "tab\\tin it", "clé-clé-clé", "line\\u0000"])
def test_what_cannot_be_a_key_is_refused(tmp_path: Path, key: str) -> None:
    """It would break the header that carries it; the message does not hold it."""
    found = secrets(tmp_path, f'[plugins.openai]\napi_key = "{key}"')

    with pytest.raises(ProviderNotConfigured, match=r"plugins\.openai is no API key") as refused:
        found.key("openai")
    assert key not in str(refused.value)


def test_an_empty_key_is_none(tmp_path: Path) -> None:
    """A setting or a variable without a value sets nothing, and blots out nothing."""
    found = secrets(tmp_path, '[plugins.openai]\napi_key = ""', OPENAI_API_KEY=" ")

    assert found.key("openai") is None
    assert found.forms == ()


def test_clearing_one_key_leaves_the_others(tmp_path: Path) -> None:
    """Conformance 7: without one provider's key the others have theirs."""
    both = '[plugins.openai]\napi_key = "first-key"\n[plugins.other]\napi_key = "second-key"'
    assert secrets(tmp_path, both).key("openai") == "first-key"

    cleared = secrets(tmp_path, both.replace('api_key = "first-key"', ""))
    assert cleared.key("openai") is None
    assert cleared.key("other") == "second-key"


def test_a_file_with_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """The message says which mode it must have, and not the key."""
    home = Home(folder=tmp_path, socket=tmp_path / "s")
    home.settings_file.write_text('[plugins.openai]\napi_key = "sk-canary"')
    for mode in (0o640, 0o604, 0o602):
        home.settings_file.chmod(mode)
        with pytest.raises(ValidationFailed, match="chmod 600") as refused:
            Secrets(home, {})
        assert "canary" not in str(refused.value)


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


def test_an_address_may_hold_a_password(tmp_path: Path) -> None:
    """It is no key, and blotted out like one, wherever the address is set."""
    text = "[plugins.other]\nbase_url = 'https://me:second-password@b.example/v1'"
    found = secrets(tmp_path, text, OPENAI_BASE_URL="http://me:first-password@a.example/v1")

    assert found.key("openai") is None
    assert found.redact("first-password second-password") == "*** ***"
    assert secrets(tmp_path, OPENAI_BASE_URL="http://[::1").forms == ()


def test_the_environment_is_hidden() -> None:
    """After the call the kernel counts the process as one that others may not look into."""
    code = (
        "import ctypes\n"
        "from kbd.core.runtime.secrets import hide_environment\n"
        "hide_environment()\n"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))\n"  # PR_GET_DUMPABLE
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stdout == "0\n"
