"""The crash tests of test_store_crash.py with MariaDB, which takes longer to start again."""

import test_store_crash


class MysqlCrashTest(test_store_crash.StoreCrashTest):
    kinds = ("mysql",)
