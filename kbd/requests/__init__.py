"""Every request that a client may send, with its answer; and every notification.

    base           what all requests, answers and notifications share
    daemon         EngineGetInfo ToolWorkerGetStatus DaemonShutdown PluginsList LogHead LogVerify
                   rpc.discover
    providers      ProvidersGetStatus, SetEnabled, Validate, SetReasoningEffort;
                   ModelsListSupported UserGetDefaultModel UserSetDefaultModel
    workbenches    WorkbenchCreate, Open, List, Delete, Fork, GetScope, FilesList, FilesAdd,
                   FilesRemove, FilesExtract, GetDefaultModel, SetDefaultModel
    contexts       ContextList, Get, Set, Delete
    egress         EgressGetConsentStatus, GrantWorkshopConsent, ListEvents;
                   UserGetConsentMode UserSetConsentMode
    workshop       WorkshopSendUserMessage, RunAgent, CancelRun, GetState, GetConversation,
                   SetActiveModel, UndoToMessage, Regenerate; RunGet RunList
    workspace      WorkspaceSearch, ListDocs, GetDoc, Summarize, ReloadIndex
    drafts         DraftGetState DraftPublish DraftDiscard CheckpointsList CheckpointGet
                   CheckpointCreate CheckpointRestore ReviewGetChangeSet
                   ReviewSetDeletionConfirmations ReviewGetDeletionConfirmations
    watches        WatchAdd, List, Get, Test, Pause, Resume, Remove, FailedList, FailedRetry,
                   FailedDismiss
    formats        what the wire methods of formats (XlsxGetMap …) are derived from
    events         events of a log, read and followed; blobs
    notifications  what the daemon sends without being asked
    replays        ReplaySteps StateAt
    archives       RunExport BackupCreate
    openrpc        the document that `rpc.discover` answers, made from these records

A request is a record: its class's name is the method's, its fields are the parameters, its `answer`
is the record that is answered. Each subject ends with the union of its requests; those make up
`AnyRequest`. Formats contribute further methods when the daemon starts, so the daemon's table is
`METHODS` and theirs.
"""

from collections.abc import Mapping
from types import MappingProxyType

from kbd.requests.archives import ArchiveRequest
from kbd.requests.base import Request
from kbd.requests.contexts import ContextDelete, ContextGet, ContextList, ContextSet
from kbd.requests.daemon import (
    DaemonShutdown,
    EngineGetInfo,
    LogHead,
    LogVerify,
    PluginsList,
    RpcDiscover,
    ToolsList,
    ToolWorkerGetStatus,
)
from kbd.requests.drafts import (
    CheckpointCreate,
    CheckpointGet,
    CheckpointRestore,
    CheckpointsList,
    DraftDiscard,
    DraftGetState,
    DraftPublish,
    ReviewGetChangeSet,
    ReviewGetDeletionConfirmations,
    ReviewSetDeletionConfirmations,
)
from kbd.requests.egress import (
    EgressGetConsentStatus,
    EgressGrantWorkshopConsent,
    EgressListEvents,
    UserGetConsentMode,
    UserSetConsentMode,
)
from kbd.requests.events import BlobRead, EventsRead, EventsSubscribe, EventsUnsubscribe
from kbd.requests.providers import (
    ModelsListSupported,
    ProvidersGetStatus,
    ProvidersSetEnabled,
    ProvidersSetReasoningEffort,
    ProvidersValidate,
    UserGetDefaultModel,
    UserSetDefaultModel,
)
from kbd.requests.replays import ReplayRun, ReplaySteps, StateAt
from kbd.requests.watches import (
    WatchAdd,
    WatchFailedDismiss,
    WatchFailedList,
    WatchFailedRetry,
    WatchGet,
    WatchList,
    WatchPause,
    WatchRemove,
    WatchResume,
    WatchTest,
)
from kbd.requests.workbenches import (
    WorkbenchCreate,
    WorkbenchDelete,
    WorkbenchFilesAdd,
    WorkbenchFilesExtract,
    WorkbenchFilesList,
    WorkbenchFilesRemove,
    WorkbenchFork,
    WorkbenchGetDefaultModel,
    WorkbenchGetScope,
    WorkbenchList,
    WorkbenchOpen,
    WorkbenchSetDefaultModel,
)
from kbd.requests.workshop import (
    RunGet,
    RunList,
    WorkshopCancelRun,
    WorkshopGetConversation,
    WorkshopGetState,
    WorkshopRegenerate,
    WorkshopRunAgent,
    WorkshopSendUserMessage,
    WorkshopSetActiveModel,
    WorkshopUndoToMessage,
)
from kbd.requests.workspace import (
    WorkspaceGetDoc,
    WorkspaceListDocs,
    WorkspaceReloadIndex,
    WorkspaceSearch,
    WorkspaceSummarize,
)

__all__ = ["API_VERSION", "METHODS", "AnyRequest"]

API_VERSION = "1"
"""The version of the contract; a client that names another is refused."""

AnyRequest = (
    DaemonRequest
    | ProviderRequest
    | WorkbenchRequest
    | ContextRequest
    | EgressRequest
    | WorkshopRequest
    | WorkspaceRequest
    | DraftRequest
    | LogRequest
    | ReplayRequest
    | ProofRequest
    | ArchiveRequest
    | WatchRequest
)
"""The requests that kbd itself answers, as one closed union."""

METHODS: Mapping[str, type[Request]] = MappingProxyType(
    {kind.method: kind for kind in AnyRequest.__args__}
)
"""The same by name."""
