// Writes lines to a descriptor, and never waits for whoever reads them.
#pragma once

#include <cstdint>
#include <string_view>

namespace base {

// Lines for which there is no room are lost. They are counted, and the number is written in front
// of the next line that finds room. A file on a disk always has room: there a write may wait.
//
// Several processes may write to one pipe. Each counts its own lines. A line of up to 4 KiB is
// written whole or not at all.
//
// One thread at a time.
class LineWriter {
 public:
  // `fd` is borrowed.
  explicit LineWriter(int fd);

  // `line` ends with its LF. Returns false if it was lost.
  bool write(std::string_view line);

  std::uint64_t lost() const { return lost_; }

 private:
  bool write_now(std::string_view bytes) const;
  bool write_piece(std::string_view piece) const;

  const int fd_;
  const bool is_pipe_;
  std::uint64_t lost_ = 0;  // since the number was written last
};

}  // namespace base
