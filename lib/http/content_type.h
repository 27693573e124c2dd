// Content types by the end of a file's name. docs/http.md has the table.
#pragma once

#include <string_view>

namespace http {

struct ContentType {
  std::string_view value;  // with charset=utf-8 for texts
  // Whether a browser would run scripts in it, as a page of this server. Such a file is sent with
  // "Content-Security-Policy: sandbox".
  bool is_active;
};

// The case of letters does not matter. "application/octet-stream" for an unknown end or none.
ContentType content_type_of(std::string_view name);

}  // namespace http
