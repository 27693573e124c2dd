"""All mutations, in the order in which they are tried."""

import access
import http_session
import http_syntax
import measuring
import uploads
from tree import Mutation

import authserver
import fileserver
import lib
import loadgen

# Those of one file stand together, so that it is compiled once for each.
ALL: tuple[Mutation, ...] = (
    *lib.MUTATIONS,
    *http_syntax.MUTATIONS,
    *access.MUTATIONS,
    *http_session.MUTATIONS,
    *fileserver.MUTATIONS,
    *uploads.MUTATIONS,
    *authserver.MUTATIONS,
    *loadgen.MUTATIONS,
    *measuring.MUTATIONS,
)
