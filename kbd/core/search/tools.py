"""Document tools of an agent: `WorkspaceTools` and its `TOOL_REGISTRY`.

A tool is a method that takes a dict of arguments and returns a dict; the arguments are checked
against the tool's entry of the registry first. One more is added by a subclass that puts its method
under a name into `_tools`, and an entry of that name in the registry:

    class MyTools(WorkspaceTools):
        registry = {**TOOL_REGISTRY, "workspace.count": {"description": "…", "args": {}}}

        def __init__(self, engine):
            super().__init__(engine)
            self._tools["workspace.count"] = self.workspace_count

        def workspace_count(self, args):
            return {"count": self.engine.num_docs}
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar

from kbd.core.search.documents import Chunk, Document, find_document
from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.summary import extract_summary
from kbd.core.search.text_model import (
    TextModel,
    cut_at_next_speaker,
    max_answer_tokens,
    summary_prompt,
)
from kbd.errors import KbdError, NotFound, ValidationFailed

__all__ = ["TOOL_REGISTRY", "WorkspaceTools", "check_arguments"]

_TYPES: Mapping[str, type] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
}


def check_arguments(args: Any, entry: Mapping[str, Any] | None) -> dict[str, Any]:
    """Check arguments against a tool's entry; return them in its types, with defaults.

    A number in quotation marks is a number, as models write it; null is what is left out.

    Args:
        args: What was given.
        entry: `{"args": {name: {"type", "required", "default"}}}`; a type that is none of str,
            int, float, bool, list and dict takes anything. None for a tool that takes anything.

    Raises:
        ValidationFailed: Something is missing, unknown or of another type; all of it is told.
    """
    if not isinstance(args, Mapping):
        raise ValidationFailed(f"the arguments are {type(args).__name__}, not an object")
    if entry is None:
        return dict(args)
    known: Mapping[str, Mapping[str, Any]] = entry.get("args", {})
    out: dict[str, Any] = {}
    faults = []
    for name in args:
        if name not in known:
            near = get_close_matches(str(name), known, 1)
            faults.append(f"{name} is unknown" + (f", did you mean {near[0]}?" if near else ""))
    for name, parameter in known.items():
        given = args.get(name)
        if given is None:
            if parameter.get("required"):
                faults.append(f"{name} is missing")
            elif "default" in parameter:
                out[name] = parameter["default"]
            continue
        out[name] = value = _coerce(given, parameter.get("type", ""))
        wanted = _TYPES.get(parameter.get("type", ""))
        if wanted is not None and not _has_type(value, wanted):
            faults.append(f"{name} is {type(given).__name__}, not {wanted.__name__}")
    if faults:
        takes = ", ".join(known) or "no arguments"
        raise ValidationFailed(f"{'; '.join(faults)}; it takes {takes}")
    return out


def _has_type(value: Any, wanted: type) -> bool:
    return isinstance(value, wanted) and (wanted is bool or not isinstance(value, bool))


def _coerce(given: Any, kind: str) -> Any:
    """Coerce a value to a type: 5 for "5" and 5.0, true for "true"."""
    try:
        match kind, given:
            case "int", str():
                return int(given)
            case "int", float() if given.is_integer():
                return int(given)
            case "float", str() | int() if not isinstance(given, bool):
                return float(given)
            case "bool", "true" | "True":
                return True
            case "bool", "false" | "False":
                return False
            case _:
                return given
    except ValueError:
        return given


MAX_MODEL_CHARACTERS = 12_000
"""Of a longer text, a model that summarizes it is given as many characters, picked all over it:
some 3,000 tokens, which the windows of small models hold."""

TOOL_REGISTRY: dict[str, dict[str, Any]] = {
    "workspace.search": {
        "description": "Search documents by semantic similarity.",
        "args": {
            "query": {"type": "str", "required": True, "description": "Search query"},
            "top_k": {
                "type": "int", "required": False, "default": 5, "description": "Number of results",
            },
        },
    },
    "workspace.list_docs": {"description": "List all documents in workspace.", "args": {}},
    "workspace.get_doc": {
        "description": "Get full document text. One of doc_id or title is required.",
        "args": {
            "doc_id": {
                "type": "str", "required": False, "default": None, "description": "Document ID",
            },
            "title": {
                "type": "str", "required": False, "default": None, "description": "Document title",
            },
        },
    },
    "workspace.summarize": {
        "description": "Summarize a document or text. One of doc_id or text is required.",
        "args": {
            "doc_id": {
                "type": "str", "required": False, "default": None,
                "description": "Document ID to summarize",
            },
            "text": {
                "type": "str", "required": False, "default": None,
                "description": "Text to summarize",
            },
            "max_length": {
                "type": "int", "required": False, "default": 500,
                "description": "Maximum summary length",
            },
        },
    },
}  # fmt: skip
"""What the built-in tools are called, do and take; what `/tools` of `kbd chat` prints."""

_MAX_RESULTS = 100
_MAX_SUMMARY_CHARACTERS = 20_000


class WorkspaceTools:
    """The tools over an engine.

    Args:
        engine: What is searched.
        model: Any object with `generate()`, which then writes the summaries; without one they are
            made of the text's own sentences.

    Attributes:
        registry: What each tool does and takes. Arguments are checked against it; a tool that is
            not in it takes any.
    """

    registry: ClassVar[Mapping[str, Mapping[str, Any]]] = TOOL_REGISTRY

    def __init__(self, engine: WorkspaceEngine, model: object | None = None) -> None:
        self.engine = engine
        self._model = None if model is None else TextModel(model)
        self._tools: dict[str, Callable[..., Any]] = {
            "workspace.search": self.workspace_search,
            "workspace.list_docs": self.workspace_list_docs,
            "workspace.get_doc": self.workspace_get_doc,
            "workspace.summarize": self.workspace_summarize,
        }

    @property
    def names(self) -> Sequence[str]:
        """The names of the tools, in the order they were added."""
        return tuple(self._tools)

    def execute(self, name: str, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Call a tool.

        Whatever goes wrong is an answer, too, so that no loop over calls ends by one of them:
        `{"error": "what is wrong and what helps", "code": "VALIDATION_FAILED"}`, with `tools`, the
        names that there are, for an unknown one, and `args`, the entry of the registry, for
        arguments that do not fit. `code` is one of `kbd.errors`, or TOOL_FAILED for an exception
        of the tool itself.

        Args:
            name: The tool's name.
            args: Its arguments; those with a default may be left out, or null.
        """
        name = str(name)
        tool, entry = self._tools.get(name), self.registry.get(name)
        if tool is None:
            near = get_close_matches(name, self._tools, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            answer = _tool_error(NotFound(f"there is no tool {name[:80]!r}{hint}"))
            return {**answer, "tools": list(self._tools)}
        try:
            given = check_arguments(args or {}, entry)
        except ValidationFailed as error:
            return {**_tool_error(error), "args": dict((entry or {}).get("args", {}))}
        try:
            result = tool(given)
        except KbdError as error:
            return _tool_error(error)
        except Exception as error:  # noqa: BLE001 - a tool may be anybody's
            return {"error": f"{name} failed: {type(error).__name__}: {error}", "code": _FAILED}
        return result if isinstance(result, dict) else {"result": result}

    def workspace_search(self, args: dict[str, Any]) -> dict[str, Any]:
        """Search the documents.

        Returns:
            `{documents: [{chunk_id, doc_id, text, score, filename, place, snippet, metadata}],
            total, ranker}`, nearest first, and `warnings` if there are any.
        """
        found = self.engine.ask(args["query"], _number(args, "top_k", 5, _MAX_RESULTS))
        documents = [_chunk_row(chunk) for chunk in found.chunks]
        answer = {"documents": documents, "total": len(documents), "ranker": found.ranker}
        return {**answer, "warnings": list(found.warnings)} if found.warnings else answer

    def workspace_list_docs(self, args: dict[str, Any]) -> dict[str, Any]:
        """List the documents: `{documents: [{doc_id, title, path, warnings?}], total}`."""
        del args
        documents: list[dict[str, Any]] = [
            {"doc_id": each.doc_id, "title": each.title, "path": each.path}
            for each in self.engine.list_docs()
        ]
        unread = self.engine.unread()
        for document in documents:
            if document["doc_id"] in unread:
                document["warnings"] = [unread[document["doc_id"]]]
        return {"documents": documents, "total": len(documents)}

    def workspace_get_doc(self, args: dict[str, Any]) -> dict[str, Any]:
        """Return a document: `{doc_id, title, text, length}`."""
        document, text = self._text(args.get("doc_id"), args.get("title"))
        return {
            "doc_id": document.doc_id,
            "title": document.title,
            "text": text,
            "length": len(text),
        }

    def workspace_summarize(self, args: dict[str, Any]) -> dict[str, Any]:
        """Summarize a document or a text: `{summary, source, original_length, by, warnings?}`.

        `source` is the document's id, or "text"; `by` the model's name, or "extract".
        """
        doc_id, text = args.get("doc_id") or None, args.get("text")
        if (doc_id is None) == (text is None):
            raise ValidationFailed("give one of doc_id and text")
        source = "text"
        if text is None:
            document, text = self._text(doc_id, None)
            source = document.doc_id
        most = _number(args, "max_length", 500, _MAX_SUMMARY_CHARACTERS)
        summary, by, warnings = self._summary(text, most)
        answer = {"summary": summary, "source": source, "original_length": len(text), "by": by}
        return {**answer, "warnings": warnings} if warnings else answer

    def _text(self, doc_id: str | None, title: str | None) -> tuple[Document, str]:
        document = find_document(self.engine.list_docs(), doc_id or None, title or None)
        text = self.engine.get_doc_text(document.doc_id)
        if text is None:
            why = self.engine.unread().get(document.doc_id, "it cannot be read")
            raise NotFound(f"{document.path} has no text: {why}")
        return document, text

    def _summary(self, text: str, most: int) -> tuple[str, str, list[str]]:
        """Return a summary, its author, and warnings."""
        if self._model is None or len(text.strip()) <= most:
            return extract_summary(text, most), "extract", []
        given, warnings = extract_summary(text, MAX_MODEL_CHARACTERS), list[str]()
        if len(text.strip()) > MAX_MODEL_CHARACTERS:
            warnings = [f"{self._model.name} was given {len(given)} of {len(text)} characters"]
        try:
            reply = cut_at_next_speaker(
                self._model.reply(summary_prompt(given, most), max_answer_tokens(most))
            ).strip()
        except Exception as error:  # noqa: BLE001 - a model may be anybody's
            reply, why = "", f"{type(error).__name__}: {error}"
        else:
            why = "it said nothing"
        if not reply:
            failed = f"{self._model.name} did not summarize it: {why}"
            return extract_summary(text, most), "extract", [failed]
        # A model need not keep to the length that it was asked for.
        return extract_summary(reply, most), self._model.name, warnings


_FAILED = "TOOL_FAILED"


def _chunk_row(chunk: Chunk) -> dict[str, Any]:
    metadata = dict(chunk.metadata)
    row = {name: metadata.pop(name, "") for name in ("filename", "place", "snippet")}
    metadata.pop("ranker", None)
    return {
        "chunk_id": chunk.chunk_id,
        "doc_id": chunk.doc_id,
        "text": chunk.text,
        "score": chunk.score,
        **row,
        "metadata": metadata,
    }


def _number(args: Mapping[str, Any], name: str, default: int, most: int) -> int:
    value: int = args.get(name, default)
    if not 1 <= value <= most:
        raise ValidationFailed(f"{name} is {value}, it can be 1 to {most}")
    return value


def _tool_error(error: KbdError) -> dict[str, Any]:
    return {"error": error.message, "code": error.code}
