// The paths below "/-/", which are no files: accounts and health. They need no credentials.
#pragma once

#include <optional>
#include <string_view>

#include "fileserver/http/handler.h"

namespace fileserver {

struct OwnPath {
  std::string_view name;
  std::string_view allowed;  // methods
  http::Method method;
  Handler handler;  // null: there is nothing at this path

  // Null if the method is not allowed. HEAD is when GET is.
  Handler handler_of(http::Method asked) const;
};

// Null for a path that is not ours.
const OwnPath* own_path(const std::optional<http::Path>& path);

}  // namespace fileserver
