#include "fileserver/http/dav/property_request.h"

#include <set>
#include <utility>

namespace fileserver::dav {

namespace {

// Each is answered for each member of a folder. No client knows half as many.
constexpr std::size_t kMostNames = 128;

void append_names(const xml::Element& parent, std::vector<PropertyName>& to) {
  for (const xml::Element& child : parent.children) to.push_back({child.space, child.name});
}

// A property that is asked for many times would be answered as often.
void append_names_once(const xml::Element& parent, std::vector<PropertyName>& to) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const xml::Element& child : parent.children) {
    if (seen.emplace(child.space, child.name).second) to.push_back({child.space, child.name});
  }
}

}  // namespace

std::optional<PropertyRequest> parse_propfind(const xml::Element& root) {
  using Kind = PropertyRequest::Kind;
  if (!root.is(kDav, "propfind")) return {};
  PropertyRequest request;
  int kinds = 0;
  const auto take = [&](std::string_view name, Kind kind) {
    const xml::Element* const element = root.child(kDav, name);
    if (element == nullptr) return;
    request.kind = kind;
    ++kinds;
    if (kind == Kind::kNamed) append_names_once(*element, request.names);
  };
  take("allprop", Kind::kAll);
  take("propname", Kind::kNames);
  take("prop", Kind::kNamed);
  if (kinds != 1) return {};
  const xml::Element* const include = root.child(kDav, "include");
  if (include != nullptr && request.kind == Kind::kAll) append_names_once(*include, request.names);
  if (request.names.size() > kMostNames) return {};
  return request;
}

std::optional<std::vector<PropertyName>> parse_proppatch(const xml::Element& root) {
  if (!root.is(kDav, "propertyupdate")) return {};
  std::vector<PropertyName> names;
  for (const xml::Element& change : root.children) {
    if (!change.is(kDav, "set") && !change.is(kDav, "remove")) continue;
    for (const xml::Element& prop : change.children) {
      if (prop.is(kDav, "prop")) append_names(prop, names);
    }
  }
  if (names.empty()) return {};
  return names;
}

}  // namespace fileserver::dav
