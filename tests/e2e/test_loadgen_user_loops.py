"""loadgen: loops of users that share threads have the figures that those of threads have."""

import test_loadgen_distribution
import test_loadgen_loops
import test_loadgen_mixed
import test_loadgen_series
import test_loadgen_telemetry
import test_loadgen_think
import test_loadgen_transfers


class UsersTelemetryTest(test_loadgen_telemetry.LoadgenTelemetryTest):
    shares_threads = True


class UsersThinkTest(test_loadgen_think.LoadgenThinkTest):
    shares_threads = True


class UsersLoopsTest(test_loadgen_loops.LoadgenLoopsTest):
    shares_threads = True


class UsersDistributionTest(test_loadgen_distribution.LoadgenDistributionTest):
    shares_threads = True


class UsersSeriesTest(test_loadgen_series.LoadgenSeriesTest):
    shares_threads = True


class UsersTransfersTest(test_loadgen_transfers.LoadgenTransfersTest):
    shares_threads = True


class UsersMixedTest(test_loadgen_mixed.LoadgenMixedTest):
    shares_threads = True
