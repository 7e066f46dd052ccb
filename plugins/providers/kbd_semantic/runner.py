"""Inference of a sentence model: texts become tokens, tokens a vector of length 1.

The encoder is the file in ONNX that the model is published with, run by onnxruntime as it is. One
text a run needs no padding, and it is as fast as any batch here: 100 tokens keep the units of a
processor busy, and what they make stays in its caches. Texts run beside each other on as many
threads. What makes one vector of those of all tokens is here, for it is not in the published files.

A folder may come from anybody. What lies beside the encoder and belongs to it is read by
onnxruntime, which from 1.24.1 on refuses a path that leads out of the folder; no library of custom
operations is ever registered, so an encoder that asks for one cannot be loaded.

Only the process of the model imports this; the libraries take 300 ms to load.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from kbd.errors import FileReadFailed, ProviderNotConfigured
from kbd_semantic.folder import SentenceModel

__all__ = ["Floats", "Runner"]

Floats = np.ndarray[Any, np.dtype[np.float32]]
"""An array of float32."""

_LOG_NOTHING = 4
_QUERY, _PASSAGE = ("query",), ("passage", "document")
"""Names of a model's prompts for texts of each purpose."""


class Runner:
    """Loaded sentence model.

    Args:
        model: Which.
        threads: How many texts are made vectors beside each other.

    Raises:
        ProviderNotConfigured: The model cannot be run here.
        FileReadFailed: Its files are damaged.
    """

    def __init__(self, model: SentenceModel, threads: int) -> None:
        self._model = model
        self._tokens = _tokenizer(model.tokenizer, model.max_tokens)
        self._encode = _Encoder(model.encoder, model.pooling)
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
            raise FileReadFailed("the model's encoder is damaged: it makes no numbers")
        return vectors


class _Encoder:
    """An encoder in ONNX: tokens in, the vectors of all tokens out.

    Args:
        file: The file.
        pooling: "mean" of these vectors, or that of the first token ("cls").
    """

    def __init__(self, file: Path, pooling: str) -> None:
        self._session = _session(file)
        self._pooling = pooling
        self._inputs = [given.name for given in self._session.get_inputs()]
        if unknown := set(self._inputs) - {"input_ids", "attention_mask", "token_type_ids"}:
            raise ProviderNotConfigured(
                f"{file.name} wants {', '.join(sorted(unknown))}, which sentence models do not"
            )

    def __call__(self, tokens: Sequence[int]) -> Floats:
        """Make the vector of a text."""
        ids = np.asarray(tokens, np.int64)[None]
        given = {name: np.ones_like(ids) for name in self._inputs}
        given["input_ids"] = ids
        if "token_type_ids" in given:
            given["token_type_ids"] = np.zeros_like(ids)
        try:
            states = self._session.run(None, given)[0]
        except Exception as fault:  # noqa: BLE001 - the library has a class for each kind of fault
            raise FileReadFailed(
                f"the model's encoder cannot be run ({type(fault).__name__}): its files are damaged"
            ) from None
        if states.ndim != 3 or states.shape[:2] != ids.shape:
            raise ProviderNotConfigured(
                "the model's encoder does not give a vector for each token; kbd pools them itself"
            )
        # One text without padding: all that an attention mask would leave out is not there.
        pooled = states[0].mean(axis=0) if self._pooling == "mean" else states[0, 0]
        vector: Floats = (pooled / max(float(np.linalg.norm(pooled)), 1e-12)).astype(np.float32)
        return vector


def _session(file: Path) -> Any:
    """Return an encoder ready to run, one thread a run: texts run beside each other instead."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _LOG_NOTHING
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception:  # noqa: BLE001 - the library has a class of its own for each kind of fault
        raise FileReadFailed(
            f"{file.name} cannot be loaded: it is damaged, asks for operations that are not"
            " built in, or for files outside its folder"
        ) from None


def _tokenizer(file: Path, max_tokens: int) -> Tokenizer:
    """Return the tokenizer, with the model's limit in place of what its file says."""
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception:  # noqa: BLE001 - the library raises plain Exception
        raise FileReadFailed(f"{file.name} is damaged: it is not a tokenizer") from None
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer
