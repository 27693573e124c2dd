// Where the files that a run receives are kept, if the user wants them.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace loadgen {

// One thread. A file stands under its name only when it is whole: until then its name is this
// thread's own.
class Download {
 public:
  // Nothing is kept if the folder is empty.
  Download(std::string folder, int thread);
  ~Download();
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  bool is_wanted() const { return !folder_.empty(); }

  // From the first byte of `name`'s file; what was left of a broken one is gone.
  void begin(std::string_view name);

  // The next bytes that came from the server.
  void keep(std::string_view bytes);

  // All of them have come.
  void finish();

  // Why a file could not be kept: after that no other is. It is no error of the server's, so the
  // run has to end.
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
