#include "fileserver/http/folder_entries.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fileserver/files/open_folder.h"
#include "http/path.h"

namespace fileserver {

namespace {

bool is_before(const ListedEntry& a, const ListedEntry& b) { return a.name < b.name; }

}  // namespace

std::size_t memory_of(const ListedEntry& entry) {
  constexpr std::size_t kOfAllocation = 16;
  return sizeof entry + entry.name.size() + kOfAllocation;
}

// The first names, as many as fit: a heap whose front is the last of them.
class FolderEntries::Names {
 public:
  explicit Names(FolderEntries& entries) : entries_(entries) {}

  void take(std::string_view name) {
    if (entries_.last_ && name <= *entries_.last_) return;
    if (end_ && name >= *end_) return;
    kept_.push_back({.name = std::string(name)});
    bytes_ += memory_of(kept_.back());
    std::ranges::push_heap(kept_, is_before);
    while (!entries_.has_room_for(bytes_, has_dropped()) && kept_.size() > 1) drop_last();
  }

  bool has_dropped() const { return end_.has_value(); }

  std::vector<ListedEntry> sorted() {
    std::ranges::sort_heap(kept_, is_before);
    return std::move(kept_);
  }

 private:
  void drop_last() {
    std::ranges::pop_heap(kept_, is_before);
    bytes_ -= memory_of(kept_.back());
    end_ = std::move(kept_.back().name);
    kept_.pop_back();
  }

  FolderEntries& entries_;
  std::vector<ListedEntry> kept_;
  std::size_t bytes_ = 0;
  std::optional<std::string> end_;  // the first name that did not fit
};

base::Result<std::vector<ListedEntry>> FolderEntries::next() {
  std::vector<ListedEntry> batch;
  while (batch.empty() && !is_at_end_) {
    auto names = next_names();
    if (!names) return names.error();
    for (ListedEntry& entry : *names) {
      const auto is_given = complete(entry);
      if (!is_given) return is_given.error();
      if (*is_given) batch.push_back(std::move(entry));
    }
  }
  return batch;
}

base::Result<std::vector<ListedEntry>> FolderEntries::next_names() {
  auto fd = fence_.open_folder(folder_);
  if (!fd) return fd.error();
  if (const auto same = check_identity(fd->get()); !same) return same.error();
  const OpenFolder folder(::fdopendir(fd->get()));
  if (folder == nullptr)
    return base::errno_error(base::ErrorCode::kInternal, "list a folder", errno);
  fd->release();
  Names names(*this);
  while (const dirent* const one = next_entry(folder)) {
    if (http::is_path_name(one->d_name)) names.take(one->d_name);
  }
  if (errno != 0) return base::errno_error(base::ErrorCode::kInternal, "list a folder", errno);
  is_at_end_ = !names.has_dropped();
  auto batch = names.sorted();
  if (!batch.empty()) last_ = batch.back().name;
  return batch;
}

// The names of two folders would be mixed otherwise.
base::Status FolderEntries::check_identity(int fd) {
  struct stat now = {};
  if (::fstat(fd, &now) != 0)
    return base::errno_error(base::ErrorCode::kInternal, "list a folder", errno);
  if (!identity_) identity_ = now;
  if (now.st_dev != identity_->st_dev || now.st_ino != identity_->st_ino)
    return base::Error{base::ErrorCode::kNotFound, "the folder is another one by now"};
  return base::kDone;
}

// Once a name was dropped, a larger batch would have a gap.
bool FolderEntries::has_room_for(std::size_t bytes, bool has_dropped) {
  if (bytes <= kSmallBatchBytes) return true;
  if (!share_ && !has_dropped) share_ = budget_.take(kLargeBatchBytes);
  return share_ && bytes <= kLargeBatchBytes;
}

// False if a GET would not give it. An error if nobody knows.
base::Result<bool> FolderEntries::complete(ListedEntry& entry) const {
  const std::string path = joined(folder_, entry.name);
  if (!rights_.may_list(path)) return false;  // nor read
  const auto status = fence_.status_of_readable(path);
  if (!status && status.error().code == base::ErrorCode::kInternal) return status.error();
  if (!status || (path == kServerFolder && S_ISDIR(status->st_mode))) return false;
  entry.is_folder = S_ISDIR(status->st_mode);
  if (!entry.is_folder && !rights_.may_read(path)) return false;
  entry.size_bytes = static_cast<std::uint64_t>(status->st_size);
  entry.modified_s = status->st_mtim.tv_sec;
  entry.modified_part_ns = static_cast<std::uint32_t>(status->st_mtim.tv_nsec);
  entry.is_distinct = files_ != nullptr && files_->is_distinct(version_in(*status));
  return true;
}

}  // namespace fileserver
