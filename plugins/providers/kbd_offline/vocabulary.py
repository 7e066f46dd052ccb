"""Words: what is refused by name, and what may stand in a request without meaning anything more."""

__all__ = [
    "CONVERTING", "DEDUPING", "HARMLESS", "MERGING", "POLITE", "PROFILING", "REFUSED", "REPLACING",
]  # fmt: skip

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
    ("tell duplicates without removing them", r"\bduplicat\w*"),
    ("change the data itself", _CHANGES),
    ("work that out", _SUMS),
    ("style sheets as asked", r"\b(?:colou?r|highlight|conditional|formula|macro)\w*\b"),
)
"""What is asked for often and cannot be done by rules, each with the words that give it away."""

_POLITE = """
a all also an and any are as at be been both by called can contain contains could data do does each
existing file files for from get give go has have hello here hi i in into is it its just kindly let
like make me my name named need new now of on one ones only or our out output please produce put
result results save so some table tables take thank thanks that the their them then there these
they this those to too us use using want was we were which will with within workbench would write
you your
"""
POLITE = frozenset(_POLITE.split())
"""Words that may be left over in any request; none that excepts or denies."""

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
tsv delimited
"""
HARMLESS = frozenset(_HARMLESS.split())
"""Words that may be left over in a request about one table."""

_CONVERTING = """
book books change convert converted copy create csv delimited different dump every excel export
extract individual individually its make own psv save separate separated separately sheet sheets
single split spreadsheet tab tabs text transform tsv turn values workbook worksheet worksheets xlsx
"""
CONVERTING = POLITE | frozenset(_CONVERTING.split())
"""Words that may be left over in a request of the sheets of a workbook."""

_DEDUPING = """
clean column columns complete completely copy create csv dedup dedupe deduped dedupes deduplicate
deduplicated deduplication delete discard distinct double doubles drop duplicate duplicated
duplicates duplication eliminate entire entries entry equal every exact exactly excel export filter
first full fully how identical keep keeping leave line lines list many number occurrence occurrences
only out purge record records redundant remove removed removing repeated rid row rows same save say
sheet spreadsheet strip tell throw tsv unique up were whole without workbook xlsx
"""
DEDUPING = POLITE | frozenset(_DEDUPING.split())
"""Words that may be left over in a request to take out duplicates."""

_MERGING = """
adding another append appended below beneath big book books column columns combine combined
combining concat concatenate consolidate consolidated create csv different entries every everything
excel filled first five four header headers join joined large list lists merge merged merging order
other put record records row rows same separate sheet sheets single spreadsheet spreadsheets stack
stacked tab tabs three together tsv two under underneath union unite whole workbook workbooks
worksheet worksheets xlsx
"""
MERGING = POLITE | frozenset(_MERGING.split())
"""Words that may be left over in a request to put tables together."""

_PROFILING = """
average averages blank blanks book books column columns complete containing content contents count
counts create csv data deck decks describe described describing description detailed distinct doc
docs document documents docx each empty every excel fields full generate heading headings how html
include including inventory kind kinds list listing many markdown max maximum md mean means min
minimum missing much names number numbers overview page pages pdf pdfs per plain powerpoint pptx
prepare presentation presentations profile profiles profiling quality quick range ranges report
reports row rows sheet sheets short show showing simple size sizes slides spreadsheet spreadsheets
statistics stats structure summaries summary tell text tsv txt type types unique value values what
word words workbook workbooks xlsx
"""
PROFILING = POLITE | frozenset(_PROFILING.split())
"""Words that may be left over in a request for a report on files."""

_REPLACING = """
across anywhere book books cell cells change changed content contents copy csv deck decks docs
document documents docx each every everything everywhere excel find instance instances keep match
matching new occur occurrence occurrences occurs paragraphs phrase powerpoint powerpoints pptx
presentation presentations replace replaced replacing sheet sheets slide slides spreadsheet
spreadsheets string substitute swap term text texts through throughout update updated version
versions where wherever word words workbook workbooks xlsx
"""
REPLACING = POLITE | frozenset(_REPLACING.split())
"""Words that may be left over in a request to replace a text."""
