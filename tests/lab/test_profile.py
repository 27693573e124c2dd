import unittest

from lab.profile import functions_of

ANNOTATED = """\
--------------------------------------------------------------------------------
Ir
--------------------------------------------------------------------------------
12,000 (100.0%)  PROGRAM TOTALS

--------------------------------------------------------------------------------
Ir              file:function
--------------------------------------------------------------------------------
9,000 (75.00%)  fileserver/files/disk_files.cpp:files::send_file(int, std::string const&) [/opt/build/fileserver]
 600 ( 5.00%)  ???:memcpy [/lib/libc.so.6]
"""


class ProfileTest(unittest.TestCase):
    def test_functions_are_read_without_places_and_parameters(self):
        self.assertEqual(functions_of(ANNOTATED), [
            ("files::send_file", 0.75), ("memcpy", 0.05)])


if __name__ == "__main__":
    unittest.main()
