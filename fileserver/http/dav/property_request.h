// Which properties a request of WebDAV is about. No sockets, no files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xml/element.h"

namespace fileserver::dav {

inline constexpr std::string_view kDav = "DAV:";  // the namespace of all that WebDAV defines

// The type of every body that WebDAV answers, and how each begins.
inline constexpr std::string_view kXmlType = "application/xml; charset=utf-8";
inline constexpr std::string_view kDeclaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";

struct PropertyName {
  std::string space;  // the name of the namespace; empty: none
  std::string name;

  bool operator==(const PropertyName&) const = default;
};

// The body of PROPFIND. What is made without a body asks for all properties.
struct PropertyRequest {
  enum class Kind {
    kAll,    // the values of all properties; `names` are asked for beside them
    kNames,  // the names of all properties
    kNamed,  // the values of `names`
  };
  Kind kind = Kind::kAll;
  std::vector<PropertyName> names = {};
};

// Nothing if it is no DAV:propfind with exactly one of DAV:allprop, DAV:propname and DAV:prop.
// Other elements in it are passed over. A name that comes twice is taken once.
std::optional<PropertyRequest> parse_propfind(const xml::Element& root);

// The properties that a body of PROPPATCH sets or removes, in its order. Nothing if it is no
// DAV:propertyupdate, or names none.
std::optional<std::vector<PropertyName>> parse_proppatch(const xml::Element& root);

}  // namespace fileserver::dav
