#include "fileserver/files/upload_times.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "base/clock.h"
#include "fileserver/files/file_version.h"

namespace fileserver {

namespace {

// By the clock of the file systems. It is up to a tick behind the other one, so that nobody who
// looks at the time sees a file of the future.
std::int64_t time_of_day_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec * base::kNsPerS + now.tv_nsec;
}

// What a file system may round times down to: nanoseconds, 100 ns, microseconds, and so on to the
// two seconds of FAT.
constexpr std::int64_t kSteps[] = {
    0, 100, 1'000, base::kNsPerMs, 10 * base::kNsPerMs, base::kNsPerS, 2 * base::kNsPerS};

}  // namespace

bool UploadTimes::give(int fd, std::string_view name, std::int64_t replaced_ns) {
  constexpr std::int64_t kLatest = INT64_MAX - 3 * base::kNsPerS;
  if (replaced_ns > kLatest) return false;
  Slot& last_ns = last_ns_[std::hash<std::string_view>()(name) % last_ns_.size()];
  const std::int64_t taken_ns = std::min(std::max(replaced_ns, last_ns.load()), kLatest);
  const std::int64_t wanted_ns = std::max(time_of_day_ns(), taken_ns + 1);
  for (const std::int64_t step : kSteps) {
    const auto kept_ns = set_time_(fd, wanted_ns + step);
    if (!kept_ns) return false;
    if (*kept_ns <= taken_ns) continue;
    for (std::int64_t last = last_ns; last < *kept_ns;)
      last_ns.compare_exchange_weak(last, *kept_ns);
    return true;
  }
  return false;
}

std::optional<std::int64_t> set_modification_time(int fd, std::int64_t time_ns) {
  const timespec modified{.tv_sec = time_ns / base::kNsPerS, .tv_nsec = time_ns % base::kNsPerS};
  const timespec times[] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, modified};
  if (::futimens(fd, times) != 0) return {};
  const FileVersion version = version_of(fd);
  if (version.size_bytes < 0) return {};
  return version.modified_ns;
}

}  // namespace fileserver
