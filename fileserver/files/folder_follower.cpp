#include "fileserver/files/folder_follower.h"

#include <sys/eventfd.h>

#include <utility>

#include "base/log.h"
#include "fileserver/files/folder_tree.h"
#include "net/socket_io.h"

namespace fileserver {

namespace {

constexpr int kLookAgainMs =
    kSettlingMs + 1;                    // a file that was changed just now may hold still by then
constexpr int kTryAgainMs = 250;        // what we were short of may be there by then
constexpr int kUnwatchedLookMs = 1000;  // how often a folder that cannot be watched is listed
constexpr int kKnownForMs = 500;        // a part of the two seconds that are promised

base::Deadline earlier(base::Deadline one, base::Deadline other) {
  if (one.is_never() || other.is_never()) return one.is_never() ? other : one;
  return one.left_ms() < other.left_ms() ? one : other;
}

}  // namespace

FolderFollower::FolderFollower(LoadedFiles& files, std::string root)
    : files_(files), root_(std::move(root)), stop_event_(::eventfd(0, EFD_CLOEXEC)) {
  if (auto opened = FolderWatch::on(root_)) watch_.emplace(std::move(*opened));
}

FolderFollower::~FolderFollower() {
  ::eventfd_write(stop_event_.get(), 1);
  if (thread_.joinable()) thread_.join();
}

void FolderFollower::start(const std::vector<std::string>& to_look_at) {
  look_at_all(to_look_at);
  thread_ = std::thread([this] { follow(); });
}

std::vector<std::string> FolderFollower::list(const std::string& folder) {
  auto listing = list_files(root_, folder, [this](const std::string& below) { watch(below); });
  unseen_folders_.insert(listing.unlisted.begin(), listing.unlisted.end());
  if (!listing.unlisted.empty()) note_unseen();
  return std::move(listing.files);
}

void FolderFollower::watch(const std::string& folder) {
  if ((watch_ && watch_->add(folder)) || !is_watched_whole_) return;
  is_watched_whole_ = false;
  list_at_ = base::Deadline::in_ms(kUnwatchedLookMs);
  base::log::warn(
      "the served folder cannot be watched whole, it is listed every second instead "
      "hint=\"raise fs.inotify.max_user_watches\"");
}

void FolderFollower::follow() {
  while (may_go_on()) {
    keep_up(to_load_.empty() ? next_look() : base::Deadline::in_ms(0));
    if (!to_load_.empty()) load_next();
  }
}

bool FolderFollower::may_go_on() const {
  return !net::wait_until_readable(stop_event_.get(), base::Deadline::in_ms(0));
}

base::Deadline FolderFollower::next_look() const {
  return earlier(list_at_, earlier(look_again_at_, try_again_at_));
}

// All that is to be done save reading; takes no time but to wait for changes until the deadline.
void FolderFollower::keep_up(base::Deadline deadline) {
  apply(wait_for_changes(deadline));
  if (list_at_.has_passed()) look_at_everything();
  if (look_again_at_.has_passed()) look_at_those_behind();
  if (try_again_at_.has_passed()) look_at_the_unseen();
}

FolderChanges FolderFollower::wait_for_changes(base::Deadline deadline) {
  if (watch_) return watch_->wait(deadline, stop_event_.get());
  net::wait_until_readable(stop_event_.get(), deadline);
  return {};
}

void FolderFollower::apply(const FolderChanges& changes) {
  for (const std::string& folder : changes.gone_folders) files_.forget_below(folder);
  for (const std::string& folder : changes.new_folders) look_at_all(list(folder));
  for (const std::string& name : changes.files) look_at_closed(name);
  if (!changes.is_incomplete) return;
  base::log::warn("too many changes at once in the served folder, all of it is listed again");
  look_at_everything();
}

void FolderFollower::look_at_all(const std::vector<std::string>& names) {
  for (const std::string& name : names) look_at(name);
}

// Somebody closed the file after writing, or it got its name just now: what is there is meant to be
// served. Only this is a reason to drop the known version of a file that does not hold still.
// Without it a writer is at work who has not closed the file yet, and the known version is the last
// whole one.
void FolderFollower::look_at_closed(const std::string& name) {
  const State state = files_.look_at(name);
  sort_in(name, state);
  if (state == State::kChanging && behind_.at(name).known_until.has_passed())
    files_.serve_from_disk(name);
}

void FolderFollower::look_at_everything() {
  look_at_all(list(""));
  look_at_all(files_.names());
  if (!is_watched_whole_) list_at_ = base::Deadline::in_ms(kUnwatchedLookMs);
}

void FolderFollower::look_at_those_behind() {
  look_again_at_ = base::Deadline::never();
  for (auto next = behind_.begin(); next != behind_.end();) {
    auto& [name, behind] = *next++;
    if (!behind.is_loadable) {
      look_at(std::string(name));  // which may be the end of `name`
    } else if (behind.known_until.has_passed()) {
      files_.serve_from_disk(name);
      behind.known_until = base::Deadline::never();
    }
  }
  if (!behind_.empty()) look_again_at_ = base::Deadline::in_ms(kLookAgainMs);
}

void FolderFollower::look_at_the_unseen() {
  try_again_at_ = base::Deadline::never();
  for (const std::string& folder : std::exchange(unseen_folders_, {})) look_at_all(list(folder));
  for (const std::string& name : std::exchange(unseen_files_, {})) look_at(name);
  if (try_again_at_.is_never()) is_short_ = false;
}

void FolderFollower::load_next() {
  const auto next = to_load_.upper_bound(loaded_last_);
  loaded_last_ = next != to_load_.end() ? *next : *to_load_.begin();
  const auto keep_up_meanwhile = [this] {
    keep_up(base::Deadline::in_ms(0));
    return may_go_on();
  };
  sort_in(loaded_last_, files_.load(loaded_last_, {kPieceBytes, keep_up_meanwhile}));
}

void FolderFollower::sort_in(const std::string& name, State state) {
  to_load_.erase(name);
  switch (state) {
    case State::kInStep: behind_.erase(name); return;
    case State::kUnseen:
      behind_.erase(name);
      unseen_files_.insert(name);
      note_unseen();
      return;
    case State::kLoadable:
    case State::kChanging: break;
  }
  const auto known_until = base::Deadline::in_ms(kKnownForMs);
  auto& behind = behind_.try_emplace(name, Behind{known_until, false}).first->second;
  behind.is_loadable = state == State::kLoadable;
  if (behind.is_loadable) to_load_.insert(name);
  if (look_again_at_.is_never()) look_again_at_ = base::Deadline::in_ms(kLookAgainMs);
}

void FolderFollower::note_unseen() {
  if (try_again_at_.is_never()) try_again_at_ = base::Deadline::in_ms(kTryAgainMs);
  if (std::exchange(is_short_, true)) return;
  base::log::warn(
      "not all of the served folder can be looked at now, what is known of it is served meanwhile");
}

}  // namespace fileserver
