// Who may read and write what (--rights FILE).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "fileserver/rights/shared_text.h"
#include "fileserver/rights/user_rights.h"
#include "serve/shared_memory.h"

namespace fileserver {

// Any thread.
class Rights {
 public:
  // kChildren: processes that are forked later go by what this one reads. They do not read the
  // file themselves.
  enum class SharedWith { kNobody, kChildren };

  // Whether a name leads to a file or a folder, or is empty for the served folder.
  using IsThere = std::function<bool(std::string_view name)>;

  // Without a path every user may do everything. With one nobody may do anything until read() has
  // succeeded. `is_there` may be null; otherwise it is called by the thread that reads.
  explicit Rights(std::string path, SharedWith shared_with = SharedWith::kNobody,
                  IsThere is_there = nullptr);

  // Reads the rules from the file; what is asked for later goes by them. Logs one warning if there
  // are paths in the file that are not there. kInvalid if the file cannot be read or has a line
  // that cannot be right: the rules stay as they were then.
  base::Status read() EXCLUDES(mutex_);

  // The same for SIGHUP. Logs what became of it.
  void read_again() EXCLUDES(mutex_);

  // What the user may do by the rules of now.
  UserRights of(std::string_view user) const EXCLUDES(mutex_);

  // Whether the file names the user. Then nobody may take the name by making the account.
  bool has(std::string_view user) const EXCLUDES(mutex_);

  // What the file gives to a user of any name: the paths with "%u", for this one. If one of them is
  // there, it belongs to a user of before.
  std::vector<std::string> homes(std::string_view user) const EXCLUDES(mutex_);

 private:
  using Table = std::shared_ptr<const RightsTable>;

  Table table() const EXCLUDES(mutex_);
  void take_shared() const REQUIRES(mutex_);

  void warn_of_missing(const RightsFile& file) const;

  const std::string path_;
  const IsThere is_there_;
  const std::unique_ptr<serve::Shared<SharedText>> shared_;  // null: with nobody

  mutable base::Mutex mutex_;
  mutable Table table_ GUARDED_BY(mutex_);                // null without a path
  mutable std::uint64_t version_ GUARDED_BY(mutex_) = 0;  // of the shared text
};

// The rules of the file at the path. kInvalid as read() returns it.
base::Result<RightsFile> read_rights_file(const std::string& path);

}  // namespace fileserver
