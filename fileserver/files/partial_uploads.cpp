#include "fileserver/files/partial_uploads.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <iterator>
#include <set>
#include <utility>

#include "base/completes.h"
#include "base/file_io.h"
#include "base/waits.h"
#include "fileserver/files/folder_syncs.h"
#include "fileserver/files/open_folder.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

namespace {

constexpr std::size_t kMostComplete = 256;  // of a user, that are still known
constexpr std::int64_t kCompleteS = 3600;   // that they are known
constexpr std::int64_t kStraySeconds = 60;  // a file that belongs to no state, not yet perhaps

std::string random_id() {
  std::array<std::uint64_t, 2> number{};
  base::retried([&] { return ::getrandom(number.data(), sizeof number, 0); });
  return fmt::format("{:016x}{:016x}", number[0], number[1]);
}

}  // namespace

PartialUploads::PartialUploads(std::shared_ptr<const Fence> fence, const Limits& limits,
                               Trash* trash)
    : fence_(std::move(fence)), limits_(limits), trash_(trash) {
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

bool PartialUploads::is_folder_name(std::string_view last) { return last == kPartsFolder; }

net::Fd PartialUploads::open_folder(bool makes_it) const {
  const std::string path = fence_->root_path() + "/" + std::string(kPartsFolder);
  constexpr mode_t kMode = 0700;
  if (makes_it && ::mkdir(path.c_str(), kMode) == 0) {
    const net::Fd root(::open(fence_->root_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (root.is_open()) base::sync(root.get());
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
    known->second.synced_bytes = upload.synced_bytes_;
  }
  const auto found = busy_.find(upload.id_);
  found->second.connection = -1;
  if (--found->second.users == 0) busy_.erase(found);
}

void PartialUploads::note(const PartialUpload& upload) {
  const base::Lock lock(mutex_);
  known_[upload.id_] = {upload.state_.user, upload.offset_bytes_, upload.synced_bytes_,
                        upload.changed_s_, upload.state_.is_complete};
}

std::uint64_t PartialUploads::synced_bytes_of(const PartialUpload& upload) {
  const base::Lock lock(mutex_);
  const auto known = known_.find(upload.id_);
  return known == known_.end() ? 0 : known->second.synced_bytes;
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
    known_[upload->id_] = {.user = upload->state_.user, .changed_s = upload->changed_s_};
  }
  const bool is_made = base::may_block_with_errno([&] {
    forget_complete_of(upload->state_.user);
    upload->folder_ = open_folder(true);
    if (!upload->folder_.is_open()) return false;
    constexpr mode_t kMode = 0666;  // less what umask takes, as for any file that is sent
    upload->fd_ = net::Fd(::openat(upload->folder_.get(), upload->id_.c_str(),
                                   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
    if (!upload->fd_.is_open()) return false;
    ::flock(upload->fd(), LOCK_EX | LOCK_NB);
    if (upload->write(true)) return true;
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
  const bool is_his = base::may_block_with_errno([&] {
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
  if (!base::may_block_with_errno([&] { return load(*upload); })) return {};
  if (is_old(upload->state_, upload->changed_s_)) {
    upload->remove();
    errno = ENOENT;
    return {};
  }
  return upload;
}

// Whether the file is there, on disk. A second link alone says nothing: the upload may have had a
// hidden name when its server was killed, or the owner copies the folder by links.
bool PartialUploads::has_its_name(const PartialUpload& upload, const struct stat& status) const {
  const std::string name = file_name_of(upload.state_);
  if (status.st_nlink < 2 || name.empty()) return false;
  const std::size_t slash = name.rfind('/');
  const bool is_at_top = slash == std::string::npos;
  const auto folder = fence_->find_folder(name.substr(0, is_at_top ? 0 : slash));
  const std::string last = name.substr(is_at_top ? 0 : slash + 1);
  struct stat there {};
  if (!folder || ::fstatat(folder->fd.get(), last.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  if (there.st_dev != status.st_dev || there.st_ino != status.st_ino) return false;
  const net::Fd fd(::openat(folder->fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.is_open() && sync_folder(fd.get()) == 0;
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
  if (has_its_name(upload, status)) {  // nobody may write to it
    upload.complete();
  } else if (upload.state_.kept_bytes && !upload.end_check(false)) {
    return false;
  }
  // What was told to be on disk is. Nobody knows that of what an earlier server has received.
  upload.synced_bytes_ = std::min(synced_bytes_of(upload), upload.offset_bytes_);
  const bool is_synced = upload.state_.is_complete || upload.synced_bytes_ == upload.offset_bytes_;
  if (!is_synced && !upload.sync()) return false;
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
  remove_state(folder.get(), oldest);
}

void PartialUploads::look_at(int folder, const std::string& id) {
  struct stat status {};
  const bool has_bytes = ::fstatat(folder, id.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  std::int64_t changed_s = has_bytes ? status.st_mtim.tv_sec : 0;
  const auto state = read_state(folder, id, changed_s);
  const bool is_whole = state && (has_bytes || state->is_complete) && !is_old(*state, changed_s);
  if (is_whole) {
    const base::Lock lock(mutex_);
    known_.try_emplace(id, Known{.user = state->user,
                                 .size_bytes = static_cast<std::uint64_t>(status.st_size),
                                 .changed_s = changed_s,
                                 .is_complete = state->is_complete});
    return;
  }
  if (!state && changed_s + kStraySeconds > std::time(nullptr)) return;
  PartialUpload upload(*this, id);
  if (load(upload) ? is_old(upload.state_, upload.changed_s_) : errno == ENOENT) upload.remove();
}

void PartialUploads::remove_old() {
  const net::Fd folder = open_folder(false);
  if (!folder.is_open()) return;
  const OpenFolder list = open_names(folder.get());
  if (list == nullptr) return;
  std::set<std::string> ids;
  while (const dirent* const entry = next_entry(list)) {
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
