"""Prompt messages: the opening of a phase, and the chain of turns that follows it.

A chain begins with two messages: the phase's prompt, and one user message of delimited blocks.

    <request>
    …
    </request>

    <context category="situation">
    …
    </context>

    <files>
    ```json
    {"files": [{"path": …}]}
    ```
    </files>

Only these blocks cross from one phase to the next (contract, section 6); `blocks` says why no text
can close its own. What a person wants of every run (`context`, `style`) comes after the request and
before the files.

Every opening has the person's context and the files beside its own blocks. What of them could not
be included is a notice, recorded once a run; the run goes on without it.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import dropwhile
from typing import Any

import msgspec

from kbd.core.agent.manifest import listing_bytes
from kbd.core.agent.plan import MAX_OUTLINE_CHARS, render_outline, render_results
from kbd.core.agent.prompt_blocks import (
    Guidance,
    block,
    context_blocks,
    json_block,
    mentions_format,
)
from kbd.core.agent.prompts import load
from kbd.core.agent.run_context import RunContext
from kbd.core.domain.commands import RecordRun
from kbd.core.domain.run_state import Notice, Plan
from kbd.core.domain.workbench_state import Said
from kbd.errors import ProviderNotConfigured, StyleMergeFailed, StyleSkillLoadFailed
from kbd.events.runs import NoticeGiven
from kbd.messages import Message
from kbd.providers import ModelInfo
from kbd.tools import Files
from kbd.types import ContextCategory, Phase

__all__ = [
    "EARLIER_CHARS",
    "Briefing",
    "build_briefing",
    "implement_opening",
    "plan_opening",
    "render_earlier_messages",
    "research_opening",
    "summary_opening",
]

EARLIER_CHARS = 8000
"""How much of the earlier messages research and plan see; the oldest are cut first."""


def research_opening(
    request: str, earlier_messages: str, context: str, files: Mapping[str, Any]
) -> tuple[Message, ...]:
    """Build the opening of research: request, earlier messages, context, all files with maps."""
    blocks = [block("request", request), block("earlier_messages", earlier_messages), context]
    return _opening(Phase.RESEARCH, [*blocks, json_block("files", files)])


def plan_opening(
    request: str,
    earlier_messages: str,
    context: str,
    research: str,
    files: Mapping[str, Any],
    max_items: int,
) -> tuple[Message, ...]:
    """Build the opening of the plan: as research, with its findings, and files without maps."""
    blocks = [
        block("request", request),
        block("earlier_messages", earlier_messages),
        context,
        block("research", research),
        json_block("files", files),
    ]
    return _opening(Phase.PLAN, blocks, max_items)


def implement_opening(
    plan: Plan,
    place: int,
    attempt: int,
    context: str,
    files: Mapping[str, Any],
    plan_characters: int = MAX_OUTLINE_CHARS,
    document: str = "",
) -> tuple[Message, ...]:
    """Build the opening of an attempt at an item: the current plan, the item, the draft's files.

    The second attempt is told why the first failed. Of a long plan what is near is shown. A request
    that is a document stands there whole, for it is what is carried out.
    """
    item = plan.items[place - 1]
    blocks = [
        block("request", document),
        context,
        block("plan", render_outline(plan, place, plan_characters)),
        block("item", item.text, f' number="{place}" attempt="{attempt}"'),
        block("failure", f"{item.code}: {item.reason}" if attempt > 1 else ""),
        json_block("files", files),
    ]
    return _opening(Phase.IMPLEMENT, blocks)


def summary_opening(
    request: str,
    plan: Plan,
    changes: Mapping[str, Any],
    plan_characters: int = MAX_OUTLINE_CHARS,
    notices: Sequence[Notice] = (),
) -> tuple[Message, ...]:
    """Build the opening of the summary: request, plan, the items' final texts, the change set.

    `notices` are what the run went on without.
    """
    item_results = render_results(plan, plan_characters)
    if notices:
        item_results = {**item_results, "notices": [notice.message for notice in notices]}
    blocks = [
        block("request", request),
        block("plan", render_outline(plan, 1, plan_characters)),
        json_block("results", item_results),
        json_block("changes", changes),
    ]
    return _opening(Phase.SUMMARY, blocks)


def render_earlier_messages(messages: Sequence[Said], message_id: str) -> str:
    """Return the messages before one, at most 8,000 characters, the oldest cut first.

    It is gathered from the message back, as far as it is shown: a long conversation costs no more.
    """
    before = dropwhile(lambda one: one.message_id != message_id, reversed(messages))
    # The message itself has a block of its own.
    next(before, None)
    texts: list[str] = []
    # There is one blank line less than there are texts.
    length = -2
    for message in before:
        texts.append(f"[{message.role}] {message.text.strip()}")
        length += len(texts[-1]) + 2
        if length > EARLIER_CHARS:
            break
    text = "\n\n".join(reversed(texts))
    return text if len(text) <= EARLIER_CHARS else "…" + text[1 - EARLIER_CHARS :]


def _opening(phase: Phase, blocks: Iterable[str], max_items: int = 0) -> tuple[Message, ...]:
    text = "\n\n".join(each for each in blocks if each)
    return (Message("system", load(phase, max_items)), Message("user", text))


SEARCHED_CHARACTERS = 20_000
"""In so much of a request names of files and words for formats are looked for."""


class Briefing(msgspec.Struct, frozen=True):
    """Rendered blocks that every opening has: context and style, "" for none, and the files."""

    context: str
    files: dict[str, Any]


async def build_briefing(context: RunContext, request: str, *, light: bool = False) -> Briefing:
    """Build the blocks that every opening has, from the workbench as it is now.

    Args:
        context: The run's.
        request: What is asked for, in the person's words and in those of an item.
        light: Whether files are listed without maps and texts.

    Raises:
        ContextExhausted: The files cannot even be listed by name.
    """
    files = context.open_files()
    model = context.model(context.current.model_id)
    words = request[:SEARCHED_CHARACTERS]
    guidance, notices = await _style_guidance(context, files, words)
    items = dict(context.state.context)
    blocks = context_blocks(items, guidance, model)
    await _give_notice(context, (*notices, *blocks.notices, *_unpriced_notice(context, model)))
    listing = await context.manifest.build(
        files,
        context.formats,
        listing_bytes(model, context.limits.manifest_bytes, len(blocks.text.encode())),
        light=light or not context.looks_into_files(context.current.model_id),
        wanted=words,
        context_items=[category for category in ContextCategory if category in items],
        # As they were added: who names files in an order means it.
        order=tuple(context.state.files),
    )
    return Briefing(blocks.text, listing)


async def _style_guidance(
    context: RunContext, files: Files, words: str
) -> tuple[list[Guidance], tuple[Notice, ...]]:
    """Return the style guidance of the formats that are there or asked for."""
    there = {handler.name for handler in map(context.formats.for_name, files.names()) if handler}
    found: list[Guidance] = []
    notices: list[Notice] = []
    for handler in context.catalog.handlers():
        if handler.style_file and (handler.name in there or mentions_format(handler, words)):
            try:
                text = await context.catalog.style_guidance(handler)
            except StyleSkillLoadFailed as fault:
                notices.append(Notice(fault.code, fault.message))
            else:
                found.append(Guidance(handler.name, text))
    return found, tuple(notices)


def _unpriced_notice(context: RunContext, model: ModelInfo) -> tuple[Notice, ...]:
    """Return a notice that a cap on cost does not bind a model of unknown price."""
    limits = context.limits
    money = {"run.cost": limits.cost, "run.day_cost": limits.day_cost}
    caps = [name for name, cap in money.items() if cap]
    has_price = model.input_price or model.output_price
    if not caps or has_price or not context.daily_budget.is_metered(model.id):
        return ()
    unkept = (
        f"no price of {model.id} is known, so {' and '.join(caps)} cannot be kept: set"
        f' input_price and output_price in [models."{model.id}"]'
    )
    return (Notice(ProviderNotConfigured.code, unkept),)


async def _give_notice(context: RunContext, notices: tuple[Notice, ...]) -> None:
    given = set(map(_notice_subject, context.current.notices))
    fresh = tuple(
        NoticeGiven(each.code, each.message)
        for each in notices
        if _notice_subject(each) not in given
    )
    if fresh:
        await context.commands.submit(RecordRun(context.run, fresh))


def _notice_subject(notice: Notice) -> tuple[str, ...]:
    """Return the subject of a notice, without its figures: they change as the draft gains files."""
    merged = notice.code == StyleMergeFailed.code
    return (notice.code,) if merged else (notice.code, notice.message)
