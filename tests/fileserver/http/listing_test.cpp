#include "fileserver/http/listing.h"

#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "tests/catch.h"

using fileserver::ListedEntry;
using fileserver::ListingForm;
using fileserver::readable_size;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string printed(ListingForm form, std::string_view folder,
                    const std::vector<ListedEntry>& entries) {
  fileserver::ListingPrinter printer(form, {.name = folder});
  std::string text;
  printer.begin(text);
  for (const ListedEntry& entry : entries) printer.add(entry, text);
  printer.end(text);
  return text;
}

std::string listing_json(const std::vector<ListedEntry>& entries) {
  return printed(ListingForm::kJson, "", entries);
}

std::string listing_page(std::string_view folder, const std::vector<ListedEntry>& entries) {
  return printed(ListingForm::kPage, folder, entries);
}

}  // namespace

TEST_CASE("the JSON of a listing has what clients may rely on", "[listing]") {
  CHECK(listing_json({}) == "[]\n");
  CHECK(listing_json({{"a\"\\", false, 5, 7}, {"b", true, 9, 8}}) ==
        "[\n{\"name\": \"a\\\"\\\\\", \"type\": \"file\", \"size\": 5, \"mtime\": 7},\n"
        "{\"name\": \"b\", \"type\": \"directory\", \"mtime\": 8}\n]\n");
  CHECK(contains(listing_json({{"\xc3\xa4\xff"}}), "\"\xc3\xa4\xef\xbf\xbd\""));
}

TEST_CASE("names cannot break out of the page", "[listing]") {
  const std::string page = listing_page("<i>", {{"<b>&\"'", false, 5, 7}, {"a b#?%:", true, 0, 0}});
  CHECK(contains(page, "<title>/&lt;i&gt;/</title>"));
  CHECK(contains(page, "<h1><a href=\"../\">/</a><bdi>&lt;i&gt;</bdi>/</h1>"));
  CHECK(contains(page, "<a href=\"%3Cb%3E%26%22%27\"><bdi>&lt;b&gt;&amp;&quot;&#39;</bdi></a>"));
  CHECK(contains(page, "<a href=\"a%20b%23%3F%25%3A/\"><bdi>a b#?%:</bdi>/</a>"));
  CHECK_FALSE(contains(page, "<b>"));
}

TEST_CASE("a page is UTF-8 whatever the names are, and links to their bytes", "[listing]") {
  const std::string page =
      listing_page("\xff", {{"caf\xe9", false, 5, 7}, {"\xe2\x98", true, 0, 0}});
  CHECK(base::is_utf8(page));
  CHECK(contains(page, "<bdi>\xef\xbf\xbd</bdi>/</h1>"));
  CHECK(contains(page, "<a href=\"caf%E9\"><bdi>caf\xef\xbf\xbd</bdi></a>"));
  CHECK(contains(page, "<a href=\"%E2%98/\">"));
}

TEST_CASE("the page of a folder leads to the one above, that of the root does not", "[listing]") {
  CHECK(contains(listing_page("a/b", {}), "href=\"../\""));
  CHECK_FALSE(contains(listing_page("", {}), "href=\"../\""));
  CHECK(contains(listing_page("", {}), "<h1>/</h1>"));
}

TEST_CASE("a row has the size and the time", "[listing]") {
  const std::string page = listing_page("", {{"a", false, 1536, 784111777}});
  CHECK(contains(page, "<td class=\"size\" data-n=\"1536\">1.5 KiB</td>"));
  CHECK(contains(page, "<td class=\"time\" data-n=\"784111777\">1994-11-06 08:49</td>"));
  CHECK(contains(listing_page("", {{"a", true, 1536, 7}}), "<td class=\"size\"></td>"));
}

TEST_CASE("the heading of a page leads to each folder above", "[listing]") {
  CHECK(contains(listing_page("a&/b", {}),
                 "<h1><a href=\"../../\">/</a><a href=\"../\"><bdi>a&amp;</bdi>/</a>"
                 "<bdi>b</bdi>/</h1>"));
  std::string deep = "a";
  for (int depth = 0; depth < 1000; ++depth) deep += "/a";
  CHECK(contains(listing_page(deep, {}), "<h1>/<bdi>" + deep + "</bdi>/</h1>"));
}

TEST_CASE("the rows of a page come in groups of a hundred", "[listing]") {
  const auto groups_of = [](std::size_t rows) {
    const std::string page = listing_page("a", std::vector<ListedEntry>(rows, {"b", false, 5, 7}));
    std::size_t groups = 0;
    for (std::size_t at = 0; (at = page.find("<tbody>", at)) != std::string::npos; ++at) ++groups;
    return groups;
  };
  CHECK(groups_of(0) == 1);
  CHECK(groups_of(100) == 1);
  CHECK(groups_of(101) == 2);
  CHECK(groups_of(250) == 3);
}

TEST_CASE("a page leads to the zip of its folder", "[listing]") {
  CHECK(contains(listing_page("", {}), "<a href=\"/-/zip/\">Download as zip</a>"));
  CHECK(
      contains(listing_page("a/b ?&", {}), "<a href=\"/-/zip/a/b%20%3F%26/\">Download as zip</a>"));
}

TEST_CASE("a page says whose it is, and whether the folder may be written", "[listing]") {
  std::string text;
  fileserver::ListingPrinter(ListingForm::kPage, {.name = "", .user = "<amy>"}).begin(text);
  CHECK(contains(text, "Signed in as <a href=\"/-/account\"><bdi>&lt;amy&gt;</bdi></a>"));
  CHECK_FALSE(contains(text, "data-writable"));
  text.clear();
  fileserver::ListingPrinter(ListingForm::kPage, {.name = "", .may_write = true}).begin(text);
  CHECK(contains(text, "<table data-writable>"));
  CHECK_FALSE(contains(text, "data-trash"));
  CHECK_FALSE(contains(text, "Signed in"));
}

TEST_CASE("title and heading of a page have the name of the share", "[listing]") {
  std::string text;
  fileserver::ListingPrinter(ListingForm::kPage, {.name = "a", .share_name = "<Smith & Co>"})
      .begin(text);
  CHECK(contains(text, "<title>/a/ - &lt;Smith &amp; Co&gt;</title>"));
  CHECK(contains(text, "<h1><bdi>&lt;Smith &amp; Co&gt;</bdi> <a href=\"../\">/</a>"));
}

TEST_CASE("the only scripts of a page are ours, in files of their own", "[listing]") {
  const std::string page = listing_page("a", {{"b", false, 5, 7}});
  CHECK(contains(page, "<script defer src=\"/-/page.js?v="));
  CHECK(page.find("<script defer src=\"/-/common.js?v=") == page.find("<script"));
  CHECK(page.find("<script", page.find("<script") + 1) == page.rfind("<script"));
  CHECK_FALSE(contains(page, "style="));
  CHECK_FALSE(contains(page, "<style"));
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
