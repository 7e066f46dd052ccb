"""Folder of a sentence model: its files and their settings.

The files are those that sentence models are published with:

    model.onnx, onnx/model.onnx  the encoder: tokens in, a vector for each token out
    tokenizer.json               how texts become tokens
    config.json                  how many tokens the encoder takes
    1_Pooling/config.json        what of the tokens makes the text's vector; else their mean
    sentence_bert_config.json    how many tokens of a text are looked at
    modules.json, config_sentence_transformers.json   what else is done; refused if we cannot
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from kbd.errors import FileReadFailed, ProviderNotConfigured

__all__ = ["DOWNLOAD", "SentenceModel", "encoder_file", "find_folder", "read_model", "unfit_reason"]

DOWNLOAD = (
    "hf download sentence-transformers/all-MiniLM-L6-v2"
    " --include '*.json' --include onnx/model.onnx --local-dir FOLDER"
)
"""Gets a model of 91 MB; `hf` comes with the extra semantic, for tokenizers brings it."""

_EXPORT = "optimum-cli export onnx --model FOLDER NEW_FOLDER"
"""Makes model.onnx of the weights of a model (pip install optimum-onnx; it brings torch)."""

_ENCODERS = ("model.onnx", "onnx/model.onnx")
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_MAX_JSON_BYTES = 1 << 20
_MAX_TOKENIZER_BYTES = 128 << 20
"""Four times that of the largest vocabularies, of 256,000 tokens."""

_MAX_ENCODER_BYTES = (1 << 31) - 1
"""The largest file that the format allows; more lies in files beside it."""

_KNOWN_MODULES = frozenset({"Transformer", "Pooling", "Normalize"})
_POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}

_Size = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
T = TypeVar("T")


class SentenceModel(msgspec.Struct, frozen=True):
    """Settings of a sentence model, as its files have them.

    Args:
        encoder: The file with the encoder.
        tokenizer: The file that says how texts become tokens.
        pooling: "mean" of the vectors of all tokens, or that of the first one ("cls").
        max_tokens: As many tokens of a text are looked at.
        lower_case: Whether texts are made lower-case first.
        prompts: What is put before a text, by what it is for.
    """

    encoder: Path
    tokenizer: Path
    pooling: str
    max_tokens: int
    lower_case: bool
    prompts: Mapping[str, str]


class _Config(msgspec.Struct, frozen=True):
    max_position_embeddings: _Size = 512


class _Sentences(msgspec.Struct, frozen=True):
    max_seq_length: _Size | None = None
    do_lower_case: bool = False


class _Prompts(msgspec.Struct, frozen=True):
    prompts: dict[str, str] | None = None


class _Module(msgspec.Struct, frozen=True):
    type: str


def find_folder(named: str) -> Path | None:
    """Return the folder that settings name; None if they name none."""
    return Path(named).expanduser().absolute() if named else None


def encoder_file(folder: Path) -> Path | None:
    """Return the file with the encoder, None if there is none."""
    return next((folder / name for name in _ENCODERS if (folder / name).is_file()), None)


def unfit_reason(folder: Path) -> str:
    """Return why a folder is no model that is run here and what to do; "" if it has the files."""
    if encoder_file(folder) is None:
        if weights := next((name for name in _WEIGHTS if (folder / name).is_file()), ""):
            return (
                f"the folder {folder.name} has {weights} but no model.onnx: download one that has"
                f" ({DOWNLOAD}), or make it of the weights ({_EXPORT})"
            )
        return f"the folder {folder.name} is no sentence model, it lacks model.onnx: {DOWNLOAD}"
    if not (folder / "tokenizer.json").is_file():
        return f"the folder {folder.name} is no sentence model, it lacks tokenizer.json"
    return ""


def read_model(folder: Path) -> SentenceModel:
    """Read what a folder's files say, without its encoder.

    Raises:
        ProviderNotConfigured: A file is missing, or the model is of a kind that is not run here.
        FileReadFailed: A file is damaged.
    """
    encoder, tokenizer = encoder_file(folder), folder / "tokenizer.json"
    reason = unfit_reason(folder)
    if encoder is None or reason:
        raise ProviderNotConfigured(reason)
    # The libraries read these whole, so that a size can only be refused before.
    _check_size(encoder, _MAX_ENCODER_BYTES)
    _check_size(tokenizer, _MAX_TOKENIZER_BYTES)
    config = _read(folder, "config.json", _Config, _Config())
    sentences = _read(folder, "sentence_bert_config.json", _Sentences, _Sentences())
    own = sentences.max_seq_length or config.max_position_embeddings
    prompts = _read(folder, "config_sentence_transformers.json", _Prompts, _Prompts())
    modules = _read(folder, "modules.json", list[_Module], [])
    for module in modules:
        if (kind := module.type.rpartition(".")[2]) not in _KNOWN_MODULES:
            raise ProviderNotConfigured(f"the model has a part that is not run here: {kind}")
    pooling = _pooling(_read(folder, "1_Pooling/config.json", dict[str, Any], {}))
    return SentenceModel(
        encoder=encoder,
        tokenizer=tokenizer,
        pooling=pooling,
        max_tokens=min(own, config.max_position_embeddings),
        lower_case=sentences.do_lower_case,
        prompts=prompts.prompts or {},
    )


def _check_size(file: Path, max_bytes: int) -> None:
    try:
        size = file.stat().st_size
    except OSError as fault:
        raise FileReadFailed(f"{file.name} cannot be read: {fault.strerror}") from None
    if size > max_bytes:
        raise FileReadFailed(
            f"{file.name} is too large for a sentence model: {size:,} bytes, at most {max_bytes:,}"
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
            modes = ", ".join(map(str, chosen))
            raise ProviderNotConfigured(f"the model pools in a way that is not run here: {modes}")


def _read(folder: Path, name: str, kind: type[T], absent: T) -> T:
    """Return what a JSON file says, `absent` if there is no such file."""
    try:
        with (folder / name).open("rb") as stream:
            text = stream.read(_MAX_JSON_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return absent
    except OSError as fault:
        raise FileReadFailed(f"{name} cannot be read: {fault.strerror}") from None
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise FileReadFailed(f"{name} is damaged: it is not what it should be") from None
