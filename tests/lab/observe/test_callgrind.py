"""Reading the output of callgrind_annotate."""

import unittest

from lab.observe.callgrind import functions_of

ANNOTATED = """\
--------------------------------------------------------------------------------
Ir
--------------------------------------------------------------------------------
12,000 (100.0%)  PROGRAM TOTALS

--------------------------------------------------------------------------------
Ir              file:function
--------------------------------------------------------------------------------
9,000 (75.00%)  fileserver/files/disk_files.cpp:files::send_file(int, char const*) [/opt/fileserver]
 600 ( 5.00%)  ???:memcpy [/lib/libc.so.6]
"""


# What may stand below the table; the numbers there are not functions' own.
SOURCE = """\
--------------------------------------------------------------------------------
-- Auto-annotated source: fileserver/main.cpp
--------------------------------------------------------------------------------
11,000 (91.67%)  => fileserver/session.cpp:fileserver::Session::serve(int) (8x)
"""


class ProfileTest(unittest.TestCase):
    def test_functions_are_read_without_places_and_parameters(self):
        self.assertEqual(functions_of(ANNOTATED), [("files::send_file", 0.75), ("memcpy", 0.05)])

    def test_lines_of_source_are_no_functions(self):
        self.assertEqual(functions_of(ANNOTATED + SOURCE), functions_of(ANNOTATED))
