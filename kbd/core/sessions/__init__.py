"""Open workbenches, and the runs under way in them.

api_context      what the daemon is assembled from, as handlers and sessions need it
indexer          keeps the index of workbenches and runs in step with the logs
indexed_logs     open logs as the indexer knows them, and followers of all
home_usage       what the home takes on disk, and the quota
retention        archives and removes what people set it to
workbenches      the registry of open workbenches, and the daemon's own log of which there are
archives         packs workbenches that nobody uses, and unpacks them
blob_collector   removes the blobs that nothing needs any more
recovery         opens a workbench's log, and finishes what a stopped daemon had begun
projection       `draft/` and the readable copies follow the log
receipts         makes the receipt of each publish, behind it
runs             a task for each run, and the run context that its agent works with
search_access    the search of a workbench for one call, with its embedder and model
questions        what has to be said about tables before figures can be told from them
approvals        what waits for a person: asked for, waited for within a limit
rebase           a draft applied again to what is published now
file_rebase      one file of that
drafted_calls    the calls that made a draft, from the log
repeated_calls   the same, made again
recipes          jobs and recipes as messages, and the recipes that are saved
learned_recipe   a recipe made of a run
chained_jobs     jobs that read what others wrote, made one with them
recipe_facts     what was in the files that it is learned from
recipe_trials    its jobs tried with changed files
scratch_calls    calls of tools of which nothing lands
fork             a workbench made of another one
verifications    when each log was verified last, and what was found
scrub            verifies a share of the home each day while the daemon is idle
"""
