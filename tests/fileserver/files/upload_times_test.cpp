#include "fileserver/files/upload_times.h"

#include <fcntl.h>

#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "fileserver/files/file_version.h"
#include "net/fd.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using fileserver::UploadTimes;

namespace {

// A file system that keeps multiples of `granularity_ns`.
struct Rounding {
  std::int64_t granularity_ns;
  std::int64_t kept_ns = 0;

  UploadTimes::SetTime set_time() {
    return [this](int, std::int64_t time_ns) -> std::optional<std::int64_t> {
      return kept_ns = time_ns - time_ns % granularity_ns;
    };
  }
};

}  // namespace

TEST_CASE("no two uploads of a name have one time, however coarse the times are", "[uploads]") {
  for (const std::int64_t granularity_ns :
       {std::int64_t{1}, std::int64_t{100}, std::int64_t{1'000}, base::kNsPerMs, 4 * base::kNsPerMs,
        10 * base::kNsPerMs, base::kNsPerS, 2 * base::kNsPerS}) {
    CAPTURE(granularity_ns);
    Rounding file_system{granularity_ns};
    UploadTimes times(file_system.set_time());
    std::set<std::int64_t> given;
    std::int64_t replaced_ns = 0;
    for (int i = 0; i < 100; ++i) {
      REQUIRE(times.give(-1, "a", replaced_ns));
      CHECK(given.insert(file_system.kept_ns).second);
      replaced_ns = i % 3 == 0 ? 0 : file_system.kept_ns;  // 0: it was removed meanwhile
    }
  }
}

TEST_CASE("an upload is later than what it replaces, also where that is of the future",
          "[uploads]") {
  Rounding file_system{base::kNsPerS};
  UploadTimes times(file_system.set_time());
  const std::int64_t future_ns = 5'000'000'000 * base::kNsPerS;
  REQUIRE(times.give(-1, "a", future_ns));
  CHECK(file_system.kept_ns == future_ns + base::kNsPerS);
  CHECK_FALSE(times.give(-1, "a", INT64_MAX));
}

TEST_CASE("where no time can be set, an upload has none of its own", "[uploads]") {
  UploadTimes times([](int, std::int64_t) { return std::optional<std::int64_t>(); });
  CHECK_FALSE(times.give(-1, "a", 0));
  Rounding stopped{INT64_MAX};
  UploadTimes same(stopped.set_time());
  CHECK_FALSE(same.give(-1, "a", 1));
}

TEST_CASE("the file has the time that it was given", "[uploads]") {
  tests::TemporaryFolder folder;
  folder.write("a", "one");
  const net::Fd fd(::open(folder.path("a").c_str(), O_RDWR | O_CLOEXEC));
  const std::int64_t time_ns = 1'790'000'000 * base::kNsPerS;
  CHECK(fileserver::set_modification_time(fd.get(), time_ns) == time_ns);
  CHECK(fileserver::version_of(fd.get()).modified_ns == time_ns);
  CHECK_FALSE(fileserver::set_modification_time(-1, time_ns));
}
