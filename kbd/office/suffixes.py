"""Suffixes of office files: which promise macros or a template, and which type goes with each."""

from collections.abc import Mapping
from pathlib import PurePath
from types import MappingProxyType

from kbd.errors import ValidationFailed
from kbd.office.assets import has_macros
from kbd.opc import Family
from kbd.opc.rewriter import Rewriting

__all__ = ["Suffixes"]


class Suffixes:
    """Table of a format's suffixes: the type that each promises of a file's main part.

    Programs refuse a file whose main part is not of the type of its suffix. Macros are neither
    dropped nor promised: which is which a person decides.

    Args:
        family: The types with their suffixes; the first one without macros is the plain one.
        noun: What a file of the format is called in messages ("document").
        makes_templates: Whether a new file may be a template.
    """

    def __init__(self, family: Family, noun: str, *, makes_templates: bool = False) -> None:
        self._noun, self._makes_templates = noun, makes_templates
        self._types: Mapping[str, str] = MappingProxyType(
            {suffix: type_ for type_, suffix in family.types.items() if suffix}
        )
        self._plain = next(suffix for suffix, type_ in self._types.items() if not has_macros(type_))
        self._with_macros = next(each for each, type_ in self._types.items() if has_macros(type_))

    def type_of_new(self, name: str) -> str:
        """Return the type of a new file's main part under a name.

        Raises:
            ValidationFailed: Its suffix promises macros, or a template that is not made.
        """
        suffix = PurePath(name).suffix.lower()
        type_ = self._types.get(suffix, self._types[self._plain])
        lacks_template = _is_template(type_) and not self._makes_templates
        # The name is not told: that of a file being written means nothing to anybody.
        if has_macros(type_):
            instead = self._template if _is_template(type_) and not lacks_template else self._plain
            raise ValidationFailed(
                f"a new {self._noun} has no macros; name it {instead}, not {suffix}"
            )
        if lacks_template:
            raise ValidationFailed(
                f"a new {self._noun} is no template; name it {self._plain}, not {suffix}"
            )
        return type_

    def fitting_type(self, content_type: str, name: str) -> str:
        """Return the type that a file's main part must have under a name.

        A template under the suffix of an ordinary file becomes one, and the reverse.

        Args:
            content_type: The type that it has.
            name: Of the file that is written; a suffix of no type promises nothing.

        Raises:
            ValidationFailed: It has macros and the suffix promises none, or the reverse.
        """
        suffix = PurePath(name).suffix.lower()
        wanted = self._types.get(suffix, content_type)
        if has_macros(content_type) and not has_macros(wanted):
            raise ValidationFailed(
                f"the {self._noun} has macros, which a {suffix} file may not have: office programs "
                f"do not open it; write it as {self._with_macros}, into a copy of that name"
            )
        if has_macros(wanted) and not has_macros(content_type):
            raise ValidationFailed(
                f"the {self._noun} has no macros, which {suffix} promises; write it as "
                f"{self._plain}"
            )
        return wanted

    def fit(self, rewriting: Rewriting, main: str, name: str) -> None:
        """Have a file be what its name promises.

        Args:
            rewriting: The file.
            main: Its main part.
            name: Of the file that is written.

        Raises:
            ValidationFailed: It has macros and the suffix promises none, or the reverse.
        """
        found = rewriting.content_type(main)
        wanted = self.fitting_type(found, name)
        if wanted != found:
            rewriting.add(main, rewriting.read(main), wanted)

    @property
    def _template(self) -> str:
        """The suffix of a template without macros."""
        types = self._types.items()
        return next(each for each, type_ in types if _is_template(type_) and not has_macros(type_))


def _is_template(content_type: str) -> bool:
    return "template" in content_type.casefold()
