"""Warnings of an edit: each once, in order, and no more than a reader bears."""

from kbd.office.operations import EditWarnings, listed
from kbd.opc.package import Relation


def test_each_once_in_order() -> None:
    """What is warned of twice is told once, where it came first."""
    warnings = EditWarnings()
    for text in ("b", "a", "b"):
        warnings.warn(text)
        warnings.note_external(f"at {text}")

    assert warnings.texts == ("b", "a")
    assert warnings.external == ("at b", "at a")


def test_many_are_counted() -> None:
    """Warnings past the limit are counted; all that a file reaches out to is told."""
    warnings = EditWarnings(3)
    for number in range(30):
        warnings.warn(str(number))
        warnings.note_external(str(number))

    assert warnings.texts == ("0", "1", "2", "27 more warnings like these.")
    assert warnings.external == tuple(map(str, range(30)))
    assert len(EditWarnings().texts) == 0


def test_a_signature_is_told() -> None:
    """A signed file is told to be signed, as any change makes that void."""
    kind = "http://schemas.openxmlformats.org/package/2006/relationships/digital-signature/origin"
    plain, warnings = EditWarnings(), EditWarnings()
    plain.warn_of_signature([Relation("r1", "styles", "a.xml", external=False)], "note")
    warnings.warn_of_signature([Relation("r1", "origin", "a", external=False, type=kind)], "note")

    assert plain.texts == ()
    assert warnings.texts == ("The note was signed; after this change the signature is void.",)


def test_names_in_a_row() -> None:
    """Few names are all told, of many the first ones."""
    assert listed([]) == ""
    assert listed(["a", "b"], 2) == "a, b"
    assert listed(["a", "b", "c", "d"], 2) == "a, b and 2 more"
