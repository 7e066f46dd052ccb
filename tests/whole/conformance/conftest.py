"""What the tests of conformance share: one daemon a module, a model that plays what a test says.

One test a behaviour that a client relies on; its docstring begins with the number of the behaviour
("conformance 12: …"). A module that needs other settings has a fixture `environment` of its own.
"""

from collections.abc import Iterator, Mapping

import pytest

from backends import mostly
from kbd.client.blocking import Client
from real_daemon import RealDaemon
from wired import Script, Wired, wired


@pytest.fixture(scope="module")
def environment() -> Mapping[str, str]:
    """What the daemon's environment has beside what `wired` gives it."""
    return {}


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest, environment: Mapping[str, str]) -> Iterator[Wired]:
    """The daemon with what tests ask it; `wire.workbench(a__txt="x")` makes one with files."""
    with wired(str(request.param), more=environment) as running:
        yield running


@pytest.fixture(scope="module")
def daemon(wire: Wired) -> RealDaemon:
    """The daemon itself, one for all tests of a module."""
    return wire.daemon


@pytest.fixture
def model(wire: Wired) -> Iterator[Script]:
    """The model, as new; `model.instead = play` has it play anything, `model.requests` has all."""
    wire.script.forget()
    yield wire.script
    wire.script.forget()


@pytest.fixture
def client(daemon: RealDaemon) -> Iterator[Client]:
    """A connection of the test's own."""
    with daemon.client() as connected:
        yield connected
