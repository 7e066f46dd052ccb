"""Settings: file, then environment; what is not understood is refused by name."""

from pathlib import Path

import pytest

from kbd.core.runtime.paths import Home
from kbd.core.runtime.settings import ModelSettings, Settings
from kbd.errors import ValidationFailed


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with nothing in it."""
    return Home(folder=tmp_path, socket=tmp_path / "s")


def read(home: Home, text: str, **environment: str) -> Settings:
    """Read a settings file of this text."""
    home.settings_file.write_text(text)
    home.settings_file.chmod(0o600)
    return Settings.read(home, environment)


def test_the_defaults_are_the_contracts(home: Home) -> None:
    """Without a file and an environment the numbers of the contract hold."""
    settings = Settings.read(home, {})

    limits, run = settings.limits, settings.run
    assert (limits.message_bytes, limits.nesting, limits.batch) == (10 * 1024 * 1024, 64, 100)
    assert (limits.connections, limits.files, limits.file_bytes) == (1000, 200, 100 * 1024 * 1024)
    assert (run.research_turns, run.plan_turns, run.item_turns, run.calls_a_turn) == (
        30,
        10,
        30,
        50,
    )
    assert (run.tool_s, run.receipt_bytes) == (30.0, 2048)
    assert run.retry_s == (10.0, 20.0, 40.0, 80.0, 160.0)
    assert settings.default_model is None


def test_the_file_is_read(home: Home) -> None:
    """Top-level keys, sections, and a plugin's own table as it is."""
    settings = read(
        home,
        """
        default_model = "openai:m"
        blocked_plugins = ["tables"]
        [run]
        item_turns = 40
        [models."openai:m"]
        input_price = 2.5
        [plugins.openai]
        base_url = "http://localhost:1/v1"
        anything = [1, 2]
        """,
    )

    assert settings.default_model == "openai:m"
    assert settings.blocked_plugins == ("tables",)
    assert (settings.run.item_turns, settings.run.plan_turns) == (40, 10)
    assert settings.models == {"openai:m": ModelSettings(input_price=2.5)}
    assert settings.plugins["openai"]["anything"] == [1, 2]


def test_the_environment_wins(home: Home) -> None:
    """Any key of ours can be given there; names that are not ours are left alone."""
    settings = read(
        home,
        'default_model = "a:b"\n[run]\nitem_turns = 40',
        KBD_MODEL="openai:m",
        KBD_RUN_ITEM_TURNS="50",
        KBD_RUN_RETRY_S="1, 2.5",
        KBD_BLOCKED_PLUGINS="tables,edits",
        KBD_EGRESS_HOSTS="a.example, b.example:8443",
        KBD_SOMETHING_ELSE="x",
    )

    assert settings.default_model == "openai:m"
    assert settings.run.item_turns == 50
    assert settings.run.retry_s == (1.0, 2.5)
    assert settings.blocked_plugins == ("tables", "edits")
    assert settings.egress.hosts == ("a.example", "b.example:8443")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("defaultmodel = 'x'", "no setting defaultmodel; did you mean default_model"),
        ("[run]\nitem_turn = 3", r"no setting run\.item_turn; did you mean run\.item_turns"),
        ("[run]\nitem_turns = 0", r"setting run\.item_turns: expected `int` >= 1"),
        ("[run]\nitem_turns = 'many'", r"setting run\.item_turns: expected `int`"),
        ("run = 5", "setting run: expected `object`"),
        ("default_model = ", "settings.toml is not TOML"),
        (
            '[models."o:m"]\ninput_prize = 3',
            r'setting models\."o:m"\.input_prize; did you mean models\."o:m"\.input_price',
        ),
        ("[models.m]\ninput_price = 3", r'a model is named "provider:model", not "m"'),
        ('[models."o:m"]\ninput_price = -3', r"setting models\[\.\.\.\]\.input_price: expected"),
        ("models = 5", "setting models: expected `object`"),
        ("[plugins]\nopenai = 5", r"setting plugins\[\.\.\.\]: expected `object`"),
    ],
)
def test_a_fault_is_named(home: Home, text: str, told: str) -> None:
    """The message has the key, and the nearest one where it is misspelt."""
    with pytest.raises(ValidationFailed, match=told):
        read(home, text)


def test_the_renderer_has_two_names(home: Home) -> None:
    """The program of previews is also named by the variable of KeenBench; kbd's own wins."""
    other, own = "KEENBENCH_PREVIEW_RENDERER_PATH", "KBD_PREVIEW_RENDERER"

    assert Settings.read(home, {other: "/opt/a"}).preview_renderer == "/opt/a"
    assert Settings.read(home, {other: "/opt/a", own: "b"}).preview_renderer == "b"
    home.settings_file.write_text('preview_renderer = "c"\n[preview]\nwall_s = 5\n')
    found = Settings.read(home, {})
    assert (found.preview_renderer, found.preview.call_limits().wall_s) == ("c", 5.0)


def test_a_value_of_the_environment_is_checked_too(home: Home) -> None:
    """It names the setting as the file would."""
    with pytest.raises(ValidationFailed, match=r"setting run\.tool_s: expected"):
        read(home, "", KBD_RUN_TOOL_S="soon")


def test_a_plugin_is_given_its_table_without_the_key(home: Home) -> None:
    """Address and model come from the environment, too; of a key only that there is one."""
    settings = read(home, '[plugins.openai]\napi_key = "sk-1"\nmodel = "m"')
    environment = {"OPENAI_BASE_URL": "http://u", "OPENAI_API_KEY": "sk-2", "OFFLINE_MODEL": "o"}

    assert settings.of_plugin("openai") == {"model": "m", "has_key": True}
    assert settings.of_plugin("openai", environment) == {
        "base_url": "http://u", "model": "m", "has_key": True,
    }  # fmt: skip
    assert settings.of_plugin("offline", environment) == {"model": "o"}
    assert "sk-1" not in repr(settings)


def test_a_file_with_a_key_must_be_private(home: Home) -> None:
    """Others can read it: it is refused, and the way out is told."""
    home.settings_file.write_text('[plugins.openai]\napi_key = "sk-1"')
    home.settings_file.chmod(0o640)

    with pytest.raises(ValidationFailed, match="chmod 600") as raised:
        Settings.read(home, {})

    assert "sk-1" not in raised.value.message
