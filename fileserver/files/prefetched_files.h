// Files read into memory at start, and kept as the folder is: the default.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fileserver/files/disk_files.h"
#include "fileserver/files/folder_follower.h"
#include "fileserver/files/loaded_files.h"

namespace fileserver {

// send() from any thread. One thread of its own follows the folder.
class PrefetchedFiles : public Files {
 public:
  // Reads everything, several files at once, telling how far it is when that takes long. What does
  // not fit into the limit is served from disk. Returns early, and nothing follows, when SIGTERM or
  // SIGINT comes meanwhile.
  PrefetchedFiles(std::shared_ptr<const Fence> fence, std::int64_t memory_limit_bytes);

  base::Status send(std::string_view name, serve::Connection& connection) override;

 private:
  void read_all(const std::vector<std::string>& names);
  void log_progress(std::size_t done, std::size_t count, double seconds) const;
  void log_what_was_read(double seconds) const;

  const std::shared_ptr<const Fence> fence_;
  DiskFiles disk_;
  LoadedFiles files_;
  FolderFollower follower_;
};

}  // namespace fileserver
