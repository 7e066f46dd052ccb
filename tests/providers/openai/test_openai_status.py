"""How the provider is set up is told from its settings alone."""

import subprocess
import sys

import pytest

from kbd_openai import OpenAIProvider, kbd_register_providers
from kbd_openai.provider import is_local_address


def test_without_settings() -> None:
    """Nothing set: not configured, and the reason names both settings."""
    status = OpenAIProvider({}).status()

    assert not status.configured
    assert "OPENAI_API_KEY" in (status.reason or "")
    assert "OPENAI_BASE_URL" in (status.reason or "")


def test_a_key_without_a_model() -> None:
    """A key alone names no model: the reason says which setting to make."""
    status = OpenAIProvider({"has_key": True}).status()

    assert not status.configured
    assert "KBD_MODEL=openai:NAME" in (status.reason or "")


def test_a_key_and_a_model() -> None:
    """A key and a model leave the machine for OpenAI; the model is offered with its settings."""
    provider = OpenAIProvider({"has_key": True, "model": "some", "context_tokens": 8000})

    status = provider.status()
    assert (status.configured, status.leaves_machine) == (True, True)
    assert (status.auth_mode, status.endpoint) == ("api_key", "api.openai.com:443")
    assert [(m.id, m.context_tokens) for m in provider.models()] == [("openai:some", 8000)]


def test_a_server_of_ones_own() -> None:
    """A loopback address needs no key and does not leave; its password is not shown."""
    url = "http://user:secret@127.0.0.1:8080/v1"
    status = OpenAIProvider({"base_url": url, "model": "m"}).status()

    assert (status.configured, status.leaves_machine) == (True, False)
    assert (status.auth_mode, status.endpoint) == ("none", "127.0.0.1:8080")


@pytest.mark.parametrize(
    ("url", "stays"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.9.8.7/v1", True),
        ("http://[::1]:1234/v1", True),
        ("http://LOCALHOST:1234/v1", True),
        ("unix:/run/model.sock", False),
        ("http://127.0.0.1.example.org/v1", False),
        ("http://127.0.0.1@example.org/v1", False),
        ("http://0.0.0.0/v1", False),
        ("http://192.168.0.2/v1", False),
        ("http://[bad/v1", False),
        ("https://localhost.example.org/v1", False),
        (None, False),
    ],
)
def test_what_stays_here(url: str | None, *, stays: bool) -> None:
    """Only what is certain to be this machine counts as staying."""
    assert is_local_address(url) is stays


def test_the_library_is_not_imported_at_start() -> None:
    """Declaring the provider does not import the client library."""
    code = "import kbd_openai, sys; kbd_openai.OpenAIProvider({}).status();"
    check = "assert not {'openai', 'httpx2', 'pydantic'} & set(sys.modules), sorted(sys.modules)"

    assert subprocess.run([sys.executable, "-c", code + check], check=False).returncode == 0


def test_it_is_declared() -> None:
    """The hook returns the one provider."""
    assert [type(p) for p in kbd_register_providers({})] == [OpenAIProvider]
