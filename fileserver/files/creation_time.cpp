#include "fileserver/files/creation_time.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

namespace fileserver {

std::optional<std::int64_t> created_s(const Fence& fence, std::string_view name) {
  net::Fd fd;
  if (auto file = fence.open_file(name, Fence::Links::kFollowed)) {
    fd = std::move(file->fd);
  } else if (auto folder = fence.find_folder(name)) {
    fd = std::move(folder->fd);
  } else {
    return {};
  }
  struct statx status {};
  if (::statx(fd.get(), "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0) return {};
  if ((status.stx_mask & STATX_BTIME) == 0) return {};
  return status.stx_btime.tv_sec;
}

}  // namespace fileserver
