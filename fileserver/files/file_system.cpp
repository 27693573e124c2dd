#include "fileserver/files/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace fileserver {

namespace {

struct FileSystem {
  std::uint32_t magic;
  const char* name;
};

// By statfs(2), <linux/magic.h> and the sources of those that are not part of the kernel.
constexpr FileSystem kSilent[] = {
    {0x00006969, "nfs"},    {0x65735546, "fuse"},     {0xFF534D42, "cifs"}, {0xFE534D42, "smb2"},
    {0x0000517B, "smb"},    {0x01021997, "9p"},       {0x00C36400, "ceph"}, {0x5346414F, "afs"},
    {0x6B414653, "kafs"},   {0x73757245, "coda"},     {0x01161970, "gfs2"}, {0x7461636F, "ocfs2"},
    {0x0BD00BD0, "lustre"}, {0x20030528, "orangefs"}, {0x47504653, "gpfs"}, {0x786F4256, "vboxsf"},
    {0xBACBACBC, "vmhgfs"},
};

// ext2 to ext4, XFS, Btrfs, F2FS, ZFS and tmpfs.
constexpr std::uint32_t kClosesAtOnce[] = {0x0000EF53, 0x58465342, 0x9123683E,
                                           0xF2F52010, 0x2FC12FC1, 0x01021994};

}  // namespace

bool closes_at_once(int fd) {
  struct statfs status {};
  return ::fstatfs(fd, &status) == 0 &&
         std::ranges::find(kClosesAtOnce, static_cast<std::uint32_t>(status.f_type)) !=
             std::end(kClosesAtOnce);
}

std::string silent_file_system(const std::string& folder) {
  struct statfs status {};
  if (::statfs(folder.c_str(), &status) != 0) return {};
  const auto magic = static_cast<std::uint32_t>(status.f_type);
  for (const FileSystem& kind : kSilent) {
    if (kind.magic == magic) return kind.name;
  }
  return {};
}

void refresh_folder(const std::string& folder) {
  struct statx status {};
  ::statx(AT_FDCWD, folder.c_str(), AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &status);
}

}  // namespace fileserver
