#include "fileserver/files/digests.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/file_io.h"
#include "base/waits.h"

namespace fileserver {

namespace {

using base::Error;
using base::ErrorCode;
using base::Sha256Digest;
using IsWanted = std::function<bool()>;

// Read in a fraction of a millisecond from memory, so that a client that is gone, and a file that
// has changed, are soon noticed.
constexpr std::size_t kHashedAtOnceBytes = 256 * 1024;

constexpr int kLookAgainMs = 50;

Error unavailable(const OpenedFile& file, std::string_view reason) {
  return {ErrorCode::kUnavailable, std::string(file.name) + ": " + std::string(reason)};
}

Error ended(const OpenedFile& file) {
  return unavailable(file, "the digest is not wanted any more");
}

bool has_changed(const OpenedFile& file) { return file.cached == nullptr && !is_still(file); }

base::Result<Sha256Digest> digest_of(std::span<const char> bytes, const OpenedFile& file,
                                     const IsWanted& may_go_on) {
  base::Sha256 sha256;
  while (!bytes.empty()) {
    if (!may_go_on()) return ended(file);
    const auto piece = bytes.first(std::min(bytes.size(), kHashedAtOnceBytes));
    sha256.add(piece);
    bytes = bytes.subspan(piece.size());
  }
  return sha256.finish();
}

base::Result<Sha256Digest> digest_of(const net::FilePart& part, const OpenedFile& file,
                                     const IsWanted& may_go_on) {
  base::Sha256 sha256;
  const auto buffer =
      std::make_unique_for_overwrite<char[]>(std::min(part.size_bytes, kHashedAtOnceBytes));
  for (std::size_t done = 0; done < part.size_bytes;) {
    if (has_changed(file)) return unavailable(file, "the file changed");
    if (!may_go_on()) return ended(file);
    const std::span piece(buffer.get(), std::min(part.size_bytes - done, kHashedAtOnceBytes));
    const ssize_t got =
        base::read_fully_at(part.fd, piece, part.offset + static_cast<std::int64_t>(done));
    if (got < 0)
      return base::errno_error(ErrorCode::kInternal, "read " + std::string(file.name), errno);
    if (got < static_cast<ssize_t>(piece.size())) return unavailable(file, "the file changed");
    sha256.add(piece);
    done += piece.size();
  }
  return sha256.finish();
}

base::Result<Sha256Digest> compute(const OpenedFile& file, const IsWanted& may_go_on) {
  if (file.cached != nullptr && file.cached->region.is_empty())
    return digest_of(file.cached->bytes(), file, may_go_on);
  if (file.cached != nullptr)
    return digest_of(file.cached->region.part(file.version.size_bytes), file, may_go_on);
  auto digest = digest_of({file.fd.get(), 0, file.size_bytes()}, file, may_go_on);
  if (digest && has_changed(file)) return unavailable(file, "the file changed");
  return digest;
}

}  // namespace

// The turn to compute the digest of a version, given back by the destructor.
class Digests::Turn {
 public:
  Turn(Digests& digests, const FileVersion& version, const IsWanted& may_go_on)
      : digests_(digests), version_(version), wait_(digests.take_turn(version, may_go_on)) {}
  ~Turn() {
    if (wait_ == Wait::kTaken) digests_.end_turn(version_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  Wait wait() const { return wait_; }

 private:
  Digests& digests_;
  const FileVersion& version_;
  const Wait wait_;
};

base::Result<Sha256Digest> Digests::of(const OpenedFile& file, const IsWanted& may_go_on) {
  if (!file.was_settled) return unavailable(file, "the file is changing");
  if (const auto kept = known(file)) return *kept;
  const Turn turn(*this, file.version, may_go_on);
  if (turn.wait() == Wait::kEnded) return ended(file);
  if (turn.wait() == Wait::kTooLong) return unavailable(file, "other digests are computed");
  if (const auto kept = known(file)) return *kept;  // who had the turn before has computed it
  const auto digest = base::may_block([&] { return compute(file, may_go_on); });
  if (!digest) return digest;
  if (is_settled(file.version)) table_.note(file.version, *digest);
  if (file.cached != nullptr) file.cached->digest.set(*digest);
  return digest;
}

// A file that was removed may have left its inode to one of the same size. Within a tick of the
// clock of the file system both have the same times, so the table has neither yet.
std::optional<Sha256Digest> Digests::known(const OpenedFile& file) const {
  if (file.cached != nullptr) {
    if (const auto kept = file.cached->digest.get()) return kept;
  }
  return is_settled(file.version) ? table_.find(file.version) : std::nullopt;
}

// The client of whoever has the turn may leave, so that the turn is free without a digest. And this
// one's own client may leave. Who waits for the digest of the same version waits as long as that
// takes.
Digests::Wait Digests::take_turn(const FileVersion& version, const IsWanted& may_go_on) {
  const auto deadline = base::Deadline::in_ms(limits_.wait_ms);
  do {
    const base::Lock lock(mutex_);
    if (!is_free(version)) one_ended_.wait_ms(mutex_, kLookAgainMs);
    if (is_free(version)) {
      under_way_.push_back(version);
      return Wait::kTaken;
    }
    if (!is_under_way(version) && deadline.has_passed()) return Wait::kTooLong;
  } while (may_go_on());
  return Wait::kEnded;
}

bool Digests::is_free(const FileVersion& version) const {
  return under_way_.size() < limits_.at_once && !is_under_way(version);
}

void Digests::end_turn(const FileVersion& version) {
  const base::Lock lock(mutex_);
  std::erase_if(under_way_,
                [&](const FileVersion& one) { return have_same_content(one, version); });
  one_ended_.wake_all();
}

bool Digests::is_under_way(const FileVersion& version) const {
  return std::ranges::any_of(
      under_way_, [&](const FileVersion& one) { return have_same_content(one, version); });
}

std::optional<base::Sha256Digest> DigestTable::find(const FileVersion& version) const {
  const base::Lock lock(mutex_);
  const Slot& slot = slots_[version.inode % kSlots];
  if (!have_same_content(slot.version, version)) return {};
  return slot.digest;
}

void DigestTable::note(const FileVersion& version, const base::Sha256Digest& digest) {
  const base::Lock lock(mutex_);
  slots_[version.inode % kSlots] = {version, digest};
}

}  // namespace fileserver
