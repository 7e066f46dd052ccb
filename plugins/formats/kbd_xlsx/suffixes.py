"""What a workbook's suffix promises: macros, or a template."""

from pathlib import PurePosixPath
from types import MappingProxyType

from kbd.errors import ValidationFailed
from kbd_xlsx.workbook import EARLY_TYPES

__all__ = ["check_new_name", "fitting_type"]

MACRO_SUFFIXES = frozenset((".xlsm", ".xltm"))
TEMPLATE_SUFFIXES = frozenset((".xltx", ".xltm"))
TYPES = MappingProxyType(
    {
        ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
        ".xltx": "application/vnd.openxmlformats-officedocument.spreadsheetml.template.main+xml",
        ".xlsm": "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
        ".xltm": "application/vnd.ms-excel.template.macroEnabled.main+xml",
    }
)
"""The type of the workbook part under each suffix (ECMA-376, and [MS-OFFMACRO2])."""

SUFFIXES = frozenset(TYPES)


def check_new_name(name: str) -> None:
    """Refuse to make a file whose suffix promises what a new workbook has not.

    Raises:
        ValidationFailed: It promises macros, or a template.
    """
    suffix = PurePosixPath(name).suffix.lower()
    # The name is not told: that of a file being written means nothing to anybody.
    if suffix in MACRO_SUFFIXES:
        raise ValidationFailed(f"A new workbook has no macros; name it .xlsx, not {suffix}.")
    if suffix in TEMPLATE_SUFFIXES:
        raise ValidationFailed(f"A new workbook is no template; name it .xlsx, not {suffix}.")


def fitting_type(content_type: str, suffix: str) -> str:
    """Return the type that a workbook's main part must have under a suffix.

    Programs refuse a workbook whose type is not that of its suffix. A template under the suffix of
    a workbook becomes one, and the reverse; a type from before the standard becomes that of the
    standard; macros are neither dropped nor promised.

    Args:
        content_type: The type that it has.
        suffix: Of the file that is written (".xlsx"); any other promises nothing.

    Raises:
        ValidationFailed: It has macros and the suffix promises none, or the reverse.
    """
    suffix = suffix.lower()
    has_macros = "macroenabled" in content_type.lower()
    if suffix not in SUFFIXES:
        return content_type
    if has_macros and suffix not in MACRO_SUFFIXES:
        raise ValidationFailed(
            f"The workbook has macros, which a {suffix} file may not have; write it as .xlsm."
        )
    if not has_macros and suffix in MACRO_SUFFIXES:
        raise ValidationFailed(
            f"The workbook has no macros, which {suffix} promises; write it as .xlsx."
        )
    is_template = "template" in content_type.lower()
    is_fitting = is_template == (suffix in TEMPLATE_SUFFIXES)
    if is_fitting and content_type not in EARLY_TYPES:
        return content_type
    return TYPES[suffix]
