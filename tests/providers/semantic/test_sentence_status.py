"""How the embedder is found: it says what is missing, and imports nothing to know it."""

from pathlib import Path

import pytest

from kbd_semantic import LocalEmbedder


@pytest.fixture
def no_libraries_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the libraries as installed, whether they are or not."""
    monkeypatch.setattr("kbd_semantic.embedder._LIBRARIES", ())


def a_folder(folder: Path) -> Path:
    """Return a folder that has the files of a model, which nobody reads for its status."""
    folder.mkdir(parents=True)
    for name in ("tokenizer.json", "model.onnx"):
        (folder / name).write_bytes(b"not read")
    return folder


def test_a_missing_library_is_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the extra, the status names its install line."""
    monkeypatch.setattr("kbd_semantic.embedder._LIBRARIES", ("json", "no_such_library"))

    status = LocalEmbedder({"model": str(a_folder(tmp_path / "model"))}).status()

    assert not status.configured
    assert 'pip install "kbd[semantic]"' in (status.reason or "")
    assert "no_such_library" in (status.reason or "")


@pytest.mark.usefixtures("no_libraries_needed")
def test_a_folder_is_found_and_not_read(tmp_path: Path) -> None:
    """A folder with the files of a model is ready, under its own name, and stays here."""
    embedder = LocalEmbedder({"model": str(a_folder(tmp_path / "small"))})

    assert embedder.status().configured
    assert not embedder.status().leaves_machine
    assert embedder.default_model() == "small"


@pytest.mark.usefixtures("no_libraries_needed")
def test_weights_alone_are_no_model(tmp_path: Path) -> None:
    """A folder of safetensors is not ready, and the status says how to get a model.onnx."""
    folder = a_folder(tmp_path / "weights")
    (folder / "model.onnx").rename(folder / "model.safetensors")

    status = LocalEmbedder({"model": str(folder)}).status()

    assert not status.configured
    assert "has model.safetensors but no model.onnx" in (status.reason or "")
    assert "hf download" in (status.reason or "")
    assert str(tmp_path) not in (status.reason or "")


@pytest.mark.usefixtures("no_libraries_needed")
def test_no_model_says_how_to_get_one() -> None:
    """Without a model, the status says how to get one and which setting names it."""
    embedder = LocalEmbedder({})

    reason = embedder.status().reason or ""
    assert "hf download sentence-transformers/all-MiniLM-L6-v2" in reason
    assert "SEMANTIC_MODEL" in reason
    assert embedder.default_model() == ""


@pytest.mark.usefixtures("no_libraries_needed")
def test_the_fingerprint_is_that_of_what_makes_vectors(tmp_path: Path) -> None:
    """Other weights, another limit or another tokenizer is another fingerprint; a copy is not."""
    folder = a_folder(tmp_path / "model")
    embedder = LocalEmbedder({"model": str(folder)})
    prints = [embedder.fingerprint_now()]
    for name in ("model.onnx", "model.onnx_data", "tokenizer.json", "config.json"):
        (folder / name).write_bytes(b"changed " + name.encode())
        prints.append(embedder.fingerprint_now())

    assert len(set(prints)) == 5
    copy = folder.rename(tmp_path / "elsewhere")
    assert LocalEmbedder({"model": str(copy)}).fingerprint_now() == prints[-1]
