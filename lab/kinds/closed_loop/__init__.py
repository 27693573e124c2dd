"""N users, each with one request under way."""

from ..kind import Kind

KIND = Kind(
    name="closed_loop",
    is_swept=True,
    is_about_cpu=True,
)
