// The entries of a zip file as they are sent, one after another, with the files they are of.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fileserver/files/files.h"
#include "fileserver/files/memory_budget.h"
#include "fileserver/http/unsized_body.h"
#include "zip/directory.h"

namespace fileserver {

// Each file is of one version, whole. Threads: one. All that the constructor takes must outlive it.
class ZipEntries {
 public:
  // The records of entries that were sent take memory of the budget, but for the first ones.
  ZipEntries(Files& files, MemoryBudget& budget, std::int64_t most_bytes, UnsizedBody& body);

  // Sends the file `name` as the entry `inside`. A file that is not there any more is left out.
  // Returns why the zip cannot go on, as kInternal; kUnavailable when the file kept changing.
  base::Status add_file(std::string_view name, std::string_view inside);

  // Sends an entry for a folder. `inside` ends with a slash.
  base::Status add_folder(std::string_view inside, std::int64_t modified_s);

  // As zip::Directory::next_folder().
  std::string_view next_folder() { return directory_.next_folder(); }

  // Sends what ends the zip.
  void end();

 private:
  base::Status note(const zip::Entry& entry, bool had_crc, std::uint64_t offset);
  base::Status send(const OpenedFile& file, std::string_view inside);
  base::Status send_short(const OpenedFile& file, zip::Entry entry);
  base::Status send_long(const OpenedFile& file, zip::Entry entry);
  std::optional<std::string_view> read(const OpenedFile& file, std::uint64_t begin,
                                       std::size_t size_bytes);

  Files& files_;
  MemoryBudget& budget_;
  const std::int64_t most_bytes_;
  UnsizedBody& body_;
  zip::Directory directory_;
  std::vector<MemoryShare> shares_;
  std::int64_t granted_bytes_;
  std::unique_ptr<char[]> buffer_;  // for what is not in memory
};

}  // namespace fileserver
