"""Requests that are due at random moments, and wait for no other."""

from ..kind import Kind

KIND = Kind(
    name="open_loop",
    suffix="-open",
    title=", open loop",
    heading="Response times over the offered load",
    is_swept=True,
)
