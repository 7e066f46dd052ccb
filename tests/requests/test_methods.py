"""The records of requests, answers and notifications keep the contract's names and rules."""

import msgspec
import pytest

from kbd.requests import METHODS
from kbd.requests import notifications as notified
from kbd.requests.base import Notification

PARAMETERS = {
    "WorkbenchCreate": {"name"},
    "WorkbenchFilesAdd": {"workbench_id", "source_paths"},
    "WorkbenchFilesExtract": {"workbench_id", "destination_dir", "workbench_paths"},
    "WorkshopRunAgent": {"workbench_id", "message_id", "model_id", "wait"},
    "WorkshopSendUserMessage": {"workbench_id", "text", "job", "recipe"},
    "DraftPublish": {"workbench_id", "paths", "on_conflict", "accept_external"},
    "EgressGrantWorkshopConsent": {
        "workbench_id", "provider_id", "model_id", "scope_hash", "persist",
    },
    "EventsRead": {
        "workbench_id", "after", "limit", "before", "descending", "types", "run_id", "since",
        "until",
    },
    "BlobRead": {"workbench_id", "hash", "offset", "limit"},
    "RunGet": {"run_id"},
    "WatchAdd": {
        "folder", "prompt", "patterns", "name", "model_id", "mode", "quiet_s", "deliver_to",
        "publish", "limits", "on_failure", "on_outcome", "consent", "existing", "read_as",
        "recipe", "otherwise",
    },
    "WatchResume": {"watch_id", "consent", "confirm"},
    "WatchTest": {"watch_id", "folder", "patterns", "mode", "model_id"},
    "WatchFailedList": {"watch_id", "error_code", "query", "descending", "limit", "cursor"},
    "WatchFailedRetry": {"watch_id", "landing_ids"},
}  # fmt: skip

ANSWERS = {
    "EngineGetInfo": {
        "engine_version", "api_version", "backend", "home", "pid", "plugins", "workbenches",
        "uptime_s", "search", "home_warning", "damage", "scrub",
    },
    "WorkshopRunAgent": {
        "run_id", "message_id", "has_draft", "completed", "status", "reason", "suggestions",
    },
    "WorkshopGetState": {
        "active_model_id", "default_model_id", "has_draft", "current_phase",
        "implement_progress", "run_id",
    },
    "RunGet": {
        "run_id", "workbench_id", "status", "phase", "items", "usage", "cost", "error",
        "started_at", "ended_at", "request", "model_id", "budget", "undone", "reason",
        "understood", "suggestions", "damage",
    },
    "EgressGetConsentStatus": {
        "consented", "provider_id", "model_id", "scope_hash", "persisted", "mode", "endpoint",
        "embedder",
    },
    "DraftPublish": {"published_at", "checkpoint_id", "published", "kept_both"},
    "LogVerify": {"ok", "seq", "frames", "segments", "blobs", "head", "faults"},
    "BlobRead": {"base64", "size_bytes", "has_more"},
    "WatchAdd": {"watch_id", "passed_over", "waiting"},
    "WatchFailedList": {"failed", "total", "suspended", "next_cursor"},
}  # fmt: skip


@pytest.mark.parametrize("method", sorted(PARAMETERS))
def test_parameters_have_the_contracts_names(method: str) -> None:
    """Each method listed here takes exactly the parameters of the contract, and api_version."""
    assert set(METHODS[method].__struct_fields__) - {"api_version"} == PARAMETERS[method]


@pytest.mark.parametrize("method", sorted(ANSWERS))
def test_answers_have_the_contracts_names(method: str) -> None:
    """Each answer listed here has exactly the members of the contract."""
    assert set(METHODS[method].answer.__struct_fields__) == ANSWERS[method]


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_refuses_a_parameter_it_does_not_know(method: str) -> None:
    """No method's record takes an unknown parameter, and none can be changed once read."""
    with pytest.raises(msgspec.ValidationError, match="`surprise`"):
        msgspec.json.decode(b'{"surprise":1}', type=METHODS[method])
    assert METHODS[method].__struct_config__.frozen
    assert METHODS[method].__struct_config__.forbid_unknown_fields


def test_every_notification_of_a_workbench_can_name_run_and_event() -> None:
    """Every notification but ConnectionDropped has places for workbench, run and event."""
    named = [getattr(notified, name) for name in notified.__all__]
    kinds = [kind for kind in named if isinstance(kind, type)]
    told = [kind for kind in kinds if issubclass(kind, Notification)]
    assert set(kinds) - set(told) == {notified.ConnectionDropped}
    for kind in told:
        assert {"workbench_id", "run_id", "seq"} <= set(kind.__struct_fields__)
