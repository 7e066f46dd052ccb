"""The encoder of a BERT model as a graph in ONNX, for one text at a time.

One text a run needs no padding and no mask, and it is as fast as any batch here: 100 tokens keep
the units of a processor busy, and what they make stays in its caches. Texts run beside each other
on as many threads.

    embeddings (rows of three tables, added outside)
        └ LayerNorm ─ layer × n ─ mean of all tokens, or the first one ─ length 1

    layer:  Q, K, V in one product ─ attention ─ product ─ + ─ LayerNorm ─
            product ─ GELU ─ product ─ + ─ LayerNorm
"""

from collections.abc import Mapping

import msgspec
import numpy as np

from kbd.errors import FileReadFailed
from kbd_semantic.protobuf import FLOAT32, Attribute, graph, model, node, outside, value
from kbd_semantic.tensors import Floats

__all__ = ["GELUS", "IN", "OUT", "Encoder", "Shape", "encoder"]

IN, OUT = "embedded", "vector"
"""What goes in: (1, tokens, size); what comes out: (1, size), of length 1."""

_FUSED = "com.microsoft"
"""The set of operations beyond the standard's that onnxruntime has."""

_CURVES = {"gelu": "BiasGelu", "gelu_new": "FastGelu", "gelu_pytorch_tanh": "FastGelu"}
"""The operation for each curve that is known: the exact one, and the usual approximation."""

GELUS = frozenset(_CURVES)
"""The curves that a model may name."""


class Shape(msgspec.Struct, frozen=True):
    """How an encoder is built, as its config.json says.

    Args:
        size: Numbers of a token's vector.
        layers: How many layers.
        inner: Numbers of a token's vector between the two products that end a layer.
        heads: Heads of attention in each.
        epsilon: What keeps LayerNorm from dividing by nothing.
        gelu: Which curve: "gelu", or its approximations.
        pooling: What of all tokens makes the text's vector.
    """

    size: int
    layers: int
    inner: int
    heads: int
    epsilon: float
    gelu: str
    pooling: str


class Encoder(msgspec.Struct, frozen=True):
    """A graph, and the constants that it needs beside it."""

    graph: bytes
    constants: Mapping[str, Floats]


class _Drawing:
    """A graph as it grows."""

    def __init__(self, tensors: Mapping[str, Floats]) -> None:
        self._tensors = tensors
        self.nodes: list[bytes] = []
        self.constants: dict[str, Floats] = {}

    def tensor(self, name: str, *shape: int) -> Floats:
        """Return one of the model's tensors; raises FileReadFailed for none of this shape."""
        found = self._tensors.get(name)
        if found is None or found.shape != shape:
            raise FileReadFailed(
                f"The model's weights lack {name} of the shape {'×'.join(map(str, shape))}."
            )
        return found

    def own(self, name: str, *shape: int) -> str:
        """Keep one of the model's tensors as it is; returns its name."""
        return self.constant(name, self.tensor(name, *shape))

    def product(self, given: str, name: str, size: int, to_size: int) -> str:
        """Add the product with a weight of the model, which is kept as (to, from)."""
        weight = self.tensor(f"{name}.weight", to_size, size)
        return self.add("MatMul", given, self.constant(f"{name}.weight", weight.T))

    def constant(self, name: str, numbers: Floats) -> str:
        """Keep a constant; returns its name."""
        self.constants[name] = np.ascontiguousarray(numbers)
        return name

    def add(
        self, operation: str, *inputs: str, domain: str = "", to: str = "", **options: Attribute
    ) -> str:
        """Add a node with one result; returns the result's name."""
        result = to or f"{operation}{len(self.nodes)}"
        self.nodes.append(node(operation, inputs, (result,), options, domain=domain))
        return result


def encoder(shape: Shape, tensors: Mapping[str, Floats]) -> Encoder:
    """Return the graph of a model.

    Args:
        shape: How it is built.
        tensors: Its weights by the names that BERT gives them.

    Raises:
        FileReadFailed: A tensor is missing or has another shape.
    """
    drawing = _Drawing(tensors)
    current = _normalised(drawing, IN, "embeddings.LayerNorm", shape)
    for index in range(shape.layers):
        current = _layer(drawing, current, f"encoder.layer.{index}.", shape)
    if shape.pooling == "mean":
        pooled = drawing.add("ReduceMean", current, axes=(1,), keepdims=0)
    else:
        first = drawing.add("Constant", value_int=0)
        pooled = drawing.add("Gather", current, first, axis=1)
    drawing.add("LpNormalization", pooled, axis=-1, p=2, to=OUT)
    whole = graph(
        drawing.nodes,
        (outside(name, numbers.shape) for name, numbers in drawing.constants.items()),
        (value(IN, FLOAT32, (1, "tokens", shape.size)),),
        (value(OUT, FLOAT32, (1, shape.size)),),
    )
    return Encoder(model(whole, {"": 17, _FUSED: 1}), drawing.constants)


def _layer(drawing: _Drawing, given: str, prefix: str, shape: Shape) -> str:
    size, inner = shape.size, shape.inner
    own, out = f"{prefix}attention.self.", f"{prefix}attention.output."
    parts = ("query", "key", "value")
    together = np.concatenate([drawing.tensor(f"{own}{part}.weight", size, size) for part in parts])
    biases = np.concatenate([drawing.tensor(f"{own}{part}.bias", size) for part in parts])
    attended = drawing.add(
        "Attention",
        given,
        drawing.constant(f"{own}weight", together.T),
        drawing.constant(f"{own}bias", biases),
        domain=_FUSED,
        num_heads=shape.heads,
    )
    mixed = drawing.product(attended, f"{out}dense", size, size)
    current = _added(drawing, mixed, given, out, shape)
    widened = drawing.product(current, f"{prefix}intermediate.dense", size, inner)
    bias = drawing.own(f"{prefix}intermediate.dense.bias", inner)
    curved = drawing.add(_CURVES[shape.gelu], widened, bias, domain=_FUSED)
    narrowed = drawing.product(curved, f"{prefix}output.dense", inner, size)
    return _added(drawing, narrowed, current, f"{prefix}output.", shape)


def _added(drawing: _Drawing, product: str, skipped: str, prefix: str, shape: Shape) -> str:
    """The product with its bias, and what went around it, normalised."""
    size = shape.size
    names = ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")
    constants = (drawing.own(f"{prefix}{name}", size) for name in names)
    return drawing.add(
        "SkipLayerNormalization",
        product,
        skipped,
        *constants,
        domain=_FUSED,
        epsilon=shape.epsilon,
    )


def _normalised(drawing: _Drawing, given: str, prefix: str, shape: Shape) -> str:
    constants = (drawing.own(f"{prefix}.{name}", shape.size) for name in ("weight", "bias"))
    return drawing.add("LayerNormalization", given, *constants, axis=-1, epsilon=shape.epsilon)
