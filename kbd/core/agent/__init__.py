"""The agent: one run through research, plan, implement and summary, resumable at every event.

    run                the phases, one after the other, each step read from the log's state
    tool_loop          loop of model turns and tool calls, until the model answers with text
    model_calls        one turn requested of a provider: retries, usage and cost, record
    toolbox            tool calls of a run: admission and record
    tool_execution     execution of one tool call, of a run or of a proof
    run_context        the parts that one run works with
    prompt_messages    the opening messages of a phase, with what every opening says
    context_items      a person's context, and style guidance
    manifest           the files in a prompt
    readable_copies    copies of what the log says, for people
    notices            progress that is never recorded

Pure parts:

    phases             the table of phases
    plan               the grammar of a plan
    plan_outline       outline of a plan in an item's prompt
    prompts            the prompts, one text a phase
    blocks             texts of different origin in one message, kept apart
    transcript         a chain as it is sent
    window             the model's context window
    truncation         truncation of tool results
    budget             loops, waits, tokens and money
    turn_faults        faults of a turn that ends a chain

Apart from all that, for programs without a daemon: `controller` (any object with `generate()`
works with tools), over `conversation_text` (a history as such a model reads it).
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
from kbd.core.agent.run_context import Complete, RunContext
from kbd.toolcall import Toolcall, find_toolcall
from kbd.toolcall.blocks import render_toolcall, render_toolresult

__all__ = [
    "DEFAULT_SYSTEM_PROMPT",
    "AgentController",
    "Announce",
    "Complete",
    "LoopWarned",
    "Notice",
    "RateLimited",
    "RunContext",
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
