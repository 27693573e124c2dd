#include "fileserver/files/folder_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "fileserver/files/file_copy.h"
#include "fileserver/files/joined.h"
#include "fileserver/files/kept_permissions.h"
#include "fileserver/files/open_folder.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

namespace {

// How many folders are on the way to this one; it is one of them.
std::size_t depth_of(std::string_view folder) {
  if (folder.empty()) return 0;
  return 1 + static_cast<std::size_t>(std::count(folder.begin(), folder.end(), '/'));
}

}  // namespace

mode_t mode_of_copy(int folder, const std::string& last) {
  constexpr mode_t kAll = 0777;
  struct stat status {};
  if (::fstatat(folder, last.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return S_IRWXU;
  return (status.st_mode & kAll) | S_IRWXU;
}

int FolderCopy::left_out() {
  has_left_out_ = true;
  return 0;
}

int FolderCopy::copy(const std::string& from, int to) {
  net::Fd top(::openat(to, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top.is_open() || !to_.begin(std::move(top))) return errno;
  folders_ = {""};
  while (!folders_.empty()) {
    if (!may_go_on_()) return ECANCELED;
    const std::string folder = std::move(folders_.back());
    folders_.pop_back();
    if (!go_to(folder)) return errno;
    if (const int failure = copy_folder(folder, from); failure != 0) return failure;
  }
  // One for all of them.
  return ::syncfs(to) == 0 ? 0 : errno;
}

// What is in a folder is copied before what is beside it. So the next folder is always in this one,
// or in one that this one is in.
bool FolderCopy::go_to(const std::string& folder) {
  const std::size_t depth = depth_of(folder);
  if (depth == 0) return true;
  while (to_.depth() >= depth) {
    if (!to_.go_up()) return false;
  }
  return to_.go_down(folder.substr(folder.rfind('/') + 1).c_str());
}

int FolderCopy::copy_folder(const std::string& folder, const std::string& from) {
  auto opened = fence_.open_folder(joined(from, folder));
  if (!opened) return opened.error().code == base::ErrorCode::kNotFound ? left_out() : EIO;
  const OpenFolder list(::fdopendir(opened->get()));
  if (list == nullptr) return errno;
  const Both both{opened->release(), joined(from, folder), joined(to_name_, folder)};
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(list.get());
    if (entry == nullptr) return errno;
    const std::string last = entry->d_name;
    if (last == "." || last == ".." || is_upload_name(last)) continue;
    if (!may_go_on_()) return ECANCELED;
    const unsigned char type = type_of(*entry, list);
    if (const int failure = copy_entry(both, last, type, folder); failure != 0) return failure;
  }
}

int FolderCopy::copy_entry(const Both& both, const std::string& last, unsigned char type,
                           const std::string& folder) {
  if (type == DT_REG || type == DT_LNK) return copy_file(both, last, type == DT_LNK);
  if (type != DT_DIR) return left_out();
  if (::mkdirat(to_.fd(), last.c_str(), mode_of_copy(both.from, last)) != 0) return errno;
  folders_.push_back(joined(folder, last));
  return 0;
}

int FolderCopy::copy_file(const Both& both, const std::string& last, bool is_link) {
  const std::string name = joined(both.from_name, last);
  const auto file =
      fence_.open_file(name, is_link ? Fence::Links::kFollowed : Fence::Links::kRefused);
  if (!file) return file.error().code == base::ErrorCode::kNotFound ? left_out() : EIO;
  if (is_link) has_left_out_ = true;  // the link itself
  constexpr mode_t kOwn = 0600;
  const net::Fd copied(
      ::openat(to_.fd(), last.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwn));
  if (!copied.is_open()) return errno;
  if (const int failure = copy_one_version(file->fd.get(), copied.get(), may_go_on_); failure != 0)
    return failure;
  if (!is_link) {
    if (!keep_permissions(copied.get(), both.from, last)) return errno;
  } else if (const auto real = fence_.real_name(name)) {
    const Place place = places_.find(*real);
    if (place.status == UploadStatus::kGoOn &&
        !keep_permissions(copied.get(), place.fd(), place.last))
      return errno;
  }
  times_.give(copied.get(), joined(both.to_name, last), 0);
  return 0;
}

}  // namespace fileserver
