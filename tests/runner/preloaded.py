"""Read once, before a process is forked for each file of tests: what most of them read anyway."""

import asyncio  # noqa: F401
import concurrent.futures  # noqa: F401
import http.client  # noqa: F401
import json  # noqa: F401
import subprocess  # noqa: F401
import tempfile  # noqa: F401
import unittest.mock  # noqa: F401
import urllib.parse  # noqa: F401

from . import one_file, unit  # noqa: F401
