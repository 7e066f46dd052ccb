"""The words that say nothing of what a text is about, in the languages of Europe."""

__all__ = ["COMMON_WORDS", "LEANING_WORDS"]

_ENGLISH = """
about above after again against all also am an and any are as at be because been before being below
between both but by can could did do does doing down during each either else ever every few for
from further had has have having he her here hers him his how however if in into is it its itself
just let many may me might more most much must my no nor not now of off often on once one only or
other our out over own per same shall she should since so some such than that the their them then
there therefore these they this those though through thus to too two under until up upon us use
used using very via was we well were what when where whether which while who whom whose why will
with within without would yes yet you your see
"""
_GERMAN = """
aber als alle allem allen aller alles am auch auf aus bei beim bis bin das dass daß dem den denn der
deren des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen
einer eines er es etwa für gegen hat haben hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem ihren
ihrer im in indem ins ist ja jede jedem jeden jeder jedes kann kein keine keinem keinen keiner
können könnte man mehr mein mit muss müssen nach nicht noch nun nur ob oder ohne sehr sein seine
seinem seinen seiner seit sich sie sind so sowie soll sollen sollte über um und uns unser unter vom
von vor war waren was weil welche welcher wenn wer werden wie wieder wir wird wo wurde wurden würde
zu zum zur zwar zwischen
"""
_FRENCH = """
ai ainsi alors au aucun aussi autre autres aux avait avec avoir ce ceci cela celle celui ces cet
cette ceux chaque comme comment dans de depuis des donc dont du elle elles en encore entre est et
été être eu fait il ils je jusque la le les leur leurs lors lui ma mais même mes moins mon ne ni
nos notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi qu quand que quel
quelle qui sa sans se sera ses si sont sous sur ta te tous tout toute toutes très un une vers vos
votre vous
"""
_SPANISH_PORTUGUESE = """
al algo algunos ante antes aquel aquí así aunque bajo bien cada casi como con contra cual cuando
de del desde donde dos durante el ella ellas ellos en entre era es esa ese eso esta están estar
este esto estos fue fueron ha había han hasta hay la las le les lo los más me menos mi mientras
muy nada ni no nos o otra otros para pero poco por porque pues que qué quien se según ser si sí
sido sin sobre son su sus también tan tanto te tiene todo todos tras tu un una uno unos usted y ya
a à ao aos até as com da das dele depois do dos e ela ele eles em essa esse está estão eu foi foram
há isso isto já mais mas mesmo muito na não nas nem no nos num numa o os ou pela pelo pode quando
quem são se sem seu seus só sua suas também tem têm um uma
"""
_ITALIAN = """
a ad agli ai al alla alle allo anche ancora avere che chi ci come con cui da dagli dai dal dalla
dalle degli dei del della delle dello di dopo dove e è ed era essere fra gli ha hanno i il in io la
le lei lo loro lui ma mi molto ne nei nel nella nelle no noi non nostro o ogni ora per perché più
può quale quando quella quelle quelli quello questa queste questi questo se sei si sia solo sono
sopra su sua sue sugli sui sul sulla suo tra tutti tutto un una uno vi voi
"""
_DUTCH_POLISH = """
aan al als ander bij dan dat de deze die dit doen door dus een en er ge geen had heb heeft het hier
hij hoe hun iets ik in is je kan maar me meer men met mijn moet na naar niet nog nu of om onder ons
ook op over te toch toen tot uit van veel voor waren was wat we wel werd wij wordt worden zal ze
zich zij zijn zo zonder zou
aby albo ale bez być był była były ci co czy dla do gdy gdzie go i ich im jak jako je jego jej jest
jeszcze już każdy kiedy która które którego których który lub ma mają może na nad nie nich nim niż
o od on ona oni oraz po pod przed przez przy są się tak także tam te tego tej ten to tych tylko tym
u w we więc wszystko z za ze że
"""
_RUSSIAN = """
без был была были было быть в вам вас весь во вот все всё вы где да для до его её ей если есть ещё
же за здесь и из или им их к как ко когда который которая которые кто ли между меня мне может мы на
над надо не него нее нет но ну о об он она они оно от по под после при с со так также такой там то
того тоже только том ты у уже хотя чего чем что чтобы эта эти это этого этот я
"""

COMMON_WORDS = frozenset(
    (
        _ENGLISH + _GERMAN + _FRENCH + _SPANISH_PORTUGUESE + _ITALIAN + _DUTCH_POLISH + _RUSSIAN
    ).split()
)
"""They bind others; in another language the words in most sentences weigh least by themselves."""

_LEANING = """
this that these those it its he she they his her their then so but and or also thus therefore
however moreover furthermore instead otherwise such here there
dies diese dieser dieses dabei dadurch damit daher deshalb dann aber und auch er sie es jedoch
außerdem ferner dort hier
ceci cela ce cette ces il elle ils elles donc mais et aussi ainsi toutefois cependant
esto esta este estos estas ello él ella ellos pero y además así también sin
isto ele ela mas e além assim também questo questa questi esso essa ma inoltre
dit deze dat hij zij maar en ook to ten ta te ale i jednak также это этот эта но и однако
"""

LEANING_WORDS = frozenset(_LEANING.split())
"""A sentence that begins with one leans on what was said before it."""
