#include "loadgen/clients/channels/partial_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/file_io.h"

namespace loadgen {

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

PartialFile::PartialFile(std::string folder, int thread)
    : folder_(std::move(folder)), suffix_(fmt::format(".loadgen-{}", thread)) {}

PartialFile::Left PartialFile::begin(const File& file, bool is_in_order) {
  if (!is_wanted() || failure_ || !open(file.name)) return {};
  const std::uint64_t there = written_bytes();
  const bool was_left = left_.contains(path_);
  const bool is_known = is_in_order && !file.version.empty();
  const std::string version = fmt::format("{} {}\n", file.size_bytes, file.version);
  if (!was_left && is_known && there <= file.size_bytes && content_of(version_path_) == version)
    return {.kept_bytes = there};
  begin_anew(is_known ? version : "");
  return {.dropped_bytes = was_left ? 0 : there};
}

// What is there loses its version first, so that it is never taken for one of another version.
void PartialFile::begin_anew(const std::string& version) {
  std::error_code ignored;
  std::filesystem::remove(version_path_, ignored);
  if (::ftruncate(fd_.get(), 0) != 0) return fail("truncate " + part_path_);
  if (version.empty()) return;
  std::ofstream file(version_path_, std::ios::binary | std::ios::trunc);
  if (!(file << version) || !file.flush()) fail("write " + version_path_);
}

bool PartialFile::open(std::string_view name) {
  path_ = folder_ + "/" + std::string(name);
  part_path_ = path_ + suffix_ + ".part";
  version_path_ = path_ + suffix_ + ".version";
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), failed);
  fd_ = net::Fd(base::retried([this] {
    return ::open(part_path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  }));
  if (!fd_.is_open()) {
    fail("open " + part_path_);
  } else if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    fail("another program writes " + part_path_);
  }
  return !failure_;
}

std::uint64_t PartialFile::written_bytes() {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail("stat " + part_path_);
  return static_cast<std::uint64_t>(status.st_size);
}

void PartialFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (is_wanted() && !failure_ && !bytes.empty()) {
    const ssize_t written = base::retried([&] {
      return ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (written < 0) return fail("write " + part_path_);
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

std::size_t PartialFile::read(std::uint64_t offset, std::span<char> into) {
  const ssize_t got = base::read_fully_at(fd_.get(), into, static_cast<std::int64_t>(offset));
  if (got < 0) fail("read " + part_path_);
  return static_cast<std::size_t>(std::max<ssize_t>(got, 0));
}

void PartialFile::finish() {
  if (!is_wanted() || failure_) return;
  std::error_code failed;
  std::filesystem::rename(part_path_, path_, failed);
  if (failed) failure_ = "--save: " + path_ + ": " + failed.message();
  std::filesystem::remove(version_path_, failed);
  const net::Fd closed = std::move(fd_);
}

void PartialFile::forget() {
  std::error_code ignored;
  if (is_wanted() && !version_path_.empty()) std::filesystem::remove(version_path_, ignored);
}

void PartialFile::leave() {
  if (fd_.is_open()) left_.insert(path_);
  const net::Fd closed = std::move(fd_);
}

void PartialFile::fail(const std::string& what) {
  if (!failure_) failure_ = "--save: " + what + ": " + std::generic_category().message(errno);
}

}  // namespace loadgen
