// From the path of a request to a file name, and back.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace http {

struct Path {
  std::string_view name;  // as wire::is_file_name(); empty for the served folder itself
  bool ends_with_slash;   // "/a/" is the folder "a"; true for "/"
};

// Decodes a path once. The name is written to `out` and points into it. `out` must have room for
// path.size() bytes and may be the bytes of `path` themselves. Nothing if no file can have this
// path: "%" without two hexadecimal digits, a control byte, NUL, a backslash, an empty part, "."
// or "..", or a path that does not begin with "/".
std::optional<Path> decode_path(std::string_view path, std::span<char> out);

// Whether decode_path() can return this name. No listing names any other.
bool is_path_name(std::string_view name);

// Percent-encodes all bytes but letters, digits, "-._~" and "/", so that the text can stand in a
// link or in Location. A relative link must not be mistaken for a scheme; ":" is encoded.
std::string encode_path(std::string_view name);

// The values of a key in the query of a target, percent-decoded once: of "/a?k=b&k=c%20d" for "k"
// they are "b" and "c d". A "+" is a plus. A key without "=" has an empty value. A value with a "%"
// that begins no byte is as it was sent.
std::vector<std::string> query_values(std::string_view target, std::string_view key);

}  // namespace http
