// Files read into memory at start, and kept as the folder is: the default.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "fileserver/files/disk_files.h"
#include "fileserver/files/file_table.h"
#include "fileserver/files/folder_watch.h"

namespace fileserver {

// send() from any thread. One thread of its own follows the folder.
class PrefetchedFiles : public Files {
 public:
  // Reads everything, several files at once, telling how far it is when that takes long. What does not fit into the
  // limit is served from disk.
  PrefetchedFiles(std::shared_ptr<const Fence> fence, std::string root, std::int64_t memory_limit_bytes);
  ~PrefetchedFiles() override;

  base::Status send(std::string_view name, serve::Connection& connection) override;

 private:
  void watch_folder(const std::string& folder);
  void read_all(const std::vector<std::string>& names);
  void log_what_was_read(double seconds) const;

  // The table gets what is on disk now. False when the file is being changed: try again in a moment.
  bool refresh(const std::string& name);
  FileTable::Entry on_disk(FileVersion version) const;

  void follow_folder();
  void apply(const FolderChanges& changes);
  void look_at_everything();
  void refresh_later(const std::vector<std::string>& names) { to_refresh_.insert(names.begin(), names.end()); }

  const std::shared_ptr<const Fence> fence_;
  const std::string root_;
  DiskFiles disk_;
  DirectReading direct_;
  MemoryBudget budget_;  // outlives the table, whose files hold shares of it
  FileTable table_;

  // Only the constructor, and then the following thread.
  std::optional<FolderWatch> watch_;
  bool is_watch_complete_ = true;
  std::set<std::string> to_refresh_;

  const net::Fd stop_event_;
  std::thread follower_;
};

}  // namespace fileserver
