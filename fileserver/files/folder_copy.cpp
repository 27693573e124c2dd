#include "fileserver/files/folder_copy.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "fileserver/files/file_copy.h"
#include "fileserver/files/kept_permissions.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::string joined(const std::string& folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  if (name.empty()) return folder;
  return std::string(folder).append("/").append(name);
}

// Opens a folder below another one, part by part, and follows no link: these folders have hidden
// names, which the fence does not open.
net::Fd open_below(int folder, std::string_view name) {
  net::Fd here(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (!name.empty() && here.is_open()) {
    const std::size_t slash = name.find('/');
    here = net::Fd(::openat(here.get(), std::string(name.substr(0, slash)).c_str(),
                            O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    name.remove_prefix(slash == std::string_view::npos ? name.size() : slash + 1);
  }
  return here;
}

unsigned char type_of(const dirent& entry, int folder) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type;
  struct stat status {};
  if (::fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return IFTODT(status.st_mode);
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
  folders_ = {""};
  while (!folders_.empty()) {
    if (!may_go_on_()) return ECANCELED;
    const std::string folder = std::move(folders_.back());
    folders_.pop_back();
    if (const int failure = copy_folder(folder, from, to); failure != 0) return failure;
  }
  // One for all of them.
  return ::syncfs(to) == 0 ? 0 : errno;
}

int FolderCopy::copy_folder(const std::string& folder, const std::string& from, int to) {
  Both both{{}, open_below(to, folder), joined(from, folder), joined(to_name_, folder)};
  if (!both.to.is_open()) return errno;
  auto opened = fence_.open_folder(both.from_name);
  if (!opened) return opened.error().code == base::ErrorCode::kNotFound ? left_out() : EIO;
  both.from = net::Fd(::openat(opened->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, CloseFolder> list(both.from.is_open() ? ::fdopendir(opened->get())
                                                                   : nullptr);
  if (list == nullptr) return errno;
  opened->release();
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(list.get());
    if (entry == nullptr) return errno;
    const std::string last = entry->d_name;
    if (last == "." || last == ".." || is_upload_name(last)) continue;
    if (!may_go_on_()) return ECANCELED;
    const unsigned char type = type_of(*entry, both.from.get());
    if (const int failure = copy_entry(both, last, type, folder); failure != 0) return failure;
  }
}

int FolderCopy::copy_entry(const Both& both, const std::string& last, unsigned char type,
                           const std::string& folder) {
  if (type == DT_REG || type == DT_LNK) return copy_file(both, last, type == DT_LNK);
  if (type != DT_DIR) return left_out();
  if (::mkdirat(both.to.get(), last.c_str(), mode_of_copy(both.from.get(), last)) != 0)
    return errno;
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
  const net::Fd copied(::openat(both.to.get(), last.c_str(),
                                O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwn));
  if (!copied.is_open()) return errno;
  if (const int failure = copy_one_version(file->fd.get(), copied.get(), may_go_on_); failure != 0)
    return failure;
  if (!is_link) {
    if (!keep_permissions(copied.get(), both.from.get(), last)) return errno;
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
