// Text inside of XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace xml {

// The text with &, <, >, " and ' as entities, for elements and attributes. What is not UTF-8, or
// U+FFFE or U+FFFF, is U+FFFD. Requires: no control bytes, which no document can have.
std::string escaped(std::string_view text);

}  // namespace xml
