"""All mutations, in the order in which they are tried."""

import access
import account_stores
import auth_client
import bursts
import commit_queue
import connections
import crowd_searches
import crowds
import http_session
import http_syntax
import lab_bursts
import lab_machines
import lab_verdicts
import laboratory
import loadgen_loops
import loadgen_requests
import measuring
import open_loops
import passwords
import peer_systems
import served_files
import side_by_side
import topology
import uploads
from tree import Mutation

import authserver
import fileserver
import lib
import loadgen

# Those of one file stand together, so that it is compiled once for each.
ALL: tuple[Mutation, ...] = (
    *lib.MUTATIONS,
    *connections.MUTATIONS,
    *http_syntax.MUTATIONS,
    *access.MUTATIONS,
    *http_session.MUTATIONS,
    *fileserver.MUTATIONS,
    *auth_client.MUTATIONS,
    *served_files.MUTATIONS,
    *uploads.MUTATIONS,
    *authserver.MUTATIONS,
    *passwords.MUTATIONS,
    *commit_queue.MUTATIONS,
    *account_stores.MUTATIONS,
    *loadgen.MUTATIONS,
    *loadgen_loops.MUTATIONS,
    *loadgen_requests.MUTATIONS,
    *bursts.MUTATIONS,
    *crowds.MUTATIONS,
    *measuring.MUTATIONS,
    *lab_verdicts.MUTATIONS,
    *laboratory.MUTATIONS,
    *open_loops.MUTATIONS,
    *crowd_searches.MUTATIONS,
    *lab_bursts.MUTATIONS,
    *lab_machines.MUTATIONS,
    *topology.MUTATIONS,
    *side_by_side.MUTATIONS,
    *peer_systems.MUTATIONS,
)
