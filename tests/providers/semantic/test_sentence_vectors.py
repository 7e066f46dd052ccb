"""What the model answers is what BERT is described to answer, whatever the text."""

from pathlib import Path

import numpy as np
import pytest

from kbd.errors import KbdError
from kbd_semantic.folder import read_model
from kbd_semantic.protobuf import FLOAT32, INT64, graph, model, node, value
from providers.semantic.sentence_models import (
    MOST_TOKENS,
    WORDS,
    plain_vector,
    tensors_of_a_model,
    write_model,
    write_pooling,
    write_tensors,
)

pytest.importorskip("onnxruntime", reason="the extra semantic is not installed")
pytest.importorskip("tokenizers", reason="the extra semantic is not installed")

from kbd_semantic.runner import Runner

DAMAGED, UNFIT = "FILE_READ_FAILED", "PROVIDER_NOT_CONFIGURED"
TEXTS = ("the term of delivery", "is", "four terms", "the the the term of of delivery is four")


def tokens(text: str) -> list[int]:
    """Return the numbers of words that the tests' model knows."""
    split = text.replace("terms", "term ##s").split()
    return [WORDS.index(word) for word in ("[CLS]", *split, "[SEP]")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small model; nobody changes it."""
    return write_model(tmp_path_factory.mktemp("models") / "small")


@pytest.fixture(scope="module")
def runner(folder: Path) -> Runner:
    """The small model, loaded."""
    return Runner(read_model(folder), 2)


def test_vectors_are_those_of_the_description(runner: Runner) -> None:
    """Each text's vector is what plain steps over the same weights make of it, of length 1."""
    vectors = runner.embed(TEXTS, is_query=False)

    wanted = np.stack([plain_vector(tensors_of_a_model(), tokens(text)) for text in TEXTS])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, wanted, atol=2e-6)
    assert np.abs(wanted @ wanted.T - 1).max() > 0.01  # the texts are told apart


@pytest.mark.parametrize("dtype", ["F16", "BF16"])
def test_weights_of_half_the_size_are_the_same_model(tmp_path: Path, dtype: str) -> None:
    """Weights in 16 bits, under the names that a whole BERT gives them, make nearly the same."""
    folder = write_model(tmp_path / "half")
    whole = {f"bert.{name}": numbers for name, numbers in tensors_of_a_model().items()}
    write_tensors(folder / "model.safetensors", whole, dtype)

    vectors = Runner(read_model(folder), 1).embed(TEXTS, is_query=False)

    for text, vector in zip(TEXTS, vectors, strict=True):
        assert float(vector @ plain_vector(tensors_of_a_model(), tokens(text))) > 0.999


def test_the_first_token_can_stand_for_the_text(tmp_path: Path) -> None:
    """A model that pools by its first token is run that way."""
    folder = write_model(tmp_path / "first")
    write_pooling(folder, "cls_token")

    (vector,) = Runner(read_model(folder), 1).embed(TEXTS[:1], is_query=False)

    wanted = plain_vector(tensors_of_a_model(), tokens(TEXTS[0]), pooling="cls")
    np.testing.assert_allclose(vector, wanted, atol=2e-6)


def test_a_model_says_what_comes_before_a_question(tmp_path: Path) -> None:
    """The words that a model wants before texts of a purpose are put there."""
    folder = write_model(tmp_path / "asked")
    prompts = '{"prompts": {"query": "the term: ", "passage": "of "}}'
    (folder / "config_sentence_transformers.json").write_text(prompts)
    runner = Runner(read_model(folder), 1)

    as_query = runner.embed(["four"], is_query=True)
    as_passage = runner.embed(["four"], is_query=False)
    plain = Runner(read_model(write_model(tmp_path / "plain")), 1)

    assert np.array_equal(as_query, plain.embed(["the term: four"], is_query=False))
    assert np.array_equal(as_passage, plain.embed(["of four"], is_query=False))


@pytest.mark.parametrize("name", ["model.onnx", "onnx/model.onnx"])
def test_an_encoder_in_onnx_is_run_as_it_is(tmp_path: Path, name: str) -> None:
    """A file of any kind gets tokens, a mask and kinds; its vectors of tokens are pooled."""
    folder = write_model(tmp_path / "other", model_type="some-other")
    (folder / "model.safetensors").unlink()
    (folder / name).parent.mkdir(exist_ok=True)
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    flat = [node("Cast", [given], [f"{given}1"], {"to": FLOAT32}) for given in inputs]
    last = node("Constant", [], ["last"], {"value_ints": (-1,)})
    deep = [node("Unsqueeze", [f"{given}1", "last"], [f"{given}2"]) for given in inputs]
    joined = node("Concat", [f"{given}2" for given in inputs], ["states"], {"axis": -1})
    whole = graph(
        [*flat, last, *deep, joined],
        [],
        [value(given, INT64, ("texts", "tokens")) for given in inputs],
        [value("states", FLOAT32, ("texts", "tokens", 3))],
    )
    (folder / name).write_bytes(model(whole, {"": 17}))

    (vector,) = Runner(read_model(folder), 1).embed(["the term"], is_query=False)

    pooled = np.array([np.mean(tokens("the term")), 1, 0])
    np.testing.assert_allclose(vector, pooled / np.linalg.norm(pooled), atol=1e-6)


def test_a_text_has_one_vector_whatever_goes_with_it(runner: Runner) -> None:
    """Alone or among others, first or last, a text gets the very same vector."""
    together = runner.embed(TEXTS * 5, is_query=False)

    for index, text in enumerate(TEXTS * 5):
        assert np.array_equal(together[index], runner.embed([text], is_query=False)[0])


@pytest.mark.parametrize(
    "text",
    ["", "\0", "\0the\0 \x07", "🙂" * 300, "é̂́", "\u202e\u2028\ufeff", "term" * 50_000],
    ids=["empty", "nul", "controls", "emoji", "accents", "marks", "one long word"],
)
def test_odd_texts_have_vectors(runner: Runner, text: str) -> None:
    """Whatever a text holds, it has a vector of length 1."""
    (vector,) = runner.embed([text], is_query=False)

    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_a_long_text_is_cut_where_the_model_says(runner: Runner) -> None:
    """`max_seq_length` tokens count, its own marks among them, not the limit of the tokenizer."""
    kept = "the term of delivery is four the term of four"
    assert len(tokens(kept)) == MOST_TOKENS

    vectors = runner.embed([kept, kept + " delivery" * 20_000], is_query=False)

    assert np.array_equal(vectors[0], vectors[1])
    shorter = runner.embed([kept.rpartition(" ")[0]], is_query=False)
    assert not np.allclose(vectors[0], shorter[0], atol=1e-3)


@pytest.mark.parametrize(
    ("name", "text", "code", "told"),
    [
        ("config.json", "{", DAMAGED, "config.json"),
        ("config.json", '{"model_type": "bert", "hidden_size": 0}', DAMAGED, "config"),
        ("config.json", '{"model_type": "t5"}', UNFIT, "t5"),
        ("config.json", '{"model_type":"bert","hidden_act":"relu"}', UNFIT, "relu"),
        ("tokenizer.json", "[]", DAMAGED, "tokenizer.json"),
        ("model.safetensors", b"", DAMAGED, "model.safetensors"),
        ("model.safetensors", b"\xff" * 4096, DAMAGED, "model.safetensors"),
        ("model.safetensors", b"\2" + bytes(7) + b"{}", DAMAGED, "embeddings"),
        ("1_Pooling/config.json", '{"pooling_mode_max_tokens": true}', UNFIT, "max"),
        ("modules.json", '[{"type": "st.models.Dense"}]', UNFIT, "Dense"),
    ],
)  # fmt: skip
def test_a_folder_that_is_wrong_says_why(
    tmp_path: Path, name: str, text: str | bytes, code: str, told: str
) -> None:
    """A file that is damaged, or of another kind of model, is named; no path of this machine is."""
    folder = write_model(tmp_path / "wrong")
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())

    with pytest.raises(KbdError) as refused:
        Runner(read_model(folder), 1)

    assert refused.value.code == code
    assert told in refused.value.message
    assert str(tmp_path) not in refused.value.message


def test_weights_that_are_not_all_there_are_refused(tmp_path: Path) -> None:
    """Weights cut short, without a tensor, with one of another shape, or without numbers."""
    folder = write_model(tmp_path / "cut")
    file, whole = folder / "model.safetensors", tensors_of_a_model()
    complete = file.read_bytes()

    def refusal() -> str:
        with pytest.raises(KbdError) as refused:
            Runner(read_model(folder), 1).embed(["the"], is_query=False)
        return f"{refused.value.code} {refused.value.message}"

    for size in (4, 8, 100, len(complete) // 2, len(complete) - 1):
        file.write_bytes(complete[:size])
        assert refusal().startswith("FILE_READ_FAILED model.safetensors")
    missing = "encoder.layer.1.output.dense.weight"
    write_tensors(file, {name: of for name, of in whole.items() if name != missing})
    assert missing in refusal()
    write_tensors(file, whole | {missing: whole[missing].T})
    assert missing in refusal()
    write_tensors(file, whole | {missing: whole[missing] * np.nan})
    assert "damaged" in refusal()
    few = whole["embeddings.word_embeddings.weight"][:5]
    write_tensors(file, whole | {"embeddings.word_embeddings.weight": few})
    assert "tokenizer.json" in refusal()
