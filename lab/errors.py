"""The two ways in which a command ends without a result."""


class Failed(Exception):
    """Something that was tried did not work: one line, exit status 1."""


class WrongUsage(Exception):
    """The command line asks for something that is not there: one line, exit status 2."""
