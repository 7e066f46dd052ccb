"""Local runtime of an engine without a daemon: a worker and an embedder of this machine.

It serves an engine that was given no ports of its own. Both live in an event loop, in a thread that
is started when the first of them is needed; callers wait for it. Settings and plugins are those
that a daemon of the same home would have. Only embedders that send nothing anywhere are taken: for
others a person has to agree, and there is nobody to ask here.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio
import msgspec
import structlog
from anyio.from_thread import BlockingPortal

from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls, text_edition
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.paths import Home
from kbd.core.runtime.settings import Settings
from kbd.core.search.ports import SourceFile
from kbd.errors import KbdError, ProviderUnavailable, ValidationFailed
from kbd.providers import Embedder, Embeddings, EmbedRequest
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName

__all__ = ["LocalRuntime", "LocalTextEmbedder"]

T = TypeVar("T")

SHUTDOWN_S = 0.2
"""How soon the loop sees that the program is at its end and nobody has closed the engine."""


class _NoAccess:
    """`kbd.providers.Access` for an embedder that needs none."""

    api_key = base_url = http_client = None
    timeout_s = 120.0


class _LoopThread(msgspec.Struct):
    """The event loop's thread, and the ways into it."""

    thread: threading.Thread
    portal: BlockingPortal
    stopped: anyio.Event
    formats: FormatCalls


class LocalRuntime:
    """`kbd.core.search.ports.PieceReader` with a worker of its own; it also finds the embedder.

    Args:
        most_characters: Of a longer document, the rest is left out.
    """

    def __init__(self, most_characters: int) -> None:
        self._most_characters = most_characters
        self._lock = threading.RLock()
        self._installed: tuple[Settings, Plugins, Catalog] | None = None
        self._loop: _LoopThread | None = None
        self._embedder: Embedder | None = None
        self._is_closed = False

    def edition(self, name: str) -> str:
        """Return the edition of the format that reads files of that name; "" if none does.

        Raises:
            ValidationFailed: The settings are ill-formed.
        """
        with self._lock:
            _, _, catalog = self._found()
        return text_edition(catalog, name)

    def read(self, file: SourceFile, target: Path) -> None:
        """Write the pieces of a file to `target`; raises KbdError."""
        ref = FileRef(FileName(file.name), BlobHash(file.content), file.size_bytes, file.path)
        formats = self._running().formats
        self.call(formats.pieces, ref, target, self._most_characters)

    def call(self, function: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
        """Call a function in the event loop and wait for what it returns."""
        answer: T = self._running().portal.call(function, *arguments)
        return answer

    def embedding(self) -> "tuple[LocalTextEmbedder | None, str]":
        """Return the configured embedder, or None and why there is none though one is named.

        Raises:
            ValidationFailed: The settings are ill-formed.
        """
        with self._lock:
            settings, _, catalog = self._found()
        name, _, model = settings.search.embedder.strip().partition(":")
        if name == "none":
            return None, ""
        # Without a name the first one that can be used is taken; one that is named must be usable
        # itself.
        for owned in catalog.embedders():
            embedder = owned.item
            if name in ("", embedder.name):
                found, why = _usable_model(embedder, model)
                if found:
                    self._embedder = embedder
                    return LocalTextEmbedder(self, embedder, found), ""
                if name:
                    return None, why
        return None, f"there is no embedder {name}" if name else ""

    def close(self) -> None:
        """End the loop and its worker; a second time does nothing."""
        with self._lock:
            self._is_closed = True
            loop, self._loop = self._loop, None
        if loop is None:
            return
        if loop.thread is threading.current_thread():
            # Collected as garbage, and by chance in the loop's own thread.
            loop.stopped.set()
            return
        try:
            loop.portal.call(loop.stopped.set)
        except RuntimeError:
            pass  # it has ended by itself
        loop.thread.join()

    def _found(self) -> tuple[Settings, Plugins, Catalog]:
        if self._installed is None:
            settings = Settings.read(Home.find(os.environ), os.environ)
            plugins = Plugins.discover(settings, environment=os.environ)
            self._installed = settings, plugins, Catalog(plugins)
        return self._installed

    def _running(self) -> _LoopThread:
        with self._lock:
            if self._is_closed:
                msg = "the engine is closed"
                raise ValidationFailed(msg)
            if self._loop is None:
                self._loop = self._start()
            return self._loop

    def _start(self) -> _LoopThread:
        if not structlog.is_configured():
            # What workers log is for operators: it must not stand in what a program prints.
            structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
        started: Future[tuple[BlockingPortal, anyio.Event, FormatCalls]] = Future()
        settings, plugins, catalog = self._found()

        async def serve() -> None:
            stopped = anyio.Event()
            async with WorkerPool(plugins, settings) as workers, BlockingPortal() as portal:
                started.set_result((portal, stopped, FormatCalls(catalog, workers)))
                # Python waits for threads before it tells anybody that it leaves, so this looks.
                while threading.main_thread().is_alive() and not stopped.is_set():
                    with anyio.move_on_after(SHUTDOWN_S):
                        await stopped.wait()
                await portal.stop(cancel_remaining=True)
            if self._embedder is not None:
                # It may hold a process of its own; what it says at the end helps nobody.
                with contextlib.suppress(Exception):
                    await self._embedder.aclose()

        def run() -> None:
            try:
                anyio.run(serve)
            except BaseException as fault:  # noqa: BLE001 - told to whoever started it
                if not started.done():
                    started.set_exception(fault)

        thread = threading.Thread(target=run, name="kbd-workspace", daemon=True)
        thread.start()
        return _LoopThread(thread, *started.result())


class LocalTextEmbedder:
    """`kbd.core.search.ports.TextEmbedder` by an embedder of this machine.

    Args:
        work: Where it runs.
        embedder: It.
        model: Its model.
    """

    def __init__(self, work: LocalRuntime, embedder: Embedder, model: str) -> None:
        self._work, self._embedder, self._model = work, embedder, model

    @property
    def model_id(self) -> str:
        """The model that makes the vectors."""
        return f"{self._embedder.name}:{self._model}"

    @property
    def most_texts(self) -> int:
        """The most texts of one call."""
        return self._embedder.most_texts

    def fingerprint(self) -> str:
        """Return the key of the embedder's vectors; raises KbdError."""
        return f"{self.model_id} {self._call_embedder(self._embedder.fingerprint, self._model)}"

    def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Embeddings:
        """Return the vectors of texts; raises KbdError."""
        request = EmbedRequest(self._model, tuple(texts), purpose)
        return self._call_embedder(self._embedder.embed, request, _NoAccess())

    def _call_embedder(self, function: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
        try:
            return self._work.call(function, *arguments)
        except KbdError:
            raise
        except Exception as fault:
            msg = f"the embedder {self._embedder.name} failed inside ({type(fault).__name__})"
            raise ProviderUnavailable(msg) from fault


def _usable_model(embedder: Embedder, named: str) -> tuple[str, str]:
    """Return the model that an embedder is to use, or "" and why it is not to be used."""
    try:
        status, model = embedder.status(), named or embedder.default_model()
    except Exception as fault:  # noqa: BLE001 - a plugin's fault is told, not passed on
        return "", f"the embedder {embedder.name} failed inside ({type(fault).__name__})"
    if not status.configured or not model:
        return "", status.reason or f"the embedder {embedder.name} is not set up"
    # Without the daemon nobody asks for consent, and nothing that leaves is recorded.
    if status.leaves_machine or status.endpoint:
        return "", f"the embedder {embedder.name} is asked over the network: pass it as `embed`"
    return model, ""
