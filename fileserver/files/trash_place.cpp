#include "fileserver/files/trash_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/allowance.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/waits.h"
#include "fileserver/files/trash_record.h"

namespace fileserver {

namespace {

bool is_full(int errno_value) { return errno_value == ENOSPC || errno_value == EDQUOT; }

// Logs at most once a minute.
void warn_of_loss(int errno_value) {
  static base::Allowance allowance(1, 60 * base::kNsPerS);
  if (!allowance.take(base::now_ns())) return;
  base::log::warn(
      "something is deleted or replaced that the trash cannot keep reason={}",
      base::log::quoted_long(
          errno_value == EXDEV
              ? std::string("it is on another file system than the served folder")
              : base::errno_error(base::ErrorCode::kInternal, "move it", errno_value).context));
}

}  // namespace

TrashPlace::~TrashPlace() {
  if (!is_open()) return;
  const int failure = errno;
  base::may_block_long([this] {
    if (!is_taken_) ::unlinkat(folder_.get(), record_of(id_).c_str(), 0);
    record_ = {};
    folder_ = {};
    from_ = {};
  });
  errno = failure;
}

void TrashPlace::swap(TrashPlace& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(record_, other.record_);
  std::swap(id_, other.id_);
  std::swap(from_, other.from_);
  std::swap(failure_, other.failure_);
  std::swap(is_taken_, other.is_taken_);
}

TrashPlace::Taken TrashPlace::failed(int errno_value) const {
  if (errno_value == 0) return Taken::kCannotBeKept;
  if (errno_value == EXDEV || is_full(errno_value)) {
    warn_of_loss(errno_value);
    return Taken::kCannotBeKept;
  }
  errno = errno_value;
  return Taken::kFailed;
}

bool TrashPlace::needs_room() const { return is_full(failure_); }

TrashPlace::Taken TrashPlace::take(const NameIn& from) {
  if (!is_open()) return failed(failure_);
  from_ = net::Fd(::fcntl(from.folder, F_DUPFD_CLOEXEC, 0));
  if (!from_.is_open() || !rename_to_new(from, name())) return failed(errno);
  is_taken_ = true;
  return Taken::kYes;
}

TrashPlace::Taken TrashPlace::take_link(const NameIn& file) {
  if (!is_open()) return failed(failure_);
  from_ = net::Fd(::fcntl(file.folder, F_DUPFD_CLOEXEC, 0));
  if (!from_.is_open()) return failed(errno);
  if (::linkat(file.folder, file.last.c_str(), folder_.get(), id_.c_str(), 0) != 0)
    return failed(errno);
  is_taken_ = true;
  return Taken::kYes;
}

void TrashPlace::give_back(const std::string& last) {
  if (!is_taken_) return;
  if (rename_to_new(name(), {from_.get(), last})) {
    is_taken_ = false;
    return;
  }
  struct stat ours {};
  struct stat theirs {};
  // It never lost its name.
  if (status_at(folder_.get(), id_, ours) && status_at(from_.get(), last, theirs) &&
      ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
    is_taken_ = ::unlinkat(folder_.get(), id_.c_str(), 0) != 0;
}

}  // namespace fileserver
