"""How a command ends without a result."""


class Failed(Exception):
    """Something did not work. A command prints it as one line and exits with status 1."""


class NotValid(Exception):
    """What was measured counts nowhere. A command prints it as one line and exits with status 3."""


class WrongUsage(Exception):
    """The command line asks for something that does not exist. One line, exit status 2."""


class WrongBytes(AssertionError):
    """A test was given bytes that nobody wrote. It is never run again as unsteady."""
