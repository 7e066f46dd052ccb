"""The embedder `local`: a sentence model in a process of its own, on this machine."""

import hashlib
import importlib.util
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import anyio.to_thread

from kbd.errors import NotFound, ProviderNotConfigured
from kbd.providers import Access, Embedder, Embeddings, EmbedRequest, ProviderStatus
from kbd_semantic.folder import DOWNLOAD, encoder_file, find_folder, unfit_reason
from kbd_semantic.messages import Texts
from kbd_semantic.sidecar import Sidecar

__all__ = ["LocalEmbedder"]

_LIBRARIES = ("onnxruntime", "tokenizers")
_EDITION = "encoder 1, float32"
"""Part of the fingerprint; raised where the same files would give other vectors."""

_BATCH_TEXTS = 8
"""Texts of one exchange: a canceled call, and a query that waits, wait no longer than these."""

_MAX_THREADS, _MAX_NAMED_THREADS = 8, 256
_OWN_FILES = (
    "config.json",
    "tokenizer.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "model.onnx_data",
    "onnx/model.onnx_data",
    "model.onnx.data",
    "onnx/model.onnx.data",
)

_Stamp = tuple[tuple[str, int, int, int], ...]
"""Name, size, time of change and inode of the model's files: it differs once one has changed."""


class LocalEmbedder(Embedder):
    """Embedder that runs the sentence model of a folder.

    Args:
        settings: `model`, a folder, or nothing for none; `threads`, how many texts are made vectors
            beside each other, or nothing for one a processor.
    """

    name: ClassVar[str] = "local"

    def __init__(self, settings: Mapping[str, Any]) -> None:
        named, threads = settings.get("model"), settings.get("threads")
        self._named = named if isinstance(named, str) else ""
        self._threads = min(_processors(), _MAX_THREADS)
        if isinstance(threads, int) and 0 < threads <= _MAX_NAMED_THREADS:
            self._threads = threads
        self._guard = threading.Lock()
        self._sidecar: tuple[_Stamp, Sidecar] | None = None
        self._fingerprint: tuple[_Stamp, str] | None = None

    def status(self) -> ProviderStatus:
        """Return whether libraries and a model are there; imports and reads neither."""
        reason = self._configuration_error()
        return ProviderStatus(configured=reason is None, leaves_machine=False, reason=reason)

    def default_model(self) -> str:
        """Return the name of the folder; "" for none."""
        folder = find_folder(self._named)
        return "" if folder is None or unfit_reason(folder) else folder.name

    async def fingerprint(self, model: str) -> str:
        """Return the hash of the model's files and of how it is run.

        Raises:
            ProviderNotConfigured: There is no such model; the message says what to do.
        """
        return await anyio.to_thread.run_sync(self.fingerprint_now, model)

    def fingerprint_now(self, model: str = "") -> str:
        """Return the same, in the caller's own thread."""
        folder = self._folder(model)
        stamp = _stamp(folder)
        if self._fingerprint is None or self._fingerprint[0] != stamp:
            self._fingerprint = (stamp, _hash(folder))
        return self._fingerprint[1]

    async def embed(self, request: EmbedRequest, access: Access) -> Embeddings:
        """Make the vectors, in the model's process.

        A call that is canceled leaves at once; what its process has begun is finished and dropped.

        Raises:
            ProviderNotConfigured: A library or a model is missing, or it cannot be run here.
            FileReadFailed: The model's files are damaged.
            ProviderUnavailable: The process died twice, or a few texts took it too long.
        """
        is_cancelled = threading.Event()
        try:
            return await anyio.to_thread.run_sync(
                self.embed_now, request, access.timeout_s, is_cancelled, abandon_on_cancel=True
            )
        finally:
            is_cancelled.set()

    def embed_now(
        self, request: EmbedRequest, timeout_s: float, is_cancelled: threading.Event | None = None
    ) -> Embeddings:
        """Make the vectors, in the caller's own thread.

        Args:
            request: The texts.
            timeout_s: The longest wait for a few of them.
            is_cancelled: Set when nobody waits any more; then what is returned is not whole.
        """
        folder = self._folder(request.model)
        data, size = bytearray(), 0
        for texts in _batches(request.texts):
            if is_cancelled is not None and is_cancelled.is_set():
                break
            asked = Texts(texts, is_query=request.purpose == "query")
            vectors = self._running(folder).ask(asked, timeout_s)
            data += vectors.data
            size = vectors.size
        return Embeddings(bytes(data), size)

    async def aclose(self) -> None:
        """End the process; the next call starts another one."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.close)

    def close(self) -> None:
        """End the process, in the caller's own thread."""
        with self._guard:
            current, self._sidecar = self._sidecar, None
        if current is not None:
            current[1].close()

    def _running(self, folder: Path) -> Sidecar:
        """The process for the files as they are now."""
        stamp = _stamp(folder)
        with self._guard:
            current = self._sidecar
            if current is not None and current[0] == stamp:
                return current[1]
            self._sidecar = stamp, (fresh := Sidecar(folder, self._threads))
        if current is not None:
            current[1].close()
        return fresh

    def _folder(self, model: str) -> Path:
        reason, folder = self._configuration_error(), find_folder(self._named)
        if reason is not None or folder is None:
            raise ProviderNotConfigured(reason or "there is no sentence model")
        if model and model != self.default_model():
            raise NotFound(f"the sentence model here is {self.default_model()}, not {model}")
        return folder

    def _configuration_error(self) -> str | None:
        """Return what is missing and what to do about it, None if nothing is."""
        if missing := [name for name in _LIBRARIES if importlib.util.find_spec(name) is None]:
            names = " and ".join(missing)
            return (
                f'what runs sentence models is not installed ({names}): pip install "kbd[semantic]"'
            )
        folder = find_folder(self._named)
        if folder is None:
            return (
                f"there is no sentence model: {DOWNLOAD}, and name the folder"
                " ([plugins.semantic] model, SEMANTIC_MODEL)"
            )
        return unfit_reason(folder) or None


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _batches(texts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """A few texts at a time, as well-formed Unicode: half a pair of surrogates becomes "?"."""
    for start in range(0, len(texts), _BATCH_TEXTS):
        few = texts[start : start + _BATCH_TEXTS]
        yield tuple(text.encode("utf-8", "replace").decode() for text in few)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    encoder = encoder_file(folder)
    if encoder is not None:
        yield encoder.name, encoder
    yield from ((name, folder / name) for name in _OWN_FILES)


def _stamp(folder: Path) -> _Stamp:
    found = []
    for name, file in _files(folder):
        try:
            status = file.stat()
        except OSError:
            continue
        found.append((name, status.st_size, status.st_mtime_ns, status.st_ino))
    return tuple(found)


def _hash(folder: Path) -> str:
    whole = hashlib.sha256(_EDITION.encode())
    for name, file in _files(folder):
        try:
            with file.open("rb") as stream:
                whole.update(
                    f"\0{name}\0".encode() + hashlib.file_digest(stream, "sha256").digest()
                )
        except (FileNotFoundError, NotADirectoryError):
            continue  # few models have all of them
        except OSError as fault:
            raise ProviderNotConfigured(f"{name} cannot be read: {fault.strerror}") from None
    return whole.hexdigest()
