"""A sentence model small enough to write here, and what it must answer, computed another way."""

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

SIZE, LAYERS, HEADS, INNER, PLACES, MOST_TOKENS = 16, 2, 4, 32, 24, 12
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "term", "of", "delivery", "is", "##s", "four")

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Lent(msgspec.Struct, frozen=True):
    """An `Access` of plain values, for an embedder that needs none of them."""

    timeout_s: float = 60.0
    api_key: str | None = None
    base_url: str | None = None
    http_client: Any = None
    ask: None = None


def tensors_of_a_model() -> dict[str, Floats]:
    """Return random weights, the same each time, by the names that BERT gives them."""
    drawn = np.random.default_rng(8)

    def some(*shape: int) -> Floats:
        return drawn.normal(0, 0.4, shape).astype(np.float32).astype(np.float64)

    tensors = {
        "embeddings.word_embeddings.weight": some(len(WORDS), SIZE),
        "embeddings.position_embeddings.weight": some(PLACES, SIZE),
        "embeddings.token_type_embeddings.weight": some(2, SIZE),
    }
    products = {
        "attention.self.query": (SIZE, SIZE),
        "attention.self.key": (SIZE, SIZE),
        "attention.self.value": (SIZE, SIZE),
        "attention.output.dense": (SIZE, SIZE),
        "intermediate.dense": (INNER, SIZE),
        "output.dense": (SIZE, INNER),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        for name, shape in products.items():
            tensors[f"encoder.layer.{layer}.{name}.weight"] = some(*shape)
            tensors[f"encoder.layer.{layer}.{name}.bias"] = some(shape[0])
        norms += [
            f"encoder.layer.{layer}.{part}.LayerNorm" for part in ("attention.output", "output")
        ]
    for norm in norms:
        tensors[f"{norm}.weight"] = 1 + some(SIZE)
        tensors[f"{norm}.bias"] = some(SIZE)
    return tensors


def write_tensors(file: Path, tensors: dict[str, Floats], dtype: str = "F32") -> None:
    """Write a safetensors file, as its format is described."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, numbers in tensors.items():
        match dtype:
            case "F32":
                data = numbers.astype("<f4").tobytes()
            case "F16":
                data = numbers.astype("<f2").tobytes()
            case _:
                data = (numbers.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
        place = [len(body), len(body) + len(data)]
        header[name] = {"dtype": dtype, "shape": list(numbers.shape), "data_offsets": place}
        body += data
    written = json.dumps(header).encode()
    file.write_bytes(len(written).to_bytes(8, "little") + written + body)


def write_model(folder: Path, **config: object) -> Path:
    """Write the folder of the model; `config` replaces entries of its config.json."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    folder.mkdir(parents=True, exist_ok=True)
    write_tensors(folder / "model.safetensors", tensors_of_a_model())
    numbers = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", numbers["[CLS]"]), ("[SEP]", numbers["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $0 [SEP]", None, ends)
    # As published models have it, and nobody wants it: what counts is max_seq_length.
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(length=9)
    tokenizer.save(str(folder / "tokenizer.json"))
    built = {
        "model_type": "bert",
        "hidden_size": SIZE,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "intermediate_size": INNER,
        "max_position_embeddings": PLACES,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
    }
    (folder / "config.json").write_text(json.dumps(built | config))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": MOST_TOKENS}))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    write_pooling(folder, "mean_tokens")
    return folder


def write_pooling(folder: Path, mode: str) -> None:
    """Write how a text's vector is made of those of its tokens."""
    pooled = {"word_embedding_dimension": SIZE} | {
        f"pooling_mode_{known}": known == mode
        for known in ("cls_token", "mean_tokens", "max_tokens")
    }
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooled))


def plain_vector(
    tensors: dict[str, Floats], tokens: list[int], heads: int = HEADS, pooling: str = "mean"
) -> Floats:
    """Return the vector of a text as BERT is described, one plain step after another."""
    size = tensors["embeddings.LayerNorm.weight"].shape[0]
    layers = len({name.split(".")[2] for name in tensors if name.startswith("encoder.layer.")})

    def through(given: Floats, name: str) -> Floats:
        product: Floats = given @ tensors[f"{name}.weight"].T + tensors[f"{name}.bias"]
        return product

    def normal(given: Floats, name: str) -> Floats:
        spread = np.sqrt(given.var(-1, keepdims=True) + 1e-12)
        straight: Floats = (given - given.mean(-1, keepdims=True)) / spread
        return straight * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def gelu(given: Floats) -> Floats:
        below = np.vectorize(lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2))))
        curved: Floats = given * below(given)
        return curved

    current = tensors["embeddings.word_embeddings.weight"][tokens]
    current = current + tensors["embeddings.position_embeddings.weight"][: len(tokens)]
    current = normal(
        current + tensors["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm"
    )
    for layer in (f"encoder.layer.{number}." for number in range(layers)):
        parts = []
        width = size // heads
        for head in (slice(width * index, width * (index + 1)) for index in range(heads)):
            query, key, value = (
                through(current, f"{layer}attention.self.{part}")[:, head]
                for part in ("query", "key", "value")
            )
            weights = np.exp(query @ key.T / math.sqrt(width))
            parts.append(weights / weights.sum(-1, keepdims=True) @ value)
        attended = through(np.concatenate(parts, -1), f"{layer}attention.output.dense")
        current = normal(attended + current, f"{layer}attention.output.LayerNorm")
        widened = gelu(through(current, f"{layer}intermediate.dense"))
        current = normal(
            through(widened, f"{layer}output.dense") + current, f"{layer}output.LayerNorm"
        )
    pooled = current.mean(0) if pooling == "mean" else current[0]
    vector: Floats = pooled / np.linalg.norm(pooled)
    return vector
