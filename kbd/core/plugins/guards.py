"""Guards around plugins' code that runs in the daemon: what it does wrong is a typed error.

`guarded` runs a coroutine of a plugin step by step. Providers and embedders of others are handed
out behind guards of their own, which answer for them where they fail to say.
"""

import copy
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from functools import partial
from types import coroutine
from typing import Any, TypeVar

import anyio

from kbd.core.plugins.faults import PluginBlocked, PluginFaults
from kbd.errors import KbdError, ProviderNotConfigured, ProviderUnavailable
from kbd.events.shortages import shortage_of
from kbd.providers import (
    Access,
    Embedder,
    Embeddings,
    EmbedRequest,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
    ToolSchema,
)

__all__ = [
    "GuardedEmbedder",
    "GuardedProvider",
    "PluginFailed",
    "ProviderBroken",
    "answer_of",
    "guarded",
]

T = TypeVar("T")

ANSWER_S = 10.0
"""What an embedder says of itself (its fingerprint) is there by then."""


class ProviderBroken(ProviderUnavailable):
    """A provider or embedder did something else than it may: to ask it again would not help."""

    retryable_by_default = False


class PluginFailed(Exception):
    """A plugin's code did something else than it may.

    Args:
        kind: What it raised, by name; "" if it did something else.
        what: What it did, in words that hold nothing that it said.
    """

    def __init__(self, what: str, kind: str = "") -> None:
        super().__init__(what)
        self.what, self.kind = what, kind


async def guarded(
    faults: PluginFaults, plugin: str, what: str, work: Callable[[], Awaitable[T]]
) -> T:
    """Run a plugin's coroutine, each of its steps within `PluginFaults.step`.

    Args:
        faults: Where a fault is noted.
        plugin: The plugin's name.
        what: What is called, as faults are told ("provider acme").
        work: Makes the coroutine.

    Raises:
        KbdError: As the plugin raises, or what the machine lacked.
        TimeoutError: Likewise; it may be the caller's own.
        PluginFailed: It raised anything else, exited, or blocked the event loop.
    """
    try:
        with faults.step(plugin, what):
            made = work()
        if not isinstance(made, Coroutine):
            kind = type(made).__name__
            raise PluginFailed(f"{what} returned {kind} where a coroutine is due", kind)
        return await _stepped(faults, plugin, what, made)
    except (KbdError, TimeoutError):
        raise
    except PluginFailed as failed:
        faults.note(plugin, failed.what)
        raise
    except BaseException as fault:
        if _is_cancellation(fault):
            raise
        # Whoever meets that the machine has no more of something is not to blame for it.
        if (shortage := shortage_of(fault)) is not None:
            raise shortage from None
        kind = type(fault).__name__
        did = "held up the event loop" if isinstance(fault, PluginBlocked) else "failed inside"
        faults.note(plugin, f"{what} {did} ({kind})", fault)
        raise PluginFailed(f"{what} {did} ({kind})", kind) from None


def _is_cancellation(fault: BaseException) -> bool:
    """Return whether a plugin's code only passes on that it is canceled, or closed."""
    if isinstance(fault, GeneratorExit):
        return True
    # asyncio's is a class that anybody can raise; only when somebody cancels it means that.
    is_canceled = anyio.current_effective_deadline() == float("-inf")
    return is_canceled and not isinstance(fault, Exception | SystemExit | KeyboardInterrupt)


@coroutine
def _stepped(
    faults: PluginFaults, plugin: str, what: str, made: Coroutine[Any, Any, T]
) -> Generator[Any, Any, T]:
    """Drive a coroutine as `await` would, each step watched."""
    resume: Callable[[], Any] = partial(made.send, None)
    while True:
        with faults.step(plugin, what):
            try:
                waits_for = resume()
            except StopIteration as end:
                value: T = end.value
                return value
        try:
            sent = yield waits_for
        except GeneratorExit:
            made.close()
            raise
        except BaseException as thrown:  # noqa: BLE001 - it is the coroutine's, which may catch it
            resume = partial(made.throw, thrown)
        else:
            resume = partial(made.send, sent)


def answer_of(
    faults: PluginFaults,
    plugin: str,
    what: str,
    ask: Callable[[], Any],
    kind: type[T],
    instead: Callable[[str], T],
) -> T:
    """Return what a plugin says of itself at once, or what stands in where it does not.

    Args:
        faults: Where a fault is noted.
        plugin: The plugin's name.
        what: What is asked, as faults are told ("provider acme").
        ask: Asks it.
        kind: What is due.
        instead: Makes what stands in, of what went wrong.
    """
    if (reason := faults.reason(plugin)) is not None:
        return instead(f"plugin {plugin} was left out after {reason}")
    fault: BaseException | None = None
    try:
        with faults.step(plugin, what):
            said = ask()
        if isinstance(said, kind):
            return said
        wrong = f"{what} returned {type(said).__name__} where {kind.__name__} is due"
    except BaseException as raised:  # noqa: BLE001 - also SystemExit and KeyboardInterrupt
        fault, wrong = raised, f"{what} failed inside ({type(raised).__name__})"
    faults.note(plugin, wrong, fault)
    return instead(wrong)


class _Guard:
    """What the two guards have in common."""

    def __init__(self, faults: PluginFaults, plugin: str, kind: str, name: str) -> None:
        self.faults, self.plugin = faults, plugin
        self.what = f"{kind} {name}"

    def check(self) -> None:
        """Raise ProviderNotConfigured if the plugin was left out."""
        if (reason := self.faults.reason(self.plugin)) is not None:
            gone = f"its plugin {self.plugin} was left out after {reason}"
            msg = f"the {self.what} cannot be used: {gone}"
            raise ProviderNotConfigured(msg, actions=("restart the daemon to load it again",))

    def answer(self, ask: Callable[[], Any], kind: type[T], instead: Callable[[str], T]) -> T:
        """Return what it says of itself at once."""
        return answer_of(self.faults, self.plugin, self.what, ask, kind, instead)

    def status(self, ask: Callable[[], Any]) -> ProviderStatus:
        """Return how it is set up; where it fails to say, it is not."""

        def failed(wrong: str) -> ProviderStatus:
            return ProviderStatus(configured=False, leaves_machine=True, reason=f"the {wrong}")

        said = self.answer(ask, ProviderStatus, failed)
        fine = isinstance(said.endpoint, str) and isinstance(said.reason, str | None)
        if fine and said.auth_mode in ("none", "api_key"):
            return said
        return failed(f"{self.what} told its status wrongly")

    async def call(self, work: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Call it.

        Args:
            work: Makes the coroutine.
            kind: What it is to return.

        Raises:
            ProviderNotConfigured: It was left out.
            ProviderBroken: It failed.
            KbdError: As it raises.
        """
        self.check()
        try:
            made = await guarded(self.faults, self.plugin, self.what, work)
        except PluginFailed as failed:
            raise ProviderBroken(f"the {failed.what}") from None
        if not isinstance(made, kind):
            what = f"{self.what} returned {type(made).__name__} where {kind.__name__} is due"
            self.faults.note(self.plugin, what)
            raise ProviderBroken(f"the {what}")
        return made


def _models(said: Any) -> tuple[ModelInfo, ...]:
    models = tuple(said)
    if all(isinstance(each, ModelInfo) and isinstance(each.id, str) for each in models):
        return models
    raise TypeError


class GuardedProvider(Provider):
    """Guard of a provider of somebody else's plugin.

    Args:
        faults: Where faults are noted.
        plugin: The plugin's name.
        provider: The provider; its attributes are read here, once.
        name: Its name, which was checked.
    """

    def __init__(self, faults: PluginFaults, plugin: str, provider: Provider, name: str) -> None:
        self._guard, self._provider = _Guard(faults, plugin, "provider", name), provider
        fields = {
            "name": name,
            "takes_any_model": bool(provider.takes_any_model),
            "writes_prose": bool(provider.writes_prose),
            "looks_into_files": bool(provider.looks_into_files),
            "efforts": tuple(map(str, provider.efforts)),
            "wraps": bool(provider.wraps),
            "prompt_tokens": int(provider.prompt_tokens),
        }
        # Attributes of the class for those who write providers, and of this one guard here.
        self.__dict__.update(fields)

    def models(self) -> Sequence[ModelInfo]:
        """Return the models that it knows; none where it fails to say."""
        return self._guard.answer(lambda: _models(self._provider.models()), tuple, lambda _: ())

    def status(self) -> ProviderStatus:
        """Return how it is set up."""
        return self._guard.status(self._provider.status)

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Make one turn; what it returns is checked by who asked.

        Raises:
            ProviderBroken: It did something else than a provider may.
            KbdError: As for `Provider.complete`.
        """
        # A copy: schemas are the same objects for all who are told of them.
        asked = copy.deepcopy(request)
        return await self._guard.call(
            lambda: self._provider.complete(asked, access, emit), ModelReply
        )

    def told_bytes(self, tools: Sequence[ToolSchema]) -> int | None:
        """Return how many bytes its models are told of tools."""
        told = self._guard.answer(
            lambda: self._provider.told_bytes(copy.deepcopy(tuple(tools))) or 0, int, lambda _: 0
        )
        return told or None

    async def validate(self, access: Access) -> None:
        """Find out whether calls can be made; raises as `complete`."""
        await self._guard.call(lambda: self._provider.validate(access), type(None))


class GuardedEmbedder(Embedder):
    """Guard of an embedder of somebody else's plugin; arguments as for `GuardedProvider`."""

    def __init__(self, faults: PluginFaults, plugin: str, embedder: Embedder, name: str) -> None:
        self._guard, self._embedder = _Guard(faults, plugin, "embedder", name), embedder
        self.__dict__.update(name=name, most_texts=embedder.most_texts)

    def status(self) -> ProviderStatus:
        """Return how it is set up."""
        return self._guard.status(self._embedder.status)

    def default_model(self) -> str:
        """Return the model that is meant where none is named."""
        return self._guard.answer(self._embedder.default_model, str, lambda _: "")

    async def fingerprint(self, model: str) -> str:
        """Return under what the model's vectors are kept.

        Raises:
            ProviderBroken: It failed to say, or not in time.
            KbdError: As for `Embedder.fingerprint`.
        """
        with anyio.move_on_after(ANSWER_S):
            return await self._guard.call(lambda: self._embedder.fingerprint(model), str)
        what = f"{self._guard.what} took more than {ANSWER_S:g} s to tell its fingerprint"
        self._guard.faults.note(self._guard.plugin, what)
        raise ProviderBroken(f"the {what}")

    async def embed(self, request: EmbedRequest, access: Access) -> Embeddings:
        """Make the vectors; what it returns is checked by who asked; raises as `complete`."""
        return await self._guard.call(lambda: self._embedder.embed(request, access), Embeddings)

    async def aclose(self) -> None:
        """Release what is held between calls."""
        await self._guard.call(self._embedder.aclose, type(None))
