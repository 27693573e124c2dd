// Keeps the file cache equal to the served folder. files.h explains the states of a file.
//
// Checking comes before loading: changes are processed as soon as inotify reports them, also
// between two pieces of a large file that is being loaded. So a removed file is forgotten at once,
// however much there is to load.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "fileserver/files/demand.h"
#include "fileserver/files/file_cache.h"
#include "fileserver/files/folder_watch.h"
#include "fileserver/files/mount_watch.h"
#include "net/fd.h"

namespace fileserver {

// Before start(): one thread. After start(): a thread of its own, and only check_soon(),
// note_demand() and the destructor may be called.
class CacheUpdater {
 public:
  // `cache` must outlive the updater. `piece_bytes`: of a file that is loaded, between two checks
  // for changes. `mounts` was opened before the cache was filled, or watches nothing.
  CacheUpdater(FileCache& cache, std::string root, std::int64_t piece_bytes = kPieceBytes,
               MountWatch mounts = {});

  // Ends the thread. If it is loading a file, it stops after the current piece.
  ~CacheUpdater();

  // Lists the whole folder. Changes from now on are kept until start().
  FolderListing watch_and_list() { return list(""); }

  // Starts the thread. `unfinished`: the files whose first load() did not return kCurrent.
  void start(const std::vector<std::string>& unfinished);

  // Before start(). Whether the folder is listed every second, because inotify does not report
  // every change, or cannot watch every folder.
  bool polls() const { return !check_everything_at_.is_never(); }

  // Any thread. Has the updater check a file that inotify did not report.
  void check_soon(const std::string& name);

  // Any thread. A client has asked for a file that has no room in memory. If that is asked for
  // often for its size, it gets the room of others (demand.h).
  void note_demand(std::string_view name, std::int64_t size_bytes);

 private:
  using State = FileCache::State;

  // A file that is kStale or kUnsettled.
  struct Outdated {
    base::Deadline serve_old_until;  // how long the known version may still be served
    bool is_stale;                   // then it is in to_load_ too
  };

  FolderListing list(const std::string& folder);
  void watch(const std::string& folder);
  bool is_silent(const std::string& folder);

  void open_watch();

  void run();
  void start_over();
  bool may_go_on() const { return !is_stopping_; }
  bool has_another_root() const;
  base::Deadline next_timer() const;
  void process_events(base::Deadline deadline);
  FolderChanges wait_for_changes(base::Deadline deadline);
  std::set<std::string> take_requested();
  void apply(const FolderChanges& changes);

  void check(const std::string& name) { record_state(name, cache_.check(name)); }
  void check_all(const std::vector<std::string>& names);
  void check_closed(const std::string& name);
  void check_closed_files(const Names& names);
  void check_below(const Names& folders);
  void check_mounts();
  void check_everything();
  void recheck_outdated();
  void recheck_failed();
  void load_next();
  void load(const std::string& name);
  void replace_files();
  std::vector<Replacement> next_replacements() const;
  void forget_old_demand();

  void record_state(const std::string& name, State state);
  void retry_later();

  FileCache& cache_;
  const std::string root_;
  const std::int64_t piece_bytes_;

  int known_root_;  // which one is watched: FileCache::times_root_was_opened_again()

  // Readable when another thread has something to say.
  const net::Fd wake_event_;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<bool> has_demand_ = false;
  base::Mutex mutex_;
  std::set<std::string> requested_ GUARDED_BY(mutex_);

  std::optional<FolderWatch> watch_;  // nothing when the system has no inotify left
  MountWatch mounts_;
  bool is_watched_whole_ = true;
  bool has_silent_folders_ = false;  // whether one was found on a silent_file_system()
  base::Deadline check_everything_at_ = base::Deadline::never();

  std::map<std::string, Outdated> outdated_;
  std::set<std::string> to_load_;
  std::string last_loaded_;  // the files in to_load_ take turns
  base::Deadline recheck_at_ = base::Deadline::never();

  // What could not be checked or listed because of an is_system_failure().
  std::set<std::string> unchecked_files_;
  std::set<std::string> unlisted_folders_;
  bool is_out_of_resources_ = false;
  base::Deadline retry_at_ = base::Deadline::never();

  WantedFiles wanted_;
  base::Deadline replace_at_ = base::Deadline::never();
  int replace_pause_ms_;

  std::thread thread_;
};

}  // namespace fileserver
