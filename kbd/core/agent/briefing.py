"""What every opening of a phase tells beside its own: the person's context, and the files.

Whatever could not be told is a notice, recorded once a run; the run goes on without it.
"""

from typing import Any

import msgspec

from kbd.core.agent.context import Guidance, asks_for, told
from kbd.core.agent.desk import Desk
from kbd.core.agent.manifest import room_bytes
from kbd.core.domain.commands import RecordRun
from kbd.core.domain.run_state import Notice
from kbd.errors import ProviderNotConfigured, StyleMergeFailed, StyleSkillLoadFailed
from kbd.events.runs import NoticeGiven
from kbd.providers import ModelInfo
from kbd.tools import Files
from kbd.types import ContextCategory

__all__ = ["Briefing", "briefing"]

SEARCHED_CHARACTERS = 20_000
"""In so much of a request names of files and words for formats are looked for."""


class Briefing(msgspec.Struct, frozen=True):
    """The ready blocks of context and style, "" for none, and the listing of the files."""

    context: str
    files: dict[str, Any]


async def briefing(desk: Desk, request: str, *, light: bool = False) -> Briefing:
    """Put together what an opening tells, as the workbench is now.

    Args:
        desk: The run's.
        request: What is asked for, in the person's words and in those of an item.
        light: Whether files are listed without maps and texts.

    Raises:
        ContextExhausted: The files cannot even be listed by name.
    """
    files = desk.open_files()
    model = desk.model(desk.current.model_id)
    words = request[:SEARCHED_CHARACTERS]
    guidance, notices = await _guidance(desk, files, words)
    items = dict(desk.state.context)
    context = told(items, guidance, model)
    await _give(desk, (*notices, *context.notices, *_unkept(desk, model)))
    listing = await desk.manifest.build(
        files,
        desk.formats,
        room_bytes(model, desk.limits.manifest_bytes, len(context.text.encode())),
        light=light,
        wanted=words,
        context_items=[category for category in ContextCategory if category in items],
    )
    return Briefing(context.text, listing)


async def _guidance(
    desk: Desk, files: Files, words: str
) -> tuple[list[Guidance], tuple[Notice, ...]]:
    """Return the style guidance of the formats that are there or asked for."""
    there = {handler.name for handler in map(desk.formats.for_name, files.names()) if handler}
    found: list[Guidance] = []
    notices: list[Notice] = []
    for handler in desk.catalog.handlers():
        if handler.style_file and (handler.name in there or asks_for(handler, words)):
            try:
                text = await desk.catalog.style_guidance(handler)
            except StyleSkillLoadFailed as fault:
                notices.append(Notice(fault.code, fault.message))
            else:
                found.append(Guidance(handler.name, text))
    return found, tuple(notices)


def _unkept(desk: Desk, model: ModelInfo) -> tuple[Notice, ...]:
    """Say that a cap in money is none for a model whose price nobody told."""
    limits = desk.limits
    money = {"run.cost": limits.cost, "run.day_cost": limits.day_cost}
    caps = [name for name, cap in money.items() if cap]
    has_price = model.input_price or model.output_price
    if not caps or has_price or not desk.purse.is_metered(model.id):
        return ()
    unkept = (
        f"no price of {model.id} is known, so {' and '.join(caps)} cannot be kept: set"
        f' input_price and output_price in [models."{model.id}"]'
    )
    return (Notice(ProviderNotConfigured.code, unkept),)


async def _give(desk: Desk, notices: tuple[Notice, ...]) -> None:
    given = set(map(_subject, desk.current.notices))
    fresh = tuple(
        NoticeGiven(each.code, each.message) for each in notices if _subject(each) not in given
    )
    if fresh:
        await desk.keeper.submit(RecordRun(desk.run, fresh))


def _subject(notice: Notice) -> tuple[str, ...]:
    """Return what a notice is about; its figures differ as the draft gains files."""
    merged = notice.code == StyleMergeFailed.code
    return (notice.code,) if merged else (notice.code, notice.message)
