#include "fileserver/files/disk_files.h"

#include <fcntl.h>

#include <cerrno>
#include <string>

#include "base/clock.h"

namespace fileserver {

namespace {

// A file that was written to just now is given up to 105 ms to settle, because a further change
// could not be detected yet.
FileVersion settled_version(const Fence::OpenFile& file) {
  constexpr int kTries = 5;
  FileVersion version = file.version;
  for (int i = 0; i < kTries && !is_settled(version); ++i) {
    base::pause_ms(kSettlingMs + 1);
    version = version_of(file.fd.get());
  }
  return version;
}

}  // namespace

base::Result<OpenedFile> DiskFiles::open(std::string_view name) {
  auto file = fence_->open_file(name, Fence::Links::kFollowed);
  if (!file) return file.error();
  const FileVersion version = settled_version(*file);
  if (version.size_bytes < 0)
    return base::errno_error(base::ErrorCode::kInternal, "fstat " + std::string(name), errno);
  if (!reads_.has_read_ahead) ::posix_fadvise(file->fd.get(), 0, 0, POSIX_FADV_RANDOM);
  return OpenedFile{.name = name,
                    .version = version,
                    .fd = std::move(file->fd),
                    .piece_bytes = reads_.piece_bytes};
}

}  // namespace fileserver
