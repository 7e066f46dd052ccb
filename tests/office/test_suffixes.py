"""What a suffix promises: macros are neither dropped nor promised, and types fit their suffixes."""

import pytest

from kbd.errors import ValidationFailed
from kbd.office.suffixes import Suffixes
from kbd.opc import Family
from kbd.opc.rewriter import Rewriting

PLAIN, MACROS = "x/plain.main+xml", "x/plain.macroEnabled.main+xml"
TEMPLATE, BOTH = "x/template.main+xml", "x/template.macroEnabledTemplate.main+xml"
EARLY = "x/early.main+xml"
FAMILY = Family(
    "a note", {PLAIN: ".nt", MACROS: ".ntm", TEMPLATE: ".ntx", BOTH: ".ntxm", EARLY: ""}
)
SUFFIXES = Suffixes(FAMILY, "note")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("a.NT", PLAIN),
        ("a.other", PLAIN),
        ("a.ntm", "a new note has no macros; name it .nt, not .ntm"),
        ("a.ntx", "a new note is no template; name it .nt, not .ntx"),
        ("a.ntxm", "a new note has no macros; name it .nt, not .ntxm"),
    ],
)
def test_a_new_file(name: str, wanted: str) -> None:
    """A new file has the type of its suffix, and promises no macros and no template."""
    if wanted == PLAIN:
        assert SUFFIXES.type_of_new(name) == wanted
        return
    with pytest.raises(ValidationFailed) as refused:
        SUFFIXES.type_of_new(name)
    assert refused.value.message == wanted


def test_a_new_template() -> None:
    """A format that makes templates makes them, without macros."""
    suffixes = Suffixes(FAMILY, "note", makes_templates=True)

    assert suffixes.type_of_new("a.ntx") == TEMPLATE
    with pytest.raises(ValidationFailed, match=r"name it \.ntx, not \.ntxm"):
        suffixes.type_of_new("a.ntxm")


@pytest.mark.parametrize(
    ("found", "name", "wanted"),
    [
        (PLAIN, "a.nt", PLAIN),
        (PLAIN, "a.ntx", TEMPLATE),
        (TEMPLATE, "a.nt", PLAIN),
        (BOTH, "a.ntm", MACROS),
        (EARLY, "a.nt", PLAIN),
        (MACROS, "a.other", MACROS),
    ],
)
def test_a_type_that_fits(found: str, name: str, wanted: str) -> None:
    """A template under an ordinary suffix becomes ordinary, and the reverse; others stay."""
    rewriting = Rewriting(None, "a")
    rewriting.add("main.xml", b"<a/>", found)
    SUFFIXES.fit(rewriting, "main.xml", name)

    assert SUFFIXES.fitting_type(found, name) == wanted
    assert rewriting.content_type("main.xml") == wanted


def test_macros_are_neither_dropped_nor_promised() -> None:
    """A file with macros gets no suffix without, nor one without macros a suffix with them."""
    with pytest.raises(ValidationFailed, match=r"has macros, which a \.ntx file .* as \.ntm"):
        SUFFIXES.fitting_type(MACROS, "a.ntx")
    with pytest.raises(ValidationFailed, match=r"no macros, which \.ntm promises; .* as \.nt$"):
        SUFFIXES.fitting_type(PLAIN, "a.ntm")
