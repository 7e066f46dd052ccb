"""What a deck's suffix promises: macros, a template, a show."""

from types import MappingProxyType

from kbd.errors import ValidationFailed
from kbd_pptx.family import FAMILY, PLAIN_TYPE

__all__ = ["check_new_name", "fitting_type"]

_TYPES = MappingProxyType({suffix: type_ for type_, suffix in FAMILY.types.items()})


def check_new_name(suffix: str) -> str:
    """Return the type of a new deck's main part under a suffix.

    Raises:
        ValidationFailed: It promises macros, or a template.
    """
    suffix = suffix.lower()
    if _has_macros(_TYPES.get(suffix, "")):
        raise ValidationFailed(f"A new deck has no macros; name it .pptx, not {suffix}.")
    if "template" in _TYPES.get(suffix, ""):
        raise ValidationFailed(f"A new deck is no template; name it .pptx, not {suffix}.")
    return _TYPES.get(suffix, PLAIN_TYPE)


def fitting_type(content_type: str, suffix: str) -> str:
    """Return the type that a deck's main part must have under a suffix.

    Programs refuse a deck whose type is not that of its suffix. A template under the suffix of a
    deck becomes one, and the reverse; macros are neither dropped nor promised.

    Args:
        content_type: The type that it has.
        suffix: Of the file that is written (".pptx"); any other promises nothing.

    Raises:
        ValidationFailed: It has macros and the suffix promises none, or the reverse.
    """
    suffix = suffix.lower()
    wanted = _TYPES.get(suffix, "")
    if not wanted or content_type not in FAMILY.types:
        return content_type
    if _has_macros(content_type) and not _has_macros(wanted):
        raise ValidationFailed(
            f"The deck has macros, which a {suffix} file may not have; write it as .pptm."
        )
    if _has_macros(wanted) and not _has_macros(content_type):
        raise ValidationFailed(
            f"The deck has no macros, which {suffix} promises; write it as .pptx."
        )
    return wanted


def _has_macros(content_type: str) -> bool:
    return "macroEnabled" in content_type
