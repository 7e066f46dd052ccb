"""English words of requests, by what they mean: phrases in commas under each concept.

Letters are compared folded: without capitals and accents. Bars part the words that may stand in a
place, and an empty one may be left out: "the| first|last row". A longer phrase goes before a
shorter one. What a word may mean beside the language is looked for in the table.
"""

from collections.abc import Mapping

__all__ = [
    "CUES", "DEEDS", "MEANINGS", "NUMERALS", "PHRASES", "PREFIXES", "TABLE_PHRASES",
]  # fmt: skip

PHRASES: Mapping[str, str] = {
    # What may stand anywhere and means nothing more. None that excepts, denies or compares.
    "filler": """
        a, an, the, this, that, these, those, my, our, their, its, it, them, they, brings, bring
        in, brings in, brought in, generates, generated, yields, your, i, me, we, us, you, please,
        just, kindly, can, could, would, will, want, wants, need, needs, like, let, lets, there,
        here, hello, hi, hey, thanks, thank you, then, also, so, as, at, be, been, is, are, was,
        were, do, does, did, has, have, had, of, in, on, to, into, for, from, with, and, or not at
        all, data, table, tables, dataset, list, lists, file, files, workbook, spreadsheet, sheet,
        csv, excel, show, give, get, make, create, produce, put, display, print, tell, find,
        return, generate, see, know, output, result, results, new, whole, entire, every, all, any,
        some, each, which, who, what, whats, what's, values, column, columns, field, fields,
        named, called, about, up, through, using, use, based, information, go, goes, come, comes,
        came, happened, made, overall, in total, altogether, respectively, too, now, first of all,
        shown, present, available, following, existing, placed, only, write, save, export, be
        sure, having, contained, nicely, over all, how, when, did we, do we, we have, do i have, i
        have, were there, are there, is there, one, ones, if you can, quick, quickly, simple,
        overview, summary, summarize, summarise, breakdown, break down, keep, sold, sell, spent,
        spend on, paid for, bought, buy, earned, made by, done, hired, joined, started, starting,
        ordered, dated, issued, created, booked, recorded, entered, took place, occurred, belong,
        belongs, belonging, corresponding, different kinds of, single, own, amounts to,
        calculated, calculate, compute, work out, determine, look at, amounted, everything, left,
        in stock, earns, earn, pls, plz, pay, paid out, raised, yet, so far, went, went to, goes
        to, lie, lies, each time, worked, happen, take place, cost, altogether, currently,
        thank you|thanks so|very much, many thanks, thx, cheers, gimme, i.e., that is, pull
        together, nothing else, w/, still, in the cells, so that i can see""",
    "row_noun": "rows, row, records, record, entries, entry, lines, line, data rows, observations",
    "and": "and, &, as well as, plus, along|together with",
    "or": "or",
    "det": """
        the, a, an, all, my, our, their, its, these, those, this, that, of, different kinds of,
        column, columns, field, fields, every, each, any, for, in, overall, only, just, values""",
    # Figures.
    "sum": """total of|sum|, totals of|, sum of|up|total|, sums, add|adding up, grand total, summed,
        subtotal, subtotals, aggregate""",
    "average": "average|mean of|, averages, avg, on average, typical",
    "count": """total|head| count, counts, number of times|, total| count of, no of, number,
        amount|quantity of rows, tally, frequency, frequencies, how often, counted, total number
        of|, headcount""",
    "minimum": """minimum of|, min, the| lowest, smallest, least, cheapest, earliest, first, oldest,
        shortest""",
    "maximum": """maximum of|, max, the| highest, largest, biggest, greatest, most
        expensive|recent|, latest, newest, longest, top""",
    "median": "median of|",
    "distinct": """count| different, distinct, unique, number of different|distinct|unique, count
        of| distinct|unique, distinct|unique count of, how many different|distinct|unique""",
    "how_many": "count| how many",
    "how_much": "how much",
    "unique_list": """
        list|show|give of|the|me|all| unique|distinct|different values| of|,
        unique|distinct|different list|values of, which|what different, all distinct|unique""",
    # Groups.
    "by": """grouped|group|split|aggregated|summarized|separated| by, per,
        for|within|in|of|by|at|from| each, for|by| every, broken down by, across, for all""",
    "year": "calendar| year, years",
    "quarter": "quarter, quarters",
    "month": "calendar| month, months",
    "week": "calendar| week, weeks",
    "day": "day, days, date",
    "weekday": "weekday, weekdays, day of the| week",
    "yearly": "yearly, annual, annually, year by year, year on year totals",
    "quarterly": "quarterly",
    "monthly": "monthly, month by month",
    "weekly": "weekly",
    "daily": "daily, day by day",
    "across": """across, as|in|across columns, across the top, as column| headers, side by side,
        in|as the columns, on top, (columns)""",
    "down": "down, in|as the| rows, (rows), down the side",
    "pivot": """pivot table|of|, grid, as a grid|matrix, cross tab|tabulation|table, crosstab,
        matrix, pivot table of""",
    # Conditions.
    "where": """where the|, with a|an|, whose, having, that have|has|are|were|is|cost, which
        have|has|are|were|is, who have|are|is, if, when, in|for which, filter by|on|to|for|,
        filtered by|to, only rows where, keep|show only, only keep|show, restrict|limited to, just
        the, such that, made|placed in, costing, worth""",
    "only": """keep|show| only, just, nothing but, only|just the, exclusively, solely, keep,
        limited|restricted|restrict|filter to, but only|just for|those|the|""",
    "except": """everything|all| except, except for, but not|without|the,
        all|everything|anything|everyone but, excluding, exclude, without, other than, apart from,
        leave|leaving|filter|throw out, minus the, not including|in|from|for|, ignore, ignoring,
        omit, omitting, drop, remove, delete, skip, that|which|who are not, that|which aren't, get
        rid of, no, discard, outside of|, never, all but|except the, w/o, take out the|""",
    "is": "is, =, equals, is| equal to, are, ==, was, being, :, were",
    "is_not": """is|are|was| not, isn't, !=, <>, is| not equal to, does not equal, aren't, differs
        from, other than, is different from, wasn't, is no""",
    "more": """more|greater|larger|bigger|higher|older|longer than, is|are| over|above, >, exceeds,
        exceeding, is more|greater|larger|bigger|higher than, in excess of, upwards of, exceed, are
        more than, beyond""",
    "at_least": """is|from|are| at least, >=, minimum of, not|no less than, or more, starting at,
        greater than or equal to""",
    "less": """less|fewer|smaller|lower|cheaper|younger|shorter than, is|are| under|below, <, is
        less|smaller|lower than""",
    "at_most": """is|are| at most, <=, no|not more than, up to, maximum of, less than or equal to,
        not over|exceeding""",
    "or_more": "or more|higher|above|over, and more|above|up",
    "or_less": "or less|lower|below|fewer|under, and less|below",
    "between": "is|are| between, ranging| from, in the range",
    "range_to": "and, to, through, until, till, -, –, up to",
    "negative": "negative, below zero, with a negative",
    "positive": "positive, above zero, with a positive",
    "contains": """that| contains|contain, containing, includes, including, with|has the word,
        mentions, mentioning, include""",
    "not_contains": "does|do not contain, doesn't contain, not containing, without the word",
    "starts": "starts|start|starting|begins|beginning|begin with, starts in",
    "ends": "ends|end|ending with, ends|ending in",
    "empty": """is|are| empty|blank|missing, has|have no value, is| not filled|set|given, is null,
        unknown, is| not filled in""",
    "not_empty": """is|are| not empty, is| not blank|missing, is filled|set|there|given|present,
        are| filled, has a value, isn't empty|blank, is filled in""",
    "lacks": """without|w/o a|an|, with|having|left|gave| no, that|who|which have no, lacking,
        missing, did not leave|give a|any, have not given a""",
    "has_any": "that|who|which| have a, that| have an, with any, having a",
    "one_of": "is| one of, is| in|either, any of, among",
    "not_one_of": "not one of, is| not in, is| none of, neither",
    # Time.
    "since": "since, from the|, starting from|, beginning, as of, on or after",
    "before": "before, prior to, earlier|older than",
    "after": "after, later|newer than",
    "until": "until, till, up to, up to and including, on or before, through, to, by the end of",
    "last": "last, past, previous, preceding",
    "this": "this, the| current",
    "next": "next, coming, upcoming, following",
    "today": "today",
    "yesterday": "yesterday",
    "of_every_year": "of every|each|any year, in every|any year, of all years",
    "half": "half year|, half-year",
    "versus": "vs, versus, against, compared to|with, vs., in comparison with",
    # Order.
    "sort": """sort|sorted on|,
        sort|sorted|order|ordered|sorting|arrange|arranged|rank|ranked|ranking by, ordered,
        sort|order it|them by, sort the rows by, in order of, sort|sorted according to, rank,
        ranked""",
    "descending": """descending, desc, in| descending order,
        largest|highest|biggest|most|top|greatest|longest first, from| high to low, from| largest to
        smallest, from| highest to lowest, decreasing, from| z to a, z-a, in reverse order,
        reversed, reverse, biggest to smallest, most expensive first, most at the top,
        biggest|largest|highest on top, from most to least""",
    "ascending": """ascending, asc, in| ascending|alphabetical order,
        smallest|lowest|cheapest|shortest|least first, from| low to high, from| smallest to largest,
        from| lowest to highest, increasing, from| a to z, a-z, alphabetically, alphabetical""",
    "newest_first": """newest|latest first, most recent first, from| newest to oldest, newest on
        top, latest to earliest, new to old""",
    "oldest_first": """oldest|earliest first, chronologically, in| chronological order, from| oldest
        to newest, by date order""",
    "then_by": "and| then| by, then",
    "top": "top, first, the first|top|best, best, leading",
    "bottom": "bottom, last, the bottom|last|worst, worst",
    "largest": """largest, biggest, highest, greatest, the largest|biggest|highest, most
        valuable|generous, top|best selling""",
    "smallest": "the| smallest|lowest, least",
    "newest": "the| newest|latest, the| most recent",
    "oldest": "the| oldest|earliest",
    "expensive": "the| most expensive, priciest, dearest",
    "cheap": "the| cheapest, least expensive",
    "most": "the| most",
    "fewest": "the| fewest|least",
    # Figures beside figures.
    "share": """share|percentage|percent|%|fraction of total, share|percentage|percent|% of the
        total, what|their|its| share, shares, percentage share|of|contribution|, percentages,
        percent|proportion of|, share in percent, what percentage|percent|proportion, share of, as a
        percentage of the| total, as a share of the total, in percent of the| total, how much
        percent, %, as percentage|percent of total, contribution of each""",
    "running": """running|cumulative total|sum|, running total|sum|balance of, cumulative sum|total
        of, cumulated, accumulated, cumulatively, year to date total""",
    "totals_row": """
        with|and|plus|add|including a| grand|sum| total|totals row|line| at|in| the| bottom|,
        with|and|plus|add a row|line of totals, with a sum at the bottom""",
    "summary_sheet": """
        a summary sheet with|of totals, with|and|plus|add a|an| summary|overview|totals
        sheet|tab|worksheet| with|of| totals|, summary|overview|totals sheet|tab|worksheet with|of|
        totals|, with|and|plus a sheet|tab|worksheet with|of totals, and|plus|with totals|total, a
        summary with totals""",
    # Work on columns.
    "select": """select, show me|, list, display, keep, keep|show|with|containing|include| only,
        give me, with| just, only keep|show|list|include, choose, pick, only|with|just|keep|show|
        the columns, with|only|keep| columns, extract, output, get, i only| need, reduce to, export,
        print, with, consisting of""",
    "drop_column": """
        without|w/o|drop|remove|delete|hide|omit|exclude|excluding|except|no, leave out, get rid of,
        without|drop|remove|delete|hide|exclude the| column|columns,
        leave|get out|rid of| the column|columns,
        all|everything|every columns|column| but|except""",
    "rename": """rename column|columns|, rename the column|columns|header|heading, change the name
        of, change the heading|header, change the column name, call, change column, retitle""",
    "rename_to": "to, as, into, by, ->, in, →",
    "add_column": """add|with|create|make|insert|compute|calculate|include|append| a column,
        add|new|extra column, add|create|with| a new column, with|add| an extra column, add a field,
        with an additional column, add another column, add""",
    "compute": "compute, calculate, work out, derive, add, determine, with",
    "is_made_of": """=, calculated|computed|defined| as, which is|equals, that
        is|equals|shows|contains, equal to, equals, being, with, containing, from, :, of, is, for,
        showing""",
    "times": "times, *, multiplied by, x, ×",
    "divided": "divided by, /, ÷",
    "added": "plus, +, added to",
    "less_than_by": "minus, -, less, subtracted by",
    "vat": "vat, sales| tax, value added tax",
    "plus_percent": "plus, with, including, incl, increased|raised|up by, +, and",
    "minus_percent": """minus, less, reduced|discounted|down|lowered by, with a discount of, -, off,
        without""",
    "raise": "increase|raise the|, add",
    "reduce": "decrease, reduce, lower, discount, cut",
    "profit": "gross| profit, contribution, earnings",
    "margin": "profit|gross| margin",
    "trim": """
        trim, strip, trim|strip|remove|delete|clean
        the|all|any|extra|leading|trailing|surrounding|unneeded| extra| blanks|spaces|whitespace,
        clean up the| spaces|whitespace, get rid of extra|the| spaces|blanks, remove leading and
        trailing spaces""",
    "upper": """to|in|into| upper case, in|to| uppercase, upper-case, in| capitals, all caps,
        capitalize all, in capital letters""",
    "lower": "in|to| lower case, in|to| lowercase, lower-case, in small letters",
    "title": """in|to| title case, capitalized, capitalize, in| proper case, capitalise, with a
        capital letter""",
    "round": "round off|, rounded to|",
    "decimals": "decimals, decimal places|digits|, digits, places",
    "whole_numbers": """whole numbers|euros|dollars|number, to| integers, to whole numbers, to the
        nearest whole number, full euros""",
    "fill_empty": """fill the|in| empty|missing, fill blank|blanks|, replace
        empty|missing|blanks|blank, fill in the missing, replace the empty, set empty|missing, fill
        in blank, fill|replace empty cells, fill|replace missing values""",
    "fill_with": "with, by, as, to",
    "clean": """clean|tidy up|, normalize, normalise, standardize, standardise, convert, turn,
        change, make, put, set, write""",
    # Whole jobs.
    "split": """
        split, divide, separate, split|divide|separate|break by, split|divide up|out| by, split
        it|this by, split|divide the| file|data|table|rows by,
        a|one|its|own|individual|separate|different|single|extra| own|separate|single|workbook|
        sheet|tab|worksheet|sheets|tabs|worksheets per|for|by each|every|,
        split|separate|break|divide in|into a|one|separate|own|single|
        sheet|tab|worksheet|sheets|tabs|worksheets per|for|by each|every|, separate into,
        split up""",
    "split_files": """
        a|one|its|own|individual|separate|different|single|several| own|separate|single|
        csv|excel| file|files|workbook|workbooks|csv per|for|by each|every|,
        split|separate|break|divide in|into a|one|separate|own|single|several| file|files|workbooks
        per|for|by each|every|""",
    "into_sheets": """
        sheets|tabs|worksheets, in|into|on|onto|to its|a|one|their|
        own|separate|different|single| sheet|tab|worksheet|sheets|tabs|worksheets, on|in|into a
        sheet|tab|worksheet|sheets|tabs|worksheets of its own, into one workbook""",
    "into_files": """
        separate files, in|into|as|to its|a|their|several|
        own|separate|single|different|individual| csv|excel| file|files""",
    "dedupe": """
        dedupe, dedup, de-dupe, deduplicate, de-duplicate, deduped, deduplicated,
        remove|drop|delete|eliminate|discard|purge|strip|clean|skip|ignore the|all| the|any|exact|
        duplicate|duplicated|duplicates|doubles, get|take|filter|leave|throw rid|out|away of|
        the|all| the| duplicates|doubles, take|leave|throw|filter out all|the|
        duplicate|double|doubled|repeated rows|entries|records|lines,
        remove|drop|delete|eliminate|discard the|all| the|exact|
        duplicate|duplicated|double|repeated|doubled rows|entries|records|lines, get rid of
        the|all| the| duplicate|duplicated|double|repeated rows|entries, no|without duplicates,
        without duplicate rows, remove rows with duplicate|duplicated, remove rows with the same,
        keep|only only| unique|distinct rows, unique|distinct rows only|""",
    "one_row_per": "keep| only|just| one|a|the single|first| row|record|line| per|for each|",
    "duplicates": """duplicates, duplicate rows|entries|, duplicated rows|, doubles, repeated rows,
        double entries""",
    "alike_in": """by, based| on, with|by|having the same, considering, comparing, using, with
        duplicate|duplicated, whose, in, per, for each, of""",
    "keep_first": "first one wins, keep|keeping only| the| first one|of| each|",
    "keep_last": "keep|keeping only| the| last one|of| each|, last one wins",
    "keep_latest": """
        keep|keeping only| the| latest|newest one|, keep|keeping only| the| most recent one|""",
    "in_place": """in place, in-place, change|in the file itself, in the same file,
        overwrite|edit|update the file, overwrite it, overwrite|change the original""",
    "not_in_place": """
        , but| don't|do|without not| change|changing|touch|touching|edit|editing the| original|file
        file|, not in place, leave the original untouched""",
    "join": """left|inner| join, match, look up, lookup, vlookup, merge, combine, link, enrich,
        xlookup, attach, add, map, connect, bring|pull|fill in, put""",
    "join_strong": """left|inner| join, match, look up, lookup, vlookup, link, enrich, xlookup,
        connect, joined with|""",
    "union": """merge|combine all|, stack, append, concatenate, concat, consolidate, put| together,
        union, unite, put, one below the other, below|underneath|under each other, into one
        file|table|list|sheet|workbook|, into a single file|table|sheet, join, stacked, into one big
        file|table""",
    "union_strong": """stack, append, concatenate, concat, consolidate, union, unite, one below the
        other, below|underneath|under each other, stacked""",
    "union_all": """all csv|the|excel|three| files, these|both|the| files, all csvs|three|workbooks,
        all|both|the|these tables, all the csv files, all|the|both| sheets, every file|sheet, all of
        them, them all|, both, the two files, all the sheets, everything""",
    "origin": """
        with a column source, with|and|plus|including|add add|a|an| a|the| source|origin|file
        column|file|, with|and|plus|including|add add| the|a| file name as| a| column|,
        with|and|plus|add add| a column for|with|that|of tells| the source|file| file|name|""",
    "gaps": """missing columns stay|are empty, leave missing columns empty, with empty missing
        columns, fill missing columns with blanks, missing ones stay empty, keep all columns""",
    "match_on": """based|matching|matched| on, matched|matching| by, using, via, on the column|key,
        through, over, with the key|same""",
    "inner": """only matching|matches, inner join, only those|rows that match, matching rows only,
        only rows| with a match, only rows in both, that are in both""",
    "missing_in": """not found|present| in, that|which|who| are not in, missing in|from, without a
        match in, that|which| are missing in, that| do not appear in, that| are missing from, with
        no match in, that aren't in, that have no match in, but|is not in, without any in, that|
        don't appear in, without""",
    "compare": """compare the|, what has| changed, difference, differences|changes between|, diff,
        what is different, what's different|new, differ, changed, show|list the changes, what are
        the differences, show|find|list the differences, which rows changed, what differs, show what
        changed""",
    "between_files": "between, and, from, with, to, against, in, versus, vs",
    "replace": """replace all|every|any|, find|search and replace, substitute, change every|all|,
        swap, replace the text|word, replace all occurrences of, turn, correct, rename, find""",
    "nothing": "nothing, an empty string|text",
    "convert": """
        convert, export, save, turn, transform, change, write, make, copy, convert it, save it,
        turn it, create, store, download""",
    "each_sheet": """every|each sheet|tab, all|the|both sheets, all tabs, all the sheets, each of
        the sheets""",
    "sheet": "the| sheet|tab, worksheet, sheets, tabs",
    "as_kind": "to an|a|, as|into|in an|a|one|, into|as|in a new, into an excel",
    "kind_xlsx": """excel file|workbook|sheet|spreadsheet|table|format|, xlsx file|, workbook,
        spreadsheet, sheet""",
    "kind_csv": "csv file|files|format|, comma separated file|, csvs",
    "kind_tsv": "tsv, tsv|tab-delimited file, tab separated file|, tab-separated, tab delimited",
    "kind_psv": "psv file|, pipe separated file|, pipe-separated, pipe delimited",
    "kind_parquet": "parquet file|",
    "kind_unwritten": """
        ods, opendocument, json, jsonl, ndjson, arrow, feather, ipc, xls, html, xml, markdown,
        yaml, sqlite, sql, pdf, word, docx, powerpoint, pptx, google sheets, image, png""",
    "into_name": """into, save|saved| as, called, named, save|write|output|export| to, stored|save|
        in, to|into|in a file called|named, and save it as, save it as|to|in, and| call|name it,
        save the result as|in|to, write|export it to, put it in|into""",
    "exactly": """exactly, case sensitive|sensitively, case-sensitive, case-sensitively,
        matching|match|respecting|respect case, with exact spelling, mind|match the case""",
    "question": "what, whats, what's, which, how, who, how's",
    "most_frequent": "most frequent|common|often|popular|frequently",
    "each_own": "each, every",
    "chart": """bar|line|pie| chart, charts, graph, graphs, plot, diagram, histogram, visualize,
        visualise, pie""",
    "translate": "translate, translation, into german|french|english|spanish",
    "prose": """write a letter|summary, write an email|e-mail, letter, essay, memo, article, story,
        draft, explain, describe| why, document, documents, poem""",
    "forecast": """
        forecast, predict, prediction, projection, extrapolate, trend, trends, correlation,
        correlate, regression, growth, growth rate, month over month, year over year, increase
        over, change over, outliers, anomalies, standard deviation, variance, percentile,
        quartile, moving average, rolling average""",
    "style": """
        color, colour, highlight, bold, conditional formatting, formula, macro, font, italic,
        border, borders, background, coloured, colored""",
    "documents": "slides, slide deck, presentation, word document, powerpoint, pdf report",
    "money_change": """currency, exchange rate, in dollars|euros|usd|eur, to dollars|euros, convert
        to usd|eur""",
    "each_once": "each|every name|value|one|entry| only|just| once, once each, every one once",
    "over_time": "over the| time, through time",
    "own_sheet": """a|one|own sheet, its own sheet|tab, a separate sheet, a|one tab|worksheet, a
        sheet of its own""",
    "spend_verb": """spent, spends, spend, paid, earned, sold, donated, gave, bought""",
    "take_verb": "borrowed, ordered, booked",
    "unify": "unify, standardize, standardise, normalize, normalise, harmonize, harmonise",
    "uniform": "uniform, uniformly, consistent, consistently",
    "own_file": "a|one|own file, its own file, a separate file, a|one csv",
}

TABLE_PHRASES: Mapping[str, str] = {
    # What is done with tables, and what of two lists is compared.
    "united": """
        merge, combine, stack, append, concatenate, concat, consolidate, unite, union, put, join,
        merged, combined, gather, bring, add""",
    "adding": """
        add, append, attach, include, put, write, fill, bring, pull, lookup, vlookup, xlookup,
        enrich, look, up, in""",
    "made": "add, make, column, merge, combine, put",
    "compared": "compare, comparison, comparing, difference, differences, diff",
    "changed": "changed, change, changes, different, differ, differs, differing",
    "come": "new, added, additional",
    "gone": "gone, removed, dropped, deleted, discontinued, disappeared",
    "lacking": "missing, lacking, lacks",
    "risen": "up, expensive, dearer, risen, rose, increased, raised, higher",
    "fallen": "down, cheaper, fallen, fell, decreased, reduced, lower",
    "alone": "only",
    "shared": "in|on both, common to both, in common",
    "denied": """
        never, not, no, none, without, haven't, hasn't, didn't, weren't, wasn't, aren't, isn't,
        don't, doesn't, nothing, unsold""",
    # Which list.
    "earlier": "old, older, earlier, previous, former, before, first",
    "later": "new, newer, later, current, latest, second",
    "list_noun": "list, lists, file, files, table, tables, version, versions, sheet, sheets, one",
    "item_noun": """
        articles, article, items, item, products, product, rows, row, entries, entry, records,
        lines""",
    "in_list": "in, from, to, with",
    "of_list": "the, in, from",
    "article": "the",
    # Tables that are put below each other.
    "tables_noun": """
        files, file, lists, list, tables, table, sheets, sheet, csvs, csv, workbooks, exports,
        excel""",
    "spans_noun": "months, month, quarters, quarter, years, year",
    "whole_noun": "all, everything, them, one, together",
    "file_noun": "file, files, sheet, list",
    "over_tables": "over, across, from, in, for, of",
    "every_table": "all, the, both",
    "per_file": "per, by, for each, for every, for per, for by",
    "beside_union": """
        all, the, these, those, both, every, of, my, our, them, they, everything, together, please,
        can, you, could, with, and, single, big, below, each, other, one, a, an, in, into, to, new,
        me, us, i, want, up""",
    # Columns of another table.
    "beside_added": """
        to, each, every, the, from, of, in, into, their, its, for, with, beside, next, also, column,
        columns, matching, corresponding, address, addresses""",
    "beside_joined": "the, with, to, and, from, both, please, tables, table, files, file",
    "with_names": "with, including, and, together with, along with",
    "their": "their, its, the, also",
    "money_noun": "value, values, total, totals, amount, amounts, volume",
    "owner_of": "of, the, each, every",
    "best": "highest, largest, biggest, greatest, most",
    "worst": "lowest, smallest, least",
    # What means nothing more between the words of a comparison or of what has no partner.
    "often": "anything, something, ever, yet, single, any",
    "small": """
        which, what, what's, whats, who, that, were, was, is, are, have, has, had, been, be, did,
        do, does, we, i, they, there, of, the, a, an, in, from, and, to, both, two, at, all, so,
        out, me, show, list, give, find, tell, please, on, with, whose, where, but, between, got,
        become, became, went, more""",
}

NUMERALS = "zero one two three four five six seven eight nine ten eleven twelve"
PREFIXES: Mapping[str, str] = {}

MEANINGS: Mapping[str, str] = {
    "money": """money amount spend spending cost price expense expenditure value sum payment paid
        fee charge""",
    "revenue": "revenue turnover income sale sales earning proceeds",
    "cost": "cost expense spending purchase",
    "quantity": "quantity qty piece unit",
    "unit_price": "price",
    "salary": "salary wage pay income earning earn compensation",
    "moment": "date day time",
    "customer": "customer client buyer",
    "supplier": "supplier vendor merchant shop seller store",
    "category": "category kind type group class",
    "description": "description text note comment",
    "product": "product item article good",
    "country": "country nation",
    "city": "city town place",
    "person": "employee staff person salespeople worker salesperson rep representative salesman",
    "department": "department division dept team",
    "phone": "phone telephone tel mobile",
    "mail": "email mail",
    "status": "status state",
    "region": "region area territory",
    "order": "order purchase booking",
    "invoice": "invoice bill",
    "donation": "donation gift",
    "purpose": "purpose reason",
    "gender": "gender sex",
    "club": "club association",
    "vehicle": "vehicle car truck van",
    "helper": "volunteer helper",
    "guest": "guest visitor attendee participant",
    "hours": "hour hrs",
    "distance": "distance mileage mile km kilometer kilometre",
    "weight": "weight kg kilo",
    "room": "room",
    "task": "task activity",
    "location": "location site venue branch",
    "stock": "stock inventory",
    "driver": "driver",
}

CUES: Mapping[str, str] = {
    "best": "best worst",
    "which": "which",
    "who": "who",
    "what": "what",
    "selling": "selling",
    "better_high": """revenue sales turnover profit earnings income score points margin rating stars
        sold donated donation""",
    "lengthy": "longest shortest fastest slowest heaviest lightest",
    "timely": "latest newest oldest earliest last first",
    "pays": "pay paid spend spent cost earn earned went",
    "spending": """spend spending spent expense expenses cost costs income earnings earned outgoings
        earn earns receive received paid""",
    "coming_in": "earn earns receive income earnings earned revenue received deposits",
    "account": "bank account statement balance",
    "names": "name surname person who contact",
    "given": "first given forename firstname",
    "family": "last family surname lastname",
    "full_name": "name names",
    "joint": "and",
    "before_names": "and with their just only show list",
    "first": "first last",
    "days": "date dates days",
    "compound_ends": "book log list register",
    "in_all": "total overall altogether",
    "open_end": "for on to from with at",
    "asks_more": "when why whom",
    "denies": "not never",
    "none": "no never none",
    "ranks": "rank ranked ranking",
    "ranked": "top bottom best worst leading",
    "article": "a an any no",
    "the": "the",
    "being": "are is were was",
    "only": "only just in",
    "inside": "in within",
    "limit": "budget limit target plan goal quota allowance reorder minimum maximum",
    "lists": "only just keep with",
    "whole": "end including",
    "currency": "currency ccy curr",
}
"""Words that checks look for, and that no rule reads: they tell two meanings apart."""

DEEDS: Mapping[str, str] = {
    "order": """order orders ordered ordering purchase purchased bought buy buys sale sales sold
        sell unsold transaction transactions""",
    "payment": "payment payments paid pay",
    "booking": "booking bookings booked",
    "invoice": "invoice invoices invoiced billed",
    "loan": "loan loans lent borrowed",
    "shipment": "shipment shipments shipped delivery deliveries delivered",
    "donation": "donation donations donated",
}
