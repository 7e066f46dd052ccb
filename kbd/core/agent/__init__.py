"""The agent: one run through research, plan, implement and summary, resumable at every event.

Read in this order: `run` (the phases), `turns` (one chain of model turns), `asking` (one turn asked
of a provider, with its retries), `toolbox` (one tool call of a run) over `performing` (one tool
call, whoever asks), `desk` (what a run reaches). Pure parts: `phases` (the table), `plan` (its
grammar), `conversation` and `prompts` (what a model is sent, in `blocks`), `context` (what a person
wants of every run, and style guidance), `summaries` (what stays of a map), `receipts` (what it sees
of results), `transcript` (a chain as it is sent) and `window` (what of it fits), `budget` (loops,
waits, tokens), `bill` (what a turn costs), `replies` (what is recorded of a reply), `verdicts`
(what is wrong with one), `outline` (the plan as one item's context shows it). Beside them
`briefing` (what every opening tells) with `manifest` (the files in a prompt), `notices` (unrecorded
progress), `copies` (readable copies).

Apart from all that, for programs without a daemon: `controller` (any object with `generate()`
works with tools), over `spoken` (a history as such a model is told it) and `fitting` (as much of a
result as it is shown).
"""

from kbd.core.agent.controller import DEFAULT_SYSTEM_PROMPT, AgentController
from kbd.core.agent.notices import (
    Announce,
    LoopWarned,
    Notice,
    RateLimited,
    TextDelta,
    ToolStarted,
)
from kbd.core.agent.readable_copies import (
    clear_unfinished,
    has_tool_log,
    write_copies,
    write_tool_log,
)
from kbd.core.agent.run import run_agent
from kbd.core.agent.run_context import Complete, Desk
from kbd.toolcall import Toolcall, find_toolcall, render_toolcall, render_toolresult

__all__ = [
    "DEFAULT_SYSTEM_PROMPT",
    "AgentController",
    "Announce",
    "Complete",
    "Desk",
    "LoopWarned",
    "Notice",
    "RateLimited",
    "TextDelta",
    "ToolStarted",
    "Toolcall",
    "clear_unfinished",
    "find_toolcall",
    "has_tool_log",
    "render_toolcall",
    "render_toolresult",
    "run_agent",
    "write_copies",
    "write_tool_log",
]
