"""What the users do.

closed_loop.py   N users, each with one request under way; run by loadgen
"""
