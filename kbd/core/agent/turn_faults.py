"""Faults of a turn that ends a chain: it is empty, cut off, or of no use. Pure."""

from collections.abc import Callable

from kbd.core.domain.run_state import Turn

__all__ = ["Objection", "accept_any", "find_fault", "is_cut_off"]

Objection = Callable[[str], str | None]
"""Says why a final text cannot be used, or None."""

CUT_OFF_REASONS = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete"})
"""The finish reasons by which servers say that an answer is not whole."""


def accept_any(text: str) -> str | None:
    """Accept any text."""
    del text
    return None


def is_cut_off(turn: Turn) -> bool:
    """Return whether a turn was cut off at the model's limit of length."""
    return turn.finish_reason in CUT_OFF_REASONS


def find_fault(turn: Turn, objection: Objection) -> str | None:
    """Find the fault of a turn without calls, in words for the model; None if it is an answer.

    Args:
        turn: The turn.
        objection: Judges its text.
    """
    if not turn.text.strip():
        return "the answer was empty"
    if is_cut_off(turn):
        return "the answer was cut off at the longest one that you can give: be shorter"
    return objection(turn.text.strip())
