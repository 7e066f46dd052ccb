"""German words of requests, by what they mean; see `kbd_offline.english` for the form."""

from collections.abc import Mapping

__all__ = [
    "CUES", "DEEDS", "MEANINGS", "NUMERALS", "PHRASES", "PREFIXES", "TABLE_PHRASES",
]  # fmt: skip

PHRASES: Mapping[str, str] = {
    "filler": """der, die, das, den, dem, des, ein, eine, einen, einem, einer, eines, diese, bringt,
        brachte, erzielt, erzielte, dieser, dieses, diesen, diesem, mein, meine, meinen, meiner,
        unser, unsere, unserer, unseren, ihr, ihre, bitte, mal, ich, wir, mir, uns, es, sie, man,
        kannst du, konntest du, kann, konnen, mochte, mochten, will, wollen, brauche, brauchen,
        hatte, gerne, gern, hier, da, dann, dazu, auch, so, ist, sind, war, waren, hat, haben,
        hatten, wird, wurde, wurden, werden, gibt es, gibt, in, im, ins, an, am, auf, aus, von,
        vom, zu, zum, zur, fur, bei, mit, und, daten, tabelle, tabellen, liste, listen, datei,
        dateien, mappe, arbeitsmappe, blatt, zeige, zeig, zeigen, gib, geben, mach, mache, machen,
        erstelle, erstell, erstellen, anzeigen, ausgeben, finde, finden, suche, welche, welcher,
        welches, welchen, was, wer, wie, alle, aller, allen, alles, jeder, jede, jedes, neu, neue,
        neuen, neuer, neues, ganze, ganzen, gesamte, gesamten, wert, werte, spalte, spalten, feld,
        felder, namens, genannt, insgesamt, jeweils, nun, jetzt, zuerst, hallo, danke, ergebnis,
        ergebnisse, schreibe, schreib, speichere, bericht, uber alle, ubersicht, kurz, einfach,
        berechne, ermittle, ausrechnen, rechne, bestimme, um, als, daraus, davon, sortiere mal,
        enthalten, haben wir, gemacht, verkauft, ausgegeben, eingenommen, betragt, lautet, her,
        heraus, raus, nur, bzw, seit wann, wo, wann, steht, stehen, jeweilige, jeweiligen,
        aufgeschlusselt, zusammenfassung, zusammengefasst, gruppiert, aus der, einzelne,
        einzelnen, hatten wir, lag, liegt, behalte, behalten, verdient, verdienen, auf lager,
        liegen, lagen, ging, gingen, ging an, gingen an, noch, bezahle, zahle ich,
        gearbeitet, gefahren, gekostet, geleistet, derzeit, aktuell, vielen|herzlichen|besten dank,
        viele grusse, sonst nichts, bisher, auflisten, anlegen, bei wem, wem, unterm strich,
        hinzuzahlen""",
    "row_noun": "zeile, zeilen, datensatz, datensatze, datensatzen, eintrag, eintrage, eintragen",
    "and": "und, sowie, &",
    "or": "oder",
    "det": """der, die, das, den, dem, des, ein, eine, einen, einem, einer, alle, aller, allen, von,
        vom, fur, im, in, diese, dieser, diesen, jeder, jede, jedes, jeden, spalte, spalten, nur,
        insgesamt""",
    "sum": """summe der|von|, summen, gesamt, gesamtsumme, summiere, addiere, total, insgesamt,
        aufsummieren, summieren, zusammen, zusammenzahlen""",
    "average": """im| durchschnitt|schnitt, durchschnittliche, durchschnittlicher,
        durchschnittlichen, durchschnittliches, mittelwert, durchschnittlich, mittlere,
        mittlerer""",
    "count": "anzahl der|von|an|, die| zahl der, zahle die|, zahlen, haufigkeit, wie oft",
    "minimum": """
        minimum, kleinste, kleinster, kleinsten, niedrigste, niedrigster, niedrigsten, geringste,
        geringster, billigste, gunstigste, fruheste, frueheste, alteste, mindestwert, kleinstes,
        niedrigstes""",
    "maximum": """maximum, grosste, grosster, grossten, großte, großter, großten, hochste, hochster,
        hochsten, teuerste, spateste, neueste, großtes, hochstes, meisten, meiste""",
    "median": "median",
    "distinct": """wieviele| verschiedene, verschiedenen, unterschiedliche, unterschiedlichen,
        eindeutige, eindeutigen, wie viele verschiedene|unterschiedliche, anzahl
        verschiedener|unterschiedlicher|eindeutiger, anzahl der verschiedenen|unterschiedlichen""",
    "how_many": "wie viele|viel, wieviele",
    "how_much": "wie viel, wieviel, wie hoch ist|war|, wie groß ist|",
    "unique_list": """alle|welche verschiedenen, liste der verschiedenen, alle unterschiedlichen,
        liste aller""",
    "by": """je, pro, gruppiert|je|aufgeschlusselt|zusammengefasst|aufgeteilt| nach, fur
        jede|jeden|jedes, pro|in| jeder, jede, jedes, jeden, in jedem""",
    "year": "jahr, jahre, jahren, kalenderjahr",
    "quarter": "quartal, quartale, quartalen",
    "month": "monat, monate, monaten, kalendermonat",
    "week": "woche, wochen, kalenderwoche, kw",
    "day": "tag, tage, tagen, datum",
    "weekday": "wochentag, wochentage, wochentagen",
    "yearly": "jahrlich, jahrliche, jahrlicher, jahrlichen, jahresweise",
    "quarterly": "quartalsweise, vierteljahrlich",
    "monthly": "monatlich, monatliche, monatlicher, monatlichen, monatsweise",
    "weekly": "wochentlich, wochentliche, wochenweise",
    "daily": "taglich, tagliche, taglicher, tageweise",
    "across": "als spalten|spaltenuberschriften, in den|die| spalten, nebeneinander, quer",
    "down": "als zeilen, in den|die| zeilen",
    "pivot": "pivot, pivottabelle, pivot-tabelle, kreuztabelle, matrix",
    "where": """wo, bei denen|der|dem, deren wert|, dessen, mit, wenn, falls, fur|nur| die, filtere,
        filtern, filtere|filter|gefiltert nach, nur zeilen mit|, in denen, zeige nur""",
    "only": "nur noch|die|, ausschließlich, lediglich, behalte|zeige nur",
    "except": """alle|alles| außer|ausser, ohne, ausgenommen, aber nicht, abgesehen von, nicht
        aus|in|, alle|alles| bis auf, exklusive, entferne, entfernen, losche, loschen, lasse weg,
        weglassen, keine, kein, keinen, mit ausnahme von""",
    "is": "ist, sind, ist| gleich, war, waren, lautet",
    "is_not": "ist|sind|war| nicht, ungleich, nicht gleich, ist ungleich|kein|keine",
    "more": """mehr|großer|hoher|alter|langer|teurer als, von|ist|liegt| uber, großer, oberhalb von,
        ist großer|hoher als, von mehr als, großer ist als, ubersteigt, hoher""",
    "at_least": "ist|von| mindestens, wenigstens, ab, nicht weniger als, nicht unter",
    "less": """weniger|kleiner|geringer|niedriger|billiger|gunstiger|junger|kurzer als,
        ist|von|liegt| unter, kleiner, unterhalb von, ist kleiner als, von weniger als,
        niedriger""",
    "at_most": "ist|von| hochstens, maximal, nicht mehr als, bis zu, nicht uber",
    "or_more": "oder mehr|hoher|großer, und mehr|hoher, aufwarts",
    "or_less": "oder weniger|niedriger|kleiner, und weniger",
    "between": "liegt|ist| zwischen, von",
    "range_to": "und, bis",
    "negative": "negative, negativen, negativer",
    "positive": "positive, positiven, positiver",
    "contains": "enthalt, enthalten, enthalt das wort, beinhaltet, mit dem wort, vorkommt",
    "not_contains": "enthalt|enthalten nicht, ohne das wort",
    "starts": "beginnt|beginnen|anfangt|beginnend mit, fangt|fangen an mit",
    "ends": "endet|enden|endend auf, endet|enden mit",
    "empty": """leer ist|sind|, ist|sind leer, fehlt, fehlen, nicht ausgefullt ist|, fehlend,
        fehlende, fehlenden, leere, leerem, leerer""",
    "not_empty": """nicht leer ist|sind|, ist nicht leer, ausgefullt ist|, vorhanden, nicht fehlt,
        gefullt ist""",
    "lacks": "ohne, keine, keinen, kein, denen",
    "has_any": "die eine haben, mit einer|einem|vorhandener",
    "one_of": "einer|eine|eines von, in",
    "not_one_of": "nicht in, keiner|keine von",
    "since": "seit, ab, von, ab|seit dem, vom, beginnend",
    "before": "vor dem|, fruher als",
    "after": "nach dem|, spater als",
    "until": "bis zum|einschließlich|ende|",
    "last": """letzten, letzter, letztes, letzte, letztem, vorigen, voriges, vorige, vergangenen,
        vergangenes, vergangene, vorherigen""",
    "this": """diesen, dieses, diese, diesem, dieser, aktuellen, aktuelles, aktuelle, laufenden,
        laufendes""",
    "next": """nachste, nachsten, nachstes, nachster, kommende, kommenden, kommendes, kommender""",
    "today": "heute, heutige, heutigen",
    "yesterday": "gestern, gestrigen, gestrige",
    "of_every_year": "jedes jahres, in jedem jahr, aller jahre, eines jeden jahres",
    "half": "halbjahr",
    "versus": "gegen, gegenuber, verglichen mit, im vergleich zu|mit, vs",
    "sort": """sortiere, sortiert, sortieren,
        sortiere|sortiert|sortieren|geordnet|ordne|sortierung|sortier|rangliste nach, ordne,
        geordnet, sortier, sortiere alles|sie nach, sortiere die zeilen nach""",
    "descending": """absteigend, absteigende, absteigender,
        großte|großter|hochste|hochster|großtes|großten|hochsten|teuerste|meiste zuerst, die
        großten|hochsten|meisten zuerst, der großte|hochste zuerst, von| groß nach klein, in
        absteigender reihenfolge, von hoch nach niedrig""",
    "ascending": """aufsteigend, aufsteigende, kleinste|niedrigste|billigste|kleinster|kleinsten
        zuerst, die kleinsten zuerst, von klein nach groß, alphabetisch, in aufsteigender
        reihenfolge, von a bis|nach z""",
    "newest_first": "neueste|neuste|jungste|neuesten zuerst, die neuesten zuerst",
    "oldest_first": """alteste zuerst, chronologisch, die| altesten zuerst, in zeitlicher
        reihenfolge""",
    "then_by": "und| dann nach, danach nach, dann",
    "top": "top, ersten, die ersten|besten|top, besten, erste, beste",
    "bottom": "die| letzten|schlechtesten, flop",
    "largest": """
        großten, großte, großter, großtes, hochsten, hochste, hochster, hochstes, starksten,
        umsatzstarksten, starkste""",
    "smallest": """kleinsten, kleinste, kleinster, niedrigsten, niedrigste, geringsten, geringste,
        schwachsten""",
    "newest": "neuesten, neueste, neuster, neusten, jungsten, jungste, aktuellsten",
    "oldest": "altesten, alteste, altester",
    "expensive": "teuersten, teuerste, teuerster, teuerstes",
    "cheap": "billigsten, billigste, gunstigsten, gunstigste",
    "most": "die|am| meisten",
    "fewest": "die|am| wenigsten",
    "share": """anteil am|an|der|von|, prozentualer|welcher anteil, prozentanteil, prozentuale|
        anteile, prozent, anteil am gesamten|gesamtumsatz, anteil| in prozent, anteil an der
        gesamtsumme|summe, prozentsatz, wie viel prozent, prozentual""",
    "running": """laufende summe der|von|, kumuliert, kumulierte, kumulierter, kumulierten,
        kumulierte summe der|, aufgelaufene|fortlaufende summe, laufender saldo, kumuliertes""",
    "totals_row": """mit summenzeile|summe|gesamtsumme|summen|gesamtzeile, mit einer summenzeile,
        und eine| summenzeile""",
    "summary_sheet": """und ein ubersichtsblatt|summenblatt, mit
        ubersicht|ubersichtsblatt|zusammenfassung|summen|summenblatt, und eine
        ubersicht|zusammenfassung, mit einer ubersicht, und ein blatt mit summen, mit einem
        ubersichtsblatt""",
    "select": """zeige, zeig|gib mir, behalte|zeige|gib| nur, behalte| nur die spalten, die|nur|
        spalten, behalte, wahle, mit den spalten, zeig, nur die spalte""",
    "drop_column": """
        ohne|entferne|losche|außer, lass|lasse die spalte|spalten weg,
        ohne|entferne|losche|außer die| spalte|spalten, spalte entfernen,
        alle|alles spalten| außer|ausser""",
    "rename": "benenne, umbenennen, benenne|nenne die| spalte, nenne, umbenenne, benenn",
    "rename_to": "in, zu, als, um in|zu, nach, ->",
    "renamed": "um, umbenennen",
    "add_column": """spalte hinzufugen, neue spalte, fuge eine| spalte hinzu, mit einer|neuer|
        spalte, mit einer neuen spalte, fuge|erganze| eine neue| spalte, fuge, erganze, fuge die
        spalte""",
    "added_suffix": "hinzu, ein, an, dazu, hinzufugen",
    "compute": "berechne, rechne, ermittle, mit",
    "is_made_of": "=, als, gleich, ist, aus, berechnet als|aus, mit, die, fur, namens",
    "times": "mal, multipliziert mit, *, x, ×",
    "divided": "geteilt|dividiert| durch, /",
    "added": "plus, +",
    "less_than_by": "minus, -, abzuglich, weniger",
    "vat": "mwst, mehrwertsteuer, ust, umsatzsteuer",
    "plus_percent": "plus, mit, inklusive, inkl, zuzuglich, zzgl, +, erhoht um",
    "minus_percent": "minus, abzuglich, abzgl, reduziert um, -, ohne, verringert um",
    "raise": "erhohe die|den|das|, erhohen",
    "reduce": "senke, senken, reduziere, verringere",
    "profit": "gewinn, rohgewinn, deckungsbeitrag, ertrag",
    "margin": "marge, gewinnmarge, rohmarge",
    "trim": """leerzeichen entfernen|weg|raus, entferne uberflussige|die| leerzeichen, uberflussige
        leerzeichen entfernen, trimme, leerzeichen am rand entfernen, losche leerzeichen""",
    "upper": "in| großbuchstaben, groß",
    "lower": "in| kleinbuchstaben, klein",
    "round": "runde, gerundet, runden, gerundet|runde|runden| auf",
    "decimals": "nachkommastellen, stellen, dezimalstellen, nachkommastelle, kommastellen",
    "whole_numbers": "auf| ganze zahlen|euro, auf| volle euro",
    "fill_empty": """fulle leere|fehlende|, leere felder fullen, ersetze leere|fehlende,
        fulle|ersetze leere felder""",
    "fill_with": "mit, durch, in, als",
    "clean": "bereinige, bereinigen, saubere, wandle um|, schreibe, setze, normalisiere, mache",
    "split": """
        teile, splitte, teile|splitte|trenne|aufteilen|splitten|aufgeteilt die|
        datei|daten|tabelle| auf| nach|auf, trenne, aufteilen, je|jeweils|pro| ein|eine|einen|je|
        eigenes|extra|eigener| blatt|tabellenblatt|reiter je|pro|fur jede|jeden|jedes|""",
    "split_files": """
        , je|jeweils| eine|einzelne eigene| datei|csv|dateien|csv-datei je|pro|nach|fur
        jede|jeden|jedes|""",
    "into_sheets": """
        blatter,
        auf|in ein| eigene|eigenes|eigenem|einzelne|separate| blatter|tabellenblatter|blatt,
        in eine eigene tabelle""",
    "into_files": "in eigene|einzelne|separate|mehrere| dateien",
    "dedupe": """
        dedupliziere, entferne|losche|bereinige alle|die| duplikate|dubletten|doppelte
        zeilen|eintrage|datensatze|, duplikate|dubletten|doppelte zeilen|eintrage|
        entfernen|loschen|weg|raus, ohne|keine duplikate|dubletten|doppelte zeilen|""",
    "one_row_per": "nur| die|eine erste| zeile je|pro",
    "duplicates": "duplikate, doppelte zeilen|, dubletten, doppelten",
    "alike_in": """nach, anhand der|von|des|, mit gleicher|gleichem|derselben|gleichen, mit der
        gleichen, je, pro, bezuglich, auf basis von, bei""",
    "keep_first": "behalte jeweils| die|den|das erste|ersten",
    "keep_last": "behalte jeweils| die|den|das letzte|letzten",
    "keep_latest": "behalte jeweils| die|den|das neueste|neuesten",
    "in_place": "in der datei selbst, direkt in der datei, an ort und stelle",
    "join": """verknupfe, verbinde, verknupfen, fuge, hinzufugen, erganze, nachschlagen, sverweis,
        verheirate, join, hole, fuhre, ordne, mit""",
    "join_strong": """
        verknupfe, verbinde, verknupfen, nachschlagen, sverweis, join, joine, sverweise""",
    "union": """zusammenfuhren, fuhre, zusammenfassen, kombiniere, vereinige, hange, untereinander,
        zusammen, fuge, fasse, mische, zusammenfugen""",
    "union_strong": "untereinander, hange, vereinige, aneinander",
    "union_suffix": """zusammen, aneinander, untereinander, an, zusammenfuhren, zu einer
        tabelle|datei|liste|, in eine, in einer|eine datei, in einer tabelle""",
    "union_all": """alle|beide|die|diese dateien, alle csv-dateien|blatter|tabellen|csv, die
        blatter|csv-dateien, beide tabellen|, alle csv dateien, die beiden dateien""",
    "origin": """mit einer spalte quelle, mit dem| dateinamen, mit einer| quellspalte, mit dem
        dateinamen als spalte, mit dateiname, mit dateiname als spalte""",
    "match_on": "uber, anhand der|von|des|, nach, auf, per, uber die spalte|, mittels",
    "inner": "nur treffer|ubereinstimmende",
    "missing_in": "nicht|fehlen|fehlt|die in, die nicht in, ohne eintrag in, ohne",
    "compare": """
        vergleiche, vergleich, unterschied, unterschiede, was hat sich geandert, anderungen, was
        ist anders, geandert, was ist neu, vergleichen, unterscheiden sich""",
    "between_files": "zwischen, und, von, mit, zu, gegen, gegenuber, vom",
    "replace": "ersetze alle|uberall|, ersetzen, suche und ersetze, tausche",
    "nothing": "nichts",
    "convert": """
        konvertiere, wandle, exportiere, speichere, umwandeln, mache, konvertieren, speichern,
        exportieren, wandle um, mach""",
    "converted": "um, umwandeln, konvertieren",
    "each_sheet": "jedes blatt|tabellenblatt, alle blatter|tabellenblatter",
    "sheet": "dem|das| blatt, tabellenblatt, reiter",
    "as_kind": "als eine|neue|ein|, in eine|ein|einer|, nach, zu einer|, in eine neue",
    "kind_xlsx": "excel, xlsx, exceldatei, excel-datei, arbeitsmappe, exceltabelle, excel-tabelle",
    "kind_csv": "csv, csv-datei, csv-dateien",
    "kind_tsv": "tsv, tsv-datei",
    "kind_parquet": "parquet, parquet-datei",
    "into_name": """in, als, namens, nach, speichere als|in, unter, und| speichere es als, unter dem
        namen, und| nenne sie, in die|der datei, in einer datei namens""",
    "exactly": """
        exakt, genau so geschrieben, groß-/kleinschreibung beachten, case-sensitive, mit groß- und
        kleinschreibung""",
    "question": "was, wie, welche, welcher, welches, wer, wieviel, wieviele",
    "most_frequent": "am| haufigsten, haufigste, haufigster",
    "each_own": "jede, jeder, jedes",
    "chart": """
        diagramm, grafik, schaubild, balkendiagramm, liniendiagramm, kreisdiagramm, diagramme""",
    "translate": "ubersetze, ubersetzen, ubersetzung",
    "prose": """
        brief, schreibe einen, schreibe eine mail, erklare, warum, fasse das dokument zusammen""",
    "forecast": """
        prognose, vorhersage, trend, korrelation, wachstum, vorhersagen, standardabweichung,
        entwicklung in prozent, steigerung""",
    "style": """
        farbe, einfarben, farbig, markiere, markieren, fett, formel, formatierung, hervorheben""",
    "documents": "folien, prasentation, worddokument, word-dokument",
    "money_change": "wahrung, wechselkurs, in dollar, umrechnen",
    "each_once": """jeweils|jede|jeder|jedes|je nur| einmal, jeder|jede name|wert|eintrag nur|
        einmal""",
    "over_time": "im zeitverlauf|verlauf, uber die zeit",
    "own_sheet": """ein eigenes|extra| blatt, ein eigenes| tabellenblatt, ein eigener| reiter,
        eigenes blatt, einen eigenen| reiter""",
    "spend_verb": """ausgegeben, bezahlt, verdient, verkauft, gespendet, gekauft, eingenommen,
        umgesetzt""",
    "take_verb": "ausgeliehen, bestellt, gebucht",
    "unify": "vereinheitliche, vereinheitlichen",
    "uniform": "einheitlich, vereinheitlichen",
    "own_file": "eine datei|csv|csv-datei, eine| eigene datei",
}

TABLE_PHRASES: Mapping[str, str] = {
    # What is done with tables, and what of two lists is compared.
    "united": """
        zusammenfuhren, zusammenfugen, fuhre, fuge, fasse, kombiniere, vereinige, hange, lege,
        mische, zusammenfassen, zusammen, zusammengefasst, zusammengefuhrt, vereinigen,
        kombinieren, setze, packe, pack""",
    "adding": """
        erganze, erganzen, dazuschreiben, hinzufugen, hinzu, anhangen, nachschlagen, sverweis,
        ubernehmen, anreichern, fuge, fuhre, schreibe, schreib, hole, dazu, zuordnen""",
    "made": "spalte",
    "compared": """
        vergleiche, vergleich, vergleichen, unterschied, unterschiede, unterscheiden, abgleich,
        abgleichen""",
    "changed": """
        geandert, andert, andern, verandert, veranderte, geanderte, geanderten, anderung,
        anderungen, abweichung, abweichungen, weicht, weichen""",
    "come": """
        neu, neue, neuen, neuer, dazugekommen, hinzugekommen, hinzugefugt, dazu, hinzu,
        neuzugange""",
    "gone": """
        weggefallen, entfallen, entfernt, geloscht, verschwunden, weg, gestrichen, wegfallen""",
    "lacking": "fehlt, fehlen, fehlende, fehlenden",
    "risen": "teurer, gestiegen, erhoht, erhohte, hoher, angehoben",
    "fallen": "billiger, gunstiger, gesunken, gefallen, gesenkt, niedriger",
    "alone": "nur",
    "shared": "in|auf beiden, gemeinsam",
    "denied": """
        ohne, nie, niemals, nicht, kein, keine, keinen, keiner, keinerlei, nichts""",
    # Which list.
    "earlier": """
        alt, alte, alten, alter, altere, alteren, vorherige, vorherigen, vorige, vorigen,
        bisherige, bisherigen, erste, ersten, erster""",
    "later": """
        neu, neue, neuen, neuer, neuere, neueren, aktuelle, aktuellen, aktuell, zweite, zweiten,
        zweiter""",
    "list_noun": """
        liste, listen, datei, dateien, tabelle, tabellen, preisliste, preislisten, blatt, blatter,
        fassung, stand""",
    "item_noun": """
        artikel, produkte, produkt, positionen, position, zeilen, zeile, eintrage, eintrag""",
    "in_list": "im, mit, aus, gegenuber, zu",
    "of_list": "der, die, den, dem, im",
    "article": "der, die, den, dem, das",
    # Tables that are put below each other.
    "tables_noun": """
        dateien, datei, listen, tabellen, tabelle, blatter, exporte, monatsdateien, monatslisten""",
    "spans_noun": "monate, monats, quartale, jahre",
    "whole_noun": "alle, alles, zusammen, untereinander",
    "file_noun": "datei, dateien, blatt, liste",
    "over_tables": "uber, aus, fur",
    "every_table": "alle, allen, aller, beide, beiden",
    "per_file": "je, pro, fur jede, fur jeder, fur je, fur pro",
    "beside_union": """
        alle, die, diese, beide, beiden, von, meine, alles, zusammen, sie, den, der, bitte, und,
        grosse, große, untereinander, aneinander, gemeinsame, gemeinsamen, einzige, einzigen,
        unter, zu, eine, einer, einem, ein, neue, neuen""",
    # Columns of another table.
    "beside_added": """
        zu, jeder, jedem, jede, zur, zum, bei, aus, der, den, dem, des, von, und, mit, spalte,
        spalten, passende, passenden, adresse""",
    "beside_joined": "bitte, die, der, den, mit, und, zu, von, tabellen, tabelle",
    "with_names": """
        mit, samt, inklusive, inkl, und, zusammen mit, zusammen samt""",
    "their": """
        der, den, dem, die, ihren, ihrem, ihrer, deren, dazu, jeweiligem, jeweiligen""",
    "money_noun": "wert, werte, summe, summen, betrag, betrage, volumen, umsatz, umsatze",
    "owner_of": "des, der, von, vom, jedes, jeder",
    "best": "hochsten, hochstem, großten, großtem, meisten",
    "worst": "niedrigsten, geringsten, kleinsten, wenigsten",
    # What means nothing more between the words of a comparison or of what has no partner.
    "often": "einmal, mal, etwas, was, jemals, je, noch, bisher",
    "small": """
        die, der, das, den, dem, des, welche, welcher, welches, welchen, wer, sind, ist, wurden,
        wurde, haben, hat, worden, wir, im, aus, von, zu, sich, es, gibt, und, beide, beiden,
        zwischen, zeige, zeig, mir, alle, bitte, deren, dessen, aber, sondern, geworden""",
}
"""Phrases that only mean something where a request may be about several tables."""

NUMERALS = "null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf"
PREFIXES: Mapping[str, str] = {
    "gesamt": "summe", "durchschnitts": "durchschnitt", "monats": "monatlich", "jahres": "jahrlich",
    "quartals": "quartalsweise", "tages": "taglich", "wochen": "wochentlich", "hochst": "maximum",
    "mindest": "minimum", "maximal": "maximum", "minimal": "minimum",
}  # fmt: skip
"""First parts of compound words, each with the word that it stands for: "Gesamtumsatz"."""

MEANINGS: Mapping[str, str] = {
    "money": "geld betrag betrage kosten preis ausgaben ausgabe wert summe kosten",
    "revenue": "umsatz umsatze einnahmen erlos erlose verkauf verkaufe nettoumsatz bruttoumsatz",
    "cost": "kosten ausgaben aufwand einkauf",
    "quantity": "menge stuck stuckzahl mengen einheiten",
    "unit_price": "preis einzelpreis stuckpreis",
    "salary": "gehalt gehalter lohn lohne verdienst einkommen",
    "moment": "datum tag zeit",
    "customer": "kunde kunden",
    "supplier": "lieferant lieferanten handler",
    "category": "kategorie kategorien art warengruppe gruppe typ",
    "description": "beschreibung bemerkung notiz kommentar",
    "product": "artikel produkt produkte produkten ware",
    "country": "land lander landern",
    "city": "stadt stadte stadten ort orte",
    "person": "mitarbeiter mitarbeiterin angestellte verkaufer",
    "department": "abteilung abteilungen",
    "phone": "telefon telefonnummer",
    "mail": "email mail",
    "status": "status zustand",
    "region": "region regionen gebiet",
    "order": "bestellung bestellungen auftrag auftrage",
    "invoice": "rechnung rechnungen",
    "donation": "spende spenden",
    "purpose": "zweck grund anlass",
    "gender": "geschlecht",
    "club": "verein vereine",
    "vehicle": "fahrzeug fahrzeuge auto autos wagen kennzeichen",
    "helper": "helfer helferin ehrenamtliche",
    "guest": "gast gaste besucher teilnehmer",
    "hours": "stunde stunden",
    "distance": "strecke entfernung kilometer km",
    "weight": "gewicht kg kilo",
    "room": "raum raume zimmer",
    "task": "aufgabe aufgaben tatigkeit",
    "location": "standort standorte filiale filialen",
    "stock": "bestand lagerbestand",
    "driver": "fahrer fahrerin",
}

CUES: Mapping[str, str] = {
    "best": """beste besten bester bestes schlechteste schlechtesten schlechtester
        schlechtestes""",
    "which": "welche welcher welches",
    "who": "wer",
    "what": "was",
    "selling": "verkaufte verkauften verkauftes verkaufter",
    "better_high": """umsatz umsatze gewinn einnahmen ertrag punkte punktzahl marge bewertung sterne
        verkauft spende""",
    "lengthy": """langste langsten langster kurzeste kurzesten kurzester schnellste schnellsten
        langsamste langsamsten schwerste schwersten leichteste leichtesten""",
    "timely": "neueste alteste letzte erste spateste fruheste jungste",
    "pays": "ausgegeben bezahlt gezahlt gekostet eingenommen verdient ging gingen",
    "spending": "ausgabe ausgaben kosten einnahme einnahmen bekommen erhalten",
    "coming_in": "bekommen erhalten einnahme einnahmen",
    "account": "konto kontoauszug giro girokonto kontostand saldo umsatzanzeige",
    "names": "namen nachname vorname wer kontakt",
    "given": "vor vorname vornamen",
    "family": "nach nachname nachnamen familienname familiennamen",
    "full_name": "name namen",
    "joint": "und",
    "before_names": "und mit deren nur samt",
    "first": "ersten erste letzten letzte",
    "days": "datum daten tage tagen",
    "compound_ends": """buch liste listen tabelle plan verzeichnis register datei daten ubersicht
        protokoll""",
    "in_all": "insgesamt zusammen summe",
    "open_end": "fur",
    "asks_more": "wann warum wofur wem",
    "denies": "nicht noch nie",
    "none": "kein keine keinen keiner nie",
    "ranks": "rangliste",
    "ranked": "flop beste besten schlechtesten",
    "article": "ein eine einen keine keinen",
    "the": "die das den",
    "being": "sind ist waren war",
    "only": "nur im",
    "inside": "im aus",
    "limit": "soll ziel",
    "lists": "nur mit",
    "whole": "ende einschließlich",
    "currency": "wahrung devise",
}
"""Words that checks look for, and that no rule reads: they tell two meanings apart."""

DEEDS: Mapping[str, str] = {
    "order": """bestellung bestellungen bestellt bestellte bestellten auftrag auftrage kauf kaufe
        gekauft verkauf verkaufe verkauft verkaufte verkauften umsatz umsatze""",
    "payment": "zahlung zahlungen bezahlt gezahlt",
    "booking": "buchung buchungen gebucht",
    "invoice": "rechnung rechnungen",
    "loan": "ausleihe ausleihen ausgeliehen verliehen",
    "shipment": "lieferung lieferungen geliefert",
    "donation": "spende spenden gespendet",
}
"""What is done with things: nouns and verbs of one and the same."""
