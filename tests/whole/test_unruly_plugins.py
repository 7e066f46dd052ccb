"""A daemon with unruly plugins of every kind: it lives, and leaves each out after three faults."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbd.client.blocking import ConnectionLostError, RemoteError
from real_daemon import RealDaemon
from whole.installed import describe_plugins

pytestmark = pytest.mark.full

PACKAGES = Path(__file__).parents[1] / "core/plugins/packages"

KINDS = ("format", "tool", "provider", "embedder", "hook")

SECRET = "sk-unruly-0123456789abcdef"


@pytest.fixture(params=["asyncio", "trio"])
def unruly(short_dir: Path, request: pytest.FixtureRequest) -> Iterator[RealDaemon]:
    """A daemon with the plugins installed, as somebody else's."""
    site = short_dir / "site"
    shutil.copytree(PACKAGES / "kbd_unruly", site / "kbd_unruly")
    points = {f"unruly_{kind}": f"kbd_unruly.{kind}" for kind in KINDS}
    preface = describe_plugins(site, "unruly", points)
    home = short_dir / "home"
    home.mkdir(mode=0o700)
    (home / "settings.toml").write_text('[plugins.unruly_hook]\nact = "block"\n')
    environment = {
        "OPENAI_API_KEY": SECRET,
        "KBD_MODEL": "unruly:fine",
        "KBD_SEARCH_EMBEDDER": "unruly_embedder:m",
        "KBD_RUN_RETRY_S": "0.01",
    }
    daemon = RealDaemon(home, request.param, environment, preface)
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.stop()


def refused(daemon: RealDaemon, method: str, **params: Any) -> str:
    """Ask what is refused, and return the error's code."""
    with pytest.raises(RemoteError) as raised:
        daemon.ask(method, **params)
    # A worker has no key: what it says of itself is no secret.
    assert SECRET not in str(raised.value) or method == "UnrulyGetMap"
    assert raised.value.error_code is not None
    return raised.value.error_code


def plugins(daemon: RealDaemon) -> dict[str, tuple[str, str]]:
    """Return the status of each unruly plugin, with its reason."""
    return {
        each["name"].removeprefix("unruly_"): (each["status"], each.get("reason", ""))
        for each in daemon.ask("PluginsList")["plugins"]
        if each["name"].startswith("unruly")
    }


def misuse_tool(daemon: RealDaemon, workbench_id: str) -> list[str]:
    """Have the tool exit, block the event loop and die in its worker; return what it came to."""
    acts: list[dict[str, Any]] = [
        {"act": "log"},
        {"act": "exit"},
        {"act": "leave", "worker": True},
        {"act": "fine"},
    ]
    return [
        refused(daemon, "ToolsCall", workbench_id=workbench_id, name="unruly", arguments=act)
        for act in acts
    ]


def misuse_provider(daemon: RealDaemon, workbench_id: str) -> list[str]:
    """Have runs with models that exit, raise and block; return the codes of their failures."""
    codes = []
    for act in ("interrupt", "odd_type", "block"):
        model = f"unruly:{act}"
        daemon.ask("WorkshopSetActiveModel", workbench_id=workbench_id, model_id=model)
        run = daemon.run_prompt(workbench_id, "hello")
        assert run["status"] == "failed", run
        failed = [e["data"] for e in daemon.events(workbench_id) if e["type"] == "RunFailed"]
        codes.append(failed[-1]["code"])
    daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="again")
    codes.append(refused(daemon, "WorkshopRunAgent", workbench_id=workbench_id, wait=False))
    return codes


def test_a_daemon_lives_with_unruly_plugins(unruly: RealDaemon, tmp_path: Path) -> None:
    """Typed errors, three faults, an event, and a line in `kbd doctor`; at the next start anew."""
    files = [tmp_path / f"{act}.unruly" for act in ("exit", "raise", "leave", "log")]
    for file in files:
        file.write_text(f"{file.stem} this")
    workbench_id = unruly.workbench(*files)
    status, reason = plugins(unruly)["hook"]
    assert (status, "took more than 2 s" in reason) == ("left_out", True)

    assert misuse_tool(unruly, workbench_id) == [
        "FILE_READ_FAILED", "FILE_READ_FAILED", "FILE_READ_FAILED", "TOOL_WORKER_UNAVAILABLE",
    ]  # fmt: skip
    # The same file again is no further fault of who reads it.
    for name in ("exit", "exit", "exit", "raise", "raise"):
        path = f"{name}.unruly"
        assert refused(unruly, "UnrulyGetMap", workbench_id=workbench_id, path=path) == (
            "FILE_READ_FAILED"
        )
    assert plugins(unruly)["format"][0] == "loaded"
    assert refused(unruly, "UnrulyGetMap", workbench_id=workbench_id, path="leave.unruly") == (
        "FILE_READ_FAILED"
    )
    assert misuse_provider(unruly, workbench_id) == [
        "PROVIDER_UNAVAILABLE", "PROVIDER_UNAVAILABLE", "PROVIDER_UNAVAILABLE",
        "PROVIDER_NOT_CONFIGURED",
    ]  # fmt: skip
    codes = [refused(unruly, "ProvidersValidate", provider_id="unruly_embedder") for _ in range(4)]
    assert codes == ["PROVIDER_UNAVAILABLE"] * 3 + ["PROVIDER_NOT_CONFIGURED"]

    told = plugins(unruly)
    assert {kind: status for kind, (status, _) in told.items()} == dict.fromkeys(KINDS, "left_out")
    # It is recorded behind the call, which does not wait for it.
    deadline_s = time.monotonic() + 60
    while len(left_out := recorded(unruly)) < len(KINDS) and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert left_out == {f"unruly_{kind}": reason for kind, (_, reason) in told.items()}
    said = doctor(unruly)
    for kind in KINDS:
        assert f"WRONG plugin    unruly_{kind} 1 left out: {told[kind][1]}" in said
    assert "3 faults" in told["tool"][1]
    no_secret(unruly, said)

    unruly.stop()
    unruly.start()
    assert {kind: status for kind, (status, _) in plugins(unruly).items()} == dict.fromkeys(
        KINDS, "loaded"
    ) | {"hook": "left_out"}


def recorded(daemon: RealDaemon) -> dict[str, str]:
    """Return the plugins that the log says were left out, with the reasons."""
    return {
        event["data"]["name"]: event["data"]["reason"]
        for event in daemon.events("daemon")
        if event["type"] == "PluginLeftOut"
    }


def doctor(daemon: RealDaemon) -> str:
    """Return what `kbd doctor` says."""
    command = [sys.executable, "-m", "kbd", "--home", str(daemon.home), "doctor"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def no_secret(daemon: RealDaemon, said: str) -> None:
    """What the plugins raised and printed is nowhere: not in the log of the daemon, or events."""
    assert SECRET not in said
    written = [daemon.log, *(file for file in daemon.home.rglob("*") if file.is_file())]
    assert [file.name for file in written if SECRET.encode() in file.read_bytes()] == []


def test_what_ends_the_daemon_three_times_is_left_out(unruly: RealDaemon, tmp_path: Path) -> None:
    """A model whose code ends the process: each end is an event, and no start does it again.

    Who blocks the plugin for one start has it loaded by the next one.
    """
    (tmp_path / "a.txt").write_text("a")
    workbench_id = unruly.workbench(tmp_path / "a.txt")
    unruly.ask("WorkshopSetActiveModel", workbench_id=workbench_id, model_id="unruly:leave")
    unruly.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="hello")
    for times in (1, 2, 3):
        with pytest.raises(ConnectionLostError):
            unruly.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=True)
        unruly.stop()
        unruly.start()
        ended = [e["data"] for e in unruly.events("daemon") if e["type"] == "PluginEndedDaemon"]
        assert ended == [{"name": "unruly_provider", "version": "1"}] * times
    status, reason = plugins(unruly)["provider"]
    assert (status, reason[:39]) == ("left_out", "the daemon ended 3 times while its code")
    assert recorded(unruly)["unruly_provider"] == reason
    assert f"WRONG plugin    unruly_provider 1 left out: {reason}" in doctor(unruly)
    code = refused(unruly, "WorkshopRunAgent", workbench_id=workbench_id, wait=True)
    assert code == "NOT_FOUND"
    settings = unruly.home / "settings.toml"
    kept = settings.read_text()
    for text, told in (('blocked_plugins = ["unruly_provider"]\n', "blocked"), ("", "loaded")):
        settings.write_text(text + kept)
        unruly.stop()
        unruly.start()
        assert plugins(unruly)["provider"][0] == told
