"""Words: what is refused by name, and what may stand in a request without meaning anything more."""

__all__ = ["HARMLESS", "REFUSED"]

_A_DOCUMENT = (
    r"\bsummari[sz]e\b(?!.*\b(?:by|per|each|every)\b)"
    r"|\bsummary\s+of\s+(?:the|this|these|my)\s+(?:files?|documents?|texts?|reports?)\b"
)
_PROSE = (
    r"\b(?:draft|compose|rewrite|rephrase|proofread|essay|letter|e-?mail|memo|paragraph|article"
    r"|story|explain|describe|why|report\s+(?:on|about))\b"
)
_DOCUMENTS = r"\b(?:docx|word\s+(?:document|file)|documents?|slides?|presentation|pptx|pdf)\b"
_CHANGES = (
    r"\b(?:dedup\w*|duplicates?|merge|join|combine|rename|replace|delete|remove|fix|clean|correct"
    r"|fill|anonymi[sz]e)\b"
)
_SUMS = (
    r"\b(?:forecast|predict\w*|percent\w*|share|median|growth|cumulative|running|pivot|trend"
    r"|correlat\w+|compare|difference|ratio|currency|top|bottom)\b"
)
REFUSED = (
    ("translate", r"\btranslat\w+|\binto\s+(?:german|french|spanish|italian|english|chinese)\b"),
    ("summarise a document", _A_DOCUMENT),
    ("write prose", _PROSE),
    ("edit a document", _DOCUMENTS),
    ("draw charts", r"\b(?:charts?|graphs?|plots?|diagrams?|histograms?|visuali[sz]\w+)\b"),
    ("change the data itself", _CHANGES),
    ("work that out", _SUMS),
    ("style sheets as asked", r"\b(?:colou?r|highlight|conditional|formula|macro)\w*\b"),
)
"""What is asked for often and cannot be done by rules, each with the words that give it away."""

_HARMLESS = """
a about add all an and another any are as at available based be below both break build but by
can change clear column columns complete containing contents convert copy could create csv data
did display divide do does down each end entire entries entry every everything excel export
fields figures file files filter filtered final first for format from full generate get give go
grand group grouped has have header headers headings how i in include including individual
information into is it its just keep line lines list lists make me my name need new nice nicely
of on one ones only or order ordered other our out output overall overview own paid please plus
produce put record records report result results row rows s same save select selected separate
separated sheet sheets show simple single sort sorted sorting spend spent split spreadsheet
spreadsheets subtotals summaries summary tab table tables tabs take tell that the their them
then there these this those to together too transaction transactions transform turn under up us
use using value values want was we well were what where which whole will with work workbook
workbooks worksheet worksheets would write xlsx you
"""
HARMLESS = frozenset(_HARMLESS.split())
"""Words that may be left over when every clause has been taken."""
