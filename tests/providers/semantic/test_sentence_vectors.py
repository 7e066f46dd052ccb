"""What the model answers is what BERT is described to answer, whatever the text."""

from pathlib import Path

import numpy as np
import pytest

from kbd.errors import FileReadFailed, KbdError, ProviderNotConfigured
from kbd_semantic.folder import read_model
from providers.semantic.sentence_models import (
    MAX_TOKENS,
    WORDS,
    encoder,
    inputs_as_states,
    plain_vector,
    tensors_of_a_model,
    with_outside_data,
    with_own_operation,
    write_model,
    write_pooling,
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
    folder = write_model(tmp_path / "other")
    (folder / "model.onnx").unlink()
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(inputs_as_states())

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
    assert len(tokens(kept)) == MAX_TOKENS

    vectors = runner.embed([kept, kept + " delivery" * 20_000], is_query=False)

    assert np.array_equal(vectors[0], vectors[1])
    shorter = runner.embed([kept.rpartition(" ")[0]], is_query=False)
    assert not np.allclose(vectors[0], shorter[0], atol=1e-3)


@pytest.mark.parametrize(
    ("name", "text", "code", "told"),
    [
        ("config.json", "{", DAMAGED, "config.json"),
        ("config.json", '{"max_position_embeddings": 0}', DAMAGED, "config"),
        ("tokenizer.json", "[]", DAMAGED, "tokenizer.json"),
        ("model.onnx", b"", DAMAGED, "model.onnx"),
        ("model.onnx", b"\xff" * 4096, DAMAGED, "model.onnx"),
        ("model.onnx", encoder(tensors_of_a_model())[:-400], DAMAGED, "model.onnx"),
        ("model.onnx", with_own_operation(), DAMAGED, "operations that are not built in"),
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


@pytest.mark.parametrize("wanted", ["inside", "above", "absolute", "link"])
def test_an_encoder_reads_no_file_outside_its_folder(tmp_path: Path, wanted: str) -> None:
    """What belongs to an encoder is read beside it; no path and no link leads elsewhere."""
    folder, secret = write_model(tmp_path / "model"), tmp_path / "secret"
    numbers = np.arange(4, dtype="<f4").tobytes()
    secret.write_bytes(numbers)
    (folder / "model.onnx_data").write_bytes(numbers)
    (folder / "link").symlink_to(secret)
    places = {
        "inside": "model.onnx_data",
        "above": "../secret",
        "absolute": str(secret),
        "link": "link",
    }
    (folder / "model.onnx").write_bytes(with_outside_data(places[wanted]))

    if wanted == "inside":
        (vector,) = Runner(read_model(folder), 1).embed(["the"], is_query=False)
        read = np.array([np.mean(tokens("the")), 1, 0]) + 6
        np.testing.assert_allclose(vector, read / np.linalg.norm(read), atol=1e-6)
        return
    with pytest.raises(FileReadFailed, match="outside its folder") as refused:
        Runner(read_model(folder), 1)
    assert str(tmp_path) not in refused.value.message


@pytest.mark.parametrize(
    ("name", "size"), [("model.onnx", 1 << 31), ("tokenizer.json", (128 << 20) + 1)]
)
def test_a_file_too_large_is_not_read(tmp_path: Path, name: str, size: int) -> None:
    """The size of what libraries read whole is looked at first."""
    folder = write_model(tmp_path / "large")
    with (folder / name).open("r+b") as file:
        file.truncate(size)

    with pytest.raises(FileReadFailed, match=f"{name} is too large"):
        read_model(folder)


def test_weights_without_an_encoder_say_how_to_get_one(tmp_path: Path) -> None:
    """A folder with weights alone is refused with both ways to a model.onnx."""
    folder = write_model(tmp_path / "weights")
    (folder / "model.onnx").rename(folder / "model.safetensors")

    with pytest.raises(ProviderNotConfigured, match=r"no model\.onnx") as refused:
        read_model(folder)

    assert "hf download" in refused.value.message
    assert "optimum-cli export onnx" in refused.value.message
    assert str(tmp_path) not in refused.value.message


def test_an_encoder_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    """One without numbers, or with a smaller vocabulary than its tokenizer's."""
    folder, whole = write_model(tmp_path / "unfit"), tensors_of_a_model()
    weight, words = "encoder.layer.1.output.dense.weight", "embeddings.word_embeddings.weight"
    for changed, told in (
        ({weight: whole[weight] * np.nan}, "it makes no numbers"),
        ({words: whole[words][:5]}, "cannot be run"),
    ):
        (folder / "model.onnx").write_bytes(encoder(whole | changed))
        with pytest.raises(FileReadFailed, match=told):
            Runner(read_model(folder), 1).embed(["delivery"], is_query=False)
