"""Several fileservers behind a proxy, each on a host of its own: a namespace of this machine."""
