"""German words of requests, by what they mean; see `kbd_offline.english` for the form."""

from collections.abc import Mapping

__all__ = [
    "DEEDS", "MEANINGS", "MONTHS", "NUMERALS", "PHRASES", "PREFIXES", "TABLE_PHRASES", "WEEKDAYS",
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
        gearbeitet, gefahren, gekostet, geleistet, derzeit, aktuell""",
    "row_noun": "zeile, zeilen, datensatz, datensatze, datensatzen, eintrag, eintrage, eintragen",
    "and": "und, sowie, &",
    "or": "oder",
    "det": """der, die, das, den, dem, des, ein, eine, einen, einem, einer, alle, aller, allen, von,
        vom, fur, im, in, diese, dieser, diesen, jeder, jede, jedes, jeden, spalte, spalten, nur,
        insgesamt""",
    "sum": """summe, summen, summe der, summe von, gesamt, gesamtsumme, summiere, addiere, total,
        insgesamt, aufsummieren, summieren, zusammen, zusammenzahlen""",
    "average": """durchschnitt, durchschnittliche, durchschnittlicher, durchschnittlichen,
        durchschnittliches, mittelwert, schnitt, durchschnittlich, mittlere, mittlerer, im
        durchschnitt, im schnitt""",
    "count": """
        anzahl, anzahl der, anzahl von, zahl der, zahle, zahlen, haufigkeit, wie oft, anzahl an,
        die zahl der, zahle die""",
    "minimum": """
        minimum, kleinste, kleinster, kleinsten, niedrigste, niedrigster, niedrigsten, geringste,
        geringster, billigste, gunstigste, fruheste, frueheste, alteste, mindestwert, kleinstes,
        niedrigstes""",
    "maximum": """maximum, grosste, grosster, grossten, großte, großter, großten, hochste, hochster,
        hochsten, teuerste, spateste, neueste, großtes, hochstes, meisten, meiste""",
    "median": "median",
    "distinct": """
        verschiedene, verschiedenen, unterschiedliche, unterschiedlichen, eindeutige, eindeutigen,
        wie viele verschiedene, wie viele unterschiedliche, wieviele verschiedene, anzahl
        verschiedener, anzahl unterschiedlicher, anzahl der verschiedenen, anzahl der
        unterschiedlichen, anzahl eindeutiger""",
    "how_many": "wie viele, wieviele, wie viel",
    "how_much": "wie viel, wieviel, wie hoch, wie hoch ist, wie groß, wie groß ist, wie hoch war",
    "unique_list": """
        alle verschiedenen, liste der verschiedenen, welche verschiedenen, alle unterschiedlichen,
        liste aller""",
    "by": """je, pro, nach, fur jede, fur jeden, fur jedes, gruppiert nach, je nach, aufgeschlusselt
        nach, pro jeder, jede, jeder, jedes, jeden, zusammengefasst nach, aufgeteilt nach, in
        jeder, in jedem""",
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
    "across": """
        als spalten, in spalten, in den spalten, nebeneinander, quer, als spaltenuberschriften, in
        die spalten""",
    "down": "als zeilen, in zeilen, in den zeilen, in die zeilen",
    "pivot": "pivot, pivottabelle, pivot-tabelle, kreuztabelle, matrix",
    "where": """
        wo, bei denen, deren, dessen, mit, wenn, falls, bei der, bei dem, die, filtere, filtern,
        filtere nach, filter nach, gefiltert nach, nur zeilen mit, nur zeilen, in denen, fur die,
        deren wert, zeige nur, nur die""",
    "only": "nur, ausschließlich, lediglich, nur noch, behalte nur, zeige nur, nur die",
    "except": """
        außer, ausser, ohne, alle außer, alle ausser, alles außer, alles ausser, ausgenommen, aber
        nicht, abgesehen von, nicht, bis auf, alle bis auf, exklusive, entferne, entfernen,
        losche, loschen, lasse weg, weglassen, keine, kein, keinen, nicht aus, nicht in, mit
        ausnahme von, alles bis auf""",
    "is": "ist, sind, gleich, ist gleich, war, waren, lautet",
    "is_not": """
        ist nicht, nicht, ungleich, sind nicht, nicht gleich, war nicht, ist ungleich, ist kein,
        ist keine""",
    "more": """
        mehr als, uber, großer als, hoher als, großer, oberhalb von, ist großer als, ist hoher
        als, von mehr als, von uber, ist uber, alter als, langer als, teurer als, liegt uber,
        großer ist als, ubersteigt, hoher""",
    "at_least": """
        mindestens, wenigstens, ab, nicht weniger als, ist mindestens, von mindestens,
        nicht unter""",
    "less": """
        weniger als, unter, kleiner als, geringer als, niedriger als, kleiner, unterhalb von, ist
        kleiner als, ist unter, von weniger als, von unter, billiger als, gunstiger als, liegt
        unter, junger als, kurzer als, niedriger""",
    "at_most": """
        hochstens, maximal, nicht mehr als, ist hochstens, von hochstens, bis zu, nicht uber""",
    "or_more": "oder mehr, oder hoher, oder großer, und mehr, und hoher, aufwarts",
    "or_less": "oder weniger, oder niedriger, oder kleiner, und weniger",
    "between": "zwischen, von, liegt zwischen, ist zwischen",
    "range_to": "und, bis",
    "negative": "negative, negativen, negativer",
    "positive": "positive, positiven, positiver",
    "contains": "enthalt, enthalten, enthalt das wort, beinhaltet, mit dem wort, vorkommt",
    "not_contains": "enthalt nicht, enthalten nicht, ohne das wort",
    "starts": "beginnt mit, beginnen mit, fangt an mit, fangen an mit, anfangt mit, beginnend mit",
    "ends": "endet auf, enden auf, endet mit, enden mit, endend auf",
    "empty": """
        leer ist, ist leer, leer, fehlt, fehlen, leer sind, sind leer, nicht ausgefullt ist, nicht
        ausgefullt, fehlend, fehlende, fehlenden, leere, leerem, leerer""",
    "not_empty": """
        nicht leer ist, ist nicht leer, nicht leer, ausgefullt, ausgefullt ist, nicht leer sind,
        vorhanden, nicht fehlt, gefullt ist""",
    "lacks": "ohne, keine, keinen, kein, denen",
    "has_any": "die eine haben, mit einer, mit einem, mit vorhandener",
    "one_of": "einer von, eine von, in, eines von",
    "not_one_of": "nicht in, keiner von, keine von",
    "since": "seit, ab, von, ab dem, seit dem, vom, beginnend",
    "before": "vor, vor dem, fruher als",
    "after": "nach, nach dem, spater als",
    "until": "bis, bis zum, bis einschließlich, bis ende",
    "last": """letzten, letzter, letztes, letzte, letztem, vorigen, voriges, vorige, vergangenen,
        vergangenes, vergangene, vorherigen""",
    "this": """diesen, dieses, diese, diesem, dieser, aktuellen, aktuelles, aktuelle, laufenden,
        laufendes""",
    "today": "heute, heutige, heutigen",
    "yesterday": "gestern, gestrigen, gestrige",
    "of_every_year": "jedes jahres, in jedem jahr, aller jahre, eines jeden jahres",
    "half": "halbjahr",
    "versus": "gegen, gegenuber, verglichen mit, im vergleich zu, vs, im vergleich mit",
    "sort": """sortiere, sortiert, sortieren, sortiere nach, sortiert nach, sortieren nach, ordne,
        geordnet, geordnet nach, ordne nach, sortierung nach, sortier, sortier nach, sortiere
        alles nach, sortiere sie nach, sortiere die zeilen nach, rangliste nach""",
    "descending": """
        absteigend, absteigende, absteigender, großte zuerst, großter zuerst, hochste zuerst, die
        großten zuerst, hochster zuerst, der großte zuerst, groß nach klein, von groß nach klein,
        die hochsten zuerst, großtes zuerst, großten zuerst, hochsten zuerst, in absteigender
        reihenfolge, teuerste zuerst, der hochste zuerst, von hoch nach niedrig, meiste zuerst,
        die meisten zuerst""",
    "ascending": """
        aufsteigend, aufsteigende, kleinste zuerst, niedrigste zuerst, die kleinsten zuerst, von
        klein nach groß, alphabetisch, in aufsteigender reihenfolge, von a bis z, billigste
        zuerst, kleinster zuerst, kleinsten zuerst, von a nach z""",
    "newest_first": """
        neueste zuerst, die neuesten zuerst, neuste zuerst, jungste zuerst, neuesten zuerst""",
    "oldest_first": """
        alteste zuerst, chronologisch, die altesten zuerst, altesten zuerst, in zeitlicher
        reihenfolge""",
    "then_by": "dann nach, danach nach, und dann nach, dann",
    "top": "top, ersten, die ersten, besten, die besten, erste, die top, beste",
    "bottom": "letzten, die letzten, schlechtesten, die schlechtesten, flop",
    "largest": """
        großten, großte, großter, großtes, hochsten, hochste, hochster, hochstes, starksten,
        umsatzstarksten, starkste""",
    "smallest": """kleinsten, kleinste, kleinster, niedrigsten, niedrigste, geringsten, geringste,
        schwachsten""",
    "newest": "neuesten, neueste, neuster, neusten, jungsten, jungste, aktuellsten",
    "oldest": "altesten, alteste, altester",
    "expensive": "teuersten, teuerste, teuerster, teuerstes",
    "cheap": "billigsten, billigste, gunstigsten, gunstigste",
    "most": "meisten, die meisten, am meisten",
    "fewest": "wenigsten, die wenigsten, am wenigsten",
    "share": """
        anteil, anteil am, anteil an, prozentualer anteil, prozentanteil, anteile, prozent, anteil
        am gesamten, anteil der, anteil von, prozentuale anteile, in prozent, anteil an der
        gesamtsumme, anteil am gesamtumsatz, prozentsatz, wie viel prozent, anteil an der summe,
        welcher anteil, prozentual, anteil in prozent""",
    "running": """laufende summe, kumuliert, kumulierte, kumulierter, kumulierten, kumulierte summe,
        laufende summe der, aufgelaufene summe, laufende summe von, kumulierte summe der,
        fortlaufende summe, laufender saldo, kumuliertes""",
    "totals_row": """
        mit summenzeile, mit summe, mit gesamtsumme, mit einer summenzeile, und summenzeile, mit
        summen, und eine summenzeile, mit gesamtzeile""",
    "summary_sheet": """
        und ein ubersichtsblatt, mit ubersicht, mit ubersichtsblatt, und eine ubersicht, mit einer
        ubersicht, und ein blatt mit summen, und eine zusammenfassung, mit zusammenfassung, mit
        einem ubersichtsblatt, mit summen, und ein summenblatt, mit summenblatt""",
    "select": """
        zeige, zeig mir, nur, nur die spalten, die spalten, behalte, behalte nur, zeige nur, gib
        mir, wahle, spalten, nur spalten, mit den spalten, gib nur, behalte nur die spalten, zeig,
        nur die spalte""",
    "drop_column": """
        ohne|entferne|losche|außer, lass|lasse die spalte|spalten weg,
        ohne|entferne|losche|außer die| spalte|spalten, spalte entfernen,
        alle|alles spalten| außer|ausser""",
    "rename": """benenne, umbenennen, benenne die spalte, nenne, nenne die spalte, benenne spalte,
        umbenenne, benenn, nenne spalte""",
    "rename_to": "in, zu, als, um in, um zu, nach, ->",
    "renamed": "um, umbenennen",
    "add_column": """
        spalte hinzufugen, neue spalte, fuge eine spalte hinzu, fuge spalte hinzu, mit einer
        spalte, mit einer neuen spalte, fuge eine spalte, fuge eine neue spalte, eine neue spalte,
        fuge, eine spalte, mit spalte, erganze eine spalte, erganze, fuge die spalte, mit neuer
        spalte, erganze eine neue spalte""",
    "added_suffix": "hinzu, ein, an, dazu, hinzufugen",
    "compute": "berechne, rechne, ermittle, mit",
    "is_made_of": "=, als, gleich, ist, aus, berechnet als, mit, die, fur, namens, berechnet aus",
    "times": "mal, multipliziert mit, *, x, ×",
    "divided": "geteilt durch, dividiert durch, durch, /",
    "added": "plus, +",
    "less_than_by": "minus, -, abzuglich, weniger",
    "vat": "mwst, mehrwertsteuer, ust, umsatzsteuer",
    "plus_percent": "plus, mit, inklusive, inkl, zuzuglich, zzgl, +, erhoht um",
    "minus_percent": "minus, abzuglich, abzgl, reduziert um, -, ohne, verringert um",
    "raise": "erhohe, erhohen, erhohe die, erhohe den, erhohe das",
    "reduce": "senke, senken, reduziere, verringere",
    "profit": "gewinn, rohgewinn, deckungsbeitrag, ertrag",
    "margin": "marge, gewinnmarge, rohmarge",
    "trim": """leerzeichen entfernen, entferne leerzeichen, entferne uberflussige leerzeichen,
        uberflussige leerzeichen entfernen, trimme, leerzeichen weg, leerzeichen raus, leerzeichen
        am rand entfernen, entferne die leerzeichen, losche leerzeichen""",
    "upper": "großbuchstaben, in großbuchstaben, groß",
    "lower": "kleinbuchstaben, in kleinbuchstaben, klein",
    "round": "runde, gerundet, runden, gerundet auf, auf, runde auf, runden auf",
    "decimals": "nachkommastellen, stellen, dezimalstellen, nachkommastelle, kommastellen",
    "whole_numbers": """
        ganze zahlen, auf ganze zahlen, ganze euro, volle euro, auf ganze euro, auf volle euro""",
    "fill_empty": """
        fulle leere, leere felder fullen, ersetze leere, fulle leere felder, ersetze leere felder,
        fulle fehlende, fulle, ersetze fehlende""",
    "fill_with": "mit, durch, in, als",
    "clean": """
        bereinige, bereinigen, saubere, wandle, schreibe, setze, normalisiere, mache, wandle um""",
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
    "into_files": """
        in dateien, in eigene dateien, in einzelne dateien, in separate dateien, in mehrere
        dateien""",
    "dedupe": """
        dedupliziere, entferne|losche|bereinige alle|die| duplikate|dubletten|doppelte
        zeilen|eintrage|datensatze|, duplikate|dubletten|doppelte zeilen|eintrage|
        entfernen|loschen|weg|raus, ohne|keine duplikate|dubletten|doppelte zeilen|""",
    "one_row_per": "nur| die|eine erste| zeile je|pro",
    "duplicates": "duplikate, doppelte, dubletten, doppelte zeilen, doppelten",
    "alike_in": """
        nach, anhand, anhand der, mit gleicher, mit gleichem, mit der gleichen, mit derselben, je,
        pro, bezuglich, mit gleichen, anhand von, anhand des, auf basis von, bei""",
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
    "union_suffix": """
        zusammen, aneinander, untereinander, an, zusammenfuhren, zu einer, in eine, zu einer
        tabelle, zu einer datei, in einer datei, in eine datei, in einer tabelle, zu einer liste""",
    "union_all": """
        alle dateien, beide dateien, die dateien, alle csv-dateien, alle blatter, die blatter,
        alle tabellen, beide tabellen, alle csv dateien, diese dateien, die beiden dateien, beide,
        die csv-dateien, alle csv""",
    "origin": """
        mit einer spalte quelle, mit dateinamen, mit dem dateinamen, mit quellspalte, mit einer
        quellspalte, mit dem dateinamen als spalte, mit dateiname, mit dateiname als spalte""",
    "match_on": """
        uber, anhand, anhand der, anhand von, nach, auf, per, uber die, uber die spalte, mittels,
        anhand des""",
    "inner": "nur treffer, nur ubereinstimmende",
    "missing_in": "nicht in, die nicht in, fehlen in, ohne eintrag in, fehlt in, die in, ohne",
    "compare": """
        vergleiche, vergleich, unterschied, unterschiede, was hat sich geandert, anderungen, was
        ist anders, geandert, was ist neu, vergleichen, unterscheiden sich""",
    "between_files": "zwischen, und, von, mit, zu, gegen, gegenuber, vom",
    "replace": "ersetze, ersetzen, suche und ersetze, tausche, ersetze alle, ersetze uberall",
    "nothing": "nichts",
    "convert": """
        konvertiere, wandle, exportiere, speichere, umwandeln, mache, konvertieren, speichern,
        exportieren, wandle um, mach""",
    "converted": "um, umwandeln, konvertieren",
    "each_sheet": "jedes blatt, alle blatter, jedes tabellenblatt, alle tabellenblatter",
    "sheet": "blatt, tabellenblatt, dem blatt, reiter, das blatt",
    "as_kind": """
        als, in, nach, zu, in eine, als eine, in ein, in eine neue, als neue, zu einer, in einer,
        als ein""",
    "kind_xlsx": "excel, xlsx, exceldatei, excel-datei, arbeitsmappe, exceltabelle, excel-tabelle",
    "kind_csv": "csv, csv-datei, csv-dateien",
    "kind_tsv": "tsv, tsv-datei",
    "kind_parquet": "parquet, parquet-datei",
    "into_name": """
        in, als, namens, nach, speichere als, speichere in, unter, und speichere es als, speichere
        es als, unter dem namen, und nenne sie, nenne sie, in die datei, in einer datei namens, in
        der datei""",
    "exactly": """
        exakt, genau so geschrieben, groß-/kleinschreibung beachten, case-sensitive, mit groß- und
        kleinschreibung""",
    "question": "was, wie, welche, welcher, welches, wer, wieviel, wieviele",
    "most_frequent": "haufigsten, haufigste, am haufigsten, haufigster",
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
    "each_once": "jeweils einmal, jede einmal, jeder einmal, jedes einmal, je einmal",
    "over_time": "im zeitverlauf, uber die zeit, im verlauf",
    "own_sheet": """
        ein blatt, ein eigenes blatt, ein tabellenblatt, ein eigenes tabellenblatt, ein reiter,
        ein eigener reiter, eigenes blatt, einen reiter, einen eigenen reiter, ein extra blatt""",
    "spend_verb": """ausgegeben, bezahlt, verdient, verkauft, gespendet, gekauft, eingenommen,
        umgesetzt""",
    "take_verb": "ausgeliehen, bestellt, gebucht",
    "unify": "vereinheitliche, vereinheitlichen",
    "uniform": "einheitlich, vereinheitlichen",
    "own_file": "eine datei, eine eigene datei, eigene datei, eine csv, eine csv-datei",
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

MONTHS = """
januar, februar, marz maerz, april, mai, juni, juli, august, september, oktober okt, november,
dezember dez
"""
WEEKDAYS = "montag, dienstag, mittwoch, donnerstag, freitag, samstag sonnabend, sonntag"
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
}

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
