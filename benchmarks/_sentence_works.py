"""One way of running a sentence model, in a process that benchmarks/sentence_model.py asks.

`python -m benchmarks._sentence_works WAY FOLDER` loads the model, then answers each line of its
input, a JSON array of texts, with a line: seconds, processor seconds, most memory so far in MB, and
the first text's vector.
"""

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kbd.providers import EmbedRequest
from kbd_semantic import LocalEmbedder

__all__ = ["WAYS"]

WAYS = ("plain numpy", "the runner alone", "kbd", "kbd, one thread")
_TICKS_A_SECOND = 100
"""In which /proc counts processor time, on every Linux."""

Embed = Callable[[Sequence[str]], "np.ndarray[Any, Any]"]


def way(name: str, folder: Path) -> Embed:
    """Return what makes vectors of texts, (texts, size), in the way of that name."""
    match name:
        case "plain numpy":
            return _numpy(folder)
        case "the runner alone":
            from kbd_semantic.folder import read_model  # noqa: PLC0415 - each way loads its own
            from kbd_semantic.runner import Runner  # noqa: PLC0415 - the same

            runner = Runner(read_model(folder), 1)
            return lambda texts: runner.embed(texts, is_query=False)
        case "kbd" | "kbd, one thread":
            threads = {"threads": 1} if "one" in name else {}
            embedder = LocalEmbedder({"model": str(folder), **threads})

            def ask(texts: Sequence[str]) -> "np.ndarray[Any, Any]":
                made = embedder.embed_now(EmbedRequest("", tuple(texts), "passage"), 600.0)
                return np.frombuffer(made.data, "<f4").reshape(-1, made.size)

            return ask
    msg = f"there is no way {name!r}"
    raise ValueError(msg)


def _numpy(folder: Path) -> Embed:
    """BERT as anybody would write it with numpy: float32, one text after the other."""
    from tokenizers import Tokenizer  # noqa: PLC0415 - an extra, which may be absent

    from kbd_semantic.tensors import read_tensors  # noqa: PLC0415 - each way loads its own

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    limits = json.loads((folder / "sentence_bert_config.json").read_text())
    tokenizer.enable_truncation(limits["max_seq_length"])
    tensors = {
        name: np.array(of) for name, of in read_tensors(folder / "model.safetensors").items()
    }
    heads = json.loads((folder / "config.json").read_text())["num_attention_heads"]
    layers = {name.split(".")[2] for name in tensors if name.startswith("encoder.layer.")}

    def through(given: Any, name: str) -> Any:
        return given @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]

    def normal(given: Any, name: str) -> Any:
        straight = given - given.mean(-1, keepdims=True)
        straight /= np.sqrt(given.var(-1, keepdims=True) + 1e-12)
        return straight * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def gelu(given: Any) -> Any:
        inner = math.sqrt(2 / math.pi) * (given + 0.044715 * given * given * given)
        return given * 0.5 * (1 + np.tanh(inner))

    def vector(tokens: Sequence[int]) -> Any:
        places = tensors["embeddings.position_embeddings.weight"][: len(tokens)]
        words = tensors["embeddings.word_embeddings.weight"][list(tokens)]
        kind = tensors["embeddings.token_type_embeddings.weight"][0]
        current = normal(words + places + kind, "embeddings.LayerNorm")
        for layer in (f"encoder.layer.{number}." for number in sorted(layers, key=int)):
            query, key, value = (
                through(current, f"{layer}attention.self.{part}")
                .reshape(len(tokens), heads, -1)
                .transpose(1, 0, 2)
                for part in ("query", "key", "value")
            )
            scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            attended = weights / weights.sum(-1, keepdims=True) @ value
            flat = attended.transpose(1, 0, 2).reshape(len(tokens), -1)
            mixed = through(flat, f"{layer}attention.output.dense")
            current = normal(mixed + current, f"{layer}attention.output.LayerNorm")
            widened = gelu(through(current, f"{layer}intermediate.dense"))
            narrowed = through(widened, f"{layer}output.dense")
            current = normal(narrowed + current, f"{layer}output.LayerNorm")
        pooled = current.mean(0)
        return pooled / np.linalg.norm(pooled)

    return lambda texts: np.stack([vector(tokenizer.encode(text).ids) for text in texts])


def _processes() -> Iterator[Path]:
    """Yield what Linux tells of this process and of those that it started."""
    own = Path("/proc/self")
    yield own
    for number in (own / "task" / own.resolve().name / "children").read_text().split():
        yield Path("/proc", number)


def _most_mb() -> float:
    told = [(process / "status").read_text() for process in _processes()]
    return sum(int(text.split("VmHWM:")[1].split()[0]) for text in told) / 1024


def _processor_s() -> float:
    told = [(process / "stat").read_text().rpartition(")")[2].split() for process in _processes()]
    return sum(int(fields[11]) + int(fields[12]) for fields in told) / _TICKS_A_SECOND


def main() -> None:
    """Answer each line."""
    name, folder = sys.argv[1:]
    embed = way(name, Path(folder))
    for line in sys.stdin:
        texts = json.loads(line)
        begun, spent = time.perf_counter(), _processor_s()
        vectors = embed(texts)
        taken = time.perf_counter() - begun, _processor_s() - spent
        print(json.dumps([*taken, _most_mb(), vectors[0].tolist()]), flush=True)


if __name__ == "__main__":
    main()
