"""The agent: one run through research, plan, implement and summary, resumable at every event.

    run                the phases, one after the other, each step read from the log's state
    tool_loop          loop of model turns and tool calls, until the model answers with text
    model_calls        one turn requested of a provider: retries, usage and cost, record
    deltas             a model's text as clients are told of it, at a pace that they can take
    tool_execution     execution of one tool call, of a run or of a proof
    run_context        the parts that one run works with, and its progress notices
    prompt_messages    the opening messages of a phase, with what every opening says
    manifest           the files in a prompt
    readable_copies    copies of what the log says, for people

Pure parts:

    plan               the grammar of a plan, its amendments, and its outline in prompts
    prompts            the prompts, one text a phase
    prompt_blocks      delimited blocks of a prompt: context items, style guidance
    transcript         a chain's turns as messages, and the faults of a turn
    noted_readings     how tables were read, as the log keeps it beside a call
    context_window     sizes of requests, and truncation of tool results
    budget             loops, waits, tokens and money

Apart from all that, for programs without a daemon: `controller` (any object with `generate()`
works with tools, over a history that is text for such a model).
"""

from kbd.core.agent.controller import DEFAULT_SYSTEM_PROMPT, AgentController
from kbd.core.agent.readable_copies import (
    clear_unfinished,
    copy_texts,
    has_tool_log,
    write_copies,
    write_tool_log,
)
from kbd.core.agent.run import run_agent
from kbd.core.agent.run_context import (
    Announce,
    Complete,
    LoopWarned,
    Notice,
    RateLimited,
    RunContext,
    TextDelta,
    ToolStarted,
)
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
    "copy_texts",
    "find_toolcall",
    "has_tool_log",
    "render_toolcall",
    "render_toolresult",
    "run_agent",
    "write_copies",
    "write_tool_log",
]
