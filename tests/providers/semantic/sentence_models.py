"""A sentence model small enough to write here, and what it must answer, computed another way."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
from onnx import helper, numpy_helper

SIZE, LAYERS, HEADS, INNER, PLACES, MAX_TOKENS = 16, 2, 4, 32, 24, 12
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


class _Graph:
    """A graph in ONNX as it grows."""

    def __init__(self, tensors: dict[str, Floats]) -> None:
        self._tensors = tensors
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def add(self, operation: str, *inputs: str, called: str = "", **attributes: Any) -> str:
        """Add a node with one result; returns the result's name."""
        result = called or f"{operation}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operation, inputs, [result], **attributes))
        return result

    def constant(self, numbers: Any) -> str:
        """Add a constant: float32, or int64 where it is of whole numbers."""
        array = np.asarray(numbers)
        kind = np.int64 if array.dtype.kind == "i" else np.float32
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(array.astype(kind), name))
        return name

    def through(self, given: str, name: str) -> str:
        """Add a product with a weight, which is kept as (to, from), and its bias."""
        weight = self.constant(self._tensors[f"{name}.weight"].T)
        bias = self.constant(self._tensors[f"{name}.bias"])
        return self.add("Add", self.add("MatMul", given, weight), bias)

    def normal(self, given: str, name: str) -> str:
        """Add a LayerNorm."""
        parts = (self.constant(self._tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.add("LayerNormalization", given, *parts, axis=-1, epsilon=1e-12)

    def gelu(self, given: str) -> str:
        """Add the exact curve."""
        inner = self.add("Erf", self.add("Div", given, self.constant(math.sqrt(2))))
        half = self.add("Mul", given, self.constant(0.5))
        return self.add("Mul", half, self.add("Add", inner, self.constant(1.0)))

    def written(self, inputs: Sequence[str]) -> bytes:
        """Return the whole file."""
        shape = ("texts", "tokens")
        given = [
            helper.make_tensor_value_info(name, onnx.TensorProto.INT64, shape) for name in inputs
        ]
        states = helper.make_tensor_value_info(
            "last_hidden_state", onnx.TensorProto.FLOAT, (*shape, None)
        )
        whole = helper.make_graph(self._nodes, "encoder", given, [states], self._constants)
        sets = [helper.make_opsetid("", 17)]
        return _written(helper.make_model(whole, opset_imports=sets, ir_version=9))


def _written(model: onnx.ModelProto) -> bytes:
    written: bytes = model.SerializeToString()
    return written


def encoder(tensors: dict[str, Floats], heads: int = HEADS) -> bytes:
    """Return an encoder in ONNX by its weights, in plain steps, as exporters write one."""
    graph = _Graph(tensors)
    size = tensors["embeddings.LayerNorm.weight"].shape[0]
    layers = len({name.split(".")[2] for name in tensors if name.startswith("encoder.layer.")})
    words, places, kinds = (
        graph.constant(tensors[f"embeddings.{name}_embeddings.weight"])
        for name in ("word", "position", "token_type")
    )
    count = graph.add("Shape", "input_ids", start=1, end=2)
    place = graph.add("Slice", places, graph.constant([0]), count, graph.constant([0]))
    embedded = graph.add("Add", graph.add("Gather", words, "input_ids"), place)
    embedded = graph.add("Add", embedded, graph.add("Gather", kinds, "token_type_ids"))
    current = graph.normal(embedded, "embeddings.LayerNorm")
    apart = graph.constant([0, 0, heads, size // heads])
    together = graph.constant([0, 0, size])
    for layer in (f"encoder.layer.{number}." for number in range(layers)):
        query, key, value = (
            graph.add("Reshape", graph.through(current, f"{layer}attention.self.{part}"), apart)
            for part in ("query", "key", "value")
        )
        query, value = (graph.add("Transpose", of, perm=[0, 2, 1, 3]) for of in (query, value))
        scores = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 2, 3, 1]))
        scaled = graph.add("Div", scores, graph.constant(math.sqrt(size // heads)))
        attended = graph.add("MatMul", graph.add("Softmax", scaled, axis=-1), value)
        flat = graph.add("Transpose", attended, perm=[0, 2, 1, 3])
        flat = graph.add("Reshape", flat, together)
        mixed = graph.add("Add", graph.through(flat, f"{layer}attention.output.dense"), current)
        current = graph.normal(mixed, f"{layer}attention.output.LayerNorm")
        widened = graph.gelu(graph.through(current, f"{layer}intermediate.dense"))
        narrowed = graph.add("Add", graph.through(widened, f"{layer}output.dense"), current)
        current = graph.normal(narrowed, f"{layer}output.LayerNorm")
    graph.add("Identity", current, called="last_hidden_state")
    return graph.written(("input_ids", "attention_mask", "token_type_ids"))


def inputs_as_states() -> bytes:
    """Return an encoder whose vector of a token is its number, its mask and its kind."""
    graph, inputs = _Graph({}), ("input_ids", "attention_mask", "token_type_ids")
    last = graph.constant([-1])
    deep = [
        graph.add("Unsqueeze", graph.add("Cast", given, to=onnx.TensorProto.FLOAT), last)
        for given in inputs
    ]
    graph.add("Concat", *deep, axis=-1, called="last_hidden_state")
    return graph.written(inputs)


def with_outside_data(location: str) -> bytes:
    """Return an encoder that has numbers in another file, 16 bytes at its beginning."""
    model = onnx.load_from_string(inputs_as_states())
    outside = onnx.TensorProto(
        name="outside",
        data_type=onnx.TensorProto.FLOAT,
        dims=[4],
        data_location=onnx.TensorProto.EXTERNAL,
    )
    for key, value in (("location", location), ("offset", "0"), ("length", "16")):
        outside.external_data.add(key=key, value=value)
    model.graph.initializer.append(outside)
    last = model.graph.node[-1]
    last.output[0] = "states"
    total = helper.make_node("ReduceSum", ["outside"], ["total"], keepdims=0)
    added = helper.make_node("Add", ["states", "total"], ["last_hidden_state"])
    model.graph.node.extend([total, added])
    return _written(model)


def with_own_operation() -> bytes:
    """Return an encoder that asks for an operation of a library of its own."""
    model = onnx.load_from_string(inputs_as_states())
    model.graph.node[-1].domain, model.graph.node[-1].op_type = "com.example", "Run"
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    return _written(model)


def write_model(folder: Path) -> Path:
    """Write the folder of the model."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(encoder(tensors_of_a_model()))
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
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": PLACES}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": MAX_TOKENS}))
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
