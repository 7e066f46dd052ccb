"""Gateway: the one way out of this machine.

    gateway          `Egress`: consent, a key and an HTTP client, lent for one call
    models           which providers and models there are, which one is meant, what it is like
    embedders        what makes texts vectors for the search, or why nothing does
    outbound_call    what is lent for one call; each request is recorded before it leaves
    http_client      the HTTP client, imported when a provider first needs it
    redacted_stream  what a model says, with known keys blotted out while it streams
    daily_budget     the day's money, reserved before each call and charged after

Nothing is sent to a provider that leaves this machine unless a person agreed to these files, as
they are, for this model at this address, or to everything. A client that is lent can reach the
provider's address and no other, follows no redirect, and has each request recorded before it
leaves.
"""
