// Reads small XML documents from strangers. No sockets, no files, no document type.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace xml {

// Memory and stack that a document can take have these limits.
inline constexpr std::size_t kMaxDepth = 32;
inline constexpr std::size_t kMaxElements = 2'000;
inline constexpr std::size_t kMaxNameBytes = 512;  // with its namespace

struct Element {
  std::string space;  // the name of the namespace, such as "DAV:"; empty: none
  std::string name;   // without a prefix
  std::string text;   // what stands in it, but not what stands in its children
  std::vector<Element> children;

  bool is(std::string_view the_space, std::string_view the_name) const {
    return space == the_space && name == the_name;
  }

  // The first child of that name, or null.
  const Element* child(std::string_view the_space, std::string_view the_name) const;
};

// The outermost element of a document. kSyntax: it is not well-formed, a prefix belongs to no
// namespace, a namespace has a control byte, it is over a limit above, or it has a document type:
// nothing else can declare an entity. Attributes are checked and dropped.
base::Result<Element> parse(std::string_view document);

}  // namespace xml
