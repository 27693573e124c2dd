"""Programs that people download files with, each as a client under test.

client.py     what a client is to the lab, what it is to fetch, and each program
copies.py     copies from server to server
generator.py  our load generator, with one file over several channels
known.py      all of them by the names that stages give them

Nothing is installed: packages are downloaded and unpacked as those of the peers are. Only curl is
that of the host.
"""
