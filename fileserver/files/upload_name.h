// The names that files have while a client sends them, and what clients remove until it is gone.
// They are ours: no client reaches them.
#pragma once

#include <string>
#include <string_view>

namespace fileserver {

// A file with such a name is never served, listed or watched. It belongs to an upload that has not
// ended, or that ended with its server, and is then removed at the next start. The same holds for a
// folder, with all that is in it.
inline constexpr std::string_view kUploadPrefix = ".turnstile-upload-";

// The folder of what clients have deleted (trash.h). It is never served, listed or watched either,
// also where the case of letters does not matter to the file system.
inline constexpr std::string_view kTrashFolder = ".turnstile-trash";

constexpr bool is_trash_folder(std::string_view part) {
  if (part.size() != kTrashFolder.size()) return false;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const char byte = part[i];
    const bool is_capital = byte >= 'A' && byte <= 'Z';
    if ((is_capital ? static_cast<char>(byte | 0x20) : byte) != kTrashFolder[i]) return false;
  }
  return true;
}

// Whether a part of the name begins with the prefix, or is the folder of the trash.
constexpr bool is_upload_name(std::string_view name) {
  for (;;) {
    const std::size_t slash = name.find('/');
    if (name.starts_with(kUploadPrefix) || is_trash_folder(name.substr(0, slash))) return true;
    if (slash == std::string_view::npos) return false;
    name.remove_prefix(slash + 1);
  }
}

// A new name with the prefix, which most likely nothing has.
std::string random_upload_name();
inline constexpr int kNameTries = 8;  // until one is free

}  // namespace fileserver
