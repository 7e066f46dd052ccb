"""Table of the four phases of a run: prompt, first tool choice, turn limit.

Which tools a phase may call is told by the catalog (contract, section 4: phase lists).
"""

from typing import Literal

import msgspec

from kbd.core.runtime.settings import RunLimits
from kbd.types import Phase

__all__ = ["PHASES", "PhaseRules", "turn_limit"]


class PhaseRules(msgspec.Struct, frozen=True):
    """Rules of a phase.

    Args:
        phase: Which.
        subphase: Its name in errors (contract, section 9).
        first_choice: The `tool_choice` of its first turn; later turns leave it open.
    """

    phase: Phase
    subphase: str
    first_choice: Literal["required", "auto", "none"]


PHASES = {
    rules.phase: rules
    for rules in (
        PhaseRules(Phase.RESEARCH, "rpi_research", "required"),
        PhaseRules(Phase.PLAN, "rpi_plan", "auto"),
        PhaseRules(Phase.IMPLEMENT, "rpi_implement", "required"),
        PhaseRules(Phase.SUMMARY, "rpi_summary", "none"),
    )
}


def turn_limit(phase: Phase, limits: RunLimits) -> int:
    """Return how many turns a phase, or one attempt at an item, has."""
    match phase:
        case Phase.RESEARCH:
            return limits.research_turns
        case Phase.PLAN:
            return limits.plan_turns
        case Phase.IMPLEMENT:
            return limits.item_turns
        case Phase.SUMMARY:
            return 1
