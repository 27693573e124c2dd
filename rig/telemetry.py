"""What a server says of itself at its --telemetry-listen."""

from __future__ import annotations

import http.client

from .errors import Failed
from .processes import Address

_TIMEOUT_S = 10.0


def read(address: Address) -> dict[str, float]:
    """Each sample by its name with its labels, as it is written. Failed when there is no answer."""
    connection = http.client.HTTPConnection(*address, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
    except (OSError, http.client.HTTPException) as error:
        raise Failed(f"no telemetry at {address}: {error}") from error
    finally:
        connection.close()
    pairs = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
    return {name: float(value) for name, value in pairs}
