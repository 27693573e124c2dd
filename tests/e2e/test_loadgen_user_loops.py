"""loadgen: loops of users that share threads have the figures that those of threads have."""

import test_loadgen_loops
import test_loadgen_telemetry
import test_loadgen_think


class UsersTelemetryTest(test_loadgen_telemetry.LoadgenTelemetryTest):
    shares_threads = True


class UsersThinkTest(test_loadgen_think.LoadgenThinkTest):
    shares_threads = True


class UsersLoopsTest(test_loadgen_loops.LoadgenLoopsTest):
    shares_threads = True
