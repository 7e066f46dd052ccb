"""Contract checks of providers and embedders, and a scripted provider for tests.

`ScriptedProvider` plays a model whose turns are written down; `check_provider` checks what every
provider promises, `check_embedder` what every embedder does.
"""

import math
import struct
from collections.abc import Callable, Sequence
from typing import ClassVar

import msgspec

from kbd.errors import ProviderUnavailable
from kbd.providers import (
    OPTIONS,
    Access,
    Ask,
    Embedder,
    Embeddings,
    EmbedRequest,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
)
from kbd.types import Phase

__all__ = ["NoAccess", "ScriptedProvider", "Turn", "check_embedder", "check_provider"]

Turn = ModelReply | Callable[[ModelRequest], ModelReply]
"""A turn as it is, or made from the request (to fill in what a tool returned)."""


class ScriptedProvider(Provider):
    """Provider that plays scripted turns, by phase.

    It keeps no position: which turn comes next is told by the count of assistant messages in the
    conversation. So it goes on rightly after a restart, and when a turn is asked for again.

    Args:
        turns: The turns of each phase; a plain sequence is played in every phase. A conversation
            that is longer than its script gets the last turn again.

    Attributes:
        requests: What was asked, in order.
    """

    name: ClassVar[str] = "scripted"

    def __init__(self, turns: "Sequence[Turn] | dict[Phase, Sequence[Turn]]") -> None:
        self._turns = turns if isinstance(turns, dict) else dict.fromkeys(Phase, turns)
        self.requests: list[ModelRequest] = []

    def models(self) -> Sequence[ModelInfo]:
        """Return the one model, `scripted:script`."""
        return (ModelInfo(id="scripted:script"),)

    def status(self) -> ProviderStatus:
        """Return that it is ready and sends nothing away."""
        return ProviderStatus(configured=True, leaves_machine=False)

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Play the turn that is due.

        Raises:
            ProviderUnavailable: There is no turn for this phase.
        """
        del access
        self.requests.append(request)
        turns = self._turns.get(request.phase, ())
        if not turns:
            raise ProviderUnavailable(f"the script has no turn for the phase {request.phase}")
        answered = sum(message.role == "assistant" for message in request.messages)
        turn = turns[min(answered, len(turns) - 1)]
        reply = turn if isinstance(turn, ModelReply) else turn(request)
        if reply.text:
            emit(reply.text)
        return reply


class NoAccess:
    """Access of a provider that needs nothing; asking for the HTTP client fails."""

    api_key: str | None = None
    base_url: str | None = None
    timeout_s: float = 30.0
    ask: Ask | None = None

    @property
    def http_client(self) -> object:
        """Refuse: nothing may be sent."""
        msg = "this provider is not lent an HTTP client"
        raise AssertionError(msg)


async def check_provider(provider: Provider, access: Access, request: ModelRequest) -> None:
    """Check what every provider promises: how it is set up, a check of its access, two turns.

    Args:
        provider: The provider, configured.
        access: What it needs for a turn.
        request: A turn that succeeds. It is made as it is, and once more with the provider's
            first effort and without every option, as after a server refused them all.

    Raises:
        AssertionError: A promise is broken; the message says which.
        KbdError: The access or a turn was refused.
    """
    assert provider.name, "a provider has a name"
    assert ":" not in provider.name, "the name is a prefix of model ids"
    assert not (provider.wraps and provider.models()), "who wraps has no models of its own"
    for model in provider.models():
        assert model.id.startswith(f"{provider.name}:"), f"{model.id} begins with the name"
        assert model.context_tokens > 0, f"{model.id} has a window"
    status = provider.status()
    assert status.configured == (status.reason is None), "a reason is given if it is not set up"
    assert status == provider.status(), "the status does not change by asking"
    efforts = provider.efforts
    assert len({"", *efforts}) == len(efforts) + 1, "efforts have names of their own"
    await provider.validate(access)
    await _check_turn(provider, access, request)
    bare = msgspec.structs.replace(request, effort="".join(efforts[:1]), without=OPTIONS)
    await _check_turn(provider, access, bare)


async def _check_turn(provider: Provider, access: Access, request: ModelRequest) -> None:
    heard: list[str] = []
    reply = await provider.complete(request, access, heard.append)
    assert "".join(heard) == reply.text, "the whole text is emitted, and nothing else"
    assert reply.finish_reason, "a reply says why it ended"
    offered = {tool.name for tool in request.tools}
    assert all(call.name in offered for call in reply.tool_calls), "only what is offered is called"
    ids = [call.id for call in reply.tool_calls]
    assert len({"", *ids}) == len(ids) + 1, "calls have ids of their own"


async def check_embedder(embedder: Embedder, access: Access, model: str = "") -> None:
    """Check what every embedder promises: how it is set up, and what its vectors are.

    Args:
        embedder: The embedder, configured.
        access: What it needs for a request.
        model: The model to ask for; "" for the embedder's own choice.

    Raises:
        AssertionError: A promise is broken; the message says which.
        KbdError: A request was refused.
    """
    named = model or embedder.default_model()
    assert embedder.name, "an embedder has a name"
    assert ":" not in embedder.name, "the name is a prefix of model ids"
    status = embedder.status()
    assert status.configured, "it is set up"
    assert status.reason is None, "a reason is given only if it is not set up"
    assert status == embedder.status(), "the status does not change by asking"
    fingerprint = await embedder.fingerprint(named)
    assert fingerprint, "vectors are kept under a name"

    async def vectors(*texts: str, query: bool = False) -> list[tuple[float, ...]]:
        request = EmbedRequest(model, texts, "query" if query else "passage")
        return _vectors(await embedder.embed(request, access), len(texts))

    texts = ("The rent is due in March.", "Ein Apfel, 苹果 \N{RED APPLE}", "word " * 4_000)
    together = await vectors(*texts)
    for text, vector in zip(texts, together, strict=True):
        (alone,) = await vectors(text)
        assert _is_near(vector, alone), "a text has its vector whatever it is sent with"
    assert not _is_near(together[0], together[1]), "texts of different meanings are told apart"
    (asked,) = await vectors(texts[0], query=True)
    assert len(asked) == len(together[0]), "queries and passages are compared with each other"
    many = await vectors(*(texts[place % 2] for place in range(embedder.most_texts)))
    in_order = all(_is_near(vector, together[place % 2]) for place, vector in enumerate(many))
    assert in_order, "vectors come in the order of their texts"
    assert fingerprint == await embedder.fingerprint(named), "nothing changed"


def _vectors(made: Embeddings, count: int) -> list[tuple[float, ...]]:
    assert made.size > 0, "vectors hold numbers"
    assert len(made.data) == 4 * made.size * count, "each text has one vector of the size told"
    found = list(struct.iter_unpack(f"<{made.size}f", made.data))
    for vector in found:
        assert abs(math.hypot(*vector) - 1) < 1e-3, "vectors have length 1"
    return found


def _is_near(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Tell whether two vectors are the same, as far as a model's arithmetic goes."""
    return sum(left * right for left, right in zip(one, other, strict=True)) > 0.999
