#include "fileserver/files/tree_removal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "fileserver/files/folder_trail.h"
#include "fileserver/files/open_folder.h"
#include "fileserver/files/renames.h"
#include "fileserver/files/upload_name.h"
#include "net/fd.h"

namespace fileserver {

namespace {

constexpr std::size_t kMostNames = 1000;  // that are kept of one folder
constexpr int kAskEvery = 1000;           // files

// A folder so deep below the top is moved up there before it is emptied, because the sandbox looks
// at all folders above one at each change in it.
constexpr std::size_t kDeepest = 64;

// NFS and file systems in user space keep a removed file under another name, in its folder, as long
// as somebody reads it there. So what seems empty is tried again, for 2.5 s in all.
constexpr int kFirstPauseMs = 10;
constexpr int kLastPauseMs = 1280;

net::Fd open_folder(int folder, const char* name) {
  return net::Fd(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// A folder on the way from the top to where the walk is.
struct Step {
  std::string name = {};                  // in the folder above
  std::vector<std::string> folders = {};  // in it, that are removed next
  bool has_more = true;                   // whether it has to be listed again
  bool is_kept = false;                   // whether something in it could not be removed
  bool has_moved_up = false;              // whether there are folders that were not listed yet
};

class Removal {
 public:
  explicit Removal(const MayGoOn& may_go_on) : may_go_on_(may_go_on) {}

  // Empties the folder. Returns 0 or an errno.
  int run(net::Fd top) {
    top_ = net::Fd(::fcntl(top.get(), F_DUPFD_CLOEXEC, 0));
    if (!trail_.begin(std::move(top))) return errno;
    steps_.emplace_back();
    while (!steps_.empty()) {
      if (!may_go_on_()) return ECANCELED;
      Step& step = steps_.back();
      if (step.folders.empty() && ((step.has_more && !step.is_kept) || step.has_moved_up)) {
        list(step);
      } else if (!step.folders.empty()) {
        go_down(step);
      } else if (steps_.size() == 1) {
        break;
      } else if (!go_up()) {
        return errno;
      }
    }
    return failure_;
  }

 private:
  void fail(Step& step, int errno_value) {
    step.is_kept = true;
    if (failure_ == 0) failure_ = errno_value;
  }

  // Removes the files, and notes folders.
  void list(Step& step) {
    step.has_more = false;
    step.has_moved_up = false;
    const OpenFolder folder = open_names(trail_.fd());
    if (folder == nullptr) return fail(step, errno);
    int seen = 0;
    while (const dirent* const entry = next_entry(folder)) {
      if (!remove_file(step, *entry)) step.folders.emplace_back(entry->d_name);
      step.has_more =
          step.folders.size() >= kMostNames || (++seen % kAskEvery == 0 && !may_go_on_());
      if (step.has_more) return;
    }
    if (errno != 0) fail(step, errno);
  }

  // Returns false for a folder.
  bool remove_file(Step& step, const dirent& entry) {
    if (entry.d_type == DT_DIR) return false;
    if (::unlinkat(trail_.fd(), entry.d_name, 0) == 0 || errno == ENOENT) return true;
    if (errno == EISDIR) return false;               // where the file system does not tell kinds
    fail(step, errno == EBUSY ? ENOTEMPTY : errno);  // NFS, of what somebody reads
    return true;
  }

  void go_down(Step& step) {
    std::string name = std::move(step.folders.back());
    step.folders.pop_back();
    if (::unlinkat(trail_.fd(), name.c_str(), AT_REMOVEDIR) == 0) return;
    if (errno == EBUSY) return fail(step, errno);  // something is mounted there
    if (trail_.depth() >= kDeepest && move_up(name)) return;
    if (!trail_.go_down(name.c_str())) return fail(step, errno);
    steps_.push_back({std::move(name)});
  }

  // Each folder at most once, because it stays there. Without a descriptor, or a right, or where
  // the sandbox lets nothing go to another folder, it is emptied where it is.
  bool move_up(const std::string& name) {
    if (!top_.is_open()) return false;
    const std::string hidden = random_upload_name();
    if (!rename_to_new({trail_.fd(), name}, {top_.get(), hidden})) return false;
    steps_.front().has_moved_up = true;
    return true;
  }

  bool go_up() {
    if (!trail_.go_up()) return false;
    const Step done = std::move(steps_.back());
    steps_.pop_back();
    Step& above = steps_.back();
    if (done.is_kept) {
      above.is_kept = true;
    } else if (::unlinkat(trail_.fd(), done.name.c_str(), AT_REMOVEDIR) != 0) {
      fail(above, errno);
    }
    return true;
  }

  const MayGoOn& may_go_on_;
  net::Fd top_;  // where folders are moved to; not open: none are
  FolderTrail trail_;
  std::vector<Step> steps_;
  int failure_ = 0;  // the first one
};

}  // namespace

bool remove_tree(int folder, const std::string& name, const MayGoOn& may_go_on) {
  if (::unlinkat(folder, name.c_str(), 0) == 0) return true;
  if (errno != EISDIR && errno != EPERM) return false;
  net::Fd top = open_folder(folder, name.c_str());
  if (!top.is_open()) return false;
  if (const int failure = Removal(may_go_on).run(std::move(top)); failure != 0) {
    errno = failure;
    return false;
  }
  return ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0;
}

bool remove_tree_patiently(int folder, const std::string& name, const MayGoOn& may_go_on) {
  bool is_removed = remove_tree(folder, name, may_go_on);
  for (int ms = kFirstPauseMs; !is_removed && errno == ENOTEMPTY && ms <= kLastPauseMs; ms *= 2) {
    base::pause_ms(ms);
    is_removed = remove_tree(folder, name, may_go_on);
  }
  return is_removed;
}

}  // namespace fileserver
