"""Run context: the log, files, tools, model and limits of one run, and its progress notices.

Notices go to those who watch a run, beside its events; they are never recorded.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from kbd.core.agent.manifest import Manifest
from kbd.core.agent.tool_execution import OpenSearch
from kbd.core.domain.commands import Command
from kbd.core.domain.run_state import Run
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.gateway.daily_budget import DailyBudget
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.clock import Clock
from kbd.core.runtime.settings import RunLimits
from kbd.core.store.journal import Journal
from kbd.core.store.keeper import Succession
from kbd.core.workbench.call_files import CallFiles
from kbd.core.workbench.file_store import Blobs
from kbd.providers import Emit, ModelInfo, ModelReply, ModelRequest, ToolSchema
from kbd.tools import Recall
from kbd.types import CallId, Phase

__all__ = [
    "Announce",
    "Complete",
    "LoopWarned",
    "Notice",
    "RateLimited",
    "RunContext",
    "TextDelta",
    "ToolStarted",
]


class TextDelta(msgspec.Struct, frozen=True):
    """A piece of text as it streams, of the message that the run will answer with."""

    run: int
    phase: Phase
    message_id: str
    text: str


class ToolStarted(msgspec.Struct, frozen=True):
    """Start of a tool call, with its path if it has one."""

    run: int
    call_id: CallId
    tool: str
    path: str | None = None


class LoopWarned(msgspec.Struct, frozen=True):
    """Warning that the model repeats a call; `turn` counts within the phase or attempt, from 1."""

    run: int
    tool: str
    turn: int


class RateLimited(msgspec.Struct, frozen=True):
    """Wait after a failed attempt at a turn, before the next one."""

    run: int
    phase: Phase
    model_id: str
    retry_attempt: int
    retry_max: int
    wait_ms: int
    message: str


Notice = TextDelta | ToolStarted | LoopWarned | RateLimited

Announce = Callable[[Notice], None]
"""Takes a notice; it returns at once and never raises."""


Complete = Callable[[str, ModelRequest, Emit], Awaitable[ModelReply]]
"""Makes one turn with a model (`provider:model`), where consent allows it; raises KbdError."""


async def _ask_nobody(model_id: str) -> None:
    """Return at once: nobody has to agree."""
    del model_id


def _as_schemas(model_id: str, tools: Sequence[ToolSchema]) -> None:
    """Return None: the model gets the tools as JSON schemas."""
    del model_id, tools


class RunContext(msgspec.Struct, frozen=True, kw_only=True):
    """Dependencies of one run, injected by whoever starts it.

    Args:
        commands: The run's commands to the workbench's log.
        journal: That log.
        run: The run's number.
        blobs: The workbench's blobs.
        open_files: Makes the picture of the files that one call sees, from the state as it is.
        formats: The formats, called in workers.
        recall: Earlier results.
        search: Opens the documents.
        workers: For a tool's own work.
        catalog: The tools, with the plugins that brought them.
        complete: Makes a turn.
        permit: Waits for a person where one has to agree before a model is asked.
        model: Tells of a model by its id.
        told_bytes: How many bytes a model is told of tools, None for their JSON schemas.
        looks_into_files: Whether a model reads the structure and texts of listed files.
        effort: Tells how hard a model shall think in a phase; "" leaves it to the model.
        daily_budget: The day's money, reserved before each turn.
        announce: Takes progress that is not recorded.
        limits: What the run may use.
        clock: For durations.
        sleep: Waits so many seconds.
        chance: Returns a random number in [0, 1).
        copies: The folder for readable copies (`meta/workshop`), or None for none.
        manifest: Lists the files for prompts, and keeps what it has found of each.
    """

    commands: Succession[WorkbenchState, Command]
    journal: Journal
    run: int
    blobs: Blobs
    open_files: Callable[[], CallFiles]
    formats: FormatCalls
    recall: Recall
    search: OpenSearch
    workers: WorkerPool
    catalog: Catalog
    complete: Complete
    permit: Callable[[str], Awaitable[None]] = _ask_nobody
    model: Callable[[str], ModelInfo]
    effort: Callable[[str, Phase], str]
    daily_budget: DailyBudget
    told_bytes: Callable[[str, Sequence[ToolSchema]], int | None] = _as_schemas
    looks_into_files: Callable[[str], bool] = lambda _: True
    announce: Announce
    limits: RunLimits
    clock: Clock
    sleep: Callable[[float], Awaitable[None]]
    chance: Callable[[], float]
    copies: Path | None = None
    manifest: Manifest = msgspec.field(default_factory=Manifest)

    @property
    def state(self) -> WorkbenchState:
        """State of the workbench behind the run's commands; read it before the next await."""
        return self.commands.state

    @property
    def current(self) -> Run:
        """State of the run behind its commands."""
        return self.state.run(self.run)

    @property
    def answer_id(self) -> str:
        """The id of the message that the run will answer with."""
        return f"{self.state.run_id(self.run)}-answer"
