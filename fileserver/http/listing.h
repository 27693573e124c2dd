// What a listing of a folder looks like, as HTML and as JSON. No files, no clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/request_head.h"

namespace fileserver {

struct ListedEntry {
  std::string name;  // one part of a path
  bool is_folder = false;
  std::uint64_t size_bytes = 0;  // of a file
  std::int64_t modified_s = 0;   // since 1970

  bool operator==(const ListedEntry&) const = default;
};

// By the bytes of the names, folders among files.
void sort_listing(std::vector<ListedEntry>& entries);

// An array of {"name", "type", "size", "mtime"}. A folder has no size. A name that is not UTF-8 has
// U+FFFD in place of what is malformed.
std::string listing_json(const std::vector<ListedEntry>& entries);

// A page without scripts and without anything from elsewhere. `folder` is the name of the folder
// below the served one, without a slash at its end; empty for the served folder itself.
std::string listing_page(std::string_view folder, const std::vector<ListedEntry>& entries);

// Such as "17 B", "1.5 KiB" or "20 MiB": at most three digits that count.
std::string readable_size(std::uint64_t size_bytes);

}  // namespace fileserver
