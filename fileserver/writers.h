// The users who may change the served files (--writers FILE).
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"

namespace fileserver {

// Any thread. The names are read from a file: one a line, with empty lines and CR at the end of a
// line passed over. A blank in a line is part of the name, so it is not valid.
class Writers {
 public:
  // Every user may write.
  Writers() = default;

  // Reads the file. Errors: kInvalid if it cannot be read, or if a line is not a user name.
  static base::Result<std::unique_ptr<Writers>> read(const std::string& path);

  // Reads the file again. Every later may_write() uses the new names. If that fails, the old names
  // stay. Both are logged. Does nothing where every user may write.
  void read_again() EXCLUDES(mutex_);

  bool may_write(std::string_view user) const EXCLUDES(mutex_);

 private:
  using Names = std::set<std::string, std::less<>>;

  explicit Writers(std::string path, std::shared_ptr<const Names> names)
      : path_(std::move(path)), names_(std::move(names)) {}
  static base::Result<std::shared_ptr<const Names>> read_names(const std::string& path);

  const std::string path_;  // empty: every user may write

  mutable base::Mutex mutex_;
  std::shared_ptr<const Names> names_ GUARDED_BY(mutex_);  // shared with those who look up in them
};

}  // namespace fileserver
