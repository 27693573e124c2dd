#include "fileserver/http/dav/multistatus.h"

#include <string>
#include <utility>

#include "tests/catch.h"
#include "xml/element.h"

using fileserver::dav::PropertyName;
using fileserver::dav::PropertyPrinter;
using fileserver::dav::PropertyRequest;
using fileserver::dav::Resource;
using AskedKind = fileserver::dav::PropertyRequest::Kind;

namespace {

const Resource kFile{
    .name = "sub/a b.txt", .size_bytes = 7, .modified_ns = 1'000'000'000'123, .created_s = 1'500};
const Resource kFolder{
    .name = "sub", .is_folder = true, .modified_ns = 1'000'000'000'123, .lock_name = "real/sub"};
constexpr std::int64_t kNow_s = 2'000;

fileserver::dav::LockProperties locks() {
  return {.supported = "<D:lockentry/>",
          .active_on = [](std::string_view name, const std::string& lock_name) {
            const bool is_locked = name == "sub" && lock_name == "real/sub";
            return is_locked ? std::string("<D:activelock/>") : std::string();
          }};
}

std::string printed(PropertyRequest request, const Resource& resource) {
  const PropertyPrinter printer(std::move(request), locks(), kNow_s);
  std::string text;
  printer.begin(text);
  printer.add(resource, text);
  printer.end(text);
  return text;
}

// The DAV:prop of the propstat with this status. Null: there is none.
const xml::Element* prop_of(const xml::Element& root, const std::string& status) {
  const xml::Element* const response = root.child("DAV:", "response");
  for (const xml::Element& child : response->children) {
    if (child.is("DAV:", "propstat") && child.child("DAV:", "status")->text == status)
      return child.child("DAV:", "prop");
  }
  return nullptr;
}

std::string value_of(const xml::Element& root, const char* name) {
  const xml::Element* const value = prop_of(root, "HTTP/1.1 200 OK")->child("DAV:", name);
  return value == nullptr ? "(none)" : value->text;
}

}  // namespace

TEST_CASE("all properties of a file have their values", "[dav]") {
  const auto root = xml::parse(printed({}, kFile));
  REQUIRE(root);
  CHECK(root->child("DAV:", "response")->child("DAV:", "href")->text == "/sub/a%20b.txt");
  CHECK(value_of(*root, "displayname") == "a b.txt");
  CHECK(value_of(*root, "getcontentlength") == "7");
  CHECK(value_of(*root, "getcontenttype") == "text/plain; charset=utf-8");
  CHECK(value_of(*root, "getetag") == http::EntityTag(7, 1'000'000'000'123).view());
  CHECK(value_of(*root, "getlastmodified") == "Thu, 01 Jan 1970 00:16:40 GMT");
  CHECK(value_of(*root, "creationdate") == "1970-01-01T00:25:00Z");
  CHECK(prop_of(*root, "HTTP/1.1 404 Not Found") == nullptr);
}

TEST_CASE("a folder is a collection without size, type and tag", "[dav]") {
  const auto root = xml::parse(printed({}, kFolder));
  REQUIRE(root);
  CHECK(root->child("DAV:", "response")->child("DAV:", "href")->text == "/sub/");
  const xml::Element* const prop = prop_of(*root, "HTTP/1.1 200 OK");
  CHECK(prop->child("DAV:", "resourcetype")->child("DAV:", "collection") != nullptr);
  CHECK(prop->child("DAV:", "supportedlock")->child("DAV:", "lockentry") != nullptr);
  CHECK(prop->child("DAV:", "lockdiscovery")->child("DAV:", "activelock") != nullptr);
  for (const char* const name : {"getcontentlength", "getcontenttype", "getetag"})
    CHECK(value_of(*root, name) == "(none)");
}

TEST_CASE("the tag of a file that may change unseen is weak", "[dav]") {
  Resource file = kFile;
  file.strength = http::Strength::kWeak;
  CHECK(value_of(*xml::parse(printed({}, file)), "getetag").starts_with("W/\""));
}

TEST_CASE("a time in the future or before 1970 is no property", "[dav]") {
  Resource file = kFile;
  for (const std::int64_t time_ns : {std::int64_t{-1}, (kNow_s + 1) * 1'000'000'000}) {
    file.modified_ns = time_ns;
    CHECK(value_of(*xml::parse(printed({}, file)), "getlastmodified") == "(none)");
  }
}

TEST_CASE("a property is asked for by its name, with all, and with all names", "[dav]") {
  const auto asks = [](PropertyRequest request, std::string_view property) {
    return PropertyPrinter(std::move(request), locks(), kNow_s).asks_for(property);
  };
  const PropertyRequest named{AskedKind::kNamed, {{"DAV:", "getetag"}, {"", "creationdate"}}};
  CHECK(asks(named, "getetag"));
  CHECK_FALSE(asks(named, "creationdate"));
  CHECK_FALSE(asks(named, "lockdiscovery"));
  for (const AskedKind kind : {AskedKind::kAll, AskedKind::kNames})
    CHECK(asks({.kind = kind}, "lockdiscovery"));
}

TEST_CASE("what has no locks has an empty list of them", "[dav]") {
  Resource folder = kFolder;
  folder.lock_name = std::nullopt;
  CHECK(value_of(*xml::parse(printed({}, folder)), "lockdiscovery").empty());
}

TEST_CASE("a time of creation is shown in years of four digits", "[dav]") {
  const PropertyRequest asked{AskedKind::kNamed, {{"DAV:", "creationdate"}}};
  const auto missing = xml::parse(printed(asked, {.name = "no-time"}));
  CHECK(prop_of(*missing, "HTTP/1.1 404 Not Found")->child("DAV:", "creationdate") != nullptr);
  for (const auto& [seconds, text] : {std::pair{std::int64_t{-1}, "(none)"},
                                      {951'782'399, "2000-02-28T23:59:59Z"},
                                      {951'782'400, "2000-02-29T00:00:00Z"},
                                      {253'402'300'799, "9999-12-31T23:59:59Z"},
                                      {253'402'300'800, "(none)"}}) {
    Resource file = kFile;
    file.created_s = seconds;
    CHECK(value_of(*xml::parse(printed({}, file)), "creationdate") == text);
  }
}

TEST_CASE("names come without values", "[dav]") {
  const auto root = xml::parse(printed({.kind = AskedKind::kNames}, kFile));
  REQUIRE(root);
  CHECK(value_of(*root, "getcontentlength").empty());
  CHECK(prop_of(*root, "HTTP/1.1 200 OK")->children.size() == 9);
}

TEST_CASE("properties that are not there are named in their namespaces", "[dav]") {
  const std::vector<PropertyName> names{
      {"DAV:", "getetag"},   {"DAV:", "unknown"}, {"", "bare"},
      {"urn:a<b&\"c'", "x"}, {"urn:other", "x"},  {"http://www.w3.org/XML/1998/namespace", "lang"}};
  for (const AskedKind kind : {AskedKind::kNamed, AskedKind::kAll}) {
    const auto root = xml::parse(printed({kind, names}, kFile));
    REQUIRE(root);
    const xml::Element* const missing = prop_of(*root, "HTTP/1.1 404 Not Found");
    REQUIRE(missing != nullptr);
    REQUIRE(missing->children.size() == names.size() - 1);
    for (std::size_t i = 1; i < names.size(); ++i)
      CHECK(missing->children[i - 1].is(names[i].space, names[i].name));
    CHECK(value_of(*root, "getetag").starts_with('"'));
  }
}

TEST_CASE("a response has a propstat even when nothing was asked for", "[dav]") {
  CHECK(prop_of(*xml::parse(printed({.kind = AskedKind::kNamed}, kFile)), "HTTP/1.1 200 OK") !=
        nullptr);
}

TEST_CASE("a name that no document can have is shown, and its path leads to it", "[dav]") {
  Resource file = kFile;
  file.name = "<\xff&\xef\xbf\xbf>";
  const auto root = xml::parse(printed({}, file));
  REQUIRE(root);
  CHECK(value_of(*root, "displayname") == "<\xef\xbf\xbd&\xef\xbf\xbd>");
  CHECK(root->child("DAV:", "response")->child("DAV:", "href")->text == "/%3C%FF%26%EF%BF%BF%3E");
}

TEST_CASE("the served folder is /", "[dav]") {
  const auto root = xml::parse(printed({}, {.name = "", .is_folder = true}));
  REQUIRE(root);
  CHECK(root->child("DAV:", "response")->child("DAV:", "href")->text == "/");
  CHECK(value_of(*root, "displayname") == "/");
}

TEST_CASE("each property that would be changed is refused", "[dav]") {
  const auto root =
      xml::parse(fileserver::dav::print_refused("/a", {{"urn:x", "a"}, {"DAV:", "getetag"}}));
  REQUIRE(root);
  const xml::Element* const refused = prop_of(*root, "HTTP/1.1 403 Forbidden");
  REQUIRE(refused != nullptr);
  CHECK(refused->children[0].is("urn:x", "a"));
  CHECK(refused->children[1].is("DAV:", "getetag"));
}
