#include "fileserver/files/upload_times.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "base/clock.h"
#include "fileserver/files/file_version.h"

namespace fileserver {

namespace {

// What a file system may round times down to: nanoseconds, 100 ns, microseconds, and so on to the
// two seconds of FAT.
constexpr std::int64_t kSteps[] = {
    1, 100, 1'000, base::kNsPerMs, 10 * base::kNsPerMs, base::kNsPerS, 2 * base::kNsPerS};

constexpr std::uint32_t kMostInOneTick = 100'000;  // each has its own nanosecond

void note(std::atomic<std::int64_t>& last_ns, std::int64_t time_ns) {
  for (std::int64_t last = last_ns; last < time_ns;) last_ns.compare_exchange_weak(last, time_ns);
}

// Whether the time is one of those that only few files of a file system have.
bool is_fine(std::int64_t time_ns) { return time_ns % 100 != 0; }

}  // namespace

bool UploadTimes::give(int fd, std::string_view name, std::int64_t replaced_ns) {
  constexpr std::int64_t kLatest = INT64_MAX - 5 * base::kNsPerS;
  if (replaced_ns > kLatest) return false;
  std::atomic<std::int64_t>& last_ns = last_of(name);
  const std::int64_t taken_ns = std::min(std::max(replaced_ns, last_ns.load()), kLatest);
  const std::int64_t now_ns = now_ns_();
  const auto try_time = [&](std::int64_t time_ns) {
    const auto kept_ns = set_unlike_now(fd, time_ns, now_ns);
    if (!kept_ns || *kept_ns <= taken_ns) return false;
    note(last_ns, *kept_ns);
    return true;
  };
  // Later than those of other uploads within the same tick.
  const std::int64_t own_ns = now_ns - kMostInOneTick + uploads_++ % kMostInOneTick;
  if (own_ns > taken_ns && try_time(own_ns)) return true;
  for (const std::int64_t step : kSteps) {
    if (now_ns - step <= taken_ns) break;
    if (try_time(now_ns - step)) return true;
  }
  const std::int64_t later_ns = std::max(now_ns, taken_ns);
  return std::any_of(std::begin(kSteps), std::end(kSteps),
                     [&](std::int64_t step) { return try_time(later_ns + step); });
}

// Milliseconds since 1970, taken for nanoseconds within a second. They begin again after 11 days.
std::int64_t UploadTimes::next_part_ns() {
  const std::int64_t now = now_ns_() / base::kNsPerMs;
  std::int64_t last = last_part_;
  std::int64_t next = 0;
  do {
    next = std::max(now, last + 1);
    if (!is_fine(next)) ++next;
  } while (!last_part_.compare_exchange_weak(last, next));
  return next % base::kNsPerS;
}

// In the second of now, a time that is over: what another program writes later has another one.
bool UploadTimes::give_within(std::int64_t second, int fd, std::int64_t replaced_ns) {
  const std::int64_t begin_ns = second * base::kNsPerS;
  const std::int64_t past_ns = now_ns_() - begin_ns;
  constexpr int kTries = 4;  // one is that of the replaced version, or has been rounded
  for (int i = 0; i < kTries; ++i) {
    std::int64_t part_ns = next_part_ns();
    if (past_ns > 0 && part_ns >= past_ns) part_ns %= past_ns;
    const std::int64_t time_ns = begin_ns + part_ns;
    if (!is_fine(time_ns) || time_ns == replaced_ns) continue;
    return set_time_(fd, time_ns) == time_ns;
  }
  return false;
}

void UploadTimes::keep_or_give(int fd, std::string_view name, std::int64_t own_ns,
                               std::int64_t replaced_ns) {
  std::atomic<std::int64_t>& last_ns = last_of(name);
  const bool is_taken = is_fine(own_ns) ? own_ns == replaced_ns || own_ns == last_ns
                                        : own_ns <= std::max(replaced_ns, last_ns.load());
  if (is_taken) {
    give(fd, name, replaced_ns);
  } else if (own_ns < now_ns_()) {  // one of the future would make all later ones so
    note(last_ns, own_ns);
  }
}

std::optional<std::int64_t> UploadTimes::set_unlike_now(int fd, std::int64_t time_ns,
                                                        std::int64_t now_ns) const {
  const auto kept_ns = set_time_(fd, time_ns);
  const bool keeps_ns = kept_ns == time_ns && is_fine(time_ns);
  if (!kept_ns || keeps_ns) return kept_ns;
  const auto of_now_ns = set_time_(fd, now_ns);
  if (!of_now_ns || *of_now_ns == *kept_ns) return {};
  return set_time_(fd, time_ns);
}

std::optional<std::int64_t> set_modification_time(int fd, std::int64_t time_ns) {
  const timespec modified{.tv_sec = time_ns / base::kNsPerS, .tv_nsec = time_ns % base::kNsPerS};
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, modified};
  if (::futimens(fd, times) != 0) return {};
  const FileVersion version = version_of(fd);
  if (version.size_bytes < 0) return {};
  return version.modified_ns;
}

std::int64_t coarse_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec * base::kNsPerS + now.tv_nsec;
}

std::optional<FileVersion> NamedFile::version_now(int fd) const {
  const FileVersion now = version_of(fd);
  const bool is_same = has_own_time && now.size_bytes == version.size_bytes &&
                       now.modified_ns == version.modified_ns;
  return is_same ? std::optional(now) : std::nullopt;
}

void UploadedVersions::note(const FileVersion& version) {
  const base::Lock lock(mutex_);
  versions_[version.inode % kSlots] = version;
}

bool UploadedVersions::has(const FileVersion& version) const {
  const base::Lock lock(mutex_);
  return have_same_content(versions_[version.inode % kSlots], version);
}

}  // namespace fileserver
