#include "fileserver/files/partial_uploads.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "base/completes.h"
#include "base/file_io.h"
#include "base/waits.h"
#include "fileserver/files/open_folder.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

namespace {

constexpr std::string_view kFolderName = ".turnstile-upload-parts";
static_assert(kFolderName.starts_with(kUploadPrefix), "nothing in it is served");
constexpr std::string_view kStateEnd = ".state";
constexpr std::string_view kNewEnd = ".new";  // a state that is being written
constexpr std::string_view kFormat = "turnstile-parts-1";
constexpr std::size_t kMostStateBytes = 32 << 10;
constexpr std::size_t kMostComplete = 256;     // of a user, that are still known
constexpr std::int64_t kCompleteS = 3600;      // that they are known
constexpr std::int64_t kStraySeconds = 60;     // a file that belongs to no state, not yet perhaps
constexpr std::uint64_t kStepBytes = 8 << 20;  // between two looks at the room on the disk
constexpr std::uint64_t kShareOfUser = 2;      // of the file system: a half
constexpr std::uint64_t kShareLeftFree = 20;   // a twentieth, but not more than this
constexpr std::uint64_t kMostLeftFree = 256 << 20;

// Calls work() where it may block. Returns what it does, with its errno.
template <typename Work>
bool elsewhere(Work work) {
  const int failure = base::may_block_long([&] {
    errno = 0;
    if (work()) return 0;
    return errno != 0 ? errno : EIO;
  });
  errno = failure;
  return failure == 0;
}

std::string random_id() {
  std::array<std::uint64_t, 2> number{};
  base::retried([&] { return ::getrandom(number.data(), sizeof number, 0); });
  return fmt::format("{:016x}{:016x}", number[0], number[1]);
}

std::string text_of(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string text_of(const PartialState& state) {
  return fmt::format("{} {} {} {} {} {}\n{}", kFormat,
                     state.protocol == PartialState::Protocol::kTus ? "tus" : "parts", state.user,
                     text_of(state.length_bytes), text_of(state.kept_bytes),
                     state.is_complete ? "complete" : "-", state.head);
}

std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::optional<std::uint64_t> number_in(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (failure != std::errc() || end != word.data() + word.size()) return {};
  return number;
}

std::optional<PartialState> parsed_state(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  std::string_view line = text.substr(0, end);
  if (take_word(line) != kFormat) return {};
  PartialState state;
  state.protocol =
      take_word(line) == "tus" ? PartialState::Protocol::kTus : PartialState::Protocol::kParts;
  state.user = take_word(line);
  state.length_bytes = number_in(take_word(line));
  state.kept_bytes = number_in(take_word(line));
  state.is_complete = take_word(line) == "complete";
  state.head = text.substr(end + 1);
  return state;
}

// Nothing with errno if there is no such file, or it is none of ours.
std::optional<PartialState> read_state(int folder, const std::string& id, std::int64_t& changed_s) {
  const std::string name = id + std::string(kStateEnd);
  const net::Fd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!fd.is_open() || ::fstat(fd.get(), &status) != 0) return {};
  changed_s = std::max<std::int64_t>(changed_s, status.st_mtim.tv_sec);
  std::string text(kMostStateBytes, '\0');
  const ssize_t size = base::read_fully_at(fd.get(), text, 0);
  if (size < 0) return {};
  text.resize(static_cast<std::size_t>(size));
  auto state = parsed_state(text);
  if (!state) errno = ENOENT;
  return state;
}

bool write_at(int fd, std::span<const char> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = base::retried(
        [&] { return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (written <= 0) {
      if (written == 0) errno = EIO;
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

bool sync_fd(int fd) {
  return base::retried([&] { return ::fsync(fd); }) == 0;
}

}  // namespace

PartialUpload::PartialUpload(PartialUploads& owner, std::string id)
    : owner_(owner), id_(std::move(id)) {
  owner_.take(*this);
}

PartialUpload::~PartialUpload() { owner_.let_go(*this); }

std::int64_t PartialUpload::left_s() const {
  return std::max<std::int64_t>(0, changed_s_ + owner_.keep_s_of(state_) - std::time(nullptr));
}

void PartialUpload::receive_from(int connection) { owner_.receive_from(*this, connection); }

bool PartialUpload::is_wanted() const { return owner_.is_wanted(*this); }

bool PartialUpload::has_room_for(std::uint64_t bytes) const {
  return elsewhere([&] {
    struct statvfs status {};
    if (::fstatvfs(fd_.get(), &status) != 0 || status.f_blocks == 0) return true;
    const std::uint64_t all = std::uint64_t{status.f_blocks} * status.f_frsize;
    const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
    owner_.note(*this);
    const std::uint64_t own = owner_.total_of(state_.user).bytes;
    const bool has_room = bytes <= all && own + bytes <= all / kShareOfUser &&
                          bytes + std::min(all / kShareLeftFree, kMostLeftFree) <= free;
    if (!has_room) errno = ENOSPC;
    return has_room;
  });
}

bool PartialUpload::append(std::span<const char> bytes) {
  if (is_wanted()) {
    errno = ECANCELED;
    return false;
  }
  const std::uint64_t end = offset_bytes_ + bytes.size();
  if (end > room_checked_up_to_) {
    const bool has_much = has_room_for(kStepBytes);
    if (!has_much && !has_room_for(bytes.size())) return false;
    room_checked_up_to_ = has_much ? end + kStepBytes : end;
  }
  return elsewhere([&] {
    if (!write_at(fd_.get(), bytes, offset_bytes_)) {
      const int failure = errno;
      cut_to(offset_bytes_);
      errno = failure;
      return false;
    }
    const auto block = static_cast<off_t>(offset_bytes_ / kStepBytes * kStepBytes);
    const auto next = static_cast<off_t>(end / kStepBytes * kStepBytes);
    if (next > block) ::sync_file_range(fd_.get(), block, next - block, SYNC_FILE_RANGE_WRITE);
    offset_bytes_ = end;
    changed_s_ = std::time(nullptr);
    return true;
  });
}

bool PartialUpload::cut_to(std::uint64_t size_bytes) {
  return base::retried([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size_bytes)); }) == 0;
}

bool PartialUpload::sync() {
  return elsewhere([&] { return sync_fd(fd_.get()); });
}

bool PartialUpload::write_state(bool is_durable) {
  const std::string name = id_ + std::string(kStateEnd);
  const std::string next = id_ + std::string(kNewEnd);
  constexpr mode_t kMode = 0600;
  const int folder = folder_.get();
  const net::Fd fd(
      ::openat(folder, next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, kMode));
  const bool is_written = fd.is_open() && base::write_all(fd.get(), text_of(state_)) &&
                          sync_fd(fd.get()) &&
                          ::renameat(folder, next.c_str(), folder, name.c_str()) == 0 &&
                          (!is_durable || sync_fd(folder));
  if (is_written) return true;
  const int failure = errno;
  ::unlinkat(folder, next.c_str(), 0);
  errno = failure;
  return false;
}

bool PartialUpload::set_length(std::uint64_t length_bytes) {
  state_.length_bytes = length_bytes;
  return elsewhere([&] { return write_state(false); });
}

bool PartialUpload::begin_check() {
  state_.kept_bytes = offset_bytes_;
  return elsewhere([&] { return write_state(false); });
}

bool PartialUpload::end_check(bool holds) {
  const std::uint64_t kept = std::exchange(state_.kept_bytes, std::nullopt).value_or(offset_bytes_);
  return elsewhere([&] {
    if (!holds) {
      if (!cut_to(kept)) return false;
      offset_bytes_ = kept;
    }
    return (!holds || sync_fd(fd_.get())) && write_state(false);
  });
}

std::optional<base::Sha256Digest> PartialUpload::digest() {
  base::Sha256 sha256;
  const bool is_read = elsewhere([&] {
    std::vector<char> piece(1 << 20);
    for (std::uint64_t at = 0; at < offset_bytes_;) {
      const ssize_t size = base::read_at(fd_.get(), piece, static_cast<std::int64_t>(at));
      if (size <= 0) {
        if (size == 0) errno = EIO;
        return false;
      }
      sha256.add(std::span(piece).first(static_cast<std::size_t>(size)));
      at += static_cast<std::uint64_t>(size);
    }
    return true;
  });
  if (!is_read) return {};
  return sha256.finish();
}

void PartialUpload::complete() {
  state_.is_complete = true;
  state_.length_bytes = offset_bytes_;
  const bool is_kept = elsewhere([&] {
    if (!write_state(true)) return false;
    drop_bytes();
    return true;
  });
  if (!is_kept) remove();
}

void PartialUpload::drop_bytes() { ::unlinkat(folder_.get(), id_.c_str(), 0); }

void PartialUpload::remove() {
  is_removed_ = true;
  base::may_block_long([&] {
    ::unlinkat(folder_.get(), (id_ + std::string(kStateEnd)).c_str(), 0);
    ::unlinkat(folder_.get(), id_.c_str(), 0);
    ::unlinkat(folder_.get(), (id_ + std::string(kNewEnd)).c_str(), 0);
    fd_ = {};
  });
}

PartialUploads::PartialUploads(std::shared_ptr<const Fence> fence, const Limits& limits)
    : fence_(std::move(fence)), limits_(limits) {
  remove_old();
  thread_ = std::thread([this] { run(); });
}

PartialUploads::~PartialUploads() {
  {
    const base::Lock lock(mutex_);
    is_stopped_ = true;
  }
  stops_.wake_all();
  thread_.join();
}

bool PartialUploads::is_id(std::string_view text) {
  return text.size() == kIdSize && std::ranges::all_of(text, [](char byte) {
           return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
         });
}

bool PartialUploads::is_folder_name(std::string_view last) { return last == kFolderName; }

net::Fd PartialUploads::open_folder(bool makes_it) const {
  const std::string path = fence_->root_path() + "/" + std::string(kFolderName);
  constexpr mode_t kMode = 0700;
  if (makes_it && ::mkdir(path.c_str(), kMode) == 0) {
    const net::Fd root(::open(fence_->root_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (root.is_open()) sync_fd(root.get());
  }
  return net::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::int64_t PartialUploads::keep_s_of(const PartialState& state) const {
  return state.is_complete ? std::min(limits_.keep_s, kCompleteS) : limits_.keep_s;
}

bool PartialUploads::is_old(const PartialState& state, std::int64_t changed_s) const {
  return changed_s + keep_s_of(state) <= std::time(nullptr);
}

// Shutting down the reading side ends a request that waits for its body. It is done under the
// mutex, so that the socket is still that of the request.
void PartialUploads::take(PartialUpload& upload) {
  {
    const base::Lock lock(mutex_);
    Busy& busy = busy_[upload.id_];
    ++busy.users;
    upload.ticket_ = ++busy.newest_ticket;
    if (busy.connection >= 0) ::shutdown(busy.connection, SHUT_RD);
  }
  upload.turn_.emplace(turns_, upload.id_);
}

void PartialUploads::receive_from(const PartialUpload& upload, int connection) {
  const base::Lock lock(mutex_);
  Busy& busy = busy_[upload.id_];
  busy.connection = connection;
  if (connection >= 0 && busy.newest_ticket != upload.ticket_) ::shutdown(connection, SHUT_RD);
}

bool PartialUploads::is_wanted(const PartialUpload& upload) {
  const base::Lock lock(mutex_);
  const auto found = busy_.find(upload.id_);
  return found != busy_.end() && found->second.newest_ticket != upload.ticket_;
}

void PartialUploads::let_go(PartialUpload& upload) {
  const base::Lock lock(mutex_);
  if (upload.is_removed_) {
    known_.erase(upload.id_);
  } else if (const auto known = known_.find(upload.id_); known != known_.end()) {
    known->second.size_bytes = upload.state_.is_complete ? 0 : upload.offset_bytes_;
    known->second.is_complete = upload.state_.is_complete;
    known->second.changed_s = upload.changed_s_;
  }
  const auto found = busy_.find(upload.id_);
  found->second.connection = -1;
  if (--found->second.users == 0) busy_.erase(found);
}

void PartialUploads::note(const PartialUpload& upload) {
  const base::Lock lock(mutex_);
  known_[upload.id_] = {upload.state_.user, upload.offset_bytes_, upload.changed_s_,
                        upload.state_.is_complete};
}

PartialUploads::Total PartialUploads::total_of(std::string_view user) {
  Total total;
  const base::Lock lock(mutex_);
  for (const auto& [id, known] : known_) {
    if (known.user != user || known.is_complete) continue;
    ++total.unfinished;
    total.bytes += known.size_bytes;
  }
  return total;
}

PartialUploads::Held PartialUploads::create(PartialState state) {
  Held upload(new PartialUpload(*this, random_id()));
  upload->is_removed_ = true;
  upload->state_ = std::move(state);
  upload->changed_s_ = std::time(nullptr);
  {
    const base::Lock lock(mutex_);
    std::size_t of_user = 0;
    std::size_t of_all = 0;
    for (const auto& [id, known] : known_) {
      if (known.is_complete) continue;
      ++of_all;
      if (known.user == upload->state_.user) ++of_user;
    }
    if (of_user >= limits_.of_user || of_all >= limits_.of_all) {
      errno = of_user >= limits_.of_user ? ETOOMANYREFS : EUSERS;
      return {};
    }
    known_[upload->id_] = {upload->state_.user, 0, upload->changed_s_, false};
  }
  const bool is_made = elsewhere([&] {
    forget_complete_of(upload->state_.user);
    upload->folder_ = open_folder(true);
    if (!upload->folder_.is_open()) return false;
    constexpr mode_t kMode = 0666;  // less what umask takes, as for any file that is sent
    upload->fd_ = net::Fd(::openat(upload->folder_.get(), upload->id_.c_str(),
                                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
    if (!upload->fd_.is_open()) return false;
    ::flock(upload->fd(), LOCK_EX | LOCK_NB);
    if (upload->write_state(true)) return true;
    const int failure = errno;
    ::unlinkat(upload->folder_.get(), upload->id_.c_str(), 0);
    errno = failure;
    return false;
  });
  if (!is_made) return {};
  upload->is_removed_ = false;
  return upload;
}

PartialUploads::Held PartialUploads::open(std::string_view id, std::string_view user,
                                          PartialState::Protocol protocol, For purpose) {
  errno = ENOENT;
  if (!is_id(id)) return {};
  // Whoever may not have it disturbs nobody who has.
  PartialState found;
  const bool is_his = elsewhere([&] {
    std::int64_t changed_s = 0;
    const net::Fd folder = open_folder(false);
    if (!folder.is_open()) return false;
    auto state = read_state(folder.get(), std::string(id), changed_s);
    if (!state) return false;
    errno = ENOENT;
    return state->user == user && state->protocol == protocol;
  });
  if (!is_his) return {};
  Held upload(new PartialUpload(*this, std::string(id)));
  if (purpose == For::kAppend && upload->is_wanted()) {
    errno = EBUSY;
    return {};
  }
  if (!elsewhere([&] { return load(*upload); })) return {};
  if (is_old(upload->state_, upload->changed_s_)) {
    upload->remove();
    errno = ENOENT;
    return {};
  }
  return upload;
}

// Reads what is on disk. What an earlier server was killed in is brought to its end: the bytes are
// gone, or have a second name, once the file has its name.
bool PartialUploads::load(PartialUpload& upload) {
  upload.folder_ = open_folder(false);
  if (!upload.folder_.is_open()) return false;
  auto state = read_state(upload.folder_.get(), upload.id_, upload.changed_s_);
  if (!state) return false;
  upload.state_ = std::move(*state);
  upload.offset_bytes_ = upload.state_.length_bytes.value_or(0);
  if (upload.state_.is_complete) {
    note(upload);
    return true;
  }
  upload.fd_ = net::Fd(::openat(upload.folder_.get(), upload.id_.c_str(),
                                O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!upload.fd_.is_open() && errno == ENOENT && upload.state_.length_bytes) {
    upload.complete();
    return !upload.is_removed_;
  }
  struct stat status {};
  if (!upload.fd_.is_open() || ::fstat(upload.fd(), &status) != 0) return false;
  if (::flock(upload.fd(), LOCK_EX | LOCK_NB) != 0) {
    errno = EBUSY;
    return false;
  }
  upload.offset_bytes_ = static_cast<std::uint64_t>(status.st_size);
  upload.changed_s_ = std::max<std::int64_t>(upload.changed_s_, status.st_mtim.tv_sec);
  if (status.st_nlink > 1) {  // it has its name already, and nobody may write to it
    upload.complete();
  } else if (const auto kept = upload.state_.kept_bytes; kept && *kept < upload.offset_bytes_) {
    if (!upload.end_check(false)) return false;
  }
  if (!upload.is_removed_) note(upload);
  errno = ENOENT;
  return !upload.is_removed_;
}

// Called where it may block.
void PartialUploads::forget_complete_of(std::string_view user) {
  std::string oldest;
  {
    const base::Lock lock(mutex_);
    std::size_t count = 0;
    std::int64_t oldest_s = INT64_MAX;
    for (const auto& [id, known] : known_) {
      if (known.user != user || !known.is_complete) continue;
      ++count;
      if (known.changed_s >= oldest_s) continue;
      oldest_s = known.changed_s;
      oldest = id;
    }
    if (count < kMostComplete) return;
    known_.erase(oldest);
  }
  const net::Fd folder = open_folder(false);
  ::unlinkat(folder.get(), (oldest + std::string(kStateEnd)).c_str(), 0);
}

void PartialUploads::look_at(int folder, const std::string& id) {
  struct stat status {};
  const bool has_bytes = ::fstatat(folder, id.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  std::int64_t changed_s = has_bytes ? status.st_mtim.tv_sec : 0;
  const auto state = read_state(folder, id, changed_s);
  const bool is_whole = state && (has_bytes || state->is_complete) && !is_old(*state, changed_s);
  if (is_whole) {
    const base::Lock lock(mutex_);
    known_.try_emplace(id, Known{state->user, static_cast<std::uint64_t>(status.st_size), changed_s,
                                 state->is_complete});
    return;
  }
  if (!state && changed_s + kStraySeconds > std::time(nullptr)) return;
  PartialUpload upload(*this, id);
  if (load(upload) ? is_old(upload.state_, upload.changed_s_) : errno == ENOENT) upload.remove();
}

void PartialUploads::remove_old() {
  const net::Fd folder = open_folder(false);
  if (!folder.is_open()) return;
  const OpenFolder list(::fdopendir(::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0)));
  if (list == nullptr) return;
  std::set<std::string> ids;
  while (const dirent* const entry = ::readdir(list.get())) {
    const std::string_view name = entry->d_name;
    const std::string_view id = name.substr(0, kIdSize);
    if (is_id(id) && (name.size() == kIdSize || name.ends_with(kStateEnd))) ids.emplace(id);
  }
  {
    const base::Lock lock(mutex_);  // another server may have removed some
    for (auto known = known_.begin(); known != known_.end();) {
      const bool is_gone = !ids.contains(known->first) && !busy_.contains(known->first);
      known = is_gone ? known_.erase(known) : std::next(known);
    }
  }
  for (const std::string& id : ids) look_at(folder.get(), id);
}

void PartialUploads::run() {
  constexpr std::int64_t kMostPauseS = 600;
  const int pause_ms =
      static_cast<int>(std::clamp<std::int64_t>(limits_.keep_s / 10, 1, kMostPauseS)) * 1000;
  for (;;) {
    const auto deadline = base::Deadline::in_ms(pause_ms);
    mutex_.lock();
    while (!is_stopped_ && !deadline.has_passed()) stops_.wait_ms(mutex_, deadline.left_ms());
    const bool is_stopped = is_stopped_;
    mutex_.unlock();
    if (is_stopped) return;
    static_cast<void>(
        base::completes("cannot remove unfinished uploads", [this] { remove_old(); }));
  }
}

}  // namespace fileserver
