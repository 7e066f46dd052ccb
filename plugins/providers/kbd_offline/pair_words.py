"""Words of requests about several tables: what differs, what has no partner, which list is meant.

All are folded, English and German side by side.
"""

from collections.abc import Sequence

from kbd_offline.names import stem

__all__ = [
    "ADDED", "ADDING", "CHANGED", "COMPARED", "EARLIER", "FALLEN", "FIRST", "GONE", "LATER",
    "LISTS", "MISSING", "MONEY", "NEGATIVE", "OFTEN", "ONLY", "RISEN", "SECOND", "SMALL",
    "UNITED", "same_family", "word_set",
]  # fmt: skip


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


COMPARED = word_set(
    "compare comparison comparing difference differences diff vergleiche vergleich "
    "vergleichen unterschied unterschiede unterscheiden abgleich abgleichen"
)
CHANGED = word_set(
    "changed change changes different differ differs differing geandert andert andern "
    "verandert veranderte geanderte geanderten anderung anderungen abweichung abweichungen "
    "weicht weichen"
)
ADDED = word_set(
    "new added neu neue neuen neuer dazugekommen hinzugekommen hinzugefugt dazu hinzu "
    "neuzugange additional"
)
GONE = word_set(
    "gone removed dropped deleted discontinued disappeared weggefallen entfallen entfernt "
    "geloscht verschwunden weg gestrichen wegfallen"
)
MISSING = word_set("missing lacking lacks fehlt fehlen fehlende fehlenden")
RISEN = word_set(
    "up expensive dearer risen rose increased raised higher teurer gestiegen erhoht erhohte "
    "hoher angehoben"
)
FALLEN = word_set(
    "down cheaper fallen fell decreased reduced lower billiger gunstiger gesunken gefallen "
    "gesenkt niedriger"
)
EARLIER = word_set(
    "old older earlier previous former alt alte alten alter altere alteren vorherige "
    "vorherigen vorige vorigen bisherige bisherigen before"
)
LATER = word_set(
    "new newer later current latest neu neue neuen neuer neuere neueren aktuelle aktuellen aktuell"
)
FIRST = word_set("first erste ersten erster")
SECOND = word_set("second zweite zweiten zweiter")
ONLY = word_set("only nur")
LISTS = word_set(
    "list lists file files table tables version versions liste listen datei dateien tabelle "
    "tabellen preisliste preislisten sheet sheets blatt blatter fassung stand one"
)
NEGATIVE = word_set(
    "never not no none without ohne nie niemals nicht kein keine keinen keiner keinerlei "
    "haven't hasn't didn't weren't wasn't aren't isn't don't doesn't nothing nichts unsold"
)
OFTEN = word_set(
    "anything something ever yet einmal mal etwas was jemals je noch bisher single any"
)
SMALL = word_set(
    "which what what's whats who that were was is are have has had been be did do does we i "
    "they there of the a an in from and to both two at all so out me show list give find "
    "tell please die der das den dem des welche welcher welches welchen wer sind ist wurden "
    "wurde haben hat worden wir in im aus von zu sich es gibt und beide beiden zwischen "
    "between zeige zeig mir alle bitte on with whose deren dessen where but aber sondern "
    "got become became geworden wurde went more"
)
"""Words that mean nothing more between those of a comparison or of what has no partner."""
MONEY = word_set(
    "wert werte summe summen betrag betrage volumen umsatz umsatze value values total "
    "totals amount amounts volume"
)
ADDING = word_set(
    "add append attach include put write fill bring pull lookup vlookup xlookup enrich "
    "erganze erganzen dazuschreiben hinzufugen hinzu anhangen nachschlagen sverweis "
    "ubernehmen anreichern fuge fuhre schreibe schreib hole look up in dazu zuordnen"
)
UNITED = word_set(
    "merge combine stack append concatenate concat consolidate unite union put join "
    "zusammenfuhren zusammenfugen fuhre fuge fasse kombiniere vereinige hange lege mische "
    "zusammenfassen merged combined zusammen zusammengefasst zusammengefuhrt vereinigen "
    "kombinieren gather bring add setze packe pack"
)

_FAMILIES = tuple(
    frozenset(stem(word) for word in words)
    for words in (
        word_set(
            "order orders ordered ordering purchase purchased bought buy buys sale sales "
            "sold sell unsold bestellung bestellungen bestellt bestellte bestellten auftrag "
            "auftrage kauf kaufe gekauft verkauf verkaufe verkauft verkaufte verkauften "
            "umsatz umsatze transaction transactions"
        ),
        word_set("payment payments paid pay zahlung zahlungen bezahlt gezahlt"),
        word_set("booking bookings booked buchung buchungen gebucht"),
        word_set("invoice invoices invoiced billed rechnung rechnungen"),
        word_set("loan loans lent borrowed ausleihe ausleihen ausgeliehen verliehen"),
        word_set(
            "shipment shipments shipped delivery deliveries delivered lieferung lieferungen "
            "geliefert"
        ),
        word_set("donation donations donated spende spenden gespendet"),
    )
)
"""What is done with things: nouns and verbs of one and the same."""


def same_family(word: str, nouns: Sequence[str]) -> bool:
    """Tell whether a word speaks of what a table is called by: "ordered" of orders."""
    one, others = stem(word), {stem(noun) for noun in nouns}
    return one in others or any(one in some and others & some for some in _FAMILIES)
