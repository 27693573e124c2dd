"""What the users do, as far as it is alike for all kinds of experiments: kinds/ has the rest.

load.py          what a load is to the rest of the lab
outcome.py       what its run came to, also in each second, and what was done to servers then
uploads.py       what uploads that were seen one by one came to, over time
transfers.py     what transfers came to, as the load generator recorded them
loadgen_run.py   runs the load generator for it

A kind declares what it measures in a tuple FIGURES: see kinds/kind.py. Its load builds the
command line of a run, reads the result, and knows what makes it invalid.
"""
