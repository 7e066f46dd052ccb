"""What one turn consumes, over all its attempts, at its model's prices."""

from kbd.core.agent.budget import cost_of, worst_cost
from kbd.core.agent.window import reply_room
from kbd.messages import Usage
from kbd.providers import ModelInfo

__all__ = ["Bill"]


class Bill:
    """Adds up what the attempts at a turn consumed.

    Args:
        model: Whose prices count.
        input_tokens: What the turn sends, as estimated.

    Attributes:
        tokens: What was consumed so far, input and reply together.
        cost: The same in US dollars.
    """

    def __init__(self, model: ModelInfo, input_tokens: int) -> None:
        self._model, self._input_tokens = model, input_tokens
        self.tokens, self.cost = 0, 0.0

    @property
    def most_tokens(self) -> int:
        """What the turn is likely to consume at most."""
        return self._input_tokens + reply_room(self._model)

    @property
    def most_cost(self) -> float:
        """The same in US dollars."""
        return worst_cost(self._input_tokens, reply_room(self._model), self._model)

    def add(self, usage: Usage) -> float:
        """Add what an attempt consumed, and return its cost in US dollars."""
        cost = cost_of(usage, self._model)
        self.tokens += usage.input_tokens + usage.output_tokens
        self.cost += cost
        return cost

    def of_broken_off(self, characters: int) -> Usage:
        """Return what an answer is likely to have consumed that broke off after so much text."""
        return Usage(self._input_tokens, int(characters / self._model.bytes_per_token) + 1)
