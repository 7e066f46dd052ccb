"""Open workbenches, and the runs under way in them.

api_context      what the daemon is assembled from, as handlers and sessions need it
workbenches      the registry of open workbenches, and the daemon's own log of which there are
recovery         from a folder on disk to a live workbench
projection       `draft/` and the readable copies follow the log
runs             a task for each run, started because the log says that the run began
run_contexts     what one run works with, put together from the daemon's parts
search_access    the search of a workbench as one call sees it, and whom it may ask
fork             a workbench made of another one
"""
