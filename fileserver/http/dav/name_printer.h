// Prints names of properties as elements, each in its namespace.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fileserver/http/dav/property_request.h"

namespace fileserver::dav {

// The outermost element of a document declares all namespaces, so that a long one stands there once
// and not at each element. DAV: has the prefix D.
class NamePrinter {
 public:
  explicit NamePrinter(const std::vector<PropertyName>& names);

  // Appends the declarations of the namespaces of all names, and that of DAV:, as attributes.
  void append_declarations(std::string& to) const;

  // Appends the name as an element without content. Requires: it is one of the names, or in DAV:.
  void append_empty(const PropertyName& name, std::string& to) const;

 private:
  std::map<std::string, std::string> prefixes_;  // with a colon, by namespace
};

}  // namespace fileserver::dav
