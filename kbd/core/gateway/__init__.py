"""Gateway: the one way out of this machine.

    gateway          `Egress`: consent, a key and an HTTP client, lent for one call
    models           which models and embedders there are, and which one is meant
    outbound_call    what is lent for one call: requests recorded, replies redacted as they stream
    collector        the address that traces of runs are sent to
    replies          what plugins return, checked
    http_client      the HTTP client, imported when a provider first needs it
    answer_body      what an answer may hold: nothing encoded, no endless line
    connection_pool  the connections, which count what arrives
    daily_budget     the day's money, reserved before each call and charged after

A trace of a run is sent to the address that the settings name, if they name one.

Nothing is sent to a provider that leaves this machine unless a person agreed to these files, as
they are, for this model at this address, or to everything. A client that is lent can reach the
provider's address and no other, follows no redirect, and has each request recorded before it
leaves.
"""
