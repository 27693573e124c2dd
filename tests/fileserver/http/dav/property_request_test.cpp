#include "fileserver/http/dav/property_request.h"

#include <string>
#include <vector>

#include "tests/catch.h"

using fileserver::dav::PropertyName;
using fileserver::dav::PropertyRequest;

namespace {

std::string in_dav(const std::string& root, const std::string& content) {
  return "<D:" + root + " xmlns:D=\"DAV:\" xmlns:x=\"urn:x\">" + content + "</D:" + root + ">";
}

std::optional<PropertyRequest> propfind(const std::string& content) {
  return fileserver::dav::parse_propfind(*xml::parse(in_dav("propfind", content)));
}

std::optional<std::vector<PropertyName>> proppatch(const std::string& content) {
  return fileserver::dav::parse_proppatch(*xml::parse(in_dav("propertyupdate", content)));
}

}  // namespace

TEST_CASE("PROPFIND asks for all properties, for their names, or for some", "[dav]") {
  using Kind = PropertyRequest::Kind;
  CHECK(PropertyRequest().kind == Kind::kAll);
  CHECK(propfind("<D:allprop/>")->kind == Kind::kAll);
  CHECK(propfind("<D:propname/>")->kind == Kind::kNames);
  const auto some = propfind("<x:beside/><D:prop><D:getetag/><x:a/><b xmlns=\"\"/></D:prop>");
  REQUIRE(some);
  CHECK(some->kind == Kind::kNamed);
  CHECK(some->names == std::vector<PropertyName>{{"DAV:", "getetag"}, {"urn:x", "a"}, {"", "b"}});
}

TEST_CASE("a property that is asked for twice is answered once", "[dav]") {
  const std::string names = "<x:a/><D:getetag/><x:a/><D:a/><D:getetag/>";
  const std::vector<PropertyName> once = {{"urn:x", "a"}, {"DAV:", "getetag"}, {"DAV:", "a"}};
  CHECK(propfind("<D:prop>" + names + "</D:prop>")->names == once);
  CHECK(propfind("<D:allprop/><D:include>" + names + "</D:include>")->names == once);
}

TEST_CASE("what is included counts beside all properties only", "[dav]") {
  const std::string include = "<D:include><x:a/></D:include>";
  CHECK(propfind("<D:allprop/>" + include)->names == std::vector<PropertyName>{{"urn:x", "a"}});
  CHECK(propfind("<D:propname/>" + include)->names.empty());
  CHECK(propfind("<D:prop/>" + include)->names.empty());
}

TEST_CASE("a PROPFIND that asks for nothing, or for two things, is malformed", "[dav]") {
  CHECK_FALSE(propfind(""));
  CHECK_FALSE(propfind("<x:allprop/>"));
  CHECK_FALSE(propfind("<D:allprop/><D:prop/>"));
  CHECK_FALSE(propfind("<D:propname/><D:allprop/>"));
  CHECK_FALSE(fileserver::dav::parse_propfind(*xml::parse("<propfind><allprop/></propfind>")));
  CHECK_FALSE(fileserver::dav::parse_propfind(*xml::parse(in_dav("prop", "<D:allprop/>"))));
}

TEST_CASE("a PROPFIND that names very many properties is malformed", "[dav]") {
  std::string names;
  for (int i = 0; i < 128; ++i) names += "<x:p" + std::to_string(i) + "/>";
  CHECK(propfind("<D:prop>" + names + "</D:prop>")->names.size() == 128);
  CHECK_FALSE(propfind("<D:prop>" + names + "<x:one-more/></D:prop>"));
  CHECK_FALSE(propfind("<D:allprop/><D:include>" + names + "<x:one-more/></D:include>"));
}

TEST_CASE("PROPPATCH names what it sets and what it removes", "[dav]") {
  const auto names = proppatch(
      "<D:set><D:prop><x:a>1</x:a><x:b/></D:prop></D:set>"
      "<D:remove><D:prop><D:getetag/></D:prop></D:remove>");
  REQUIRE(names);
  CHECK(*names == std::vector<PropertyName>{{"urn:x", "a"}, {"urn:x", "b"}, {"DAV:", "getetag"}});
}

TEST_CASE("a PROPPATCH that names no property is malformed", "[dav]") {
  CHECK_FALSE(proppatch(""));
  CHECK_FALSE(proppatch("<D:set><D:prop/></D:set>"));
  CHECK_FALSE(proppatch("<D:prop><x:a/></D:prop>"));
  CHECK_FALSE(proppatch("<x:set><D:prop><x:a/></D:prop></x:set>"));
  CHECK_FALSE(fileserver::dav::parse_proppatch(
      *xml::parse(in_dav("propfind", "<D:set><D:prop><x:a/></D:prop></D:set>"))));
}
