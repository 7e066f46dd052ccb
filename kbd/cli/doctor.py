"""`kbd doctor`: check whether kbd can work here, and say what helps. Needs no daemon."""

import argparse
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, NamedTuple

from kbd import __version__
from kbd.cli.exits import FAILED, OK, UNREACHABLE, Stop
from kbd.cli.link import MAX_SOCKET_PATH_BYTES, call, connect, resolve_home, resolve_socket
from kbd.cli.terminal import line, say, size
from kbd.client.blocking import Client
from kbd.errors import KbdError, ToolWorkerUnavailable

__all__ = ["command"]

MIN_PYTHON = (3, 11)

MIN_FREE_BYTES = 1024**3
"""Less free space than this is worth a word: a job keeps every version of every file."""


MAX_DAMAGED = 20
"""So many damaged logs are told one by one; `kbd verify` tells of all."""

GOOD = "ok"
WRONG = "WRONG"
KNOWN = "-"
"""For what is only worth knowing."""


DEVELOPER_EXTRAS = ("bench", "dev")
"""Extras of the package that bring nothing for those who use kbd."""


class _Finding(NamedTuple):
    """One thing that was looked at: `GOOD`, `WRONG` or `KNOWN`, and what it is about."""

    mark: str
    subject: str
    text: str


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd doctor` and return what runs it."""
    parser.epilog = """\
Exits with 1 if something is wrong, damage of a log included: `kbd verify` looks closer. With
the daemon running it also tells how the daemon sees its plugins, providers and workers."""
    return _doctor


def _doctor(arguments: argparse.Namespace) -> int:
    findings = [*_check_packages(), *_check_home(arguments)]
    try:
        with connect(arguments) as client:
            findings += _check_daemon(client)
    except Stop as stop:
        if stop.code != UNREACHABLE:
            findings.append(_Finding(WRONG, "daemon", stop.message))
        else:
            findings += [
                _Finding(KNOWN, "daemon", "not running; `kbd up` starts it"),
                *_check_logs(arguments),
                *_check_without_daemon(arguments),
                _check_renderer(arguments),
            ]
    for finding in findings:
        say(f"{finding.mark:<6}{finding.subject:<10}{line(finding.text, 1000)}")
    return FAILED if any(finding.mark == WRONG for finding in findings) else OK


def _mark(good: object) -> str:
    return GOOD if good else WRONG


def _plugin_mark(status: str) -> str:
    """Mark what became of a plugin; one that is blocked is as somebody wants it."""
    return KNOWN if status == "blocked" else _mark(status == "loaded")


def _check_packages() -> Iterator[_Finding]:
    python = ".".join(str(part) for part in sys.version_info[:3])
    yield _Finding(_mark(sys.version_info >= MIN_PYTHON), "python", f"{python} at {sys.executable}")
    yield _Finding(KNOWN, "kbd", __version__)
    try:
        named = [(_name(text), _extra(text)) for text in requires("kbd") or ()]
    except PackageNotFoundError:
        yield _Finding(WRONG, "kbd", "is not installed as a package: pip install -e .")
        return
    found, missing = _versions(name for name, extra in named if not extra)
    for name in missing:
        yield _Finding(WRONG, "packages", f"{name} is missing: pip install -e .")
    yield _Finding(KNOWN, "packages", ", ".join(found))
    for extra in sorted({extra for _, extra in named if extra} - set(DEVELOPER_EXTRAS)):
        found, missing = _versions(name for name, owner in named if owner == extra)
        text = ", ".join(found)
        if missing:
            text = f'without {", ".join(missing)}: pip install "kbd[{extra}]"'
        yield _Finding(KNOWN, "extra", f"{extra}: {text}")


def _name(requirement: str) -> str:
    """Return the name in a requirement: up to its version, extras or marker (PEP 508)."""
    return re.split(r"[ \[<>=!~;(]", requirement, maxsplit=1)[0]


def _extra(requirement: str) -> str:
    """Return the extra that a requirement belongs to, "" if kbd needs it always."""
    found = re.search(r"extra\s*==\s*['\"]([^'\"]+)", requirement)
    return found[1] if found else ""


def _versions(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the packages that are installed with their versions, and those that are not."""
    found, missing = [], []
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    return found, missing


def _check_home(arguments: argparse.Namespace) -> Iterator[_Finding]:
    home = resolve_home(arguments.home)
    try:
        path = resolve_socket(arguments.socket, arguments.home)
        text = f"{path} ({len(os.fsencode(path))} of {MAX_SOCKET_PATH_BYTES} bytes)"
        yield _Finding(GOOD, "socket", text)
    except Stop as stop:
        yield _Finding(WRONG, "socket", stop.message)
    try:
        facts = os.stat(home)
    except OSError as error:
        yield _Finding(KNOWN, "home", f"{home}: {error.strerror}; the first start makes it")
        return
    mode = stat.S_IMODE(facts.st_mode)
    mine = facts.st_uid == os.getuid()
    good = mine and mode & 0o077 == 0
    advice = "" if good else "; others can look in: chmod 700" if mine else "; it is not yours"
    yield _Finding(_mark(good), "home", f"{home} has mode {mode:04o}{advice}")
    free = shutil.disk_usage(home).free
    yield _Finding(_mark(free >= MIN_FREE_BYTES), "disk", f"{size(free)} free")


def _check_daemon(client: Client) -> Iterator[_Finding]:
    info = call(client, "EngineGetInfo")
    text = f"{info['engine_version']} on {info['backend']}, process {info['pid']}"
    if info["engine_version"] == __version__:
        yield _Finding(GOOD, "daemon", text)
    else:
        msg = f"{text}, but this is {__version__}: `kbd stop`, then again"
        yield _Finding(WRONG, "daemon", msg)
    if warning := info.get("home_warning"):
        yield _Finding(WRONG if "is a copy" in warning else KNOWN, "home", warning)
    if damage := info.get("damage"):
        yield _Finding(WRONG, "logs", damage)
    for told in info.get("storage_notices", ()):
        yield _Finding(WRONG if "are refused" in told else KNOWN, "storage", told)
    yield _damaged_finding(call(client, "WorkbenchList", {"limit": 1})["damaged"])
    embedder, reason = info["search"]["embedder"], info["search"].get("reason", "")
    how = f"by words and by meaning ({embedder})" if embedder else f"by words alone: {reason}"
    yield _Finding(GOOD if embedder else KNOWN, "search", how)
    if not embedder:
        # What is missing, as `kbd providers` tells it, where nobody named an embedder.
        for row in call(client, "ProvidersGetStatus").get("embedders", ()):
            if not row["leaves_machine"] and (missing := row.get("reason")):
                yield _Finding(KNOWN, "search", f"{row['provider_id']}: {line(missing)}")
    for plugin in call(client, "PluginsList")["plugins"]:
        text = f"{plugin['name']} {plugin['version']} {plugin['status'].replace('_', ' ')}"
        mark = _plugin_mark(plugin["status"])
        yield _Finding(mark, "plugin", f"{text}{_reason_suffix(plugin)}")
    for provider in call(client, "ProvidersGetStatus")["providers"]:
        text = "is set up" if provider["configured"] else "is not set up"
        if not provider["enabled"]:
            text = "is disabled"
        leaves = "; files would leave this machine" if provider["leaves_machine"] else ""
        # A provider that nobody set up is no fault.
        mark = GOOD if provider["configured"] else KNOWN
        yield _Finding(
            mark, "provider", f"{provider['provider_id']} {text}{leaves}{_reason_suffix(provider)}"
        )
    if call(client, "UserGetConsentMode")["mode"] == "allow_all":
        text = "files of every workbench may leave unasked: kbd egress --mode ask"
        yield _Finding(KNOWN, "consent", text)
    yield from _worker_findings(call(client, "ToolWorkerGetStatus"))


def _damaged_finding(count: int) -> _Finding:
    if not count:
        return _Finding(GOOD, "logs", "no workbench is known to be damaged")
    noun = "workbench is" if count == 1 else "workbenches are"
    text = f"{count} {noun} damaged: `kbd wb list --status damaged`, `kbd verify`"
    return _Finding(WRONG, "logs", text)


def _worker_findings(workers: dict[str, Any]) -> Iterator[_Finding]:
    """Tell whether files can be worked on, how safely, and with which programs."""
    error = f": {workers['error']}" if workers.get("error") else ""
    text = "files can be opened" if workers["available"] else "no file can be opened"
    yield _Finding(_mark(workers["available"]), "workers", f"{text}{error}")
    for file in workers.get("set_aside", ()):
        yield _Finding(KNOWN, "set aside", file["reason"])
    yield from _sandbox_findings(workers["sandbox"])
    # One that was started by an older kbd tells nothing of it.
    if renderer := workers.get("renderer"):
        yield _renderer_finding(renderer["program"], renderer.get("reason", ""))
    for needed in workers.get("programs", ()):
        yield _program_finding(needed["tool"], needed["name"], needed["program"])


def _sandbox_findings(sandbox: dict[str, Any]) -> Iterator[_Finding]:
    """Tell which layers hold what a hostile file could take over, and why the others do not."""
    layers = sandbox.get("layers", ())
    if sandbox["level"] == "off" or not layers:
        text = f"{sandbox['level']}{_reason_suffix(sandbox)}"
        yield _Finding(KNOWN, "sandbox", text)
        return
    for layer in layers:
        state = "holds" if layer["holds"] else "is missing"
        mark = GOOD if layer["holds"] else KNOWN
        yield _Finding(mark, "sandbox", f"{layer['name']} {state}: {line(layer['reason'])}")


def _renderer_finding(program: str, reason: str) -> _Finding:
    # Without one everything else works.
    text = f"documents are printed by {program}" if program else reason
    return _Finding(GOOD if program else KNOWN, "previews", text)


def _program_finding(tool: str, name: str, program: str) -> _Finding:
    # Without it all but this tool works.
    text = f"{tool} works by {program}" if program else f"{tool} needs {name}: it is not installed"
    return _Finding(GOOD if program else KNOWN, "programs", text)


def _reason_suffix(row: dict[str, Any]) -> str:
    return f": {row['reason']}" if row.get("reason") else ""


def _check_logs(arguments: argparse.Namespace) -> Iterator[_Finding]:
    """Tell which logs are damaged as far as a quick look shows: no file version is read."""
    from kbd.core.audit.home_logs import list_logs, quick_damage  # noqa: PLC0415 - 200 ms
    from kbd.core.runtime.paths import Home  # noqa: PLC0415 - loaded with it

    home = Home(folder=Path(resolve_home(arguments.home)), socket=Path())
    if not home.daemon_log.is_dir():
        return
    try:
        logs = list_logs(home)
    except OSError as error:
        yield _Finding(WRONG, "logs", f"the daemon's log cannot be read: {error.strerror}")
        return
    if logs.damage is not None:
        text = f"the daemon's own log: {logs.damage.message}; `kbd verify daemon` tells more"
        yield _Finding(WRONG, "logs", text)
    elif logs.found:
        yield _Finding(WRONG, "logs", f"the daemon's own log: {logs.found}")
    # One that is packed is told of though its archive is missing; a folder may have been removed.
    there = [each for each in logs.workbenches if each.is_there or each.archive is not None]
    # What is known of before goes behind what is seen now.
    looked = ((each, quick_damage(home, each) or each.damage) for each in there)
    damaged = [(each, reason) for each, reason in looked if reason]
    for each, reason in damaged[:MAX_DAMAGED]:
        title = f"{each.log_id} ({line(each.name, 40)})"
        yield _Finding(WRONG, "logs", f"{title}: {reason}; `kbd verify {each.log_id}` tells more")
    if len(damaged) > MAX_DAMAGED:
        more = len(damaged) - MAX_DAMAGED
        yield _Finding(WRONG, "logs", f"{more} more workbenches are damaged: `kbd verify`")
    if logs.damage is None and not logs.found and not damaged:
        text = f"{len(there) + 1} logs begin and end as they should; `kbd verify` reads all of them"
        yield _Finding(GOOD, "logs", text)


def _check_without_daemon(arguments: argparse.Namespace) -> Iterator[_Finding]:
    """What can be told of plugins and providers without a daemon."""
    yield from _check_plugins(arguments)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "KBD_MODEL"):
        # Whether, never what: a key must not reach a screen.
        text = "is set" if os.environ.get(name) else "is not set"
        yield _Finding(KNOWN, "provider", f"{name} {text}")


def _check_renderer(arguments: argparse.Namespace) -> _Finding:
    """What a daemon that was started now would print documents with."""
    from kbd.core.plugins.renderer import Renderer  # noqa: PLC0415 - 150 ms, without a daemon alone
    from kbd.core.runtime.paths import Home  # noqa: PLC0415 - loaded with it
    from kbd.core.runtime.settings import Settings  # noqa: PLC0415 - likewise

    try:
        home = Home.find(os.environ, socket=arguments.socket, home=arguments.home)
        program = Renderer(Settings.read(home, os.environ)).find()
    except ToolWorkerUnavailable as error:
        return _renderer_finding("", error.message)
    except KbdError as error:
        return _Finding(WRONG, "settings", error.message)
    return _renderer_finding(str(program.path), "")


def _check_plugins(arguments: argparse.Namespace) -> Iterator[_Finding]:
    """What a daemon that was started now would load: as it does, each on its own and in time."""
    from kbd.core.plugins.host import Plugins  # noqa: PLC0415 - as above
    from kbd.core.plugins.loading_trial import try_loading  # noqa: PLC0415 - likewise
    from kbd.core.plugins.programs import program_path  # noqa: PLC0415 - likewise
    from kbd.core.runtime.own_output import silent_output  # noqa: PLC0415 - likewise
    from kbd.core.runtime.paths import Home  # noqa: PLC0415 - likewise
    from kbd.core.runtime.settings import Settings  # noqa: PLC0415 - likewise

    try:
        home = Home.find(os.environ, socket=arguments.socket, home=arguments.home)
        settings = Settings.read(home, os.environ)
    except KbdError:
        # Told with the program that prints documents.
        settings = Settings()
    # What a plugin prints while it is imported is no finding.
    with silent_output():
        left_out = try_loading(settings, os.environ)
        plugins = Plugins.discover(settings, environment=os.environ, left_out=left_out)
    for owned in plugins.tools:
        if owned.item.program:
            program = str(program_path(owned.item) or "")
            yield _program_finding(owned.item.name, owned.item.program, program)
    for status in plugins.statuses:
        row = {"reason": status.reason}
        text = "can be loaded" if status.status == "loaded" else status.status.replace("_", " ")
        told = f"{status.name} {status.version} {text}{_reason_suffix(row)}"
        yield _Finding(_plugin_mark(status.status), "plugin", told)
