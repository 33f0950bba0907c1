"""What the course's code costs, beside its peers: `make bench` (see README.md in this folder).

One module for each measurement. Each has `measure(quick)`, which gives a `Measured`; `__main__` runs them in turn.
"""
