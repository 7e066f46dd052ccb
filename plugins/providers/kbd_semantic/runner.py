"""A sentence model as it runs: texts become tokens, tokens a vector of length 1.

Only the process of the model imports this; the libraries take 300 ms to load.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from kbd.errors import FileReadFailed, ProviderNotConfigured
from kbd_semantic.folder import SentenceModel, Shape
from kbd_semantic.graph import IN, encoder
from kbd_semantic.tensors import Floats, read_tensors

__all__ = ["Runner"]

_LOG_NOTHING = 4
_QUERY, _PASSAGE = ("query",), ("passage", "document")
"""Under which names models keep what they want before texts of each purpose."""


class _Encode(Protocol):
    """Makes the vector of a text from its tokens: (size,), of length 1."""

    def __call__(self, tokens: Sequence[int]) -> Floats: ...


class Runner:
    """A model that is loaded.

    Args:
        model: Which.
        threads: How many texts are made vectors beside each other.

    Raises:
        ProviderNotConfigured: The model cannot be run here.
        FileReadFailed: Its files are damaged.
    """

    def __init__(self, model: SentenceModel, threads: int) -> None:
        self._model = model
        self._tokens = _tokenizer(model.tokenizer, model.most_tokens)
        self._encode: _Encode = (
            _Bert(model.weights, model.shape, self._tokens, model.most_tokens)
            if model.shape is not None
            else _OnnxFile(model.weights, model.pooling)
        )
        self._threads = ThreadPoolExecutor(threads)

    def embed(self, texts: Sequence[str], *, is_query: bool) -> Floats:
        """Return the vectors of texts, (texts, size)."""
        names = _QUERY if is_query else _PASSAGE
        prompts = self._model.prompts
        before = next((prompts[name] for name in names if name in prompts), "")
        texts = [before + text for text in texts]
        if self._model.lower_case:
            texts = [text.lower() for text in texts]
        tokens = [encoding.ids for encoding in self._tokens.encode_batch(texts)]
        # The longest first: what is left at the end is short, so no thread waits long for another.
        order = sorted(range(len(texts)), key=lambda index: -len(tokens[index]))
        made = list(self._threads.map(self._encode, (tokens[index] for index in order)))
        vectors = np.empty((len(texts), len(made[0])), np.float32)
        vectors[order] = made
        if not np.isfinite(vectors).all():
            raise FileReadFailed("The model's weights are damaged: they make no numbers.")
        return vectors


class _Bert:
    """An encoder built from its weights."""

    def __init__(self, weights: Path, shape: Shape, tokenizer: Tokenizer, most_tokens: int) -> None:
        tensors = {
            name.removeprefix("bert."): tensor for name, tensor in read_tensors(weights).items()
        }
        words, places, kinds = (
            tensors.get(f"embeddings.{name}_embeddings.weight")
            for name in ("word", "position", "token_type")
        )
        if words is None or places is None or kinds is None or not len(kinds):
            raise FileReadFailed("The model's weights lack the tables of its embeddings.")
        if {table.shape[1:] for table in (words, places, kinds)} != {(shape.size,)}:
            raise FileReadFailed("The tables of the model's embeddings are of another size.")
        if len(words) < tokenizer.get_vocab_size() or len(places) < most_tokens:
            raise FileReadFailed("The model's weights do not go with its tokenizer.json.")
        # Rows are taken from the mapped file: of a table of 47 MB, few pages are ever read.
        self._words, self._places = words, places + kinds[0]
        built = encoder(shape, tensors)
        self._session = _session(built.graph, built.constants)
        self._constants = built.constants  # the session reads them where they lie

    def __call__(self, tokens: Sequence[int]) -> Floats:
        """Make the vector of a text."""
        embedded = self._words[np.asarray(tokens)]
        embedded += self._places[: len(tokens)]
        (vectors,) = self._session.run(None, {IN: embedded})
        vector: Floats = vectors[0]
        return vector


class _OnnxFile:
    """An encoder that is a file in ONNX: tokens in, the vectors of all tokens out."""

    def __init__(self, file: Path, pooling: str) -> None:
        self._session = _session(file)
        self._pooling = pooling
        self._inputs = [given.name for given in self._session.get_inputs()]
        if unknown := set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids"}:
            raise ProviderNotConfigured(
                f"{file.name} wants {', '.join(sorted(unknown))}, which sentence models do not."
            )

    def __call__(self, tokens: Sequence[int]) -> Floats:
        """Make the vector of a text."""
        ids = np.asarray(tokens, np.int64)[None]
        given = {name: np.ones_like(ids) for name in self._inputs}
        given["input_ids"] = ids
        if "token_type_ids" in given:
            given["token_type_ids"] = np.zeros_like(ids)
        states = self._session.run(None, given)[0]
        if states.ndim != 3:
            raise ProviderNotConfigured("The file in ONNX does not give a vector for each token.")
        pooled = states[0].mean(axis=0) if self._pooling == "mean" else states[0, 0]
        vector: Floats = (pooled / max(float(np.linalg.norm(pooled)), 1e-12)).astype(np.float32)
        return vector


def _session(graph: bytes | Path, beside: Mapping[str, Floats] | None = None) -> Any:
    """Return a graph ready to run, one thread a run: texts run beside each other instead.

    Args:
        graph: The graph, or the file with it.
        beside: Its constants; they have to live as long as what is returned.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _LOG_NOTHING
    if beside:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in beside.values()]
        options.add_external_initializers(list(beside), values)
    source = graph if isinstance(graph, bytes) else str(graph)
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception:  # noqa: BLE001 - the library has a class of its own for each kind of fault
        raise FileReadFailed("The model cannot be loaded: its encoder is damaged.") from None


def _tokenizer(file: Path, most_tokens: int) -> Tokenizer:
    """Return the tokenizer, with the model's limit in place of what its file says."""
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception:  # noqa: BLE001 - the library raises plain Exception
        raise FileReadFailed(f"{file.name} is damaged: it is not a tokenizer.") from None
    tokenizer.no_padding()
    tokenizer.enable_truncation(most_tokens)
    return tokenizer
