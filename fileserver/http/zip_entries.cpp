#include "fileserver/http/zip_entries.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/file_io.h"
#include "base/waits.h"

namespace fileserver {

namespace {

using base::Error;
using base::ErrorCode;

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::int64_t kWithoutAsking = 64 * 1024;
constexpr std::int64_t kShareBytes = 1 << 20;

// A file that is written to is looked at again for as long as that takes. Most are settled then.
constexpr int kLooks = 10;
constexpr int kLookAgainMs = 25;

Error changed(const OpenedFile& file) {
  return {ErrorCode::kUnavailable, std::string(file.name) + ": it changed"};
}

bool is_whole(const OpenedFile& file) { return file.cached != nullptr || is_still(file); }

}  // namespace

ZipEntries::ZipEntries(Files& files, MemoryBudget& budget, std::int64_t most_bytes,
                       UnsizedBody& body)
    : files_(files),
      budget_(budget),
      most_bytes_(most_bytes),
      body_(body),
      granted_bytes_(kWithoutAsking) {}

base::Status ZipEntries::add_file(std::string_view name, std::string_view inside) {
  base::Status sent = base::kDone;
  for (int look = 0; look < kLooks; ++look) {
    if (look > 0) base::pause_ms(kLookAgainMs);
    const auto file = files_.open(name);
    if (!file && file.error().code == ErrorCode::kNotFound) return base::kDone;
    if (!file) return file.error();
    const std::uint64_t before = body_.size_bytes();
    sent = send(*file, inside);
    const bool has_begun = body_.size_bytes() > before;
    if (sent || has_begun || sent.error().code != ErrorCode::kUnavailable) return sent;
  }
  return sent;
}

base::Status ZipEntries::add_folder(std::string_view inside, std::int64_t modified_s) {
  const zip::Entry entry{.name = inside, .modified_s = modified_s};
  const std::uint64_t offset = body_.size_bytes();
  std::string header;
  zip::append_local_header(entry, header);
  body_.add(header);
  return note(entry, true, offset);
}

void ZipEntries::end() {
  const std::uint64_t offset = body_.size_bytes();
  for (const std::string& block : directory_.blocks()) body_.add(block);
  std::string end;
  directory_.append_end(offset, end);
  body_.add(end);
}

// The record of an entry that was sent.
base::Status ZipEntries::note(const zip::Entry& entry, bool had_crc, std::uint64_t offset) {
  directory_.add(entry, had_crc, offset);
  while (static_cast<std::int64_t>(directory_.memory_bytes()) > granted_bytes_) {
    auto share = granted_bytes_ < most_bytes_ ? budget_.take(kShareBytes) : std::nullopt;
    if (!share) return Error{ErrorCode::kInternal, "there are too many names for one zip"};
    shares_.push_back(std::move(*share));
    granted_bytes_ += kShareBytes;
  }
  return base::kDone;
}

base::Status ZipEntries::send(const OpenedFile& file, std::string_view inside) {
  if (file.cached == nullptr && !file.was_settled) return changed(file);
  const zip::Entry entry{.name = inside,
                         .modified_s = file.version.modified_ns / base::kNsPerS,
                         .size_bytes = file.size_bytes(),
                         .crc = std::nullopt};
  return file.size_bytes() <= kReadBytes ? send_short(file, entry) : send_long(file, entry);
}

// It is read before its header is sent, which so has the CRC.
base::Status ZipEntries::send_short(const OpenedFile& file, zip::Entry entry) {
  const auto bytes = read(file, 0, file.size_bytes());
  if (!bytes || !is_whole(file)) return changed(file);
  entry.crc = zip::crc_with(0, *bytes);
  const std::uint64_t offset = body_.size_bytes();
  std::string header;
  zip::append_local_header(entry, header);
  body_.add(header);
  body_.add(*bytes);
  return note(entry, true, offset);
}

base::Status ZipEntries::send_long(const OpenedFile& file, zip::Entry entry) {
  const std::uint64_t offset = body_.size_bytes();
  std::string text;
  zip::append_local_header(entry, text);
  if (!body_.add(text)) return base::kDone;
  std::uint32_t crc = 0;
  for (std::uint64_t done = 0; done < entry.size_bytes;) {
    const std::uint64_t left = entry.size_bytes - done;
    const auto piece = read(file, done, std::min<std::uint64_t>(left, kReadBytes));
    done += piece ? piece->size() : 0;
    // The last piece is only sent if the file has not changed since it was opened.
    if (!piece || (done == entry.size_bytes && !is_whole(file))) return changed(file);
    crc = zip::crc_with(crc, *piece);
    if (!body_.add(*piece)) return base::kDone;
  }
  entry.crc = crc;
  text.clear();
  zip::append_descriptor(entry, text);
  body_.add(text);
  return note(entry, false, offset);
}

// Valid until the next call. Nothing if the file ends before, or cannot be read.
std::optional<std::string_view> ZipEntries::read(const OpenedFile& file, std::uint64_t begin,
                                                 std::size_t size_bytes) {
  if (size_bytes == 0) return std::string_view();
  if (file.cached != nullptr && file.cached->region.is_empty()) {
    const auto bytes = file.cached->bytes().subspan(begin, size_bytes);
    return std::string_view(bytes.data(), bytes.size());
  }
  if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<char[]>(kReadBytes);
  net::FilePart part{file.fd.get(), 0, 0};
  if (file.cached != nullptr) part = file.cached->region.part(file.version.size_bytes);
  const std::span<char> into(buffer_.get(), size_bytes);
  const auto at = part.offset + static_cast<std::int64_t>(begin);
  const ssize_t got = file.cached != nullptr
                          ? base::read_fully_at(part.fd, into, at)
                          : base::may_block([&] { return base::read_fully_at(part.fd, into, at); });
  if (got != static_cast<ssize_t>(size_bytes)) return {};
  return std::string_view(buffer_.get(), size_bytes);
}

}  // namespace fileserver
