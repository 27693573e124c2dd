#include "fileserver/files/prefetched_files.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/units.h"
#include "fileserver/files/parallel.h"
#include "serve/stop_signals.h"

namespace fileserver {

namespace {

bool may_go_on() { return !serve::stop_was_asked_for(); }

}  // namespace

// The folder is looked up once, by the fence: all see the same one, even where its name is a link
// that is changed.
PrefetchedFiles::PrefetchedFiles(std::shared_ptr<const Fence> fence,
                                 std::int64_t memory_limit_bytes)
    : fence_(std::move(fence)),
      disk_(fence_),
      files_(*fence_, memory_limit_bytes),
      follower_(files_, fence_->root_path()) {
  read_all(follower_.watch_and_list());
}

base::Status PrefetchedFiles::send(std::string_view name, serve::Connection& connection) {
  auto file = files_.find(name);
  if (!file) {
    const auto real_name = fence_->name_behind_links(name);
    if (!real_name) return real_name.error();
    file = files_.find(*real_name);
  }
  if (!file) return base::Error{base::ErrorCode::kNotFound, "not in the served folder"};
  if (!file->data) return disk_.send(name, connection);
  connection.reply_with(file->bytes());
  return base::kDone;
}

void PrefetchedFiles::read_all(const std::vector<std::string>& names) {
  const std::int64_t start_ns = base::now_ns();
  base::Mutex mutex;
  std::vector<std::string> not_in_step;
  const bool is_done = for_each_in_parallel(
      names.size(),
      [&](std::size_t i) {
        if (files_.load(names[i], {kOneReadBytes, may_go_on}) == LoadedFiles::State::kInStep)
          return;
        const base::Lock lock(mutex);
        not_in_step.push_back(names[i]);
      },
      may_go_on,
      [&](std::size_t done, double seconds) { log_progress(done, names.size(), seconds); });
  if (!is_done) return;
  log_what_was_read(static_cast<double>(base::now_ns() - start_ns) / 1e9);
  follower_.start(not_in_step);
}

void PrefetchedFiles::log_progress(std::size_t done, std::size_t count, double seconds) const {
  const auto bytes = static_cast<double>(files_.used_bytes());
  const double left_s = seconds * static_cast<double>(count - done) /
                        static_cast<double>(std::max<std::size_t>(done, 1));
  base::log::info("prefetching files={}/{} read=\"{}\" rate=\"{}/s\" left_s={:.0f}", done, count,
                  base::human_bytes(bytes), base::human_bytes(bytes / seconds), left_s);
}

void PrefetchedFiles::log_what_was_read(double seconds) const {
  std::size_t in_memory = 0;
  std::size_t from_disk = 0;
  for (const std::string& name : files_.names())
    ++(files_.find(name)->data ? in_memory : from_disk);
  base::log::info("prefetched files={} memory=\"{}\" seconds={:.2f} direct_io={}", in_memory,
                  base::human_bytes(static_cast<double>(files_.used_bytes())), seconds,
                  files_.are_read_directly());
  if (from_disk > 0)
    base::log::warn("files over --memory-limit are served from disk files={}", from_disk);
}

}  // namespace fileserver
