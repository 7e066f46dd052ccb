"""Transcript of a chain: its turns as messages, made and measured once, and their faults. Pure.

A turn without calls ends a chain, unless it has a fault: it is empty, cut off, or of no use. A turn
that has another after it does not change any more, so the next request costs what is new and no
more than that, however long its chain is: sums over the older messages are kept, and where to cut
is found by bisection.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from kbd.core.agent.context_window import (
    FittedRequest,
    context_exhausted,
    message_bytes,
    reply_tokens,
    shrink_result,
    strip_arguments,
    tools_bytes,
)
from kbd.core.domain.run_state import Chain, Turn
from kbd.messages import Message, ToolCall
from kbd.providers import ModelInfo, ToolSchema

__all__ = [
    "OBJECTION",
    "Objection",
    "Transcript",
    "accept_any",
    "find_fault",
    "is_cut_off",
    "turn_messages",
]


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


OBJECTION = "This cannot be used: {reason}. Answer once more, in exactly the form asked for."
"""The message to a model whose final text is refused."""


class Transcript:
    """Messages of one chain's turns, as they are sent to the model.

    Args:
        objection: Says why a final text is refused; the model is told so and answers again.
        told_bytes: Returns the size of the tools' description; None for that of their JSON schemas.

    Attributes:
        opening: The messages before them, never shrunk; empty until they are known.
    """

    def __init__(
        self,
        objection: Objection,
        told_bytes: Callable[[Sequence[ToolSchema]], int | None] = lambda _: None,
    ) -> None:
        self.opening: tuple[Message, ...] = ()
        self._objection = objection
        self._told_bytes = told_bytes
        self._turns = 0
        self._newest = 0  # Where the messages of the newest turn begin.
        self._size = 0
        # Of each message: itself, with its result in one line, and without its arguments, too.
        self._whole: list[Message] = []
        self._short: list[Message] = []
        self._bare: list[Message] = []
        # What is saved by shrinking the messages up to each, and by baring them.
        self._short_saves: list[int] = [0]
        self._bare_saves: list[int] = [0]
        self._tools: tuple[Sequence[ToolSchema], int] = ((), 0)
        self._opened: tuple[Sequence[Message], int] = ((), 0)

    def add_turns(self, chain: Chain) -> None:
        """Add the turns that a chain has beyond the known ones; all must be finished."""
        for turn in chain.turns[self._turns :]:
            self._newest = len(self._whole)
            for message in turn_messages(turn, self._objection):
                call = message.tool_call_id
                self._add(message, turn.entries.get(call) if call is not None else None)
        self._turns = len(chain.turns)

    def fit(self, tools: Sequence[ToolSchema], model: ModelInfo) -> FittedRequest:
        """Return the next request, with old results shrunk as far as the window asks for it.

        The oldest results become one line each, then the oldest large arguments are left out; the
        newest turn is kept whole. The same chain and model always give the same request.

        Args:
            tools: What is offered.
            model: Whose window it must fit into, with the bytes per token that are likely.

        Raises:
            ContextExhausted: It does not fit even so; the message says what is too large.
        """
        size = self._size + self._fixed_bytes(tools)
        room = int((model.context_tokens - reply_tokens(model)) * model.bytes_per_token)
        newest = self._newest
        # What is saved is summed up from the oldest on, so the fewest messages that are enough to
        # shrink are found without adding up anew; the newest turn is never among them.
        shrunk_to = bisect_left(self._short_saves, size - room, 0, newest)
        size -= self._short_saves[shrunk_to]
        bared_to = bisect_left(self._bare_saves, size - room, 0, newest)
        size -= self._bare_saves[bared_to]
        if size > room:
            description_bytes = self._tools[1]
            raise context_exhausted(
                self.opening, description_bytes, self._whole[newest:], size, model
            )
        messages = (
            *self.opening,
            *self._bare[:bared_to],
            *self._short[bared_to:shrunk_to],
            *self._whole[shrunk_to:],
        )
        return FittedRequest(messages, size, int(size / model.bytes_per_token) + 1)

    def _add(self, message: Message, entry: int | None) -> None:
        short = shrink_result(message, entry)
        stripped = strip_arguments(short)
        size, short_size = message_bytes(message), message_bytes(short)
        self._whole.append(message)
        self._short.append(short)
        self._bare.append(stripped)
        self._size += size
        self._short_saves.append(self._short_saves[-1] + size - short_size)
        self._bare_saves.append(self._bare_saves[-1] + short_size - message_bytes(stripped))

    def _fixed_bytes(self, tools: Sequence[ToolSchema]) -> int:
        """Return the size of opening and tools; measured again only if they have changed."""
        # By identity: the opening is one object for the whole chain, and long to compare.
        if self._opened[0] is not self.opening:
            self._opened = self.opening, sum(message_bytes(message) for message in self.opening)
        # By value: the tuple is built anew for each turn.
        if self._tools[0] != tools:
            described = self._told_bytes(tools)
            self._tools = tools, tools_bytes(tools) if described is None else described
        return self._opened[1] + self._tools[1]


def turn_messages(turn: Turn, objection: Objection) -> list[Message]:
    """Return a finished turn as messages: the reply with its calls, and their results.

    Args:
        turn: The turn.
        objection: Says why a final text is refused; the model is told so and answers again.
    """
    # A call without a result is one that came when none was asked for; it is left out, for
    # providers refuse a conversation in which a call stays unanswered.
    answered = [call for call in turn.calls if call.id in turn.results]
    calls = tuple(ToolCall(c.id, c.name, c.arguments or "{}") for c in answered)
    messages: list[Message] = []
    if calls or turn.text.strip():  # servers refuse a message that says nothing
        messages.append(Message("assistant", turn.text, calls))
    messages += [Message("tool", turn.results[c.id], tool_call_id=c.id) for c in calls]
    if not calls:
        reason = find_fault(turn, objection) or "it is not an answer"
        messages.append(Message("user", OBJECTION.format(reason=reason)))
    return messages
