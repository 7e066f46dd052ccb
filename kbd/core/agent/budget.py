"""Limits of a run: loop detection, retry waits, caps on tokens and cost.

Pure: numbers in, verdicts out.
"""

import hashlib
from collections.abc import Sequence
from enum import Enum

import msgspec

from kbd.core.runtime.settings import RunLimits
from kbd.errors import BudgetCapReached
from kbd.messages import Usage
from kbd.providers import ModelInfo

__all__ = [
    "LOOP_NOTE",
    "LoopVerdict",
    "call_fingerprint",
    "check_budget",
    "cost_of",
    "loop_verdict",
    "retry_wait_s",
    "worst_cost",
]

MAX_WAIT_S = 600.0
"""The longest wait that a provider can ask for; after it the attempt is made anyway."""

JITTER = 0.1
"""A wait is stretched by up to a tenth, so that runs stopped together do not return together."""

LOOP_NOTE = (
    "Note: this same call was made {count} times. Its answer does not change; use what it returned,"
    " or do something else. The attempt ends if it is repeated further."
)


class LoopVerdict(Enum):
    """Verdict of loop detection on the last calls."""

    NONE = "none"
    WARN = "warn"
    STOP = "stop"


def call_fingerprint(tool: str, arguments: str) -> str:
    """Return the fingerprint of a call: of its tool and canonical arguments, content included.

    Args:
        tool: The tool's name.
        arguments: JSON text; text that is no JSON is taken as it is.
    """
    try:
        plain = msgspec.json.decode(arguments)
        # Blanks and the order of the fields make no other call.
        canonical = msgspec.json.encode(plain, order="deterministic")
    except (msgspec.DecodeError, RecursionError):
        # No JSON: a model that repeats broken arguments is in a loop, too.
        # A lone surrogate, which a model can write, must not keep its call from being counted.
        canonical = arguments.encode("utf-8", "surrogatepass")
    return hashlib.sha256(tool.encode("utf-8", "surrogatepass") + b"\0" + canonical).hexdigest()


def loop_verdict(
    recent: Sequence[str], warning: int = 3, failure: int = 5
) -> tuple[LoopVerdict, int]:
    """Judge the newest of the last calls by how often it occurs among them.

    Only the newest is looked at, so that the verdict names the call that was just made.

    Args:
        recent: The fingerprints of the last calls, oldest first.
        warning: As many equal ones warn.
        failure: As many end the attempt.
    """
    count = recent.count(recent[-1]) if recent else 0
    if count >= failure:
        return LoopVerdict.STOP, count
    return (LoopVerdict.WARN if count >= warning else LoopVerdict.NONE), count


def retry_wait_s(wait_s: float, retry_after_s: float | None, chance: float) -> float:
    """Return how long to wait before the next attempt, in seconds.

    Args:
        wait_s: The wait of the schedule.
        retry_after_s: What the provider asked for; it counts instead, up to 600 s.
        chance: A random number in [0, 1).
    """
    if retry_after_s is not None and retry_after_s >= 0:
        return min(retry_after_s, MAX_WAIT_S)
    return wait_s * (1 + JITTER * chance)


def cost_of(usage: Usage, model: ModelInfo) -> float:
    """Return what a turn cost at a model's prices, in US dollars; 0 if they are unknown.

    It is rounded to a billionth, so that sums of many turns are the same wherever they are made.
    """
    return worst_cost(usage.input_tokens, usage.output_tokens, model)


def worst_cost(input_tokens: int, output_tokens: int, model: ModelInfo) -> float:
    """Return what a turn of at most so many tokens costs at a model's prices, in US dollars."""
    cost = input_tokens * model.input_price + output_tokens * model.output_price
    # Prices are those of a million tokens.
    return round(cost / 1_000_000, 9)


def check_budget(
    used: Usage, cost: float, next_tokens: int, next_cost: float, limits: RunLimits
) -> None:
    """Refuse a turn that could pass a cap of its run, in tokens or in money.

    Args:
        used: What the run has consumed.
        cost: The same in US dollars.
        next_tokens: What the turn may consume, input and reply together.
        next_cost: The same in US dollars; 0 where no price is known.
        limits: The caps.

    Raises:
        BudgetCapReached: It could.
    """
    spent = used.input_tokens + used.output_tokens
    if spent + next_tokens > limits.tokens:
        raise _cap_reached(
            "run.tokens",
            f"the run has used {spent:,} tokens and the next turn may need {next_tokens:,}; its"
            f" cap is {limits.tokens:,}",
            {"used": spent, "asked": next_tokens, "cap": limits.tokens},
        )
    if 0 < limits.cost < cost + next_cost:
        raise _cap_reached(
            "run.cost",
            f"the run has cost ${cost:.2f} and the next turn may cost ${next_cost:.2f}; its cap is"
            f" ${limits.cost:.2f}",
            {"used": cost, "asked": next_cost, "cap": limits.cost},
        )


def _cap_reached(setting: str, message: str, figures: dict[str, float]) -> BudgetCapReached:
    """Return the error of a reached cap, with its setting."""
    return BudgetCapReached(
        f"{message} (setting {setting}); raise it and resume",
        actions=(f"raise {setting} and resume the run",),
        detail={"setting": setting, **figures},
    )
