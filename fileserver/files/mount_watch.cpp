#include "fileserver/files/mount_watch.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file_io.h"

namespace fileserver {

namespace {

// What a line begins with (man 5 proc): ID, parent's ID, device, what of the file system is
// mounted, and where. The rest is left out, because it changes without a mount.
struct Mount {
  std::string id, parent, device, from, at;
};

// A blank, for example, is written as \040 in the list.
std::string without_escapes(std::string_view text) {
  std::string plain;
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 3);
    if (text[i] != '\\' || digits.size() < 3 ||
        !std::all_of(digits.begin(), digits.end(), is_octal)) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>((digits[0] - '0') * 64 + (digits[1] - '0') * 8 + digits[2] - '0');
    i += 3;
  }
  return plain;
}

std::string real_path(const std::string& root) {
  std::error_code is_no_link;
  const auto target = std::filesystem::read_symlink(root, is_no_link);
  return is_no_link ? root : target.string();
}

}  // namespace

MountWatch MountWatch::open() {
  return MountWatch(net::Fd(::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)));
}

std::string MountWatch::read_list() const {
  std::string list;
  std::array<char, 16 * 1024> piece;
  for (ssize_t got = 0; (got = base::read_at(list_.get(), piece, std::ssize(list))) > 0;)
    list.append(piece.data(), static_cast<std::size_t>(got));
  return list;
}

Names MountWatch::changed_below(const std::string& root) {
  if (!list_.is_open()) return {};
  const std::string path = real_path(root);
  const std::string below = path == "/" ? path : path + "/";
  Mounts now;
  std::istringstream lines(read_list());
  for (std::string line; std::getline(lines, line);) {
    Mount mount;
    std::istringstream(line) >> mount.id >> mount.parent >> mount.device >> mount.from >> mount.at;
    const std::string at = without_escapes(mount.at);
    if (!at.starts_with(below) || at.size() == below.size()) continue;
    now.insert(at.substr(below.size()) + '\0' + mount.id + ' ' + mount.device + ' ' + mount.from);
  }
  std::vector<std::string> changed;
  std::set_symmetric_difference(known_.begin(), known_.end(), now.begin(), now.end(),
                                std::back_inserter(changed));
  known_ = std::move(now);
  Names names;
  for (const std::string& mount : changed) names.insert(mount.substr(0, mount.find('\0')));
  return names;
}

}  // namespace fileserver
