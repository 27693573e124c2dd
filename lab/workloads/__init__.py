"""What the users do.

closed_loop.py   N users, each with one request under way; what is wrong with such a run
"""
