"""What the users do.

closed_loop.py   N users, each with one request under way; what is wrong with such a run
open_loop.py     requests that are due at random moments and wait for no other; the same for those
"""
