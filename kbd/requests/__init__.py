"""Every request that a client may send, with its answer; and every notification.

    base           what all requests, answers and notifications share
    pages          pages of long lists, and the cursors that they begin at
    daemon         the daemon itself: its workers, plugins and tools; heads and checks of logs
    providers      providers and models: status, switches, defaults
    workbenches    workbenches and their files
    contexts       context that every run of a workbench is given
    egress         consent to what leaves this machine, and the list of what left
    workshop       messages, runs, the conversation, undo
    workspace      a workbench's documents: search, list, read, summarize
    drafts         draft, review, publish, checkpoints
    reviews        what a draft changes inside its files
    approvals      what waits for a person, and the person's decision
    receipts       documents that prove what a publish changed
    watches        watched folders, and the files that failed there
    recipes        recipes: saved, listed, tried, removed
    formats        what the wire methods of formats (XlsxGetMap …) are derived from
    events         events of a log, read and followed; blobs
    notifications  what the daemon sends without being asked
    replays        a run step by step, replay proofs, a workbench as it stood
    copies         case files and backups
    storage        what takes the disk, what goes when, making room
    openrpc        the document that `rpc.discover` answers, made from these records

A request is a record: its class's name is the method's, its fields are the parameters, its `answer`
is the record that is answered. Each subject ends with the union of its requests; those make up
`AnyRequest`. Formats contribute further methods when the daemon starts, so the daemon's table is
`METHODS` and theirs.
"""

from collections.abc import Mapping
from types import MappingProxyType

from kbd.requests.approvals import ApprovalRequests
from kbd.requests.base import Request
from kbd.requests.contexts import ContextRequest
from kbd.requests.copies import CopyRequest
from kbd.requests.daemon import DaemonRequest
from kbd.requests.drafts import DraftRequest
from kbd.requests.egress import EgressRequest
from kbd.requests.events import LogRequest
from kbd.requests.providers import ProviderRequest
from kbd.requests.receipts import ReceiptRequest
from kbd.requests.recipes import RecipeRequest
from kbd.requests.replays import ReplayRequest
from kbd.requests.reviews import ReviewRequest
from kbd.requests.storage import StorageRequest
from kbd.requests.tools import ToolRequest
from kbd.requests.watches import WatchRequest
from kbd.requests.workbenches import WorkbenchRequest
from kbd.requests.workshop import WorkshopRequest
from kbd.requests.workspace import WorkspaceRequest

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
    | ReviewRequest
    | ReceiptRequest
    | ToolRequest
    | ApprovalRequests
    | LogRequest
    | ReplayRequest
    | CopyRequest
    | StorageRequest
    | WatchRequest
    | RecipeRequest
)
"""The requests that kbd itself answers, as one closed union."""

METHODS: Mapping[str, type[Request]] = MappingProxyType(
    {kind.method: kind for kind in AnyRequest.__args__}
)
"""The same by name."""
