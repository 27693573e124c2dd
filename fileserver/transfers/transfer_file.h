// The file of the transfer log: lines are appended to it, and it can be opened again under its
// name after somebody has renamed it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/fd.h"

namespace fileserver {

// What opening this file again needs to write to later: the folder in which it is or would be made,
// and the folder that a link at its path leads to. A FIFO or a device needs only itself.
std::vector<std::string> paths_of_log(const std::string& path);

// Threads: one.
class TransferFile {
 public:
  // `served_folder` is a path that leads to the folder whose files clients may fetch. The file may
  // not be in it.
  TransferFile(std::string path, std::string served_folder)
      : path_(std::move(path)), served_folder_(std::move(served_folder)) {}

  // Opens the file, or makes it with mode 0640, and then appends to it. It may be a FIFO that has
  // a reader. If that fails, the file that was open before stays open. Errors: kInternal, also
  // when its disk has no room for a page, and when it is in the served folder.
  base::Status open();

  // Appends lines. Returns how many bytes were written: all of them, or fewer with errno. EAGAIN
  // means that the reader of a FIFO is slow.
  //
  // A regular file has only whole lines after that. In a FIFO the last one may be cut off, so the
  // next call has to begin with its rest.
  std::size_t append(std::string_view lines);

 private:
  std::size_t cut_to_whole_lines(std::string_view written) const;

  const std::string path_;
  const std::string served_folder_;
  net::Fd fd_;
  bool is_regular_ = false;
};

}  // namespace fileserver
