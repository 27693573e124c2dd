"""loadgen: loops of users that share threads record and mix as those of threads do."""

import test_loadgen_mixed
import test_loadgen_transfers


class UsersTransfersTest(test_loadgen_transfers.LoadgenTransfersTest):
    shares_threads = True


class UsersMixedTest(test_loadgen_mixed.LoadgenMixedTest):
    shares_threads = True
