"""Settings: `$KBD_HOME/settings.toml`, then the environment, read once at start.

    default_model = "openai:gpt-5"      # or KBD_MODEL
    blocked_plugins = ["tables"]

    [run]
    item_turns = 40                     # or KBD_RUN_ITEM_TURNS

    [plugins.openai]                    # handed to that plugin's hooks as it is
    base_url = "http://localhost:8000/v1"

A key of ours can be given as `KBD_<KEY>` or `KBD_<SECTION>_<KEY>`, which wins over the file. A key
that does not exist is refused with its nearest match; a plugin's own table is its own affair. The
numbers are those of the contract, sections 1, 2, 5 and 6, unless a line says otherwise.
"""

import difflib
import os
import re
import stat
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec

from kbd.core.runtime.hosts import parse_host
from kbd.core.runtime.paths import Home
from kbd.errors import ValidationFailed
from kbd.tools import CallLimits

__all__ = [
    "EgressSettings",
    "Limits",
    "LogSettings",
    "MetricsSettings",
    "ModelSettings",
    "OtelSettings",
    "PreviewLimits",
    "RetentionSettings",
    "RunLimits",
    "SandboxMode",
    "ScrubSettings",
    "SearchSettings",
    "Settings",
    "WatchSettings",
    "WorkerLimits",
    "read_table",
]

Count = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]
Days = Annotated[int, msgspec.Meta(ge=0, le=36_500)]
MIB = 1024 * 1024

_KEYS = ("api_key", "api_key_command")

_ENVIRONMENT_KEYS = ("base_url", "model", "embedding_base_url", "embedding_model")
"""What of a plugin's table `<NAME>_<KEY>` of the environment sets."""


class Limits(msgspec.Struct, frozen=True):
    """Limits of clients and workbenches.

    Args:
        message_bytes: The longest message of a client.
        nesting: The deepest JSON.
        batch: The most requests in one batch.
        connections: The most connections at once.
        outbound_messages: Messages that may wait for a client before it is read no further; of
            notifications, before it is dropped.
        outbound_bytes: The same in bytes (reliability, section 4).
        send_s: Seconds after which a client is dropped that takes nothing of what waits for it.
        files: The most files of a workbench.
        file_bytes: The largest file of a workbench.
        context_characters: The longest context item.
    """

    message_bytes: Count = 10 * MIB
    nesting: Count = 64
    batch: Count = 100
    connections: Count = 1000
    outbound_messages: Count = 4096
    outbound_bytes: Count = MIB
    send_s: Seconds = 5.0
    files: Count = 200
    file_bytes: Count = 100 * MIB
    context_characters: Count = 50_000


class RunLimits(msgspec.Struct, frozen=True):
    """Limits of a run. Turns are model calls; an item is one step of a plan.

    Args:
        research_turns: Turns of the research phase.
        plan_turns: Turns of the plan phase.
        item_turns: Turns of one attempt at an item.
        calls_a_turn: Tool calls of one turn.
        tool_s: Seconds that one tool call may take.
        receipt_bytes: A larger result enters the conversation as a receipt.
        loop_window: How many calls loop detection looks back, at most 10.
        loop_warning: As many equal calls in the window warn the model.
        loop_failure: As many end the attempt.
        retry_s: Waits between attempts of a model call, in seconds, where the provider names none.
        provider_s: The longest pause between two pieces of an answer.
        turn_s: The longest that one answer may take in all.
        amendment_factor: A plan may grow to this many times its first length.
        reason_characters: The longest reason on a failed item.
        tokens: The cap of one run, in tokens, input and output together.
        cost: The cap of one run in US dollars; 0 for none.
        day_tokens: The cap of one day (UTC) over all runs, in tokens; 0 for none.
        day_cost: The same in US dollars; 0 for none.
        items: The most items of a plan.
        manifest_bytes: The most that the list of files takes in a prompt.
        approval_s: The longest that a run waits for a person's decision.
    """

    research_turns: Count = 30
    plan_turns: Count = 10
    item_turns: Count = 30
    calls_a_turn: Count = 50
    tool_s: Seconds = 30.0
    receipt_bytes: Count = 2048
    loop_window: Annotated[int, msgspec.Meta(ge=1, le=10)] = 10
    loop_warning: Count = 3
    loop_failure: Count = 5
    retry_s: tuple[Seconds, ...] = (10.0, 20.0, 40.0, 80.0, 160.0)
    provider_s: Seconds = 120.0
    turn_s: Seconds = 900.0
    amendment_factor: Count = 2
    reason_characters: Count = 220
    tokens: Count = 5_000_000
    cost: Amount = 0.0
    day_tokens: Annotated[int, msgspec.Meta(ge=0)] = 0
    day_cost: Amount = 0.0
    items: Count = 1000
    manifest_bytes: Count = 128 * 1024
    approval_s: Seconds = 600.0


SandboxMode = Literal["required", "best_effort", "off"]


class WorkerLimits(msgspec.Struct, frozen=True):
    """Limits of worker processes (reliability, section 4).

    Args:
        concurrency: Calls at once; 0 for twice the cores.
        total_memory_bytes: What all calls at once may use together; 0 for three quarters of what is
            free when the daemon starts.
        sandbox: Whether calls are held by layers of the operating system: "best_effort" by all that
            the system has, "required" by all or not at all, "off" by none.
        start_s: Seconds that a worker may take to import its plugin.
        wall_s: Seconds of one call of a format.
        cpu_s: Processor seconds of one call.
        memory_bytes: Address space of one call.
        file_bytes: The largest file that one call may write.
        result_bytes: The largest answer of one call.
    """

    concurrency: Annotated[int, msgspec.Meta(ge=0)] = 0
    total_memory_bytes: Annotated[int, msgspec.Meta(ge=0)] = 0
    sandbox: SandboxMode = "best_effort"
    start_s: Seconds = 30.0
    wall_s: Seconds = 30.0
    cpu_s: Count = 30
    memory_bytes: Count = 1536 * MIB
    file_bytes: Count = 1024 * MIB
    result_bytes: Count = 64 * MIB

    def call_limits(self) -> CallLimits:
        """Return these as the limits of one call."""
        return CallLimits(
            wall_s=self.wall_s,
            cpu_s=self.cpu_s,
            memory_bytes=self.memory_bytes,
            file_bytes=self.file_bytes,
            result_bytes=self.result_bytes,
        )


class PreviewLimits(msgspec.Struct, frozen=True):
    """Limits of the program that prints documents for previews.

    Args:
        wall_s: Seconds that it may take for one document.
        cpu_s: Processor seconds of each of its processes.
        memory_bytes: Address space of each of its processes.
        file_bytes: The largest file that it may write.
        cache_bytes: What the printed documents of one workbench take on the disk.
    """

    wall_s: Seconds = 60.0
    cpu_s: Count = 60
    memory_bytes: Count = 2048 * MIB
    file_bytes: Count = 256 * MIB
    cache_bytes: Count = 256 * MIB

    def call_limits(self) -> CallLimits:
        """Return these as the limits of one call."""
        return CallLimits(
            wall_s=self.wall_s,
            cpu_s=self.cpu_s,
            memory_bytes=self.memory_bytes,
            file_bytes=self.file_bytes,
        )


class WatchSettings(msgspec.Struct, frozen=True):
    """Settings of the scanner of watched folders; what is done with landed files is each rule's.

    Args:
        rescan_s: Seconds between two scans of a folder whose changes the system tells of.
        poll_s: The same where it does not: on network disks.
        concurrency: How many runs of watches are under way at once.
        command_s: Seconds that a rule's command may take.
        open_workbenches: More than so many are not kept open when nobody uses them.
    """

    rescan_s: Seconds = 60.0
    poll_s: Seconds = 5.0
    concurrency: Count = 2
    command_s: Seconds = 60.0
    open_workbenches: Count = 64


class EgressSettings(msgspec.Struct, frozen=True):
    """Settings of egress: the addresses that kbd may connect to, and what may come back.

    A long turn of a model is some 40 MB of events with one token each; what it says is about a
    megabyte. Limits of an answer are for each attempt.

    Args:
        hosts: If any are named, only these (host, or host:port), whatever providers are set up.
        answer_bytes: The most that may arrive for one request, heads and framing included.
        line_bytes: The longest line of an answer; vectors and whole turns come as one.
        error_bytes: As much is read of the body of a refusal.
    """

    hosts: tuple[str, ...] = ()
    answer_bytes: Count = 128 * MIB
    line_bytes: Count = 8 * MIB
    error_bytes: Count = 64 * 1024


class SearchSettings(msgspec.Struct, frozen=True):
    """Settings of the search.

    Args:
        embedder: What makes texts vectors (`embedder:model`, or its name alone): "" for one that is
            found on this machine, if any, "none" for none.
        document_characters: Of a longer document, the rest is not searched.
    """

    embedder: str = ""
    document_characters: Count = 16 * MIB


class ScrubSettings(msgspec.Struct, frozen=True):
    """Settings of the scrubber, which verifies what is on disk while the daemon is idle.

    Args:
        days: All logs and file versions of the home are verified once in so many days, a share of
            them each day; 0 for not at all.
    """

    days: Annotated[int, msgspec.Meta(ge=0, le=3650)] = 30


class LogSettings(msgspec.Struct, frozen=True):
    """Settings of the daemon's own log, for its operator.

    Args:
        level: Entries below it are dropped.
        file_bytes: What `daemon.log` may hold before it is rotated.
        files: How many older ones are kept beside it.
    """

    level: Literal["debug", "info", "warning", "error"] = "info"
    file_bytes: Annotated[int, msgspec.Meta(ge=4096)] = 10 * MIB
    files: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 5


class MetricsSettings(msgspec.Struct, frozen=True):
    """Settings of the metrics for Prometheus; both ways out are off by default.

    Args:
        socket: Whether `metrics.sock` in the home answers `GET /metrics`.
        file: Where the metrics are written as well, for the textfile collector of node_exporter:
            an absolute path that ends in `.prom`; "" for nowhere.
        file_s: Seconds between two writings.
    """

    socket: bool = False
    file: str = ""
    file_s: Annotated[float, msgspec.Meta(ge=1)] = 15.0


class OtelSettings(msgspec.Struct, frozen=True):
    """Settings of the traces of runs; whoever sets the endpoint agrees that they are sent there.

    Args:
        endpoint: The address of a collector of OpenTelemetry that takes OTLP as JSON over HTTP, as
            `http://localhost:4318/v1/traces`; "" to send none.
        content: Whether traces have what was asked, said, and read from files.
    """

    endpoint: str = ""
    content: bool = False


class RetentionSettings(msgspec.Struct, frozen=True):
    """Settings of retention: after how long what is removed. By default nothing ever is.

    Args:
        archive_after_days: A workbench whose result a person has seen is archived after so many
            days without a change; 0 for never.
        remove_after_days: An archive is removed so many days after it was made; 0 for never.
        discarded_after_days: So many days after a draft was discarded, or undone, the bytes are
            removed that only such drafts had; 0 for never.
        quota_bytes: What the home may take on the disk; 0 for as much as there is.
        quota_warning_share: From this share of the quota on it is warned.
    """

    archive_after_days: Days = 0
    remove_after_days: Days = 0
    discarded_after_days: Days = 0
    quota_bytes: Annotated[int, msgspec.Meta(ge=0)] = 0
    quota_warning_share: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.9


class ModelSettings(msgspec.Struct, frozen=True):
    """Settings of a model that override what its provider says; None overrides nothing.

    Args:
        context_tokens: The size of its window.
        input_price: US dollars per million input tokens.
        output_price: The same for output tokens.
        bytes_per_token: How many bytes make a token, before its provider has counted any.
    """

    context_tokens: Count | None = None
    input_price: Amount | None = None
    output_price: Amount | None = None
    bytes_per_token: Annotated[float, msgspec.Meta(gt=0)] | None = None


class Settings(msgspec.Struct, frozen=True):
    """All settings of one daemon. It holds no key: those are `kbd.core.runtime.secrets`' affair.

    Args:
        default_model: `provider:model`, or None to let kbd choose.
        blocked_plugins: Entry-point names of plugins that are not loaded.
        preview_renderer: The program that prints documents for previews: an absolute path or the
            name of a LibreOffice-compatible one, "" for LibreOffice where it is installed, "none"
            for none.
        limits: For clients and workbenches.
        run: For runs.
        workers: For worker processes.
        preview: For the program that prints documents for previews.
        watch: For watched folders.
        egress: Settings of egress: the addresses that kbd may connect to, and what may come back.
        search: Settings of the search.
        scrub: Settings of the scrubber.
        log: Settings of the daemon's own log.
        metrics: Settings of the metrics for Prometheus.
        otel: Settings of the traces of runs.
        retention: Settings of retention: after how long what is removed.
        models: What models are like, by `provider:model`.
        plugins: Each plugin's own table, by entry-point name, without keys.
    """

    default_model: str | None = None
    blocked_plugins: tuple[str, ...] = ()
    preview_renderer: str = ""
    limits: Limits = Limits()
    run: RunLimits = RunLimits()
    workers: WorkerLimits = WorkerLimits()
    preview: PreviewLimits = PreviewLimits()
    watch: WatchSettings = WatchSettings()
    egress: EgressSettings = EgressSettings()
    search: SearchSettings = SearchSettings()
    scrub: ScrubSettings = ScrubSettings()
    log: LogSettings = LogSettings()
    metrics: MetricsSettings = MetricsSettings()
    otel: OtelSettings = OtelSettings()
    retention: RetentionSettings = RetentionSettings()
    models: Mapping[str, ModelSettings] = {}
    plugins: Mapping[str, Mapping[str, Any]] = {}

    @classmethod
    def read(cls, home: Home, environment: Mapping[str, str]) -> "Settings":
        """Read the file, if there is one, and then the environment.

        Raises:
            ValidationFailed: The file is not TOML, or a key or value is not what it must be.
        """
        table = read_table(home)
        # Before the conversion, which passes over keys that no field has.
        _refuse_unknown(table, cls, "")
        _refuse_unknown_of_models(table.get("models"))
        _add_environment(table, environment)
        try:
            # Not strict, for the environment gives numbers as texts.
            plain = msgspec.convert(table, cls, strict=False)
        except msgspec.ValidationError as fault:
            raise ValidationFailed(_key_first(str(fault))) from None
        for host in plain.egress.hosts:
            try:
                parse_host(host)
            except ValidationFailed as fault:
                raise ValidationFailed(f"setting egress.hosts: {fault.message}") from None
        if plain.otel.endpoint and not _is_collector(plain.otel.endpoint):
            msg = "setting otel.endpoint: expected http:// or https://, a host and a path"
            raise ValidationFailed(msg)
        file = plain.metrics.file
        if file and not (os.path.isabs(file) and file.endswith(".prom")):
            msg = "setting metrics.file: expected an absolute path that ends in .prom"
            raise ValidationFailed(msg)
        # Settings reach hooks, workers and clients; keys stay in the daemon.
        shown = {name: _without_keys(own) for name, own in plain.plugins.items()}
        return msgspec.structs.replace(plain, plugins=shown)

    def of_plugin(self, name: str, environment: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the settings of a plugin, as its hooks receive them.

        That is its table with `base_url`, `model`, `embedding_base_url`, `embedding_model` and
        `has_key` from `<NAME>_BASE_URL`, `<NAME>_MODEL`, `<NAME>_EMBEDDING_BASE_URL`,
        `<NAME>_EMBEDDING_MODEL` and `<NAME>_API_KEY` merged in where they are set, never the key
        itself.

        Args:
            name: The plugin's entry-point name.
            environment: Where those are looked up; nowhere if None.
        """
        merged = dict(self.plugins.get(name, {}))
        prefix = re.sub(r"\W", "_", name).upper()
        found = environment or {}
        for key in _ENVIRONMENT_KEYS:
            if given := found.get(f"{prefix}_{key}".upper()):
                merged[key] = given
        if found.get(f"{prefix}_API_KEY"):
            merged["has_key"] = True
        return merged


def read_table(home: Home) -> dict[str, Any]:
    """Read the settings file as it is, keys included; empty if there is none.

    Raises:
        ValidationFailed: It is not TOML, or holds a key and can be read by others.
    """
    try:
        with home.settings_file.open("rb") as file:
            # Of the file that is read; another may have its path by the time that is asked.
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            # The parser is imported with the first file there is: 3 ms of a start without one.
            table: dict[str, Any] = msgspec.toml.decode(file.read())
    except FileNotFoundError:
        return {}
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        msg = f"settings.toml is not TOML: {fault}"
        raise ValidationFailed(msg) from None
    plugins = table.get("plugins", {})
    if mode & 0o077 and isinstance(plugins, dict):
        for name, own in plugins.items():
            if isinstance(own, dict) and "api_key" in own:
                msg = f"settings.toml holds plugins.{name}.api_key and must be 0600: chmod 600 it"
                raise ValidationFailed(msg)
    return table


def _is_collector(address: str) -> bool:
    """Return whether an address is one that traces can be sent to."""
    try:
        parts = urlsplit(address)
        parse_host(parts.netloc)
    except (ValueError, ValidationFailed):
        return False
    # A name and password would be recorded with the host, and shown.
    is_plain = not (parts.username or parts.password or parts.fragment)
    return parts.scheme in ("http", "https") and is_plain and parts.path.startswith("/")


def _without_keys(own: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the key, and what gets it, and say whether there was one."""
    shown = {name: value for name, value in own.items() if name not in _KEYS}
    return shown | {"has_key": True} if len(shown) < len(own) else shown


def _refuse_unknown(table: Mapping[str, Any], record: type[msgspec.Struct], where: str) -> None:
    """Refuse keys that no field has, naming the nearest that one has."""
    fields = {field.name: field.type for field in msgspec.structs.fields(record)}
    for key, value in table.items():
        if key not in fields:
            near = difflib.get_close_matches(key, fields, 1)
            hint = f"; did you mean {where}{near[0]}?" if near else ""
            msg = f"settings.toml: there is no setting {where}{key}{hint}"
            raise ValidationFailed(msg)
        kind = fields[key]
        if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            _refuse_unknown(value, kind, f"{where}{key}.")


def _refuse_unknown_of_models(models: object) -> None:
    """Refuse a table that names no model, and keys that no model has."""
    for model_id, table in models.items() if isinstance(models, dict) else ():
        if not all(model_id.partition(":")):
            msg = f'settings.toml: a model is named "provider:model", not "{model_id}"'
            raise ValidationFailed(msg)
        if isinstance(table, dict):
            _refuse_unknown(table, ModelSettings, f'models."{model_id}".')


# Not pydantic-settings: the import of pydantic alone takes 43 ms (facts/performance.md D).
def _add_environment(table: dict[str, Any], environment: Mapping[str, str]) -> None:
    """Put what the environment sets over what the file says."""
    for field in msgspec.structs.fields(Settings):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            section = table.setdefault(field.name, {})
            for inner in msgspec.structs.fields(field.type):
                given = environment.get(f"KBD_{field.name}_{inner.name}".upper())
                if given and isinstance(section, dict):
                    is_list = inner.name in ("retry_s", "hosts")
                    section[inner.name] = _listed(given) if is_list else given
    aliases = {
        "default_model": ("KBD_DEFAULT_MODEL", "KBD_MODEL"),
        "blocked_plugins": ("KBD_BLOCKED_PLUGINS",),
        # The later one wins.
        "preview_renderer": ("KEENBENCH_PREVIEW_RENDERER_PATH", "KBD_PREVIEW_RENDERER"),
    }
    for key, names in aliases.items():
        for name in names:
            if given := environment.get(name):
                table[key] = _listed(given) if key == "blocked_plugins" else given


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _key_first(fault: str) -> str:
    """Reword msgspec's `Expected … - at `$.run.tokens`` so that the key comes first."""
    text, _, path = fault.partition(" - at `$.")
    message = f"{text[:1].lower()}{text[1:]}"
    return f"setting {path.rstrip('`')}: {message}" if path else message
