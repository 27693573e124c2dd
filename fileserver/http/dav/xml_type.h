// The type of every body that WebDAV answers, and how each begins.
#pragma once

#include <string_view>

namespace fileserver::dav {

inline constexpr std::string_view kXmlType = "application/xml; charset=utf-8";
inline constexpr std::string_view kDeclaration = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";

}  // namespace fileserver::dav
