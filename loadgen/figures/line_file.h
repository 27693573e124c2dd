// A file that lines are written to while the run goes on.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/fd.h"

namespace loadgen {

// Once a line could not be written, no further one is. What was written is not held back, so a
// program that is killed leaves it.
//
// One thread.
class LineFile {
 public:
  // Replaces the file by an empty one; "-" is standard output. A FIFO must have a reader. `flag` is
  // named in errors.
  static base::Result<LineFile> open(std::string flag, const std::string& path);

  // Appends whole lines. Returns whether all lines so far could be written.
  bool write(std::string_view lines);

  // Closes the file. Fails if a line could not be written.
  base::Status finish();

 private:
  LineFile(std::string flag, std::string path, net::Fd fd)
      : flag_(std::move(flag)), path_(std::move(path)), fd_(std::move(fd)) {}

  std::string flag_;
  std::string path_;
  net::Fd fd_;
  int failed_errno_ = 0;
};

}  // namespace loadgen
