"""The suffixes and whole names that are plain text, with their MIME types."""

__all__ = ["SUFFIXES"]

_TYPED = {
    ".css": "text/css",
    ".eml": "message/rfc822",
    ".htm": "text/html",
    ".html": "text/html",
    ".ics": "text/calendar",
    ".js": "text/javascript",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".mjs": "text/javascript",
    ".ndjson": "application/jsonl",
    ".php": "application/x-httpd-php",
    ".py": "text/x-python",
    ".rst": "text/x-rst",
    ".sh": "application/x-sh",
    ".sql": "application/sql",
    ".svg": "image/svg+xml",
    ".tex": "application/x-tex",
    ".toml": "application/toml",
    ".ts": "text/x-typescript",
    ".vcf": "text/vcard",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}

_PLAIN = (
    # Notes, settings and logs.
    ".txt .text .log .out .err .diff .patch .adoc .asciidoc .org .textile .srt .vtt .bib .po .pot "
    ".ini .cfg .conf .cnf .config .properties .env .editorconfig .gitignore .gitattributes .lock "
    ".geojson .json5 .har .ipynb .xsd .xsl .xslt .dtd .plist .rss .atom .opml .graphql .proto .tf "
    ".hcl .nix .cmake .mk .gradle .bazel .service .ldif .reg "
    # Code.
    ".c .h .cc .cpp .cxx .hpp .hh .cs .java .kt .kts .scala .groovy .go .rs .swift .m .mm .dart "
    ".pyi .pyx .rb .pl .pm .lua .r .jl .hs .ml .mli .fs .fsx .ex .exs .erl .hrl .clj .cljs .lisp "
    ".el .scm .zig .nim .v .sv .vhd .asm .s .f .f90 .pas .ada .cob .bas .vb .vbs .bat .cmd .ps1 "
    ".bash .zsh .fish .awk .sed .jsx .tsx .cjs .vue .svelte .scss .sass .less .styl .coffee .cls "
    ".sty .dockerfile "
    # Names without a suffix.
    "makefile dockerfile readme license licence copying changelog notice authors todo"
)

SUFFIXES = dict(sorted({**dict.fromkeys(_PLAIN.split(), "text/plain"), **_TYPED}.items()))
"""Lower-case suffixes, and names of files that have none, with their MIME types."""
