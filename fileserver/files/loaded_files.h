// The prefetched files, and how one of them is brought in step with the disk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fileserver/files/fence.h"
#include "fileserver/files/file_table.h"
#include "fileserver/files/memory_budget.h"
#include "fileserver/files/whole_file.h"

namespace fileserver {

// Any thread; but a file is looked at, and loaded, by one thread at a time.
class LoadedFiles {
 public:
  // How what is known of a file stands to what is on disk.
  enum class State {
    kInStep,    // the same; or there is no such file and none is known; or it is served from disk,
                // and shall be
    kLoadable,  // another version is on disk
    kChanging,  // and that was changed just now: the next change could not be told from it yet
    kUnseen,    // our side had not the means to look: what is known stays
  };

  // `fence` must outlive it.
  LoadedFiles(const Fence& fence, std::int64_t memory_limit_bytes)
      : fence_(fence), budget_(memory_limit_bytes) {}

  // Null when there is no such file; without data it is served from disk.
  FileTable::Entry find(std::string_view name) const { return table_.find(name); }
  std::vector<std::string> names() const { return table_.names(); }

  // Takes microseconds. A file that is gone is forgotten, a new one served from disk at once; of
  // one that is known, the known version stays.
  State look_at(const std::string& name) { return look(name).state; }

  // Looks at it, and reads a loadable version into memory if there is room, else it is served from
  // disk. What becomes of the file meanwhile is seen. When reading is ended between two pieces, the
  // file stays kChanging.
  State load(const std::string& name, const Pieces& pieces);

  // Forgets the known version of a file, so that each request sees for itself what is on disk.
  void serve_from_disk(const std::string& name);

  // Everything below a folder.
  void forget_below(const std::string& folder) { table_.erase_below(folder + "/"); }

  std::int64_t used_bytes() const { return budget_.used_bytes(); }
  bool are_read_directly() const { return !direct_.is_refused(); }

 private:
  struct Look {
    State state;
    FileVersion version = {};  // where there is one
  };
  Look look(const std::string& name);
  State after_failed_read(const std::string& name, const base::Error& error);
  bool is_still(const std::string& name, const FileVersion& version) const;
  std::int64_t memory_of(const std::string& name) const;

  const Fence& fence_;
  DirectReading direct_;
  MemoryBudget budget_;  // outlives the table, whose files hold shares of it
  FileTable table_;
};

}  // namespace fileserver
