#include "fileserver/files/hidden_entry.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/log.h"
#include "fileserver/files/locations.h"
#include "fileserver/files/renames.h"
#include "fileserver/files/tree_removal.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

namespace {

constexpr int kOpen = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

net::Fd another(int folder) { return net::Fd(::fcntl(folder, F_DUPFD_CLOEXEC, 0)); }

}  // namespace

HiddenEntry::~HiddenEntry() {
  if (!is_there() || has_name_ || name_.empty()) return;
  if (remove_tree_patiently(folder_.get(), name_, may_go_on_)) return;
  if (errno == ECANCELED) return;
  base::log::warn(
      "what a client has removed cannot be removed from the disk, it is hidden name={} reason={}",
      base::log::quoted(name_),
      base::log::quoted_long(
          base::errno_error(base::ErrorCode::kInternal, "remove a folder", errno).context));
}

void HiddenEntry::swap(HiddenEntry& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(fd_, other.fd_);
  std::swap(name_, other.name_);
  std::swap(has_name_, other.has_name_);
  std::swap(may_go_on_, other.may_go_on_);
}

HiddenEntry HiddenEntry::hide(int folder, const std::string& last, MayGoOn may_go_on) {
  HiddenEntry hidden;
  const Current current = look_at(folder, last);
  hidden.may_go_on_ = std::move(may_go_on);
  if (current.is_folder()) {
    // Locked before it has the hidden name. A folder that cannot be listed cannot be emptied.
    hidden.fd_ = net::Fd(::openat(folder, last.c_str(), kOpen));
    if (!hidden.fd_.is_open()) return {};
    ::flock(hidden.fd(), LOCK_EX | LOCK_NB);
  }
  net::Fd own = another(folder);
  if (!own.is_open()) return {};
  for (int i = 0; i < kNameTries; ++i) {
    hidden.name_ = random_upload_name();
    if (rename_to_new({folder, last}, {folder, hidden.name_})) {
      hidden.folder_ = std::move(own);
      return hidden;
    }
    if (errno != EEXIST) break;
  }
  hidden.name_.clear();
  if (current.kind != Current::Kind::kLink || errno != EACCES) return {};
  if (::unlinkat(folder, last.c_str(), 0) != 0) return {};
  hidden.folder_ = std::move(own);
  return hidden;
}

HiddenEntry HiddenEntry::make_folder(int folder, mode_t mode, MayGoOn may_go_on) {
  HiddenEntry made;
  made.may_go_on_ = std::move(may_go_on);
  net::Fd own = another(folder);
  if (!own.is_open()) return {};
  for (int i = 0; i < kNameTries; ++i) {
    made.name_ = random_upload_name();
    if (::mkdirat(folder, made.name_.c_str(), mode) != 0) {
      if (errno == EEXIST) continue;
      return {};
    }
    made.folder_ = std::move(own);
    made.fd_ = net::Fd(::openat(folder, made.name_.c_str(), kOpen));
    if (!made.fd_.is_open()) return {};
    ::flock(made.fd(), LOCK_EX | LOCK_NB);
    return made;
  }
  return {};
}

bool HiddenEntry::give_name(const std::string& last) {
  if (name_.empty()) {
    errno = ENOENT;
    return false;
  }
  has_name_ = rename_to_new({folder_.get(), name_}, {folder_.get(), last});
  return has_name_;
}

void HiddenEntry::keep(const std::string& last) {
  if (name_.empty()) return;
  std::string kept = random_upload_name().replace(0, kUploadPrefix.size(), kKeptPrefix);
  if (rename_to_new({folder_.get(), name_}, {folder_.get(), kept})) name_ = std::move(kept);
  has_name_ = true;
  base::log::error("what was to be replaced cannot get its name back, it is kept name={} hidden={}",
                   base::log::quoted_long(last), base::log::quoted(name_));
}

bool HiddenEntry::take_back(const std::string& last) {
  has_name_ = !rename_to_new({folder_.get(), last}, {folder_.get(), name_});
  return !has_name_;
}

}  // namespace fileserver
