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

// Nor is this removed at a start: what could not get its name back, and is in nobody's way.
inline constexpr std::string_view kKeptPrefix = ".turnstile-upload-kept-";
static_assert(kKeptPrefix.starts_with(kUploadPrefix));

// The folder of uploads in parts (partial_uploads.h), in the served one.
inline constexpr std::string_view kPartsFolder = ".turnstile-upload-parts";
static_assert(kPartsFolder.starts_with(kUploadPrefix), "nothing in it is served");

// The folder of what clients have deleted (trash.h). It is never served, listed or watched either.
inline constexpr std::string_view kTrashFolder = ".turnstile-trash";

// Whether it begins so on a file system to which the case of letters does not matter. Requires: the
// prefix has no capitals.
constexpr bool starts_folded(std::string_view part, std::string_view prefix) {
  if (part.size() < prefix.size()) return false;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    const char byte = part[i];
    const bool is_capital = byte >= 'A' && byte <= 'Z';
    if ((is_capital ? static_cast<char>(byte | 0x20) : byte) != prefix[i]) return false;
  }
  return true;
}

// FAT drops dots and blanks at the end of a name.
constexpr bool is_trash_folder(std::string_view part) {
  return starts_folded(part, kTrashFolder) &&
         part.find_first_not_of(". ", kTrashFolder.size()) == std::string_view::npos;
}

// Whether a part of the name begins with the prefix, or is the folder of the trash. Further
// spellings that a file system has for these folders are known to the Fence.
constexpr bool is_upload_name(std::string_view name) {
  for (;;) {
    const std::size_t slash = name.find('/');
    if (starts_folded(name, kUploadPrefix) || is_trash_folder(name.substr(0, slash))) return true;
    if (slash == std::string_view::npos) return false;
    name.remove_prefix(slash + 1);
  }
}

// Whether it is of an upload, or of what is removed, and goes by itself. All else that
// is_upload_name() hides stays.
constexpr bool goes_by_itself(std::string_view last) {
  return last.starts_with(kUploadPrefix) && !last.starts_with(kKeptPrefix) && last != kPartsFolder;
}

// A new name with the prefix, which most likely nothing has.
std::string random_upload_name();
inline constexpr int kNameTries = 8;  // until one is free

}  // namespace fileserver
