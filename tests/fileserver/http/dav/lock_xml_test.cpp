#include "fileserver/http/dav/lock_xml.h"

#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "tests/catch.h"

using fileserver::kMaxOwnerBytes;
using fileserver::Lock;
using fileserver::dav::LockInfo;
using fileserver::dav::parse_lock_info;

namespace {

std::string lock_info(const std::string& owner) {
  return "<lockinfo xmlns='DAV:'><locktype><write/></locktype><lockscope><shared/></lockscope>" +
         owner + "</lockinfo>";
}

// The status of a refusal; 200 if there is none.
int status_of(const std::string& document) {
  const auto info = parse_lock_info(*xml::parse(document));
  const auto* const status = std::get_if<http::Status>(&info);
  return status == nullptr ? 200 : status->number();
}

std::string owner_of(const std::string& owner) {
  return std::get<LockInfo>(parse_lock_info(*xml::parse(lock_info(owner)))).owner_xml;
}

}  // namespace

TEST_CASE("an owner is printed with its namespaces, and escaped", "[locks]") {
  CHECK(owner_of("").empty());
  CHECK(owner_of("<owner>A &lt;b&gt; &amp;</owner>") == "A &lt;b&gt; &amp;");
  CHECK(owner_of("<owner><href>x</href><y xmlns='urn:\"'/><z xmlns=''/></owner>") ==
        "<href xmlns=\"DAV:\">x</href><y xmlns=\"urn:&quot;\"></y><z xmlns=\"\"></z>");
}

TEST_CASE("an owner is bounded, and its namespaces too", "[locks]") {
  const std::string most(kMaxOwnerBytes, 'x');
  CHECK(status_of(lock_info("<owner>" + most + "</owner>")) == 200);
  CHECK(status_of(lock_info("<owner>" + most + "x</owner>")) == 413);
  std::string elements;
  for (int i = 0; i < 5; ++i) elements += "<a xmlns='" + std::string(500, 'x') + "'/>";
  CHECK(status_of(lock_info("<owner>" + elements + "</owner>")) == 413);
  CHECK(status_of(lock_info("<owner><a>" + most + "</a></owner>")) == 413);
}

TEST_CASE("a write lock has one scope", "[locks]") {
  CHECK(status_of(lock_info("")) == 200);
  for (const char* const document :
       {"<lockinfo/>", "<propfind xmlns='DAV:'/>", "<lockinfo xmlns='DAV:'/>",
        "<lockinfo xmlns='DAV:'><lockscope><shared/></lockscope></lockinfo>",
        "<lockinfo xmlns='DAV:'><locktype><write/></locktype></lockinfo>",
        "<lockinfo xmlns='DAV:'><locktype><read/></locktype><lockscope><shared/></lockscope>"
        "</lockinfo>",
        "<lockinfo xmlns='DAV:'><locktype><write/></locktype><lockscope><shared/><exclusive/>"
        "</lockscope></lockinfo>"}) {
    INFO(document);
    CHECK(status_of(document) == 422);
  }
}

TEST_CASE("a lock says what it is, and what time is left", "[locks]") {
  Lock lock;
  lock.name = "a b/c";
  lock.is_folder = true;
  lock.depth = Lock::Depth::kZero;
  lock.user = "amy";
  lock.token = "urn:uuid:1";
  lock.ends_ns = 10 * base::kNsPerS;
  const std::string one =
      "<D:activelock><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype>"
      "<D:depth>0</D:depth><D:owner>amy</D:owner><D:timeout>Second-10</D:timeout>"
      "<D:locktoken><D:href>urn:uuid:1</D:href></D:locktoken><D:lockroot><D:href>/a%20b/c/</"
      "D:href></D:lockroot></D:activelock>";
  std::string text;
  fileserver::dav::append_active_locks(std::vector{lock, lock}, 1, text);
  CHECK(text == one + one);
  const auto document = xml::parse(fileserver::dav::lock_document(lock, 1));
  REQUIRE(document);
  CHECK(document->is("DAV:", "prop"));
  CHECK(document->child("DAV:", "lockdiscovery") != nullptr);
}

TEST_CASE("a conflict names the lock", "[locks]") {
  const auto error = xml::parse(
      fileserver::dav::conflict_document("no-conflicting-lock", {.name = "", .is_folder = true}));
  REQUIRE(error);
  CHECK(error->is("DAV:", "error"));
  const xml::Element* const condition = error->child("DAV:", "no-conflicting-lock");
  REQUIRE(condition != nullptr);
  CHECK(condition->children.at(0).text == "/");
}

TEST_CASE("a lock has the owner that its client named, else its user", "[locks]") {
  Lock lock;
  lock.user = "amy";
  CHECK(fileserver::dav::lock_document(lock, 0).find("<D:owner>amy</D:owner>") !=
        std::string::npos);
  lock.owner_xml = "Amy of sales";
  CHECK(fileserver::dav::lock_document(lock, 0).find("<D:owner>Amy of sales</D:owner>") !=
        std::string::npos);
}
