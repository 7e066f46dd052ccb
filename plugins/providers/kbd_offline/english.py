"""English words of requests, by what they mean: phrases in commas under each concept.

Letters are compared folded: without capitals and accents. A longer phrase goes before a shorter
one. What a word may mean beside the language (a column, a value) is looked for in the table.
"""

from collections.abc import Mapping

__all__ = [
    "DEEDS", "MEANINGS", "MONTHS", "NUMERALS", "PHRASES", "PREFIXES", "TABLE_PHRASES", "WEEKDAYS",
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
        to, lie, lies, each time, worked, happen, take place, cost, altogether, currently""",
    "row_noun": "rows, row, records, record, entries, entry, lines, line, data rows, observations",
    "and": "and, &, as well as, plus, along with, together with",
    "or": "or",
    "det": """
        the, a, an, all, my, our, their, its, these, those, this, that, of, different kinds of,
        column, columns, field, fields, every, each, any, for, in, overall, only, just, values""",
    # Figures.
    "sum": """total, totals, sum, sums, sum of, total of, sum up, add up, adding up, grand total,
        summed, subtotal, subtotals, total sum, sum total, totals of, aggregate""",
    "average": "average, averages, mean, avg, average of, mean of, on average, typical",
    "count": """count, counts, number of, count of, no of, number, amount of rows, quantity of rows,
        tally, frequency, frequencies, number of times, how often, counted, total number of, total
        count of, total count, total number, headcount, head count""",
    "minimum": """
        minimum, min, lowest, smallest, least, cheapest, earliest, first, minimum of, oldest,
        shortest, the lowest""",
    "maximum": """
        maximum, max, highest, largest, biggest, greatest, most expensive, latest, newest, maximum
        of, most recent, longest, top, most, the highest""",
    "median": "median, median of",
    "distinct": """
        different, distinct, unique, number of different, number of distinct, number of unique,
        count of distinct, count of unique, count distinct, count unique, distinct count of,
        unique count of, how many different, how many distinct, how many unique, count different""",
    "how_many": "how many, count how many",
    "how_much": "how much",
    "unique_list": """
        list|show|give of|the|me|all| unique|distinct|different values| of|,
        unique|distinct|different list|values of, which|what different, all distinct|unique""",
    # Groups.
    "by": """by, per, for each, for every, each, every, grouped by, group by, broken down by, within
        each, split by, in each, of each, aggregated by, across, summarized by, by each, for all,
        at each, by every, from each, separated by""",
    "year": "year, years, calendar year",
    "quarter": "quarter, quarters",
    "month": "month, months, calendar month",
    "week": "week, weeks, calendar week",
    "day": "day, days, date",
    "weekday": "weekday, weekdays, day of the week, day of week",
    "yearly": "yearly, annual, annually, year by year, year on year totals",
    "quarterly": "quarterly",
    "monthly": "monthly, month by month",
    "weekly": "weekly",
    "daily": "daily, day by day",
    "across": """
        across, as columns, in columns, across the top, as column headers, across columns, side by
        side, in the columns, as the columns, as headers, on top, (columns)""",
    "down": "down, as rows, in rows, in the rows, as the rows, (rows), down the side",
    "pivot": """
        pivot, pivot table, cross tab, crosstab, cross tabulation, matrix, pivot table of, pivot
        of, cross table""",
    # Conditions.
    "where": """
        where, with, whose, having, that have, which have, that has, which has, who have, that
        are, which are, who are, that were, which were, where the, if, when, in which, for which,
        with a, with an, filter by, filter on, filter to, filter for, filtered by, filter,
        filtered to, only rows where, keep only, only keep, only show, show only, restrict to,
        limited to, just the, that is, which is, who is, such that, made in, placed in, that cost,
        costing, worth""",
    "only": """
        only, just, nothing but, only the, exclusively, solely, keep only, keep, just the, limited
        to, restricted to, restrict to, show only, filter to""",
    "except": """
        except, except for, but not, all but, everything but, excluding, exclude, without, other
        than, apart from, leave out, leaving out, minus the, not including, everything except, all
        except, ignore, ignoring, omit, omitting, drop, remove, delete, skip, but without,
        anything but, that are not, which are not, who are not, that aren't, which aren't, not in,
        not from, filter out, get rid of, no, not, throw out, discard, outside, outside of, not
        for, never, but the, all but the, everyone but, all except the""",
    "is": "is, =, equals, equal to, is equal to, are, ==, was, being, :, were",
    "is_not": """
        is not, isn't, !=, <>, not equal to, is not equal to, does not equal, are not, aren't,
        differs from, other than, not, is different from, was not, wasn't, is no""",
    "more": """
        more than, greater than, over, above, >, exceeds, exceeding, larger than, bigger than,
        higher than, is more than, is over, is above, is greater than, older than, longer than, is
        larger than, is bigger than, is higher than, in excess of, upwards of, exceed, are over,
        are above, are more than, beyond""",
    "at_least": """
        at least, >=, minimum of, not less than, no less than, or more, is at least, from at
        least, starting at, greater than or equal to, are at least""",
    "less": """
        less than, under, below, <, fewer than, smaller than, lower than, is less than, is under,
        is below, cheaper than, is smaller than, is lower than, are under, are below, younger
        than, shorter than""",
    "at_most": """
        at most, <=, no more than, not more than, up to, maximum of, is at most, less than or
        equal to, not over, not exceeding, are at most""",
    "or_more": "or more, or higher, or above, and more, and above, and up, or over",
    "or_less": "or less, or lower, or below, or fewer, and less, and below, or under",
    "between": "between, is between, from, in the range, ranging from, are between",
    "range_to": "and, to, through, until, till, -, –, up to",
    "negative": "negative, below zero, with a negative",
    "positive": "positive, above zero, with a positive",
    "contains": """
        contains, containing, contain, includes, including, with the word, that contains, that
        contain, has the word, mentions, mentioning, include""",
    "not_contains": """
        does not contain, doesn't contain, not containing, without the word, do not contain""",
    "starts": """
        starts with, start with, starting with, begins with, beginning with, begin with,
        starts in""",
    "ends": "ends with, end with, ending with, ends in, ending in",
    "empty": """
        is empty, is blank, is missing, are empty, are blank, are missing, empty, blank, missing,
        has no value, not filled, is not filled, is null, not set, is not set, unknown, not given,
        have no value, not filled in, is not filled in, is not given""",
    "not_empty": """
        is not empty, is not blank, not empty, not blank, is filled, filled, is set, has a value,
        is there, is not missing, not missing, is given, are not empty, isn't empty, isn't blank,
        is filled in, are filled, is present""",
    "lacks": """
        without, without a, without an, with no, that have no, lacking, missing, who have no,
        which have no, having no, no, did not leave a, did not leave any, did not give a, did not
        give any, have not given a, left no, gave no""",
    "has_any": """
        that have a, that have an, with any, who have a, having a, which have a, have a, have an""",
    "one_of": "one of, in, is one of, is in, any of, either, is either, among",
    "not_one_of": "not one of, not in, is not in, none of, neither, is none of",
    # Time.
    "since": "since, from, starting, beginning, starting from, as of, on or after, from the",
    "before": "before, prior to, earlier than, older than",
    "after": "after, later than, newer than",
    "until": "until, till, up to, up to and including, on or before, through, to, by the end of",
    "last": "last, past, previous, preceding",
    "this": "this, current, the current",
    "today": "today",
    "yesterday": "yesterday",
    "of_every_year": """
        of every year, of each year, of any year, in every year, of all years, in any year""",
    "half": "half, half year, half-year",
    "versus": "vs, versus, against, compared to, compared with, vs., in comparison with",
    # Order.
    "sort": """
        sort, sorted, sort by, sorted by, order by, ordered by, sorting by, sort on, arrange by,
        arranged by, ordered, sort it by, sort them by, sort the rows by, rank by, ranked by,
        ranking by, in order of, sorted on, sort according to, order it by, order them by, sorted
        according to, rank, ranked""",
    "descending": """
        descending, desc, in descending order, descending order, largest first, highest first,
        biggest first, most first, high to low, from high to low, largest to smallest, highest to
        lowest, from highest to lowest, from largest to smallest, decreasing, z to a, z-a, in
        reverse order, reversed, top first, greatest first, longest first, from z to a, reverse,
        biggest to smallest, most expensive first, most at the top, biggest on top, largest on top,
        highest on top, from most to least""",
    "ascending": """
        ascending, asc, in ascending order, ascending order, smallest first, lowest first, low to
        high, from low to high, smallest to largest, lowest to highest, increasing, a to z, a-z,
        alphabetically, in alphabetical order, alphabetical order, from a to z, cheapest first,
        shortest first, from lowest to highest, from smallest to largest, least first,
        alphabetical""",
    "newest_first": """
        newest first, latest first, most recent first, newest to oldest, from newest to oldest,
        newest on top, latest to earliest, new to old""",
    "oldest_first": """
        oldest first, earliest first, chronologically, in chronological order, oldest to newest,
        from oldest to newest, chronological order, by date order""",
    "then_by": "then by, and then by, then, and by, by",
    "top": "top, first, the first, best, the top, the best, leading",
    "bottom": "bottom, last, the bottom, worst, the last, the worst",
    "largest": """
        largest, biggest, highest, greatest, the largest, the biggest, the highest, most valuable,
        top selling, best selling, most generous""",
    "smallest": "smallest, lowest, the smallest, the lowest, least",
    "newest": "newest, latest, most recent, the newest, the latest, the most recent",
    "oldest": "oldest, earliest, the oldest, the earliest",
    "expensive": "most expensive, the most expensive, priciest, dearest",
    "cheap": "cheapest, the cheapest, least expensive",
    "most": "most, the most",
    "fewest": "fewest, the fewest, least, the least",
    # Figures beside figures.
    "share": """
        share of total, percentage of total, percent of total, share of the total, share, shares,
        percentage, percentages, percent, proportion, % of total, percentage share, share in
        percent, what percentage, what percent, what share, what proportion, share of, percentage
        of, percent of, proportion of, as a percentage of the total, as a percentage of total, as
        a share of the total, percentage of the total, percent of the total, in percent of the
        total, how much percent, %, their share, its share, % of the total, as percentage of
        total, as percent of total, in percent of total, fraction of total, contribution of each,
        percentage contribution""",
    "running": """
        running total, running total of, running sum, running sum of, cumulative, cumulative
        total, cumulative sum, cumulative sum of, cumulative total of, cumulated, accumulated,
        running balance of, running, cumulatively, year to date total""",
    "totals_row": """
        with|and|plus|add|including a| grand|sum| total|totals row|line| at|in| the| bottom|,
        with|and|plus|add a row|line of totals, with a sum at the bottom""",
    "summary_sheet": """
        a summary sheet with|of totals, with|and|plus|add a|an| summary|overview|totals
        sheet|tab|worksheet| with|of| totals|, summary|overview|totals sheet|tab|worksheet with|of|
        totals|, with|and|plus a sheet|tab|worksheet with|of totals, and|plus|with totals|total, a
        summary with totals""",
    # Work on columns.
    "select": """
        select, show, list, display, keep, only, give me, just, keep only, only keep, show only,
        choose, pick, only the columns, the columns, with the columns, columns, with columns, just
        the columns, keep the columns, only show, extract, only columns, keep columns, output,
        show the columns, get, i need, show me, i only need, reduce to, export, print, with, only
        list, with only, with just, containing only, consisting of, only include, include only""",
    "drop_column": """
        without|drop|remove|delete|hide|omit|exclude|excluding|except|no, leave out, get rid of,
        without|drop|remove|delete|hide|exclude the| column|columns,
        leave|get out|rid of| the column|columns,
        all|everything|every columns|column| but|except""",
    "rename": """
        rename, rename the column, rename column, change the name of, change the heading, rename
        the columns, rename columns, change the column name, change the header, call, change
        column, rename the header, rename the heading, retitle""",
    "rename_to": "to, as, into, by, ->, in, →",
    "add_column": """
        add a column, add column, new column, add a new column, with a column, a column, create a
        column, create a new column, make a column, insert a column, compute a column, calculate a
        column, with a new column, with an extra column, add an extra column, add a field, an
        extra column, a new column, with an additional column, add another column, extra column,
        include a column, append a column, add""",
    "compute": "compute, calculate, work out, derive, add, determine, with",
    "is_made_of": """
        =, as, which is, that is, equal to, equals, being, with, calculated as, computed as,
        containing, from, :, of, is, that equals, which equals, defined as, that shows, for,
        showing, that contains""",
    "times": "times, *, multiplied by, x, ×",
    "divided": "divided by, /, ÷",
    "added": "plus, +, added to",
    "less_than_by": "minus, -, less, subtracted by",
    "vat": "vat, sales tax, tax, value added tax",
    "plus_percent": "plus, with, including, incl, increased by, raised by, +, up by, and",
    "minus_percent": """
        minus, less, reduced by, discounted by, with a discount of, -, down by, off, lowered by,
        without""",
    "raise": "increase, raise, increase the, raise the, add",
    "reduce": "decrease, reduce, lower, discount, cut",
    "profit": "profit, gross profit, contribution, earnings",
    "margin": "margin, profit margin, gross margin",
    "trim": """
        trim, strip, trim|strip|remove|delete|clean
        the|all|any|extra|leading|trailing|surrounding|unneeded| extra| blanks|spaces|whitespace,
        clean up the| spaces|whitespace, get rid of extra|the| spaces|blanks, remove leading and
        trailing spaces""",
    "upper": """
        upper case, uppercase, upper-case, in capitals, to upper case, in upper case, capitals,
        all caps, in uppercase, to uppercase, capitalize all, in capital letters,
        into upper case""",
    "lower": """lower case, lowercase, lower-case, in lower case, to lower case, in lowercase, to
        lowercase, in small letters""",
    "title": """title case, capitalized, capitalize, proper case, in title case, to title case,
        capitalise, in proper case, with a capital letter""",
    "round": "round, rounded, rounded to, round off",
    "decimals": "decimals, decimal places, digits, decimal, places, decimal digits",
    "whole_numbers": """
        whole numbers, integers, whole euros, whole dollars, to whole numbers, to the nearest
        whole number, to integers, full euros, whole number""",
    "fill_empty": """
        fill empty, fill missing, fill blank, fill the empty, fill the missing, fill in empty,
        replace empty, replace missing, replace blanks, replace blank, fill blanks, fill in
        missing, fill in the missing, replace the empty, set empty, set missing, fill in blank,
        fill empty cells, replace empty cells, fill missing values, replace missing values, fill""",
    "fill_with": "with, by, as, to",
    "clean": """
        clean, clean up, tidy, tidy up, normalize, normalise, standardize, standardise, convert,
        turn, change, make, put, set, write""",
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
        the|all| the| duplicates|doubles, remove|drop|delete|eliminate|discard the|all| the|exact|
        duplicate|duplicated|double|repeated|doubled rows|entries|records|lines, get rid of
        the|all| the| duplicate|duplicated|double|repeated rows|entries, no|without duplicates,
        without duplicate rows, remove rows with duplicate|duplicated, remove rows with the same,
        keep|only only| unique|distinct rows, unique|distinct rows only|""",
    "one_row_per": "keep| only|just| one|a|the single|first| row|record|line| per|for each|",
    "duplicates": """
        duplicates, duplicate rows, duplicate, duplicated, doubles, repeated rows, duplicated
        rows, duplicate entries, double entries""",
    "alike_in": """
        by, on, based on, with the same, by the same, considering, comparing, having the same,
        using, with duplicate, with duplicated, whose, in, per, for each, of""",
    "keep_first": "first one wins, keep|keeping only| the| first one|of| each|",
    "keep_last": "keep|keeping only| the| last one|of| each|, last one wins",
    "keep_latest": """
        keep|keeping only| the| latest|newest one|, keep|keeping only| the| most recent one|""",
    "in_place": """in place, in-place, change the file itself, in the file itself, in the same file,
        overwrite the file, overwrite it, edit the file, overwrite the original, change the
        original, update the file""",
    "not_in_place": """
        , but| don't|do|without not| change|changing|touch|touching|edit|editing the| original|file
        file|, not in place, leave the original untouched""",
    "join": """
        join, match, look up, lookup, vlookup, merge, combine, link, enrich, xlookup, attach, add,
        map, connect, bring in, pull in, left join, fill in, put, inner join""",
    "join_strong": """
        join, match, look up, lookup, vlookup, link, enrich, xlookup, left join, inner join,
        connect, joined, joined with""",
    "union": """
        merge, combine, stack, append, concatenate, concat, consolidate, put together, union,
        unite, combine all, merge all, put, one below the other, below each other, into one file,
        into one table, into a single file, together, into one, into one list, into one sheet,
        join, underneath each other, stacked, under each other, into a single table, into one
        workbook, into one big file, into one big table, into a single sheet""",
    "union_strong": """
        stack, append, concatenate, concat, consolidate, union, unite, one below the other, below
        each other, underneath each other, stacked, under each other""",
    "union_all": """
        all files, all csv files, all the files, these files, both files, the files, all csvs, all
        tables, both tables, all the csv files, all sheets, every file, all of them, all excel
        files, them all, both, the two files, all three, the sheets, every sheet, all the sheets,
        all three files, both sheets, files, sheets, all workbooks, everything, the tables, these
        tables, them""",
    "origin": """
        with a column source, with|and|plus|including|add add|a|an| a|the| source|origin|file
        column|file|, with|and|plus|including|add add| the|a| file name as| a| column|,
        with|and|plus|add add| a column for|with|that|of tells| the source|file| file|name|""",
    "gaps": """
        missing columns stay empty, missing columns are empty, leave missing columns empty, with
        empty missing columns, fill missing columns with blanks, missing ones stay empty, keep all
        columns""",
    "match_on": """
        on, by, using, via, on the column, on the key, through, based on, over, with the key,
        matching on, matched by, matched on, matching by, with the same""",
    "inner": """
        only matching, only matches, inner join, only those that match, only rows that match,
        matching rows only, only with a match, only rows with a match, only rows in both, that are
        in both""",
    "missing_in": """
        not in, that are not in, which are not in, missing in, missing from, without a match in,
        that are missing in, that do not appear in, not found in, who are not in, that are missing
        from, not present in, with no match in, which are missing in, that aren't in, that have no
        match in, but not in, without any in, don't appear in, do not appear in, that don't appear
        in, are not in, is not in, are missing from, are missing in, without""",
    "compare": """
        compare, what changed, what has changed, difference, differences, diff, changes, what is
        different, what's different, differ, changed, show the changes, compare the, what are the
        differences, what's new, show the differences, find the differences, list the changes,
        which rows changed, what differs, show what changed, list the differences, differences
        between, changes between""",
    "between_files": "between, and, from, with, to, against, in, versus, vs",
    "replace": """
        replace, find and replace, substitute, change, swap, replace all, replace every, search
        and replace, replace the text, replace the word, replace all occurrences of, turn,
        correct, rename, find, change every, change all, replace any""",
    "nothing": "nothing, an empty string, an empty text",
    "convert": """
        convert, export, save, turn, transform, change, write, make, copy, convert it, save it,
        turn it, create, store, download""",
    "each_sheet": """
        every sheet, each sheet, all sheets, the sheets, every tab, each tab, all tabs, both
        sheets, all the sheets, each of the sheets""",
    "sheet": "sheet, tab, worksheet, the sheet, the tab, sheets, tabs",
    "as_kind": """
        to, as, into, in, as an, as a, into an, into a, to an, to a, in an, in a, as one, into
        one, in one, into a new, as a new, into an excel, in a new""",
    "kind_xlsx": """
        excel, xlsx, workbook, spreadsheet, excel file, excel workbook, excel sheet, excel
        spreadsheet, xlsx file, excel table, sheet, excel format""",
    "kind_csv": "csv, csv file, comma separated file, comma separated, csvs, csv files, csv format",
    "kind_tsv": """tsv, tsv file, tab separated, tab separated file, tab-separated, tab delimited,
        tab-delimited file""",
    "kind_psv": """
        psv, psv file, pipe separated, pipe separated file, pipe-separated, pipe delimited""",
    "kind_parquet": "parquet, parquet file",
    "kind_unwritten": """
        ods, opendocument, json, jsonl, ndjson, arrow, feather, ipc, xls, html, xml, markdown,
        yaml, sqlite, sql, pdf, word, docx, powerpoint, pptx, google sheets, image, png""",
    "into_name": """
        into, as, called, named, to, in, to a file called, to a file named, into a file called,
        into a file named, save as, and save it as, save it as, save to, write to, output to,
        export to, and call it, call it, name it, and name it, saved as, stored in, save in, save
        it to, save it in, save the result as, save the result in, save the result to, in a file
        called, in a file named, write it to, export it to, put it in, put it into""",
    "exactly": """
        exactly, case sensitive, case-sensitive, case sensitively, case-sensitively, matching
        case, match case, respecting case, respect case, with exact spelling, mind the case, match
        the case""",
    "question": "what, whats, what's, which, how, who, how's",
    "most_frequent": "most frequent, most common, most often, most popular",
    "each_own": "each, every",
    "chart": """
        chart, charts, graph, graphs, plot, diagram, histogram, visualize, visualise, bar chart,
        line chart, pie chart, pie""",
    "translate": "translate, translation, into german, into french, into english, into spanish",
    "prose": """
        write a letter, write an email, write an e-mail, write a summary, letter, essay, memo,
        article, story, draft, explain, why, describe why, document, documents, poem""",
    "forecast": """
        forecast, predict, prediction, projection, extrapolate, trend, trends, correlation,
        correlate, regression, growth, growth rate, month over month, year over year, increase
        over, change over, outliers, anomalies, standard deviation, variance, percentile,
        quartile, moving average, rolling average""",
    "style": """
        color, colour, highlight, bold, conditional formatting, formula, macro, font, italic,
        border, borders, background, coloured, colored""",
    "documents": "slides, slide deck, presentation, word document, powerpoint, pdf report",
    "money_change": """
        currency, exchange rate, in dollars, in euros, to dollars, to euros, in usd, in eur,
        convert to usd, convert to eur""",
    "each_once": "each once, each only once, once each, every one once",
    "over_time": "over time, over the time, through time",
    "own_sheet": """
        a sheet, one sheet, its own sheet, own sheet, a separate sheet, a tab, one tab, its own
        tab, a worksheet, one worksheet, a sheet of its own""",
    "spend_verb": """spent, spends, spend, paid, earned, sold, donated, gave, bought""",
    "take_verb": "borrowed, ordered, booked",
    "unify": "unify, standardize, standardise, normalize, normalise, harmonize, harmonise",
    "uniform": "uniform, uniformly, consistent, consistently",
    "own_file": "a file, one file, its own file, a separate file, own file, a csv, one csv",
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
        to, each, every, the, from, of, in, into, their, its, for, with, beside, also, column,
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

MONTHS = """
january jan, february feb, march mar, april apr, may, june jun, july jul, august aug, september
sep sept, october oct, november nov, december dec
"""
WEEKDAYS = "monday, tuesday, wednesday, thursday, friday, saturday, sunday"
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
}

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
