"""Interfaces of model providers and of embedders.

A provider turns a conversation into a reply, streaming as it goes. An embedder turns texts into
vectors that lie close together where the texts mean the same.

A provider runs in the daemon's event loop and must not block it: heavy libraries are imported on
the first call, in a thread. Keys and the HTTP client are lent for one call, so that consent is
checked where bytes leave; retries are kbd's own, so that each attempt is an event.
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, get_args

import msgspec

from kbd.errors import ProviderUnavailable, ValidationFailed
from kbd.messages import Decline, Message, ToolCall, Usage
from kbd.types import Phase

__all__ = [
    "DECLINED",
    "OPTIONS",
    "Access",
    "Ask",
    "EmbedRequest",
    "Embedder",
    "Embeddings",
    "Emit",
    "MalformedReply",
    "ModelInfo",
    "ModelReply",
    "ModelRequest",
    "Option",
    "OptionRefused",
    "Provider",
    "ProviderStatus",
    "ToolSchema",
]

Emit = Callable[[str], None]
"""Called with each piece of text as it arrives. It returns at once and never raises."""


Option = Literal["tool_choice", "strict", "effort", "usage", "max_output_tokens"]
"""What a request may ask of a server beyond its messages and tools, and not every server takes:
a required call, arguments that keep to their schema, how hard to think, a count of tokens, a
longest reply."""


OPTIONS: tuple[Option, ...] = get_args(Option)
"""All of them."""


class OptionRefused(ValidationFailed):
    """The server does not take an option; the same turn can be asked for without it.

    Args:
        message: What the server said, cleaned.
        option: Which.
    """

    def __init__(self, message: str, option: Option) -> None:
        super().__init__(message)
        self.option: Option = option


class MalformedReply(ProviderUnavailable):
    """An answer came that makes no sense, or says nothing.

    It is asked for again like one that was cut short. When it never comes right, it is about that
    conversation and not about the provider: the step fails and not the run.
    """


class ModelInfo(msgspec.Struct, frozen=True):
    """A model that a provider offers.

    Args:
        id: `provider:model`.
        context_tokens: The size of its window.
        input_price: Money per million input tokens, in US dollars; 0 if unknown or free.
        output_price: The same for output tokens.
        bytes_per_token: How many bytes of English, JSON and figures make a token, a cautious mean;
            what the provider counts of what is sent takes its place.
    """

    id: str
    context_tokens: int = 128_000
    input_price: float = 0.0
    output_price: float = 0.0
    bytes_per_token: float = 3.5


class ToolSchema(msgspec.Struct, frozen=True):
    """A tool as a model is told of it.

    Args:
        name: Its name.
        description: What it does.
        parameters: A JSON schema of type object.
        strict: The same in the form that servers can hold a model to: every property is required,
            none beside them is allowed, and null stands for what is left out. None for arguments
            that this form cannot tell.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    strict: Mapping[str, Any] | None = None


class ModelRequest(msgspec.Struct, frozen=True):
    """Request for one turn.

    Args:
        model: The model's name without the provider's prefix.
        messages: The conversation so far.
        tools: What the model may call; empty to ask for text.
        tool_choice: Whether a tool call is asked for, left open, or ruled out.
        phase: The phase of the run, for providers that treat phases differently.
        max_output_tokens: The longest reply, or None for the model's own limit.
        effort: How hard the model shall think, one of the provider's `efforts`; "" for its own way.
        without: The options that its server refused before: they are not sent.
    """

    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    tool_choice: Literal["required", "auto", "none"] = "auto"
    phase: Phase = Phase.RESEARCH
    max_output_tokens: int | None = None
    effort: str = ""
    without: tuple[Option, ...] = ()


DECLINED = frozenset({"declined", "refusal", "content_filter"})
"""Finish reasons by which a model says that it did not do what it was asked to."""


class ModelReply(msgspec.Struct, frozen=True, omit_defaults=True):
    """Reply of a model: one complete turn.

    Args:
        text: What the model said.
        tool_calls: What it asks for; arguments are the text it wrote, well-formed or not.
        finish_reason: As the provider gave it; one of `DECLINED` if the model did not do what it
            was asked. A reply without one is never returned: it was cut short, and `complete`
            raises ProviderUnavailable.
        usage: What it consumed; estimated from the text where the provider does not say.
        usage_is_estimate: Whether `usage` was estimated.
        refusal: With a finish reason of `DECLINED`, why and what to ask instead; without it people
            are told the first line of `text`.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = "stop"
    usage: Usage = Usage()
    usage_is_estimate: bool = False
    refusal: Decline | None = None


class ProviderStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a provider is set up.

    Args:
        configured: Whether a call could be made.
        leaves_machine: Whether file contents would leave this machine; then consent is asked.
        reason: What is missing and which setting to make, if it is not configured.
        auth_mode: "none", "api_key".
        endpoint: Host and port it talks to, without secrets; "" for none.
    """

    configured: bool
    leaves_machine: bool
    reason: str | None = None
    auth_mode: Literal["none", "api_key"] = "none"
    endpoint: str = ""


Ask = Callable[[ModelRequest, Emit], Awaitable[ModelReply]]
"""Makes a turn with the model that is wrapped, whatever model the request names; it raises what
`Provider.complete` raises."""


class Access(Protocol):
    """What is lent to a provider for one call."""

    @property
    def api_key(self) -> str | None:
        """The key, or None where there is none."""

    @property
    def base_url(self) -> str | None:
        """The address that settings name, or None for the provider's own."""

    @property
    def http_client(self) -> Any:
        """An `httpx2.AsyncClient` that can reach this provider's address and no other."""

    @property
    def timeout_s(self) -> float:
        """The longest pause between two pieces of an answer."""

    @property
    def ask(self) -> Ask | None:
        """For a provider that wraps others: asks the one that is wrapped; else None."""


class Provider(ABC):
    """A provider: a source of models.

    Attributes:
        name: The prefix of its model ids.
        takes_any_model: Whether a model name that `models` does not list is passed on as it is.
        efforts: How hard its models can be told to think, from least to most; none if they cannot.
        wraps: Whether its models are those of other providers: it is named before them
            (`name:provider:model`) and is lent `Access.ask` and nothing else. Set-up, address, key,
            consent, window, prices and efforts are those of the provider that is wrapped.
        prompt_tokens: How many tokens of a wrapped model's window it needs for itself.
        writes_prose: Whether its models write texts of their own, as a summary asks for.
        looks_into_files: Whether its models read the structure and texts of the files that a prompt
            lists. Where they do not, no file is opened for the list: it has names, kinds and sizes.
    """

    name: ClassVar[str]
    takes_any_model: ClassVar[bool] = False
    writes_prose: ClassVar[bool] = True
    looks_into_files: ClassVar[bool] = True
    efforts: ClassVar[tuple[str, ...]] = ()
    wraps: ClassVar[bool] = False
    prompt_tokens: ClassVar[int] = 0

    @abstractmethod
    def models(self) -> Sequence[ModelInfo]:
        """Return the models known without asking anybody."""

    @abstractmethod
    def status(self) -> ProviderStatus:
        """Return how the provider is set up; reads nothing but its settings."""

    @abstractmethod
    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Make one turn.

        Args:
            request: The turn.
            access: Key, address and HTTP client, lent for this call.
            emit: Takes text as it streams; the whole text is in the reply, too.

        Raises:
            ProviderAuthFailed: 401 or 403.
            ProviderRateLimited: 429, with `retry_after_s` if the provider said.
            ProviderUnavailable: 408, 409, 5xx, or a turn that was cut short.
            MalformedReply: A turn that makes no sense.
            NetworkUnavailable: No connection, or it broke.
            ContextExhausted: The provider said that the request is too long.
            ProviderNotConfigured: Something is missing; the message says what.
            OptionRefused: The server does not take an option; asking again without it may help.
            ValidationFailed: Any other 4xx.
        """

    def told_bytes(self, tools: Sequence[ToolSchema]) -> int | None:
        """Return how many bytes its models are told of tools; None for their JSON schemas."""
        del tools
        return None

    async def validate(self, access: Access) -> None:  # noqa: B027 - who needs no access is valid
        """Find out whether calls can be made, without asking a model for anything.

        Args:
            access: As for `complete`.

        Raises:
            KbdError: As for `complete`.
        """


class EmbedRequest(msgspec.Struct, frozen=True):
    """Texts to be made vectors.

    Args:
        model: The model's name without the embedder's prefix; "" for the embedder's own choice.
        texts: At most `Embedder.most_texts` of them, none empty.
        purpose: Whether they are looked for or looked in; some models treat the two differently.
    """

    model: str
    texts: tuple[str, ...]
    purpose: Literal["query", "passage"]


class Embeddings(msgspec.Struct, frozen=True):
    """The vectors of the texts of one request, in order.

    Args:
        data: One vector after the other, each `size` little-endian float32 numbers, of length 1.
        size: How many numbers a vector has.
        usage: What the request consumed; nothing where nobody counts.
    """

    data: bytes
    size: int
    usage: Usage = Usage()


class Embedder(ABC):
    """An embedder: a source of vectors of texts.

    Attributes:
        name: The prefix of its model ids (`name:model`).
        most_texts: As many texts one request may have.
    """

    name: ClassVar[str]
    most_texts: ClassVar[int] = 64

    @abstractmethod
    def status(self) -> ProviderStatus:
        """Return how the embedder is set up; reads little and asks nobody."""

    @abstractmethod
    def default_model(self) -> str:
        """Return the model that is meant where none is named, "" if one has to be."""

    @abstractmethod
    async def fingerprint(self, model: str) -> str:
        """Return under what the model's vectors are kept: another one when they would differ.

        Raises:
            ProviderNotConfigured: Something is missing; the message says what.
        """

    @abstractmethod
    async def embed(self, request: EmbedRequest, access: Access) -> Embeddings:
        """Make the vectors.

        Args:
            request: The texts.
            access: Key, address and HTTP client, lent for this call.

        Raises:
            KbdError: As for `Provider.complete`.
        """

    async def aclose(self) -> None:  # noqa: B027 - who holds nothing has nothing to let go of
        """Release what is held between calls; the next call takes it again."""
