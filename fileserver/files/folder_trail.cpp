#include "fileserver/files/folder_trail.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace fileserver {

namespace {

net::Fd open_path(int folder, const char* name) {
  return net::Fd(::openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

}  // namespace

bool FolderTrail::begin(net::Fd top) {
  struct stat status {};
  if (::fstat(top.get(), &status) != 0) return false;
  here_ = std::move(top);
  steps_ = {{status.st_dev, status.st_ino}};
  return true;
}

bool FolderTrail::go_down(const char* name) {
  net::Fd below = open_path(here_.get(), name);
  struct stat status {};
  if (!below.is_open() || ::fstat(below.get(), &status) != 0) return false;
  if (status.st_dev != steps_.front().device) {
    errno = EBUSY;
    return false;
  }
  steps_.push_back({status.st_dev, status.st_ino});
  here_ = std::move(below);
  return true;
}

bool FolderTrail::go_up() {
  net::Fd up = open_path(here_.get(), "..");
  struct stat status {};
  if (!up.is_open() || ::fstat(up.get(), &status) != 0) return false;
  const Step& above = steps_[steps_.size() - 2];
  if (status.st_dev != above.device || status.st_ino != above.inode) {
    errno = EBUSY;
    return false;
  }
  steps_.pop_back();
  here_ = std::move(up);
  return true;
}

}  // namespace fileserver
