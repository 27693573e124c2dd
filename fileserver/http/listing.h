// What a listing of a folder looks like, as HTML and as JSON. No files, no clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fileserver {

struct ListedEntry {
  std::string name;  // one part of a path
  bool is_folder = false;
  std::uint64_t size_bytes = 0;        // of a file
  std::int64_t modified_s = 0;         // since 1970
  std::uint32_t modified_part_ns = 0;  // beside modified_s
  bool is_distinct = false;            // its next version cannot have the same size and time

  bool operator==(const ListedEntry&) const = default;
};

struct ListedFolder {
  std::string_view name;  // without a slash at its end; empty for the served folder itself
  std::string_view user = {};
  bool is_for_guest = false;   // `name` is that below the link
  bool is_by_session = false;  // which can be ended
  bool may_write = false;
  bool has_trash = false;
  std::string_view share_name = {};  // plain text; empty: none
};

enum class ListingForm { kPage, kJson };

// Prints a listing piece by piece. One thread.
//
// kJson: an array of {"name", "type", "size", "mtime"}. A folder has no size. A name that is not
// UTF-8 has U+FFFD in place of what is malformed.
//
// kPage: a page that needs no script. With our script, it sorts and searches, and changes what the
// user may change; sizes and times stand in data-n for it. A name is isolated, so that one that is
// written from right to left changes nothing around it. Rows come in groups, so that a browser can
// leave out at once what is not on the screen.
class ListingPrinter {
 public:
  // What `of` names must outlive the printer.
  ListingPrinter(ListingForm form, const ListedFolder& of) : form_(form), of_(of) {}

  // Each appends to the text: begin() first, add() for each entry, end() last.
  void begin(std::string& to) const;
  void add(const ListedEntry& entry, std::string& to);
  void end(std::string& to) const;

 private:
  const ListingForm form_;
  const ListedFolder of_;
  std::size_t entries_ = 0;
};

// Such as "17 B", "1.5 KiB" or "20 MiB": at most three digits that count.
std::string readable_size(std::uint64_t size_bytes);

}  // namespace fileserver
