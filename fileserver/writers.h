// The users who may change the served files (--writers FILE).
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"

namespace fileserver {

// Any thread. The file has one name a line. Blank lines are skipped.
class Writers {
 public:
  // Without a path every user may write. With one nobody may, until read() has succeeded.
  explicit Writers(std::string path) : path_(std::move(path)) {}

  // Reads the names from the file. Every later may_write() goes by them. kInvalid if the file
  // cannot be read or has a line that is not a user name: the names stay as they were then.
  base::Status read() EXCLUDES(mutex_);

  // The same for SIGHUP. Logs what became of it.
  void read_again() EXCLUDES(mutex_);

  bool may_write(std::string_view user) const EXCLUDES(mutex_);

  // Whether the file names the user. Then nobody may take the name by making the account.
  bool has(std::string_view user) const EXCLUDES(mutex_);

 private:
  using Names = std::set<std::string, std::less<>>;

  base::Result<Names> names_in_file() const;

  const std::string path_;

  mutable base::Mutex mutex_;
  Names names_ GUARDED_BY(mutex_);
};

}  // namespace fileserver
