"""Functions of expressions: a closed list, with what each takes and gives.

Of a parameter `text | number | integer | date | boolean` is meant as in `kbd.jobs.columns`; a date
may be one with a time. `any` takes everything; `alike` are values of one type, which is that of the
result, too.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

__all__ = ["FUNCTIONS", "FunctionSpec", "Parameter"]

Kind = Literal["text", "number", "integer", "date", "boolean", "any", "alike"]

Result = Literal["string", "integer", "float", "boolean", "date", "moment", "alike"]
"""The type of a result: `moment` is a date, or one with a time if the first argument is one."""


class Parameter(msgspec.Struct, frozen=True):
    """What a function takes.

    Args:
        name: For messages and the reference.
        kind: Its type.
        optional: Whether it may be left out, with those behind it.
        repeated: Whether any number of them may follow; of the last one alone.
    """

    name: str
    kind: Kind
    optional: bool = False
    repeated: bool = False


class FunctionSpec(msgspec.Struct, frozen=True):
    """A function.

    Args:
        name: Its name, in lower case.
        parameters: What it takes, in order.
        result: The type of what it gives.
        text: What it gives, in a few words.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: Result
    text: str

    @property
    def least(self) -> int:
        """How many arguments it needs."""
        return sum(not each.optional for each in self.parameters)

    @property
    def most(self) -> int | None:
        """How many it takes; None for any number."""
        return None if self.parameters and self.parameters[-1].repeated else len(self.parameters)

    @property
    def signature(self) -> str:
        """The call as it is written: `round(number[, places])`."""
        written = ""
        for place, each in enumerate(self.parameters):
            part = f"{', ' if place else ''}{each.name}{', …' if each.repeated else ''}"
            written += f"[{part}]" if each.optional else part
        return f"{self.name}({written})"

    def parameter(self, place: int) -> Parameter:
        """Return what an argument is for, counted from 0."""
        return self.parameters[min(place, len(self.parameters) - 1)]


def _spec(name: str, parameters: str, result: Result, text: str) -> FunctionSpec:
    """Make a function of its parameters as text: `name:kind`, `?` optional, `*` repeated."""
    found = []
    for part in parameters.split():
        word, _, kind = part.rstrip("?*").partition(":")
        found.append(
            msgspec.convert(
                {"name": word, "kind": kind, "optional": "?" in part, "repeated": "*" in part},
                Parameter,
            )
        )
    return FunctionSpec(name, tuple(found), result, text)


FUNCTIONS: Mapping[str, FunctionSpec] = {
    spec.name: spec
    for spec in (
        _spec("if", "condition:boolean then:alike otherwise:alike?", "alike",
              "one value where the condition is true, the other, or none, where it is not"),
        _spec("coalesce", "value:alike other:alike*", "alike", "the first value that is there"),
        _spec("min_of", "value:alike other:alike*", "alike",
              "the least of the values that are there, row by row"),
        _spec("max_of", "value:alike other:alike*", "alike",
              "the greatest of the values that are there, row by row"),
        _spec("today", "", "date", "the day on which the job runs"),
        _spec("year", "date:date", "integer", "its year"),
        _spec("quarter", "date:date", "integer", "its quarter, 1 to 4"),
        _spec("month", "date:date", "integer", "its month, 1 to 12"),
        _spec("week", "date:date", "integer", "its week by ISO 8601, 1 to 53"),
        _spec("day", "date:date", "integer", "its day of the month, 1 to 31"),
        _spec("weekday", "date:date", "integer", "its day of the week, 1 for Monday to 7"),
        _spec("hour", "date:date", "integer", "its hour, 0 to 23; of a day without a time 0"),
        _spec("month_of", "date:date", "string", "its month with the year: '2024-03'"),
        _spec("quarter_of", "date:date", "string", "its quarter with the year: '2024-Q1'"),
        _spec("week_of", "date:date", "string", "its week with the year of that: '2024-W09'"),
        _spec("month_name", "date:date", "string", "its month in English: 'March'"),
        _spec("weekday_name", "date:date", "string", "its day of the week in English: 'Monday'"),
        _spec("fiscal_year", "date:date first_month:integer", "integer",
              "the fiscal year that it lies in, called by the year in which that ends; the first"
              " month of one is 1 to 12"),
        _spec("date_of", "value:any month:integer? day:integer?", "date",
              "the day of a date with a time, of an ISO text, or of a year, a month and a day;"
              " empty where there is no such day"),
        _spec("start_of_month", "date:date", "date", "the first day of its month"),
        _spec("end_of_month", "date:date", "date", "the last day of its month"),
        _spec("add_days", "date:date days:integer", "moment", "so many days later"),
        _spec("add_months", "date:date months:integer", "moment",
              "so many months later, at most on the last day of the month"),
        _spec("days_between", "start:date end:date", "integer",
              "how many days the second date is after the first"),
        _spec("months_between", "start:date end:date", "integer",
              "how many whole months lie between them"),
        _spec("years_between", "start:date end:date", "integer",
              "how many whole years lie between them, such as an age"),
        _spec("lower", "text:text", "string", "in small letters"),
        _spec("upper", "text:text", "string", "in capitals"),
        _spec("trim", "text:text", "string", "without blanks around it"),
        _spec("fold", "text:text", "string",
              "trimmed, in small letters, accents written in one way: what two texts are compared"
              " by where capitals do not matter"),
        _spec("same", "text:text other:text", "boolean", "whether two texts are alike after fold"),
        _spec("length", "text:text", "integer", "how many characters it has"),
        _spec("left", "text:text count:integer", "string", "its first characters"),
        _spec("right", "text:text count:integer", "string", "its last characters"),
        _spec("substring", "text:text start:integer count:integer?", "string",
              "its characters from one on, counted from 1"),
        _spec("replace", "text:text search:text replacement:text", "string",
              "with one text in place of another, wherever it stands"),
        _spec("contains", "text:text part:text", "boolean",
              "whether a text is in it; capitals count"),
        _spec("starts_with", "text:text part:text", "boolean",
              "whether it begins with a text; capitals count"),
        _spec("ends_with", "text:text part:text", "boolean",
              "whether it ends with a text; capitals count"),
        _spec("concat", "value:any other:any*", "string",
              "values one after the other, empty ones left out; || is empty if one of them is"),
        _spec("text", "value:any places:integer?", "string",
              "a value as text, a number with so many decimals if said"),
        _spec("number", "text:text", "float",
              "the number that a text is (-1234.5); empty where it is none, or has more than 15"
              " digits, as no amount does"),
        _spec("round", "number:number places:integer?", "float",
              "to so many decimals, or to a whole number; halves away from zero"),
        _spec("floor", "number:number", "integer", "the whole number below it"),
        _spec("ceil", "number:number", "integer", "the whole number above it"),
        _spec("abs", "number:number", "alike", "without its sign"),
        _spec("sign", "number:number", "integer", "-1, 0 or 1"),
    )
}  # fmt: skip
"""The functions by name."""
