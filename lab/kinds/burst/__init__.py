"""Transfers that are asked for in the same moment."""

from ..kind import Kind

KIND = Kind(
    name="burst",
    suffix="-burst",
    title=", a burst",
    heading="Transfers that begin together",
    rate="rate_bytes_s",
    takes_threads=True,
    needs_log=True,
)
