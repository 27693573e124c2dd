// Prints the bodies of answers with 207. No files, no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fileserver/http/dav/property_request.h"
#include "http/conditions.h"

namespace fileserver::dav {

// A file or a folder as clients see it.
struct Resource {
  std::string name;  // as of a file; empty for the served folder
  bool is_folder = false;
  std::uint64_t size_bytes = 0;                       // of a file
  std::int64_t modified_ns = 0;                       // since 1970
  http::Strength strength = http::Strength::kStrong;  // of the tag of a file

  // Only looked at for those who ask for it: PropertyPrinter::asks_for().
  std::optional<std::int64_t> created_s = {};  // since 1970; nothing: nobody knows
  std::optional<std::string> lock_name = {};   // see name_for_locks(); nothing: it has no locks
};

// The absolute path of the resource, percent-encoded, with a slash at the end of a folder.
std::string href_of(std::string_view name, bool is_folder);

// Prints names of properties as elements, each in its namespace.
//
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

// What PROPFIND says about locks: elements of XML in which the prefix D stands for DAV:.
struct LockProperties {
  std::string supported;  // the content of DAV:supportedlock

  // The content of DAV:lockdiscovery: the locks on a name, which is empty for the served folder,
  // and is kept as `lock_name`. May ask the authserver.
  std::function<std::string(std::string_view name, const std::string& lock_name)> active_on;
};

// Prints what PROPFIND is answered with. Immutable.
class PropertyPrinter {
 public:
  PropertyPrinter(PropertyRequest request, LockProperties locks, std::int64_t now_s)
      : request_(std::move(request)),
        locks_(std::move(locks)),
        now_s_(now_s),
        names_(request_.names) {}

  // Whether the property of DAV: is printed, if a resource has it.
  bool asks_for(std::string_view property) const;

  // Each appends to the text: begin() first, add() for each resource, end() last.
  void begin(std::string& to) const;
  void add(const Resource& resource, std::string& to) const;
  void end(std::string& to) const;

 private:
  void add_all(const Resource& resource, std::string& found, bool with_values) const;
  void add_named(const Resource& resource, std::string& found, std::string& missing) const;

  const PropertyRequest request_;
  const LockProperties locks_;
  const std::int64_t now_s_;
  const NamePrinter names_;
};

// The whole body of the answer to PROPPATCH: 403 for each property.
std::string print_refused(std::string_view href, const std::vector<PropertyName>& names);

}  // namespace fileserver::dav
