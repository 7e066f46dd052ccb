"""Embedder `openai`: its settings, one request's vectors, and the instructions of models.

Instructions stand before a text and say whether it is a query or a passage. A server passes texts
on as they are, so the client puts the words in front that a model was trained with; without them it
finds less. They are those of the models' own cards (2026); a model that is not known here gets its
texts bare.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar, Literal

import anyio.to_thread
import msgspec

from kbd.errors import ContextExhausted, ProviderNotConfigured
from kbd.providers import Access, Embedder, Embeddings, EmbedRequest, ProviderStatus
from kbd_openai.provider import endpoint_of, is_local_address, load_caller

__all__ = ["OpenAIEmbedder", "with_instructions"]

_SEARCH_QUERY = "Represent this sentence for searching relevant passages: "

_SEARCH_TASK = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)

_INSTRUCTIONS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"nomic-embed-(?!code)"), "search_query: ", "search_document: "),
    (re.compile(r"e5-.*instruct"), "Instruct: Find passages that answer the query\nQuery: ", ""),
    (re.compile(r"(?:^|[/-])e5-"), "query: ", "passage: "),
    (re.compile(r"bge-(?:small|base|large)-en"), _SEARCH_QUERY, ""),
    (re.compile(r"mxbai-embed-large"), _SEARCH_QUERY, ""),
    (re.compile(r"arctic-embed2|arctic-embed-[lm]-v2"), "query: ", ""),
    (re.compile(r"arctic-embed"), _SEARCH_QUERY, ""),
    (re.compile(r"embeddinggemma"), "task: search result | query: ", "title: none | text: "),
    (re.compile(r"qwen3-embedding"), _SEARCH_TASK, ""),
)
"""Families of models, by their names in small letters: what stands before a query, and before a
passage. The first that fits counts."""


def with_instructions(
    model: str, purpose: Literal["query", "passage"], texts: Sequence[str]
) -> tuple[str, ...]:
    """Return texts with the instruction of their model before each."""
    name = model.lower().replace("_", "-")
    for family, query, passage in _INSTRUCTIONS:
        if family.search(name):
            words = query if purpose == "query" else passage
            return tuple(words + text for text in texts)
    return tuple(texts)


NO_SERVER = (
    "no key and no address are set: set OPENAI_API_KEY, or OPENAI_EMBEDDING_BASE_URL"
    " and OPENAI_EMBEDDING_MODEL for an OpenAI-compatible server"
)
NO_MODEL = "no model is named: set OPENAI_EMBEDDING_MODEL, or search.embedder = openai:NAME"

OFFICIAL_MODEL = "text-embedding-3-small"
"""Model at OpenAI itself where none is named: the cheapest one that is not outdated."""

MAX_CUTS = 10
"""A text that is too long for its model is halved so often at most: one that never got a vector
would be asked for again and again. What it is about stands at its beginning, too."""


class OpenAIEmbedder(Embedder):
    """Vectors of OpenAI, or of any server with its `/embeddings`.

    Such are Ollama, llama.cpp's, vLLM, Text Embeddings Inference and LM Studio. They differ in how
    many texts they take at once and how they refuse a text that is too long: a request that is too
    much is halved, and then the text.

    Args:
        settings: `base_url`, `has_key` and `embedding_model`, as kbd merges them; optionally
            `embedding_base_url`, for a server of its own, which gets no key, and
            `embedding_batch`, the most texts of one HTTP request.
    """

    name: ClassVar[str] = "openai"
    most_texts: ClassVar[int] = 32
    """As many as Text Embeddings Inference takes unless it is told to take more."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._own_url = settings.get("embedding_base_url") or None
        self._base_url = self._own_url or settings.get("base_url") or None
        self._batch = settings.get("embedding_batch", self.most_texts)

    def status(self) -> ProviderStatus:
        """Return how the embedder is set up; `default_model` tells whether a model is named."""
        # The key was given for another address, so a server of its own does not get it.
        has_key = bool(self._settings.get("has_key")) and not self._own_url
        reason = self._setting_error()
        if reason is None and not (self._base_url or has_key):
            reason = NO_SERVER
        return ProviderStatus(
            configured=reason is None,
            leaves_machine=not is_local_address(self._base_url),
            reason=reason,
            auth_mode="api_key" if has_key or not self._base_url else "none",
            endpoint=endpoint_of(self._base_url),
        )

    def default_model(self) -> str:
        """Return the model that settings name; at OpenAI itself there is another one."""
        named = self._settings.get("embedding_model")
        return str(named) if named else "" if self._base_url else OFFICIAL_MODEL

    async def fingerprint(self, model: str) -> str:
        """Return the hash of the address, the model and its instructions.

        A server that serves another model under the same name is not found out by it.
        """
        # Other instructions make other vectors of the same texts.
        parts = (endpoint_of(self._base_url), model, *with_instructions(model, "passage", ("",)))
        parts = (*parts, *with_instructions(model, "query", ("",)))
        return sha256(msgspec.json.encode(parts)).hexdigest()[:24]

    async def embed(self, request: EmbedRequest, access: Access) -> Embeddings:
        """Make the vectors; see `Provider.complete` for what it raises.

        A text that is longer than the model takes has the vector of its beginning.

        Raises:
            MalformedReply: Other vectors came than were asked for, or some that point nowhere.
        """
        model = request.model or self.default_model()
        if not model:
            raise ProviderNotConfigured(NO_MODEL)
        if reason := self._setting_error():
            raise ProviderNotConfigured(reason)
        if not (self._own_url or access.base_url or access.api_key):
            raise ProviderNotConfigured(NO_SERVER)
        caller = await anyio.to_thread.run_sync(load_caller, access, self._own_url)
        texts = with_instructions(model, request.purpose, request.texts)
        bodies: list[tuple[bytes, int]] = []
        for start in range(0, len(texts), self._batch):
            bodies += await _embed_in_parts(caller, model, texts[start : start + self._batch])
        return await anyio.to_thread.run_sync(_read, bodies, texts)

    def _setting_error(self) -> str | None:
        """Return why a setting is invalid, None if all are valid."""
        if type(self._batch) is int and self._batch >= 1:
            return None
        return "the setting plugins.openai.embedding_batch is a number from 1 up"


async def _embed_in_parts(
    caller: Any, model: str, texts: Sequence[str], cuts: int = 0
) -> list[tuple[bytes, int]]:
    """Return what a server answers for some texts, by as many requests as it takes.

    Returns:
        Each answer with the number of texts that it is for.
    """
    try:
        return [(await caller.embed(model, texts), len(texts))]
    except ContextExhausted:
        half = len(texts) // 2
        if half:
            first = await _embed_in_parts(caller, model, texts[:half])
            return first + await _embed_in_parts(caller, model, texts[half:])
        shorter = texts[0][: len(texts[0]) // 2]
        if cuts == MAX_CUTS or not shorter.strip():
            raise
    return await _embed_in_parts(caller, model, (shorter,), cuts + 1)


def _read(bodies: Sequence[tuple[bytes, int]], texts: Sequence[str]) -> Embeddings:
    from kbd_openai.vectors import read_embeddings  # noqa: PLC0415 - 100 ms of numpy, off the loop

    return read_embeddings(bodies, texts)
