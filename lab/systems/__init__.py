"""What is measured: servers, store and files, ready for a load.

stack.py   the store, authserver and fileserver of one stage
files.py   the files that they serve
"""
