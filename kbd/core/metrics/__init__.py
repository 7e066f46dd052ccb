"""Metrics: what the daemon counts while it works, in the text format of Prometheus.

    exposition       families of samples as text; counters and histograms that make them
    meters           what is counted: requests of clients, and events of the logs
    process_figures  what the system tells of this process

No label holds a person's text, a path, or the name or id of a workbench: what may be new for ever
would be a series for ever.
"""
