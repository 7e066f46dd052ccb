"""Texts of a workbench become vectors: paid from the day's money, with a few short retries."""

import random
from typing import Literal

import anyio

from kbd.core.agent.budget import check_budget, cost_of, retry_wait_s, worst_cost
from kbd.core.gateway.outbound_call import RecordSent
from kbd.core.supervisor.parts import Parts
from kbd.core.workbench.workbench import Bench
from kbd.errors import (
    KbdError,
    NetworkUnavailable,
    ProviderRateLimited,
    ProviderUnavailable,
)
from kbd.providers import Embeddings, EmbedRequest

__all__ = ["embedded"]

QUERY_S = 10.0
"""The longest that a query may wait for its vector: words alone find much of it at once."""

MOST_WAIT_S = 2.0
"""The longest pause between two attempts. Who is asked to wait for longer gives up: a search goes
on without vectors, and those of passages are asked for again later."""

RETRIES = {"query": 1, "passage": 2}


async def embedded(
    parts: Parts,
    bench: Bench,
    texts: tuple[str, ...],
    purpose: Literal["query", "passage"],
    record: RecordSent,
    *,
    run: int = 0,
    model_id: str = "",
) -> tuple[Embeddings, float]:
    """Make texts vectors, paid from the day's money.

    Args:
        parts: The daemon's.
        bench: Whose texts.
        texts: They; as many as the embedder takes at once.
        purpose: Whether they are looked for or looked in.
        record: Makes each request durable before it leaves.
        run: The run that asks, or 0 for none.
        model_id: What `Egress.embedder` said before; "" for whatever it says now.

    Returns:
        The vectors, and what they cost in US dollars.

    Raises:
        BudgetCapReached: It could pass a cap of the run or of the day.
        ProviderUnavailable: No answer came within the time allowed, or none that makes sense.
        KbdError: As for `Egress.embed`.
    """
    egress, state = parts.egress, bench.state
    chosen = egress.check_embedder(state, model_id)
    model = egress.embedders.model(chosen.model_id)
    size_bytes = sum(len(text.encode("utf-8", "replace")) for text in texts)
    tokens = int(size_bytes / model.bytes_per_token) + len(texts)
    most = worst_cost(tokens, 0, model)
    if run:
        under_way = state.run(run)
        check_budget(under_way.usage, under_way.cost, tokens, most, parts.settings.run)
    reservation = await parts.purse.reserve(bench.id, run, chosen.model_id, tokens, most)
    # What is cut off may have to be paid for; what is refused has not.
    spent_tokens, spent = tokens, most
    try:
        request = EmbedRequest("", texts, purpose)
        made = await _asked(parts, bench, request, record, chosen.model_id)
        spent_tokens, spent = made.usage.input_tokens, cost_of(made.usage, model)
    except KbdError:
        spent_tokens, spent = 0, 0.0
        raise
    finally:
        await parts.purse.charge(reservation, spent_tokens, spent)
    return made, spent


async def _asked(
    parts: Parts, bench: Bench, request: EmbedRequest, record: RecordSent, model_id: str
) -> Embeddings:
    """Ask, and ask again where that may help, within the time allowed."""
    limits = parts.settings.run
    limit_s = min(QUERY_S, limits.provider_s) if request.purpose == "query" else limits.provider_s
    waits = (min(wait_s, MOST_WAIT_S) for wait_s in limits.retry_s[: RETRIES[request.purpose]])
    with anyio.move_on_after(limit_s):
        for wait_s in (*waits, None):
            try:
                return await parts.egress.embed(bench.state, request, record, model_id)
            except (ProviderRateLimited, ProviderUnavailable, NetworkUnavailable) as error:
                if wait_s is None:
                    raise
                named_s = None if isinstance(error, NetworkUnavailable) else error.retry_after_s
                pause_s = retry_wait_s(wait_s, named_s, random.random())
                if pause_s > MOST_WAIT_S * 2:
                    raise
            await anyio.sleep(pause_s)
    msg = f"{model_id} did not answer within {limit_s:g} s."
    raise ProviderUnavailable(msg)
