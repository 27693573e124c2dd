// The type of every body that WebDAV answers.
#pragma once

#include <string_view>

namespace fileserver::dav {

inline constexpr std::string_view kXmlType = "application/xml; charset=utf-8";

}  // namespace fileserver::dav
