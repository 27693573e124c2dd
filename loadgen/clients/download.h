// Saves received files, for --save.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace loadgen {

// Saves the files that one thread receives, one after the other. A file is written under a
// temporary name of its thread and renamed when it is complete, so a file under its own name is
// always whole.
//
// One thread.
class Download {
 public:
  // Saves nothing if `folder` is empty. `thread` must differ between all Downloads of one folder.
  Download(std::string folder, int thread);

  // Removes the file that was not complete.
  ~Download();
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  bool is_wanted() const { return !folder_.empty(); }

  // Starts the file `name`, and drops the previous one if it was not finished.
  void begin(std::string_view name);

  // Appends the next bytes of the file.
  void keep(std::string_view bytes);

  // Gives the file its name. Requires: all its bytes were appended.
  void finish();

  // Why a file could not be saved. After a failure nothing more is saved. The server is not to
  // blame, so it does not count as a failed request; the run ends instead.
  const std::optional<std::string>& failure() const { return failure_; }

 private:
  void fail(const std::string& what);
  void remove_unfinished() const;

  const std::string folder_;
  const std::string unfinished_path_;
  std::string path_;
  std::ofstream file_;
  std::optional<std::string> failure_;
};

}  // namespace loadgen
