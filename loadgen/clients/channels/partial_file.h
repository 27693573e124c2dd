// A file that is not whole yet, and that a later run may go on with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "net/fd.h"

namespace loadgen {

// Writes one file after the other to FOLDER/NAME.loadgen-THREAD.part, and gives each its own name
// when it is whole. The version of the file stands beside it in NAME.loadgen-THREAD.version. Both
// stay when the program is killed.
//
// It does not wait until the disk has the bytes. So after a power cut, the rest of a file may be
// wrong, and must be removed.
//
// One thread. Two programs that write the same file are kept apart by a lock.
class PartialFile {
 public:
  // Writes nothing if `folder` is empty. `thread` must differ between all PartialFiles of a folder.
  PartialFile(std::string folder, int thread);

  bool is_wanted() const { return !folder_.empty(); }

  struct File {
    std::string_view name;
    std::uint64_t size_bytes;
    std::string_view version;  // empty: not known, and nothing is kept
  };

  // What an earlier run has left of the file.
  struct Left {
    std::uint64_t kept_bytes = 0;     // a true beginning of this version
    std::uint64_t dropped_bytes = 0;  // of another version, or of one that is not known
  };

  // Starts a file. With `is_in_order` it is written without gaps, and the next run can keep what
  // this one leaves; otherwise nothing is kept. A file that was left before by this object comes
  // again from its beginning: a rest must not count as a whole file.
  Left begin(const File& file, bool is_in_order);

  void write(std::uint64_t offset, std::span<const std::byte> bytes);

  // Reads what was written. Returns the number of bytes.
  std::size_t read(std::uint64_t offset, std::span<char> into);

  // Gives the file its name. Requires: all its bytes were written.
  void finish();

  // What was written may be of several versions. No later run keeps it.
  void forget();

  // Closes the file that is not whole. What has come stays.
  void leave();

  // Why a file could not be written. After a failure nothing more is. The server is not to blame,
  // so the run ends.
  const std::optional<std::string>& failure() const { return failure_; }

 private:
  bool open(std::string_view name);
  std::uint64_t written_bytes();
  void begin_anew(const std::string& version);
  void fail(const std::string& what);

  const std::string folder_;
  const std::string suffix_;
  std::string path_;
  std::string part_path_;
  std::string version_path_;
  net::Fd fd_;
  std::set<std::string> left_;  // the paths of files that were left
  std::optional<std::string> failure_;
};

}  // namespace loadgen
