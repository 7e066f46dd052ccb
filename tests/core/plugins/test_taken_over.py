"""A worker that a hostile file has taken over reaches nothing, and which layer refuses what."""

from pathlib import Path

import pytest

from kbd.core.plugins.confinement.layers import Layers, find_layers
from taken_rig import TakenOrder, take_over

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.sampled(2),
    pytest.mark.skipif(
        not all(layer.holds for layer in find_layers()), reason="this kernel has not all layers"
    ),
]

FILES = {
    "read a key file", "read the settings", "read another workbench", "write outside",
    "delete outside", "read the machine's connections",
}  # fmt: skip
"""What Landlock alone refuses."""

FILES_TOO = {"truncate outside", "link a key elsewhere", "connect by TCP", "run a program"}
"""What both layers refuse; signals of a version of Landlock that not every kernel has, too."""

CALLS = {
    "make a key public", "send by UDP", "connect to the daemon", "fork 500 times", "leave a stray",
    "use io_uring", "make a user namespace",
}  # fmt: skip
"""What the filter of system calls alone refuses."""

SIGNALS = {"signal the zygote", "signal the daemon"}

PROCESSES = {
    "trace the zygote", "trace a sibling", "trace the daemon", "take a file of the zygote",
    "take a file of a sibling", "take a file of the daemon", "open the zygote's memory",
    "open a sibling's memory", "open the daemon's memory", "read the daemon's environment",
    "read what siblings print",
}  # fmt: skip
"""What is refused whatever the layers are, for none of these processes can be looked into."""


def succeeded(found: dict[str, str]) -> set[str]:
    """Return the acts that nothing refused."""
    return {name for name, refusal in found.items() if not refusal}


@pytest.fixture
def order(short_dir: Path, anyio_backend: str) -> TakenOrder:
    """An order with all layers required."""
    return TakenOrder(str(short_dir), anyio_backend, "required")


def test_a_taken_over_worker_is_refused_everything(order: TakenOrder) -> None:
    """Where all layers are required, 30 acts are refused, each with an error of the system."""
    found = take_over(order)

    assert succeeded(found) == set()
    assert found.keys() == {
        *FILES, *FILES_TOO, *CALLS, *SIGNALS, *PROCESSES, "keep a stray alive",
    }  # fmt: skip
    assert set(found.values()) <= {"EACCES", "EPERM", "none"}


CONFINED = [
    pytest.param(
        Layers(landlock=False, seccomp=False), FILES | FILES_TOO | CALLS | SIGNALS, id="none"
    ),
    pytest.param(Layers(landlock=False, seccomp=True), FILES, id="seccomp"),
    pytest.param(Layers(landlock=True, seccomp=False), CALLS, id="landlock"),
]


@pytest.mark.full
@pytest.mark.parametrize(("layers", "expected"), CONFINED)
def test_each_layer_refuses_what_the_other_does_not(
    order: TakenOrder, layers: Layers, expected: set[str]
) -> None:
    """With a layer taken out, just the acts succeed that it alone refuses; no stray ever lives."""
    found = take_over(TakenOrder(order.folder, order.backend, "best_effort", layers=layers))

    # An older Landlock holds signals not yet.
    assert succeeded(found) - SIGNALS == expected - SIGNALS
    assert layers.seccomp is False or not succeeded(found) & SIGNALS


@pytest.mark.full
def test_on_a_kernel_without_landlock_only_files_are_reached(order: TakenOrder) -> None:
    """With the sandbox as good as the kernel allows, system calls are held as before."""
    found = take_over(TakenOrder(order.folder, order.backend, "best_effort", without_landlock=True))

    assert succeeded(found) == FILES


def test_a_kernel_without_landlock_is_refused_where_it_is_required(order: TakenOrder) -> None:
    """No call is made at all, and the error says which layer is missing."""
    found = take_over(TakenOrder(order.folder, order.backend, "required", without_landlock=True))

    assert found.keys() == {"no call"}
    assert found["no call"].startswith("workers.sandbox is required, and a layer of it is missing")
    assert "Landlock" in found["no call"]


PROGRAM_ACTS = (
    FILES | FILES_TOO | CALLS | SIGNALS | PROCESSES
    | {"limit the daemon", "send to a socket of messages", "share memory", "watch files",
       "change times"}
) - {"run a program", "fork 500 times", "leave a stray", "read what siblings print"}  # fmt: skip
"""What a program that prints is refused."""


def test_a_program_that_was_taken_over_is_refused_the_same(order: TakenOrder) -> None:
    """LibreOffice parses hostile files, too; what it has more is that it may start others."""
    found = take_over(TakenOrder(order.folder, order.backend, "required", program=True))

    assert succeeded(found) == set()
    assert found.keys() == PROGRAM_ACTS


@pytest.mark.full
def test_a_program_sends_no_signal_where_landlock_does_not_hold_them(order: TakenOrder) -> None:
    """Without Landlock it reaches files; neither the daemon nor anybody else."""
    found = take_over(
        TakenOrder(order.folder, order.backend, "best_effort", without_landlock=True, program=True)
    )

    assert succeeded(found) == FILES | {"link a key elsewhere"}


@pytest.mark.full
def test_without_a_layer_a_program_does_all_that_a_user_may(order: TakenOrder) -> None:
    """So it is the layers that refuse it, and not what the acts do."""
    layers = Layers(landlock=False, seccomp=False)
    found = take_over(
        TakenOrder(order.folder, order.backend, "best_effort", layers=layers, program=True)
    )

    # It has left the network, where the system lets it.
    apart = {"connect by TCP", "send by UDP", "use io_uring", "make a user namespace"}
    assert succeeded(found) - apart == PROGRAM_ACTS - PROCESSES - apart
