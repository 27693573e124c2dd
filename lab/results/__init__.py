"""The results folder, which the later rooms read.

records.py   points.csv, environment.json and samples/
"""
