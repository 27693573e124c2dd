#include "xml/element.h"

#include <expat.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace xml {

namespace {

constexpr char kSeparator = '\n';  // between namespace and name; no namespace can have it here

struct FreeParser {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};
using Parser = std::unique_ptr<XML_ParserStruct, FreeParser>;

// The elements that are open, outermost first. The first one is the document.
struct Building {
  XML_Parser parser;
  std::vector<Element> open{1};
  std::size_t elements = 0;
  bool is_refused = false;
};

Building& building_of(void* data) { return *static_cast<Building*>(data); }

bool has_control_byte(std::string_view text) {
  return std::ranges::any_of(text, [](char byte) { return byte >= 0 && byte < 0x20; });
}

void refuse(Building& building) {
  building.is_refused = true;
  XML_StopParser(building.parser, XML_FALSE);
}

void start(void* data, const XML_Char* full_name, const XML_Char** /*attributes*/) {
  Building& building = building_of(data);
  if (building.open.size() > kMaxDepth || ++building.elements > kMaxElements)
    return refuse(building);
  const std::string_view name = full_name;
  if (name.size() > kMaxNameBytes) return refuse(building);
  const std::size_t at = name.rfind(kSeparator);
  Element element;
  if (at != std::string_view::npos) element.space = name.substr(0, at);
  if (has_control_byte(element.space)) return refuse(building);
  element.name = name.substr(at == std::string_view::npos ? 0 : at + 1);
  building.open.push_back(std::move(element));
}

// Called even for an element that was refused, if it is empty.
void end(void* data, const XML_Char* /*name*/) {
  if (building_of(data).is_refused) return;
  std::vector<Element>& open = building_of(data).open;
  Element element = std::move(open.back());
  open.pop_back();
  open.back().children.push_back(std::move(element));
}

void text(void* data, const XML_Char* bytes, int size) {
  building_of(data).open.back().text.append(bytes, static_cast<std::size_t>(size));
}

void refuse_document_type(void* data, const XML_Char* /*name*/, const XML_Char* /*system_id*/,
                          const XML_Char* /*public_id*/, int /*has_internal_subset*/) {
  refuse(building_of(data));
}

}  // namespace

const Element* Element::child(std::string_view the_space, std::string_view the_name) const {
  for (const Element& element : children) {
    if (element.is(the_space, the_name)) return &element;
  }
  return nullptr;
}

base::Result<Element> parse(std::string_view document) {
  const Parser parser(XML_ParserCreateNS(nullptr, kSeparator));
  if (parser == nullptr) throw std::bad_alloc();
  Building building{.parser = parser.get()};
  XML_SetUserData(parser.get(), &building);
  XML_SetElementHandler(parser.get(), start, end);
  XML_SetCharacterDataHandler(parser.get(), text);
  XML_SetStartDoctypeDeclHandler(parser.get(), refuse_document_type);
  const auto status =
      XML_Parse(parser.get(), document.data(), static_cast<int>(document.size()), XML_TRUE);
  if (status != XML_STATUS_OK) return base::Error{base::ErrorCode::kSyntax, "not well-formed XML"};
  return std::move(building.open.front().children.front());
}

}  // namespace xml
