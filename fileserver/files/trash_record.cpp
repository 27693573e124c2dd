#include "fileserver/files/trash_record.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

#include "base/clock.h"
#include "base/file_io.h"
#include "fileserver/files/upload_name.h"
#include "net/fd.h"
#include "wire/request.h"

namespace fileserver {

namespace {

constexpr std::string_view kRecordEnd = ".old";
constexpr std::string_view kFirstLine = "turnstile-trash 1";
constexpr std::size_t kMostRecordBytes = 8192;

bool is_hex(char byte) { return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f'); }

// The next line without its end; empty where there is none.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

// Whoever may write to the served folder may have written this.
std::optional<TrashRecord> parse_record(std::string_view text) {
  if (take_line(text) != kFirstLine) return {};
  std::string_view identity = take_line(text);
  std::string_view name = take_line(text);
  constexpr std::string_view kNot = "not ";
  constexpr std::string_view kName = "name ";
  if (!text.empty() || !identity.starts_with(kNot) || !name.starts_with(kName)) return {};
  identity.remove_prefix(kNot.size());
  name.remove_prefix(kName.size());
  std::uint64_t inode = 0;
  const char* const end = identity.data() + identity.size();
  const auto [stopped, failure] = std::from_chars(identity.data(), end, inode);
  if (failure != std::errc() || stopped != end) return {};
  if (!wire::is_file_name(name) || is_upload_name(name)) return {};
  return TrashRecord{inode, std::string(name)};
}

}  // namespace

bool is_trash_id(std::string_view text) {
  return text.size() == kTrashIdSize && std::ranges::all_of(text, is_hex);
}

std::int64_t trash_time_ns(std::string_view id) {
  std::uint64_t time = 0;
  std::from_chars(id.data(), id.data() + kTrashIdSize / 2, time, 16);
  return static_cast<std::int64_t>(std::min(time, std::uint64_t{INT64_MAX}));
}

std::int64_t trash_clock_ns() { return static_cast<std::int64_t>(base::unix_time_s() * 1e9); }

std::string new_trash_id() {
  std::uint64_t number = 0;
  base::retried([&] { return ::getrandom(&number, sizeof number, 0); });
  return fmt::format("{:016x}{:016x}", trash_clock_ns(), number);
}

std::string record_of(const std::string& id) { return id + std::string(kRecordEnd); }
std::string gone_of(const std::string& id) { return id + std::string(kGoneEnd); }

std::string text_of(const TrashRecord& record) {
  return fmt::format("{}\nnot {}\nname {}\n", kFirstLine, record.not_inode, record.name);
}

std::optional<TrashRecord> read_record(int folder, const std::string& id) {
  const net::Fd fd(
      ::openat(folder, record_of(id).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.is_open()) return {};
  std::array<char, kMostRecordBytes> bytes;
  const ssize_t size = base::read_fully_at(fd.get(), bytes, 0);
  if (size <= 0) return {};
  return parse_record({bytes.data(), static_cast<std::size_t>(size)});
}

bool status_at(int folder, const std::string& last, struct stat& status) {
  return ::fstatat(folder, last.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

bool is_in_use(int folder, const std::string& id) {
  const net::Fd fd(
      ::openat(folder, record_of(id).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return fd.is_open() ? ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 : errno != ENOENT;
}

}  // namespace fileserver
