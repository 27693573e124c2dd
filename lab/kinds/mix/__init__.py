"""A closed loop of readers and writers."""

from dataclasses import dataclass

from ..kind import Kind


@dataclass(frozen=True, kw_only=True)
class Mix:
    """What users do who read and write the same folder, and how much of it is in memory."""

    kinds: str = ""  # and their shares, as loadgen takes them; "": all get files
    zipf: float  # file k is asked for as often as 1/k^zipf says
    in_memory: float = 0.0  # the share of the files for which there is memory; 0: none is


KIND = Kind(
    name="mix",
    suffix="-mix",
    title=", a mix",
    heading="Readers, writers, and memory for a part of the files",
    has_own_stages=True,
    takes_threads=True,
    is_by_http=True,
)
