#include "fileserver/files/disk_files.h"

#include <fcntl.h>

#include <string>
#include <utility>

#include "base/clock.h"
#include "base/waits.h"
#include "fileserver/files/file_system.h"

namespace fileserver {

// A file that was written to just now is given the time to settle, because a further change could
// not be detected yet. If it goes on changing, it is given 85 ms more.
DiskFiles::Looked DiskFiles::settled_version(int fd, FileVersion version) const {
  constexpr int kLongerMs = 4 * (kSettlingMs + 1) + 1;
  for (int waited_ms = 0;;) {
    const int left_ms = uploaded_versions_.has(version) ? 0 : unsettled_ms(version);
    if (left_ms == 0 || waited_ms >= version.settling_ms + kLongerMs)
      return {version, left_ms == 0};
    base::pause_ms(left_ms);
    waited_ms += left_ms;
    version = base::may_block([&] { return version_to_read(fd); });
  }
}

base::Result<OpenedFile> DiskFiles::open(std::string_view name) {
  FileVersion found;
  const bool may_hold_up_others = base::my_waits != nullptr;
  bool is_closed_here = true;
  auto file = base::may_block([&] {
    auto opened = fence_->open_file(name, Fence::Links::kFollowed);
    if (opened) found = version_to_read(opened->fd.get());
    if (opened && may_hold_up_others) is_closed_here = closes_at_once(opened->fd.get());
    if (opened && !reads_.has_read_ahead)
      ::posix_fadvise(opened->fd.get(), 0, 0, POSIX_FADV_RANDOM);
    return opened;
  });
  if (!file) return file.error();
  DiskFd fd(std::move(file->fd), is_closed_here);
  const auto [version, was_settled] = settled_version(fd.get(), found);
  if (version.size_bytes < 0) {
    return base::Error{base::ErrorCode::kInternal,
                       "fstat " + std::string(name) + ": it cannot be looked at"};
  }
  return OpenedFile{.name = name,
                    .version = version,
                    .was_settled = was_settled,
                    .fd = std::move(fd),
                    .piece_bytes = reads_.piece_bytes};
}

std::optional<NamedFile> DiskFiles::publish(const std::string& /*name*/, int fd,
                                            const GiveName& give_name) {
  const auto named = give_name();
  if (!named) return {};
  if (const auto version = named->version_now(fd)) uploaded_versions_.note(*version);
  return named;
}

}  // namespace fileserver
