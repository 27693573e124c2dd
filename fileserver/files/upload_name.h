// The names that files have while a client sends them, and what clients remove until it is gone.
#pragma once

#include <string>
#include <string_view>

namespace fileserver {

// A file with such a name is never served, listed or watched. It belongs to an upload that has not
// ended, or that ended with its server, and is then removed at the next start. The same holds for a
// folder, with all that is in it.
inline constexpr std::string_view kUploadPrefix = ".turnstile-upload-";

// Whether a part of the name begins with the prefix.
constexpr bool is_upload_name(std::string_view name) {
  for (;;) {
    if (name.starts_with(kUploadPrefix)) return true;
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos) return false;
    name.remove_prefix(slash + 1);
  }
}

// A new name with the prefix, which most likely nothing has.
std::string random_upload_name();
inline constexpr int kNameTries = 8;  // until one is free

}  // namespace fileserver
