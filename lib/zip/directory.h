// The central directory of a zip file that is made: it is kept until all entries were sent.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "zip/records.h"

namespace zip {

// The records stand in blocks, so that adding one never copies the others. Threads: one.
class Directory {
 public:
  // Adds the record of an entry that begins at `offset`. As append_central_record().
  void add(const Entry& entry, bool had_crc, std::uint64_t offset);

  std::uint64_t entries() const { return entries_; }

  // What the records take in memory, with the free rest of the last block.
  std::uint64_t memory_bytes() const { return blocks_.size() * kBlockBytes; }

  // The name of the next entry that is a folder, with its slash, each one once; empty if there is
  // none yet. Valid as long as this lives.
  std::string_view next_folder();

  // The records, in the order in which they were added.
  const std::deque<std::string>& blocks() const { return blocks_; }

  // Appends what comes behind the blocks, if the first of them begins at `offset`.
  void append_end(std::uint64_t offset, std::string& to) const;

 private:
  static constexpr std::size_t kBlockBytes = 64 * 1024;

  std::deque<std::string> blocks_;
  std::uint64_t bytes_ = 0;
  std::uint64_t entries_ = 0;
  std::size_t next_block_ = 0;  // where next_folder() looks
  std::size_t next_byte_ = 0;
};

}  // namespace zip
