#include "fileserver/http/listing.h"

#include <string>

#include "tests/catch.h"

using fileserver::ListedEntry;
using fileserver::readable_size;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("names are sorted by their bytes", "[listing]") {
  std::vector<ListedEntry> entries{{"b"}, {"a", true}, {"\xc3\xa4"}, {"B"}, {".a"}, {"a.txt"}};
  fileserver::sort_listing(entries);
  std::string names;
  for (const ListedEntry& entry : entries) names += entry.name + " ";
  CHECK(names == ".a B a a.txt b \xc3\xa4 ");
}

TEST_CASE("the JSON of a listing has what clients may rely on", "[listing]") {
  CHECK(fileserver::listing_json({}) == "[]\n");
  CHECK(fileserver::listing_json({{"a\"\\", false, 5, 7}, {"b", true, 9, 8}}) ==
        "[\n{\"name\": \"a\\\"\\\\\", \"type\": \"file\", \"size\": 5, \"mtime\": 7},\n"
        "{\"name\": \"b\", \"type\": \"directory\", \"mtime\": 8}\n]\n");
  CHECK(contains(fileserver::listing_json({{"\xc3\xa4\xff"}}), "\"\xc3\xa4\xef\xbf\xbd\""));
}

TEST_CASE("names cannot break out of the page", "[listing]") {
  const std::string page =
      fileserver::listing_page("<i>", {{"<b>&\"'", false, 5, 7}, {"a b#?%:", true, 0, 0}});
  CHECK(contains(page, "<h1>/&lt;i&gt;/</h1>"));
  CHECK(contains(page, "<a href=\"%3Cb%3E%26%22%27\">&lt;b&gt;&amp;&quot;&#39;</a>"));
  CHECK(contains(page, "<a href=\"a%20b%23%3F%25%3A/\">a b#?%:/</a>"));
  CHECK_FALSE(contains(page, "<b>"));
  CHECK_FALSE(contains(page, "<script"));
}

TEST_CASE("the page of a folder leads to the one above, that of the root does not", "[listing]") {
  CHECK(contains(fileserver::listing_page("a/b", {}), "href=\"../\""));
  CHECK_FALSE(contains(fileserver::listing_page("", {}), "href=\"../\""));
  CHECK(contains(fileserver::listing_page("", {}), "<h1>/</h1>"));
}

TEST_CASE("a row has the size and the time", "[listing]") {
  const std::string page = fileserver::listing_page("", {{"a", false, 1536, 784111777}});
  CHECK(contains(page, "<td class=\"size\">1.5 KiB</td><td class=\"time\">1994-11-06 08:49</td>"));
}

TEST_CASE("sizes are readable", "[listing]") {
  CHECK(readable_size(0) == "0 B");
  CHECK(readable_size(1023) == "1023 B");
  CHECK(readable_size(1024) == "1.0 KiB");
  CHECK(readable_size(10 * 1024) == "10 KiB");
  CHECK(readable_size(1024 * 1024 - 1) == "1.0 MiB");
  CHECK(readable_size(20 << 20) == "20 MiB");
  CHECK(readable_size(~std::uint64_t{0}) == "16 EiB");
}
