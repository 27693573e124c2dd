#include "fileserver/files/file_table.h"

#include "tests/catch.h"

using fileserver::FileTable;
using fileserver::WholeFile;

namespace {

FileTable::Entry entry(std::int64_t size) {
  return std::make_shared<const WholeFile>(WholeFile{{.size_bytes = size}, {}, nullptr});
}

}  // namespace

TEST_CASE("a table finds what was put and not what was erased", "[files]") {
  FileTable table;
  table.put("a", entry(1));
  table.put("a", entry(2));
  REQUIRE(table.find("a"));
  CHECK(table.find("a")->version.size_bytes == 2);
  CHECK_FALSE(table.find("b"));
  table.erase("a");
  table.erase("b");
  CHECK_FALSE(table.find("a"));
}

TEST_CASE("a request under way keeps its version", "[files]") {
  FileTable table;
  table.put("a", entry(1));
  const auto held = table.find("a");
  table.put("a", entry(2));
  CHECK(held->version.size_bytes == 1);
}

TEST_CASE("a folder is erased with all below, and nothing beside it", "[files]") {
  FileTable table;
  for (const char* name : {"dir/a", "dir/sub/b", "dirt", "other/dir/c"}) table.put(name, entry(1));
  table.erase_below("dir/");
  CHECK(table.names().size() == 2);
  CHECK(table.find("dirt"));
  CHECK(table.find("other/dir/c"));
}
