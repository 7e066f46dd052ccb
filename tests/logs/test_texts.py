"""Golden texts: what commands show of golden logs changes only when somebody means it to."""

from logs.make_texts import TEXTS, rendered


def test_golden_logs_are_told_as_they_were() -> None:
    """Every command says of every golden log what lies in its text; `make_texts` makes it anew."""
    told = dict(rendered())

    assert sorted(told) == sorted(path.name for path in TEXTS.iterdir())
    for name, text in told.items():
        assert text == (TEXTS / name).read_text("utf-8"), name
