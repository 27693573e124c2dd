#include "fileserver/files/trash.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include "base/clock.h"
#include "base/completes.h"
#include "base/file_io.h"
#include "fileserver/files/folder_syncs.h"
#include "fileserver/files/open_folder.h"
#include "fileserver/files/tree_removal.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

namespace {

constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr int kTidyEveryMs = 600'000;
constexpr std::size_t kMostKeptBytes = 16 << 20;       // of names
constexpr std::size_t kBytesOfEntry = 128;             // that one takes beside its text
constexpr std::int64_t kLeftNs = 600 * base::kNsPerS;  // so old is no record that is being made

// Returns false if the folder could not be read to its end.
template <typename Visit>
bool each_name_in(int folder, Visit visit) {
  const OpenFolder list = open_names(folder);
  if (list == nullptr) return false;
  while (const dirent* const entry = next_entry(list)) visit(std::string_view(entry->d_name));
  return errno == 0;
}

bool is_or_is_below(std::string_view one, std::string_view name) {
  return one.starts_with(name) && (one.size() == name.size() || one[name.size()] == '/');
}

std::optional<std::string> taken_from(std::unordered_map<std::string, std::string>& values,
                                      const std::string& key) {
  auto node = values.extract(key);
  if (node.empty()) return {};
  return std::move(node.mapped());
}

// As read_record().
std::optional<std::string> name_in_record(int folder, const std::string& id) {
  auto record = read_record(folder, id);
  return record ? std::optional(std::move(record->name)) : std::nullopt;
}

// The names in the folder that `wanted` returns true for.
template <typename Wanted>
std::vector<std::string> names_in(int folder, Wanted wanted) {
  std::vector<std::string> names;
  each_name_in(folder, [&](std::string_view name) {
    if (wanted(name)) names.emplace_back(name);
  });
  return names;
}

// The first IDs in this order, sorted by it.
template <typename Order>
std::vector<std::string> first_ids_in(int folder, std::size_t most, Order is_before) {
  std::vector<std::string> ids;
  const auto drop_others = [&] {
    std::ranges::sort(ids, is_before);
    if (ids.size() > most) ids.resize(most);
  };
  each_name_in(folder, [&](std::string_view name) {
    if (!is_trash_id(name)) return;
    ids.emplace_back(name);
    if (ids.size() > 2 * most) drop_others();
  });
  drop_others();
  return ids;
}

// Whether XFS or ext4 limits what is in the folder (a project).
bool has_quota(int folder) {
  struct fsxattr attributes {};
  return ::ioctl(folder, FS_IOC_FSGETXATTR, &attributes) == 0 && attributes.fsx_projid != 0;
}

// Adds up what the files below the folder take. What is too deep, or too much, does not count.
class Sizes {
 public:
  explicit Sizes(dev_t device) : device_(device) {}

  std::uint64_t of(int folder, int depth) {
    constexpr int kDeepest = 64;
    std::uint64_t bytes = 0;
    for (const std::string& name :
         names_in(folder, [this](std::string_view) { return --left_ > 0; })) {
      struct stat status {};
      if (!status_at(folder, name, status) || status.st_dev != device_) continue;
      if (S_ISREG(status.st_mode) && status.st_nlink == 1)
        bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
      if (!S_ISDIR(status.st_mode) || depth == kDeepest) continue;
      const net::Fd below(::openat(folder, name.c_str(), kOpenFolder));
      if (below.is_open()) bytes += of(below.get(), depth + 1);
    }
    return bytes;
  }

 private:
  const dev_t device_;
  int left_ = 100'000;
};

}  // namespace

base::Result<std::unique_ptr<Trash>> Trash::open(std::shared_ptr<const Fence> fence,
                                                 int keep_days) {
  constexpr std::int64_t kSecondsOfDay = 86'400;
  std::unique_ptr<Trash> trash(new Trash(std::move(fence), keep_days * kSecondsOfDay));
  if (const auto done = trash->probe(); !done) return done.error();
  trash->thread_ = std::thread([&made = *trash] { made.run(); });
  return trash;
}

Trash::~Trash() {
  {
    const base::Lock lock(mutex_);
    is_ending_ = true;
    has_work_.wake_all();
  }
  if (thread_.joinable()) thread_.join();
}

// Tries with a file of the served folder what is done to all others.
base::Status Trash::probe() {
  const auto failed = [](const char* what) {
    base::Error error = base::errno_error(base::ErrorCode::kInternal, what, errno);
    error.context = "--trash cannot be used: " + error.context;
    if (errno == EXDEV)
      error.context += "; with the sandbox of a kernel before 5.19 it needs --sandbox off";
    return error;
  };
  const net::Fd trash = folder();
  if (!trash.is_open()) return failed("make the folder .turnstile-trash");
  const net::Fd root(::open(fence_->root_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string name = random_upload_name();
  const std::string kept = gone_of(new_trash_id());
  const auto make = [&](int in, const std::string& last) {
    return net::Fd(::openat(in, last.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  };
  if (!make(root.get(), name).is_open()) return failed("make a file");
  if (!rename_to_new({root.get(), name}, {trash.get(), kept})) {
    const base::Error error = failed("move a file to .turnstile-trash");
    ::unlinkat(root.get(), name.c_str(), 0);
    return error;
  }
  constexpr unsigned kSwap = 2;  // RENAME_EXCHANGE
  const net::Fd other = make(root.get(), name);
  can_exchange_ = other.is_open() && ::syscall(SYS_renameat2, root.get(), name.c_str(), trash.get(),
                                               kept.c_str(), kSwap) == 0;
  ::unlinkat(root.get(), name.c_str(), 0);
  ::unlinkat(trash.get(), kept.c_str(), 0);
  return base::kDone;
}

// Opened anew each time, because the served folder may be another one by now, and the owner may
// have removed this one.
net::Fd Trash::folder() const {
  const std::string root = fence_->root_path();
  const std::string path = root + "/" + std::string(kTrashFolder);
  net::Fd fd(::open(path.c_str(), kOpenFolder));
  if (fd.is_open() || errno != ENOENT) return fd;
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) return {};
  const net::Fd above(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!above.is_open()) return {};
  if (const int failure = sync_folder(above.get()); failure != 0) {
    errno = failure;
    return {};
  }
  return net::Fd(::open(path.c_str(), kOpenFolder));
}

TrashPlace Trash::begin(const std::string& name, int replacing) {
  for (;;) {
    TrashPlace place = try_to_begin(name, replacing);
    if (place.is_open() || !place.needs_room() || !remove_oldest()) return place;
  }
}

TrashPlace Trash::try_to_begin(const std::string& name, int replacing) const {
  TrashPlace place;
  const auto failed = [&] {
    TrashPlace none;
    none.failure_ = errno;
    return none;
  };
  TrashRecord record{.name = name};
  struct stat status {};
  if (replacing >= 0 && ::fstat(replacing, &status) == 0) record.not_inode = status.st_ino;
  net::Fd trash = folder();
  if (!trash.is_open()) return failed();
  place.id_ = new_trash_id();
  place.record_ = net::Fd(::openat(trash.get(), record_of(place.id_).c_str(),
                                   O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!place.record_.is_open()) return failed();
  place.folder_ = std::move(trash);
  ::flock(place.record_.get(), LOCK_EX | LOCK_NB);
  const int fd = place.record_.get();
  if (!base::write_all(fd, text_of(record)) || base::retried([&] { return ::fdatasync(fd); }) != 0)
    return failed();
  return place;
}

std::vector<std::string> Trash::newest_ids() const {
  const net::Fd trash = folder();
  if (!trash.is_open()) return {};
  return first_ids_in(trash.get(), kMostListed, std::greater<>());
}

bool Trash::has_of(std::string_view name) const {
  const net::Fd trash = folder();
  if (!trash.is_open()) return true;  // most likely nobody knows
  const base::Lock lock(names_mutex_);
  Names before = std::exchange(names_, {});
  Names now;
  std::size_t kept_bytes = 0;
  bool has = false;
  bool is_known = true;
  const bool is_whole = each_name_in(trash.get(), [&](std::string_view entry) {
    if (!is_trash_id(entry)) return;
    std::string id(entry);
    errno = 0;
    auto found = taken_from(before, id);
    if (!found) found = name_in_record(trash.get(), id);
    if (!found) {
      is_known = is_known && !is_system_failure(errno);
      return;
    }
    has = has || is_or_is_below(*found, name);
    kept_bytes += id.size() + found->size() + kBytesOfEntry;
    if (kept_bytes <= kMostKeptBytes) now.emplace(std::move(id), std::move(*found));
  });
  names_ = std::move(now);
  return has || !is_known || !is_whole;
}

// Whether it is the new file, which was not exchanged for the old one yet, or the old one, which
// has its name still. False also if nothing is known.
bool Trash::has_not_come(const struct stat& status,
                         const std::optional<TrashRecord>& record) const {
  if (!record) return false;
  if (record->not_inode == status.st_ino) return true;
  if (!S_ISREG(status.st_mode) || status.st_nlink < 2) return false;
  const auto there = fence_->status_of(record->name, Fence::Links::kRefused);
  return there && there->st_dev == status.st_dev && there->st_ino == status.st_ino;
}

std::optional<Trashed> Trash::find(std::string_view asked) const {
  if (!is_trash_id(asked)) return {};
  const std::string id(asked);
  const net::Fd trash = folder();
  struct stat status {};
  if (!trash.is_open() || !status_at(trash.get(), id, status)) return {};
  const bool is_folder = S_ISDIR(status.st_mode);
  if (!is_folder && !S_ISREG(status.st_mode)) return {};
  auto record = read_record(trash.get(), id);
  if (!record || has_not_come(status, record)) return {};
  return Trashed{.id = id,
                 .name = std::move(record->name),
                 .is_folder = is_folder,
                 .size_bytes = static_cast<std::uint64_t>(status.st_size),
                 .modified_s = status.st_mtim.tv_sec,
                 .deleted_s = trash_time_ns(id) / base::kNsPerS};
}

void Trash::forget(const std::string& id) const {
  const net::Fd trash = folder();
  if (trash.is_open()) ::unlinkat(trash.get(), record_of(id).c_str(), 0);
}

bool Trash::take_out_of_sight(int folder, const std::string& id) const {
  if (is_in_use(folder, id)) {
    errno = ENOENT;
    return false;
  }
  if (!rename_to_new({folder, id}, {folder, gone_of(id)})) return false;
  ::unlinkat(folder, record_of(id).c_str(), 0);
  return true;
}

bool Trash::remove_now(int folder, const std::string& id) const {
  return take_out_of_sight(folder, id) &&
         remove_tree(folder, gone_of(id), [this] { return may_go_on(); });
}

bool Trash::remove_soon(const std::string& id) {
  const net::Fd trash = folder();
  if (!trash.is_open() || !take_out_of_sight(trash.get(), id)) return false;
  if (const int failure = sync_folder(trash.get()); failure != 0) {
    errno = failure;
    return false;
  }
  const base::Lock lock(mutex_);
  is_woken_ = true;
  has_work_.wake_all();
  return true;
}

// Many small files are removed together, because each look at the folder takes its time.
bool Trash::remove_oldest() {
  constexpr std::size_t kMostAtOnce = 64;
  constexpr off_t kRoomBytes = 1 << 20;
  const net::Fd trash = folder();
  if (!trash.is_open()) return false;
  // What is being removed anyway comes first.
  for (const std::string& gone :
       names_in(trash.get(), [](std::string_view name) { return name.ends_with(kGoneEnd); })) {
    if (remove_tree(trash.get(), gone, [this] { return may_go_on(); })) return true;
  }
  off_t freed_bytes = 0;
  bool has_removed = false;
  for (const std::string& id : first_ids_in(trash.get(), kMostAtOnce, std::less<>())) {
    struct stat status {};
    if (!status_at(trash.get(), id, status) || !remove_now(trash.get(), id)) continue;
    has_removed = true;
    freed_bytes += S_ISREG(status.st_mode) ? status.st_size : kRoomBytes;
    if (freed_bytes >= kRoomBytes) break;
  }
  return has_removed;
}

bool Trash::makes_room_in(int folder) const {
  struct stat there {};
  struct stat here {};
  const net::Fd trash = this->folder();
  return trash.is_open() && ::fstat(trash.get(), &here) == 0 && ::fstat(folder, &there) == 0 &&
         there.st_dev == here.st_dev && !has_quota(folder);
}

std::uint64_t Trash::removable_bytes(int folder) const {
  struct stat status {};
  const net::Fd trash = this->folder();
  if (!trash.is_open() || ::fstat(folder, &status) != 0) return 0;
  return Sizes(status.st_dev).of(trash.get(), 0);
}

bool Trash::may_go_on() const { return !is_ending_; }

// One name in the folder of the trash.
void Trash::tidy_one(int folder, const std::string& entry) {
  if (entry.ends_with(kGoneEnd)) {
    remove_tree(folder, entry, [this] { return may_go_on(); });
    return;
  }
  const std::string id = entry.substr(0, kTrashIdSize);
  const bool is_record = entry == record_of(id);
  if (!is_trash_id(id) || (entry != id && !is_record)) return;
  const std::int64_t age_ns = trash_clock_ns() - trash_time_ns(id);
  struct stat status {};
  if (is_record) {
    if (age_ns > kLeftNs && !status_at(folder, id, status) && !is_in_use(folder, id))
      ::unlinkat(folder, entry.c_str(), 0);
    return;
  }
  const bool is_too_old = age_ns > keep_s_ * base::kNsPerS;
  // Its server was killed before anything came here.
  const bool was_left = age_ns > kLeftNs && status_at(folder, id, status) &&
                        has_not_come(status, read_record(folder, id));
  if (is_too_old || was_left) remove_now(folder, id);
}

void Trash::tidy() {
  const net::Fd trash = folder();
  if (!trash.is_open()) return;
  const auto all = [](std::string_view name) { return name.size() >= kTrashIdSize; };
  for (const std::string& entry : names_in(trash.get(), all)) {
    if (!may_go_on()) return;
    tidy_one(trash.get(), entry);
  }
}

void Trash::run() {
  while (may_go_on()) {
    static_cast<void>(base::completes("the trash is not tidied", [this] { tidy(); }));
    const base::Lock lock(mutex_);
    const auto until = base::Deadline::in_ms(kTidyEveryMs);
    while (may_go_on() && !is_woken_ && !until.has_passed())
      has_work_.wait_ms(mutex_, until.left_ms());
    is_woken_ = false;
  }
}

}  // namespace fileserver
