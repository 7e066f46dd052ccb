"""The operations on decks, as records; their fields are the tool's schema.

Looks of runs and paragraphs are lenient by contract: they are plain values here, and what is wrong
in one is skipped and told in the warnings.

    base    the base of the records, and the fields that they share
    slides  operations on whole slides
    texts   operations on titles, bodies and notes
    tables  operations on tables
    charts  operations on charts
    shapes  operations on pictures, text boxes and other shapes
    templates  operations on templates
"""

import msgspec

from kbd_pptx.operations.base import (
    ParagraphedOperation,
    ParagraphedPlacedOperation,
    PlacedOperation,
    PptxOperation,
    Runs,
    SlideIndex,
    TableCell,
)
from kbd_pptx.operations.charts import (
    AddSlideChart,
    SetSlideChart,
    SlideChartLabels,
    SlideChartLegend,
    SlideChartSeries,
    SlideChartType,
)
from kbd_pptx.operations.shapes import (
    AddShape,
    AddSlideImage,
    AddTextbox,
    ReplaceImage,
    SetShape,
)
from kbd_pptx.operations.slides import (
    AddSlide,
    DeleteSlide,
    DuplicateSlide,
    MoveSlide,
    SetLayout,
)
from kbd_pptx.operations.tables import (
    AddSlideTable,
    DeleteSlideRows,
    InsertSlideRows,
    SetSlideTableCells,
    SlideTableCell,
)
from kbd_pptx.operations.templates import (
    DeckTemplateList,
    DeckTemplatePicture,
    DeckTemplateValue,
    FillDeckTemplate,
)
from kbd_pptx.operations.texts import AppendBullets, ReplaceText, SetNotes, SetSlideText

__all__ = [
    "OPERATIONS",
    "AddShape",
    "AddSlide",
    "AddSlideChart",
    "AddSlideImage",
    "AddSlideTable",
    "AddTextbox",
    "AppendBullets",
    "DeckTemplateList",
    "DeckTemplatePicture",
    "DeckTemplateValue",
    "DeleteSlide",
    "DeleteSlideRows",
    "DuplicateSlide",
    "FillDeckTemplate",
    "InsertSlideRows",
    "MoveSlide",
    "ParagraphedOperation",
    "ParagraphedPlacedOperation",
    "PlacedOperation",
    "PptxOperation",
    "ReplaceImage",
    "ReplaceText",
    "Runs",
    "SetLayout",
    "SetNotes",
    "SetShape",
    "SetSlideChart",
    "SetSlideTableCells",
    "SetSlideText",
    "SlideChartLabels",
    "SlideChartLegend",
    "SlideChartSeries",
    "SlideChartType",
    "SlideIndex",
    "SlideTableCell",
    "TableCell",
]

OPERATIONS: tuple[type[msgspec.Struct], ...] = (
    AddSlide,
    SetSlideText,
    AppendBullets,
    ReplaceText,
    SetNotes,
    DeleteSlide,
    MoveSlide,
    DuplicateSlide,
    SetLayout,
    AddSlideTable,
    SetSlideTableCells,
    InsertSlideRows,
    DeleteSlideRows,
    AddSlideChart,
    SetSlideChart,
    AddSlideImage,
    ReplaceImage,
    AddTextbox,
    AddShape,
    SetShape,
    FillDeckTemplate,
)
