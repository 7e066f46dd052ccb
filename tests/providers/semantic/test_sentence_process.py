"""The model's process comes when it is needed; whatever becomes of it, the next call works."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import numpy as np
import pytest

from backends import on_asyncio, on_trio
from kbd.errors import FileReadFailed, NotFound, ProviderNotConfigured, ProviderUnavailable
from kbd.providers import EmbedRequest
from kbd.testing.providers import check_embedder
from kbd_semantic import LocalEmbedder
from kbd_semantic.messages import Texts
from kbd_semantic.process import answer_all
from kbd_semantic.sidecar import Sidecar
from providers.semantic.sentence_models import SIZE, Lent, write_model

pytest.importorskip("onnxruntime", reason="the extra semantic is not installed")
pytest.importorskip("tokenizers", reason="the extra semantic is not installed")

TEXTS = ("the term of delivery", "four", "", "\ud800 of the term")


def asking(*texts: str) -> EmbedRequest:
    """Return a request for the vectors of passages."""
    return EmbedRequest("", texts or TEXTS, "passage")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small model."""
    return write_model(tmp_path_factory.mktemp("models") / "small")


@pytest.fixture(scope="module")
def embedder(folder: Path) -> Iterator[LocalEmbedder]:
    """One embedder for all tests, on whatever loop: each finds what the one before left."""
    os.environ["KBD_TEST_SECRET"] = "not-for-children"
    embedder = LocalEmbedder({"model": str(folder), "threads": 2})
    with socket.socket() as ours:
        os.set_inheritable(ours.fileno(), True)
        embedder.embed_now(asking(), 60)
    yield embedder
    embedder.close()
    del os.environ["KBD_TEST_SECRET"]


def process_of(embedder: LocalEmbedder) -> int:
    """Return the number of the model's process, which is running."""
    assert embedder._sidecar is not None
    process = embedder._sidecar[1]._process
    assert process is not None
    return process._child.pid


@pytest.mark.anyio
async def test_texts_become_vectors_in_another_process(embedder: LocalEmbedder) -> None:
    """On both loops: vectors in order, of length 1, the same from the library's own thread."""
    made = await embedder.embed(asking(*TEXTS * 5), Lent())

    vectors = np.frombuffer(made.data, "<f4").reshape(-1, made.size)
    assert vectors.shape == (20, SIZE)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.array_equal(vectors[:4], vectors[16:])
    assert embedder.embed_now(asking(), 60).data == made.data[: 4 * SIZE * 4]
    assert process_of(embedder) != os.getpid()


@pytest.mark.anyio
async def test_the_embedder_keeps_the_promises_of_all(embedder: LocalEmbedder) -> None:
    """On both loops, it passes the checks that every embedder has to."""
    await check_embedder(embedder, Lent())


def test_the_process_gets_no_more_than_it_needs(embedder: LocalEmbedder) -> None:
    """It sees no variable of ours, and has no socket of ours but the one to talk through."""
    embedder.embed_now(asking(), 60)
    own = Path("/proc", str(process_of(embedder)))
    if not own.is_dir():
        pytest.skip("this system does not show what a process holds")

    environment = (own / "environ").read_bytes()
    assert b"KBD_TEST_SECRET" not in environment
    assert b"HOME" not in environment
    held = [os.readlink(entry) for entry in (own / "fd").iterdir()]
    assert sum(target.startswith("socket:") for target in held) == 1


@pytest.mark.anyio
@on_trio
async def test_a_killed_process_is_started_again(embedder: LocalEmbedder) -> None:
    """A process that died between two calls is replaced without anybody noticing."""
    before = await embedder.embed(asking(), Lent())
    killed = process_of(embedder)
    os.kill(killed, signal.SIGKILL)

    after = await embedder.embed(asking(), Lent())

    assert after == before
    assert process_of(embedder) != killed


@pytest.mark.anyio
@on_asyncio
async def test_a_process_that_hangs_is_given_up(embedder: LocalEmbedder) -> None:
    """A cancelled call leaves at once; what does not answer in time is killed, and says so."""
    await embedder.embed(asking(), Lent())
    stopped = process_of(embedder)
    os.kill(stopped, signal.SIGSTOP)

    with anyio.move_on_after(0.05) as scope:
        await embedder.embed(asking(), Lent(timeout_s=0.2))
    # The process stays with the call that was cancelled until its time is over; another is begun
    # then, which cannot be ready in this time.
    with pytest.raises(ProviderUnavailable, match=r"within 0\.01 s"):
        await embedder.embed(asking(), Lent(timeout_s=0.01))

    assert scope.cancelled_caught
    with pytest.raises(ProcessLookupError):
        os.kill(stopped, 0)


def test_a_damaged_model_is_told_and_mended(embedder: LocalEmbedder, folder: Path) -> None:
    """What is wrong with a folder comes over as its error; put right, the same embedder works."""
    file, before = folder / "config.json", embedder.fingerprint_now()
    sound = file.read_text()
    file.write_text(sound[:-8])
    with pytest.raises(FileReadFailed, match="it is not what it should be") as refused:
        embedder.embed_now(asking(), 60)
    damaged = embedder.fingerprint_now()
    file.write_text(sound)

    assert str(folder) not in refused.value.message
    assert embedder.embed_now(asking("four"), 60).size == SIZE
    assert embedder.fingerprint_now() == before != damaged


def test_letting_go_does_not_wait(folder: Path) -> None:
    """An embedder that is let go of ends its process over what it does; the next call works."""
    embedder = LocalEmbedder({"model": str(folder), "threads": 1})
    told = list[str]()

    def ask() -> None:
        try:
            embedder.embed_now(asking(), 600)
        except ProviderUnavailable as fault:
            told.append(fault.message)

    asker = threading.Thread(target=ask)
    asker.start()
    while embedder._sidecar is None or embedder._sidecar[1]._process is None:
        pass
    os.kill(process_of(embedder), signal.SIGSTOP)
    embedder.close()
    asker.join()

    assert told == ["the sentence model was let go of"]
    assert embedder.status().configured


def test_a_process_that_is_not_asked_ends(folder: Path) -> None:
    """It leaves when nothing comes for a time, and when the other side has ended."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(0.01)
        with pytest.raises(TimeoutError):
            answer_all(theirs, folder, 1)
        ours.close()
        with pytest.raises(EOFError):
            answer_all(theirs, folder, 1)


def test_a_query_goes_before_what_waits(folder: Path) -> None:
    """While passages wait for their turn, a query that comes later gets its own first."""
    sidecar, order = Sidecar(folder, 1), list[str]()

    def wait(name: str, *, is_query: bool) -> None:
        with sidecar._exclusive_turn(is_query=is_query):
            order.append(name)

    waiting = [
        threading.Thread(target=wait, args=(name,), kwargs={"is_query": name == "query"})
        for name in ("passage", "passage", "query")
    ]
    with sidecar._exclusive_turn(is_query=False):
        for count, thread in enumerate(waiting, 1):
            thread.start()
            while len(sidecar._turn._waiters) < count:  # type: ignore[attr-defined]
                pass
    for thread in waiting:
        thread.join()

    assert order == ["query", "passage", "passage"]


@pytest.mark.anyio
@on_trio
async def test_only_the_model_that_is_there_is_run(embedder: LocalEmbedder) -> None:
    """The folder's name is the model's; another name is not found."""
    assert embedder.default_model() == "small"
    assert await embedder.fingerprint("small") == await embedder.fingerprint("")
    with pytest.raises(NotFound, match="small"):
        await embedder.embed(EmbedRequest("large", ("four",), "query"), Lent())


def test_a_text_too_much_for_the_process_is_its_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies over the same texts twice is not started a third time."""
    monkeypatch.setattr("kbd_semantic.sidecar.sys.executable", "/bin/false")
    with pytest.raises(ProviderUnavailable, match="exit status 1"):
        Sidecar(folder, 1).ask(Texts(("four",), is_query=True), 60)


def test_nothing_set_up_says_what_to_do(tmp_path: Path) -> None:
    """A folder that is no model is named by its name alone; nothing is started for it."""
    embedder = LocalEmbedder({"model": str(tmp_path / "empty")})

    assert embedder.default_model() == ""
    status = embedder.status()
    assert not status.configured
    assert not status.leaves_machine
    assert "empty" in (status.reason or "")
    assert str(tmp_path) not in (status.reason or "")
    with pytest.raises(ProviderNotConfigured, match=r"it lacks model\.onnx"):
        embedder.embed_now(asking(), 60)
