"""Plugins of others that misbehave in the daemon: typed errors, and three leave them out.

What a call does in a worker is in `test_faults`, a whole daemon in `whole/test_unruly_plugins`.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from structlog.testing import capture_logs

from backends import on_asyncio
from kbd.core.plugins import faults, guards, hooks, host
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.faults import MAX_FAULTS, PluginFaults, PluginGone
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.settings import Settings
from kbd.errors import (
    KbdError,
    NotFound,
    ProviderNotConfigured,
    ProviderUnavailable,
    ToolWorkerUnavailable,
    ValidationFailed,
)
from kbd.messages import Message
from kbd.providers import EmbedRequest, ModelReply, ModelRequest, ToolSchema
from kbd.tools import CallLimits

PACKAGES = Path(__file__).with_name("packages")

KINDS = ("format", "tool", "provider", "embedder")

FULL = pytest.mark.full
ACTS = (
    "raise", "exit", "block",
    *(pytest.param(each, marks=FULL) for each in ("interrupt", "odd", "group", "spin", "stubborn")),
)  # fmt: skip
"""What everybody may do wrong; the rest of it in the second tier."""


class Lent(NamedTuple):
    """An `Access` of nothing."""

    api_key: None = None
    base_url: None = None
    http_client: None = None
    timeout_s: float = 5.0
    ask: None = None


Load = Callable[..., Plugins]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load kinds of the plugin as somebody else's, with short deadlines."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(PACKAGES)])
    monkeypatch.setattr(host, "HOOK_S", 0.2)
    monkeypatch.setattr(faults, "BLOCK_S", 0.05)
    monkeypatch.setattr(faults, "_AGAIN_S", 0.05)
    monkeypatch.setattr(guards, "ANSWER_S", 0.1)

    def loaded(*kinds: str, **settings: Any) -> Plugins:
        found = [
            EntryPoint(f"unruly_{kind}", f"kbd_unruly.{kind}", "1", "unruly")
            for kind in kinds or KINDS
        ]
        of_each = {point.name: settings for point in found}
        return Plugins.discover(Settings(plugins=of_each), found=found)

    return loaded


def status(plugins: Plugins, kind: str) -> tuple[str, str | None]:
    """Return the status of one kind, and the reason."""
    found = next(each for each in plugins.statuses if each.name == f"unruly_{kind}")
    return found.status, found.reason


def asked(act: str) -> ModelRequest:
    """Return a turn that has a provider misbehave."""
    tool = ToolSchema("look", "Looks", {"type": "object"})
    return ModelRequest(act, (Message("user", "hello"),), (tool,))


def ignored(_: str) -> None:
    """Take a piece of text."""


def test_a_plugin_is_left_out_after_three_faults() -> None:
    """Once, with the reason, whatever comes after; one of kbd's own never is."""
    counted, told = PluginFaults(exempt={"ours"}), list[tuple[str, str]]()
    counted.observe(lambda plugin, reason: told.append((plugin, reason)))
    for number in range(1, MAX_FAULTS + 3):
        counted.note("ours", "it failed")
        counted.note("theirs", "it failed")
        assert (counted.reason("theirs") is not None) == (number >= MAX_FAULTS)

    assert told == [("theirs", "3 faults: it failed")]
    assert counted.reason("ours") is None
    with pytest.raises(PluginGone, match="was left out after 3 faults") as raised:
        counted.check("theirs")
    assert (raised.value.code, raised.value.retryable) == (ToolWorkerUnavailable.code, False)


def test_one_file_leaves_nobody_out() -> None:
    """A file that fails its reader a hundred times is one fault; three such files are three."""
    counted = PluginFaults()
    for _ in range(100):
        counted.note("theirs", "it failed", file="a")
        counted.note("theirs", "it failed", file="b")
    assert counted.reason("theirs") is None
    counted.note("theirs", "it died", file="c")
    assert counted.reason("theirs") == "3 faults, the last: it died"


def test_files_leave_nobody_out_who_reads_others() -> None:
    """A sender of hostile files takes no format from everybody, as long as others are read."""
    counted = PluginFaults()
    for number in range(10):
        counted.note("theirs", "it failed", file=f"{number}a")
        counted.note("theirs", "it failed", file=f"{number}b")
        counted.note_success("theirs")
    assert counted.reason("theirs") is None
    # What went wrong without a file stays.
    for _ in range(MAX_FAULTS):
        assert counted.reason("theirs") is None
        counted.note("theirs", "it failed")
        counted.note_success("theirs")
    assert counted.reason("theirs") == "3 faults: it failed"


@pytest.mark.parametrize("act", [*ACTS, "odd_type"])
def test_a_hook_harms_nobody(load: Load, act: str) -> None:
    """It raises, exits, blocks or returns something odd: the plugin is left out, others are not."""
    plugins = load("hook", "tool", act=act)

    assert status(plugins, "hook")[0] == "left_out"
    assert status(plugins, "tool") == ("loaded", None)


def test_a_hook_has_a_deadline(load: Load) -> None:
    """Its reason is the time, and its thread is asked to end, which one that spins does."""
    before = set(threading.enumerate())
    reason = status(load("hook", act="spin"), "hook")[1]

    assert reason is not None
    assert "took more than 0.2 s" in reason
    deadline_s = time.monotonic() + 10
    while any(thread.is_alive() for thread in {*threading.enumerate()} - before):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_an_import_has_a_deadline(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package that hangs while it is imported is left out."""
    (tmp_path / "kbd_hangs_at_import.py").write_text("import time\ntime.sleep(3600)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = [EntryPoint("hangs", "kbd_hangs_at_import", "1", "hangs")]
    (told,) = Plugins.discover(Settings(), found=found, loading_s=0.4).statuses

    assert (told.status, told.reason) == ("left_out", "it took more than 0.2 s")
    assert hooks.LOADING_S > hooks.HOOK_S == 2.0


def test_all_that_hang_have_one_time_together(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many hang at import, the start is not held up longer, and others are loaded."""
    monkeypatch.syspath_prepend(str(tmp_path))
    given: list[float] = []
    real = hooks.call_within

    def noted(limit_s: float, function: Callable[..., Any], *arguments: Any) -> Any:
        given.append(limit_s)
        return real(limit_s, function, *arguments)

    monkeypatch.setattr(hooks, "call_within", noted)
    found = []
    for number in range(4):
        (tmp_path / f"kbd_hangs_{number}.py").write_text("import time\ntime.sleep(3600)\n")
        found.append(EntryPoint(f"hangs_{number}", f"kbd_hangs_{number}", "1", "hangs"))
    found.append(EntryPoint("unruly_tool", "kbd_unruly.tool", "1", "unruly"))
    plugins = Plugins.discover(Settings(), found=found, loading_s=1.0)

    late = [each for each in plugins.statuses if each.name.startswith("hangs")]
    assert {each.status for each in late} == {"left_out"}
    assert all("it took more than 0." in (each.reason or "") for each in late)
    assert status(plugins, "tool") == ("loaded", None)
    assert sum(given[:4]) < 1.0


def test_a_plugin_that_was_late_once_is_asked_no_more(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its hooks might hang as well: the first one that does is the last."""
    monkeypatch.syspath_prepend(str(tmp_path))
    hook = "@hookimpl\ndef kbd_register_{}(settings): ran.append('{}'); time.sleep(3600)\n"
    text = "import time\nfrom kbd import hookimpl\nran = []\n"
    names = ("formats", "providers", "tools")
    (tmp_path / "kbd_late_hooks.py").write_text(text + "".join(map(hook.format, names, names)))
    Plugins.discover(Settings(), found=[EntryPoint("late", "kbd_late_hooks", "1", "late")])
    assert sys.modules["kbd_late_hooks"].ran == ["formats"]


@pytest.mark.anyio
@pytest.mark.parametrize("act", [*ACTS, "late", "odd_type"])
async def test_a_provider_that_fails_is_unavailable(load: Load, act: str) -> None:
    """Each time a typed error without its words; after the third one it is not asked any more."""
    plugins = load("provider")
    provider = Catalog(plugins).provider("unruly").item
    for number in range(1, MAX_FAULTS + 1):
        assert provider.status().configured
        with pytest.raises(
            ProviderUnavailable, match=r"failed inside|held up|returned int"
        ) as raised:
            await provider.complete(asked(act), Lent(), ignored)
        assert "sk-unruly" not in raised.value.message
        assert status(plugins, "provider")[0] == ("loaded" if number < 3 else "left_out")

    with pytest.raises(ProviderNotConfigured, match="left out after 3 faults"):
        await provider.complete(asked("fine"), Lent(), ignored)
    assert not provider.status().configured
    assert "left out after 3 faults" in (provider.status().reason or "")
    assert provider.models() == ()


@on_asyncio
@pytest.mark.anyio
async def test_a_provider_cannot_cancel_its_caller(load: Load) -> None:
    """Raised by itself, asyncio's error of who is canceled is one like others."""
    provider = Catalog(load("provider")).provider("unruly").item
    with pytest.raises(ProviderUnavailable, match="CancelledError"):
        await provider.complete(asked("cancel"), Lent(), ignored)


@pytest.mark.anyio
async def test_a_provider_that_hangs_ends_with_its_caller(load: Load) -> None:
    """To be given up is no fault of it, and nothing is left of it."""
    plugins = load("provider")
    provider = Catalog(plugins).provider("unruly").item
    for _ in range(MAX_FAULTS + 1):
        with anyio.move_on_after(0.02) as limit:
            await provider.complete(asked("hang"), Lent(), ignored)
        assert limit.cancelled_caught

    assert await provider.complete(asked("fine"), Lent(), ignored) == ModelReply("fine")


@pytest.mark.anyio
async def test_a_provider_mutates_what_is_its_own(load: Load) -> None:
    """Tools and messages are the same for whoever is asked next."""
    request = asked("mutate")
    await Catalog(load("provider")).provider("unruly").item.complete(request, Lent(), ignored)

    assert request == asked("mutate")


@pytest.mark.parametrize("act", [*ACTS, "odd_type"])
def test_a_provider_that_fails_to_say_is_not_set_up(load: Load, act: str) -> None:
    """What it says of itself at once: it raises, blocks, or says something else than is due."""
    plugins = load("provider", of_itself=act)
    provider = Catalog(plugins).provider("unruly").item

    assert not provider.status().configured
    assert provider.status().leaves_machine
    assert tuple(provider.models()) == ()
    assert status(plugins, "provider")[0] == "left_out"


@pytest.mark.anyio
@pytest.mark.parametrize("act", [*ACTS, "odd_type"])
async def test_an_embedder_that_fails_is_unavailable(load: Load, act: str) -> None:
    """As a provider."""
    plugins = load("embedder")
    embedder = Catalog(plugins).embedder("unruly_embedder").item
    for _ in range(MAX_FAULTS):
        with pytest.raises(ProviderUnavailable):
            await embedder.embed(EmbedRequest("m", (act,), "query"), Lent())

    with pytest.raises(ProviderNotConfigured, match="left out after 3 faults"):
        await embedder.embed(EmbedRequest("m", ("fine",), "query"), Lent())
    assert status(plugins, "embedder")[0] == "left_out"


@pytest.mark.anyio
@pytest.mark.parametrize("model", ["raise", "hang", "odd_type", "block"])
async def test_a_fingerprint_is_a_text_in_time(load: Load, model: str) -> None:
    """An embedder that fails to say under what its vectors are kept is not used."""
    embedder = Catalog(load("embedder")).embedder("unruly_embedder").item
    with pytest.raises(ProviderUnavailable):
        await embedder.fingerprint(model)
    with pytest.raises(ProviderUnavailable):
        await embedder.aclose()


@pytest.mark.anyio
async def test_a_stalled_loop_names_the_plugin(load: Load) -> None:
    """A step of more than a quarter of a second is in the daemon's log, with whose it was."""
    with pytest.MonkeyPatch.context() as patched, capture_logs() as logged:
        plugins = load("provider")
        patched.setattr(faults, "BLOCK_S", 5.0)
        with pytest.raises(ProviderUnavailable, match="returned int"):
            await Catalog(plugins).provider("unruly").item.complete(asked("stall"), Lent(), ignored)
    told = [each for each in logged if each["event"] == "loop_stalled"]

    assert [each["plugin"] for each in told] == ["unruly_provider"]
    assert status(plugins, "provider")[0] == "loaded"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "act", ["raise", "leave", pytest.param("exit", marks=FULL), pytest.param("block", marks=FULL)]
)
async def test_a_worker_that_fails_counts(load: Load, act: str) -> None:
    """Its plugin is left out after three calls without a file, and its tool is offered no more."""
    plugins = load("tool")
    catalog, limits = Catalog(plugins), CallLimits(wall_s=0.5)
    assert [entry.tool.name for entry in catalog.tools()] == ["unruly"]
    async with WorkerPool(plugins, Settings(), extra_paths=[PACKAGES]) as workers:

        async def call(act: str) -> Any:
            function = "kbd_unruly.tool:misbehave_apart"
            return await workers.call("unruly_tool", function, {"act": act}, limits)

        # What it leaks ends with its process.
        assert len(await call("leak")) > 20
        descriptors = len(os.listdir("/proc/self/fd"))
        await call("leak")
        assert len(os.listdir("/proc/self/fd")) <= descriptors
        for _ in range(MAX_FAULTS):
            with pytest.raises(KbdError):
                await call(act)
        with pytest.raises(PluginGone):
            await call("fine")

    assert catalog.tools() == ()
    assert status(plugins, "tool")[0] == "left_out"
    with pytest.raises(PluginGone):
        catalog.check_left_out("unruly")


@on_asyncio
@pytest.mark.anyio
async def test_what_kbd_refuses_is_no_fault(load: Load) -> None:
    """A function that is not there, an argument that cannot be sent: not the plugin's."""
    plugins = load("tool")
    async with WorkerPool(plugins, Settings(), extra_paths=[PACKAGES]) as workers:
        for _ in range(MAX_FAULTS):
            with pytest.raises(ValidationFailed):
                await workers.call("unruly_tool", "kbd_unruly.tool:x", {"act": object()})
            with pytest.raises(NotFound):
                await workers.call("nobody", "nobody:x", {})

    assert status(plugins, "tool") == ("loaded", None)
