"""Jobs: small declarative programs over tables and documents, written by rules, models or people.

What a job is:

    records          inputs, steps, checks
    documents        the same as TOML and JSON, and the hash of a job; by `toml_text`
    words            the same in plain English, before it runs
    output_words     steps that write or answer, in words
    expression_words conditions and values in words

Expressions, over the columns of a row:

    expressions      text to terms; MAX_DEPTH
    terms            what an expression is made of; its columns, its literals, its text
    tokens           the pieces of the text
    functions        the closed list of functions
    expression_sql   terms as SQL, with types
    function_sql     functions as SQL

Tables, by name and type of their columns:

    columns          columns, and how one is found by name
    shapes           the tables of a whole job
    step_shapes      what a table step makes
    output_shapes    what a step that writes needs

SQL of DuckDB:

    statements       a job compiled: a query for each table, for the values and the parts of a split
    step_sql         steps
    figure_sql       figures of groups, cells of pivots, values of splits
    sql_text         quoted names and values, what counts as one, rounding
    checks           what must hold of every step and what a job says must hold, as one query
    step_checks      the rules of each step
    check_rules      rules, and what the answers to their questions mean

Jobs that are done again with other files:

    recipes          a package: records, provenance of literals, trials

Nothing here reads or writes a file, or asks what time it is.
"""
