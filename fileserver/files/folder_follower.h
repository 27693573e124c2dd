// Keeps the prefetched files as the served folder is.
//
// Looking comes before reading: whatever has changed is looked at as soon as it is told of, also
// between two pieces of a large file that is being read. So a file that is gone is forgotten at
// once, however much there is to read. The known version of a file that changed is served until the
// new one is read; if that takes too long, because there is much to read or because the file is
// closed by its writers again and again and never holds still, it is served from disk.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "fileserver/files/folder_watch.h"
#include "fileserver/files/loaded_files.h"
#include "net/fd.h"

namespace fileserver {

// Until start() one thread; then all but the destructor belongs to a thread of its own.
class FolderFollower {
 public:
  // `files` must outlive it.
  FolderFollower(LoadedFiles& files, std::string root);

  // Stops following, within a piece of a file.
  ~FolderFollower();

  // The names of all files there are. What changes from now on is noted, and looked at once
  // started.
  std::vector<std::string> watch_and_list() { return list(""); }

  // Follows from now on. `to_look_at`: files that were not in step yet.
  void start(const std::vector<std::string>& to_look_at);

 private:
  using State = LoadedFiles::State;

  // A file whose known version is not what is on disk.
  struct Behind {
    base::Deadline known_until;  // how long the known version may still be served
    bool is_loadable;            // it is in to_load_ too
  };

  std::vector<std::string> list(const std::string& folder);
  void watch(const std::string& folder);

  void follow();
  bool may_go_on() const;
  base::Deadline next_look() const;
  void keep_up(base::Deadline deadline);
  FolderChanges wait_for_changes(base::Deadline deadline);
  void apply(const FolderChanges& changes);

  void look_at(const std::string& name) { sort_in(name, files_.look_at(name)); }
  void look_at_all(const std::vector<std::string>& names);
  void look_at_closed(const std::string& name);
  void look_at_everything();
  void look_at_those_behind();
  void look_at_the_unseen();
  void load_next();

  void sort_in(const std::string& name, State state);
  void note_unseen();

  LoadedFiles& files_;
  const std::string root_;
  const net::Fd stop_event_;

  std::optional<FolderWatch> watch_;
  bool is_watched_whole_ = true;
  base::Deadline list_at_ = base::Deadline::never();  // where it is not watched whole

  std::map<std::string, Behind> behind_;
  std::set<std::string> to_load_;
  std::string loaded_last_;  // files take turns
  base::Deadline look_again_at_ = base::Deadline::never();

  // What our side had not the means to look at.
  std::set<std::string> unseen_files_;
  std::set<std::string> unseen_folders_;
  bool is_short_ = false;
  base::Deadline try_again_at_ = base::Deadline::never();

  std::thread thread_;
};

}  // namespace fileserver
