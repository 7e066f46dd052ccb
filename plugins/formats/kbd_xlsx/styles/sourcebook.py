"""The parts that a workbook has one of: its styles, its theme, its shared texts."""

from kbd.errors import ValidationFailed
from kbd.opc.package import Package
from kbd_xlsx.parts.styletables import StyleTables

__all__ = ["style_tables", "workbook_parts"]


def workbook_parts(package: Package) -> dict[str, str]:
    """Return the parts that a workbook has one of ("styles", "theme"), by the relation's kind."""
    main = next((r.target for r in package.relations("") if r.kind == "officeDocument"), "")
    relations = package.relations(main)
    return {r.kind: r.target for r in relations if not r.external and r.target in package}


def style_tables(package: Package, part: str) -> StyleTables | None:
    """Return a workbook's style sheet, None where it has none or one of an unknown form."""
    if not part:
        return None
    try:
        return StyleTables(package.root(part))
    except ValidationFailed:
        return None
