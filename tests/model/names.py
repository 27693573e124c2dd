"""The few names for which all contend."""

FOLDERS = ("one", "two")
OUTSIDE = "outside"  # a folder that was moved away
LINKED = ("linked-a", "linked-b")  # often one file; clients only read them
MADE = ("made-a", "made-b")  # folders that clients make and remove
SIZES = (64, 64, 4096, 200_000)  # few, so that size does not tell versions apart
OTHER_SIZES = tuple(size + 32 for size in SIZES)  # of what somebody else puts there

_LEAVES = ("x", "y")


def leaves(folder: str) -> list[str]:
    return [f"{folder}/{leaf}" for leaf in _LEAVES]


FILES = ("top", *leaves("one"), *leaves("two"))
