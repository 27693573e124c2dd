#include "xml/element.h"

#include <string>

#include "tests/catch.h"

using xml::parse;

namespace {

std::string nested(std::size_t depth) {
  std::string document;
  for (std::size_t i = 0; i < depth; ++i) document += "<a>";
  for (std::size_t i = 0; i < depth; ++i) document += "</a>";
  return document;
}

std::string with_children(std::size_t children) {
  std::string document = "<a>";
  for (std::size_t i = 0; i < children; ++i) document += "<b/>";
  return document + "</a>";
}

}  // namespace

TEST_CASE("an element has a namespace, a name, a text and children", "[xml]") {
  const auto root = parse(
      "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
      "<D:propfind xmlns:D=\"DAV:\"><D:prop><D:getetag/><x xmlns=\"urn:x\">a&amp;b</x>"
      "</D:prop></D:propfind>");
  REQUIRE(root);
  CHECK(root->is("DAV:", "propfind"));
  const xml::Element* const prop = root->child("DAV:", "prop");
  REQUIRE(prop != nullptr);
  REQUIRE(prop->children.size() == 2);
  CHECK(prop->children[0].is("DAV:", "getetag"));
  CHECK(prop->children[1].is("urn:x", "x"));
  CHECK(prop->children[1].text == "a&b");
  CHECK(prop->child("", "getetag") == nullptr);
}

TEST_CASE("what is not well-formed is refused", "[xml]") {
  for (const char* const document :
       {"", " ", "text", "<a>", "<a></b>", "<a/><b/>", "<D:a/>", "<a xmlns:D=\"\"/>", "<a b=c/>",
        "<a>&unknown;</a>", "<a>\x01</a>", "<a>\xff</a>", "<a xmlns=\"DAV:\"><b></a>",
        "<a xmlns=\"x&#9;y\"/>", "<a xmlns=\"x&#10;y\"/>"}) {
    INFO(document);
    CHECK(!parse(document));
  }
}

TEST_CASE("a document with a document type is refused, so that nothing is expanded", "[xml]") {
  CHECK(!parse("<!DOCTYPE a><a/>"));
  CHECK(!parse("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"));
  CHECK(!parse("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>"));
}

TEST_CASE("depth and number of elements are bounded", "[xml]") {
  CHECK(parse(nested(xml::kMaxDepth)));
  CHECK(!parse(nested(xml::kMaxDepth + 1)));
  CHECK(parse(with_children(xml::kMaxElements - 1)));
  CHECK(!parse(with_children(xml::kMaxElements)));
}

TEST_CASE("a long namespace is refused, as each element would have a copy of it", "[xml]") {
  const auto with_space = [](std::size_t bytes) {
    return parse("<p:a xmlns:p=\"" + std::string(bytes, 'x') + "\"/>");
  };
  CHECK(with_space(xml::kMaxNameBytes - 2));  // beside the name and what stands between
  CHECK(!with_space(xml::kMaxNameBytes - 1));
  CHECK(parse("<" + std::string(xml::kMaxNameBytes, 'x') + "/>"));
  CHECK(!parse("<" + std::string(xml::kMaxNameBytes + 1, 'x') + "/>"));
}
