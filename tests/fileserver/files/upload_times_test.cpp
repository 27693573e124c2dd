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

// A file system that keeps multiples of `granularity_ns`, and its clock.
struct Rounding {
  std::int64_t granularity_ns;
  std::int64_t now_ns = 1'790'000'001'234'567'890;
  std::int64_t kept_ns = 0;

  UploadTimes::SetTime set_time() {
    return [this](int, std::int64_t time_ns) -> std::optional<std::int64_t> {
      return kept_ns = rounded(time_ns);
    };
  }
  UploadTimes::Clock clock() {
    return [this] { return now_ns; };
  }
  std::int64_t rounded(std::int64_t time_ns) const { return time_ns - time_ns % granularity_ns; }
};

constexpr std::int64_t kGranularities[] = {1,
                                           100,
                                           1'000,
                                           base::kNsPerMs,
                                           4 * base::kNsPerMs,
                                           10 * base::kNsPerMs,
                                           base::kNsPerS,
                                           2 * base::kNsPerS};

}  // namespace

TEST_CASE("no two uploads of a name have one time, however coarse the times are", "[uploads]") {
  for (const std::int64_t granularity_ns : kGranularities) {
    CAPTURE(granularity_ns);
    Rounding file_system{granularity_ns};
    UploadTimes times(file_system.set_time(), file_system.clock());
    std::set<std::int64_t> given;
    std::int64_t replaced_ns = 0;
    for (int i = 0; i < 100; ++i) {
      REQUIRE(times.give(-1, "a", replaced_ns));
      CHECK(given.insert(file_system.kept_ns).second);
      replaced_ns = i % 3 == 0 ? 0 : file_system.kept_ns;  // 0: it was removed meanwhile
    }
  }
}

TEST_CASE("no upload has the time that a write would get now, or gets later", "[uploads]") {
  for (const std::int64_t granularity_ns : kGranularities) {
    for (const std::int64_t round_ns : {std::int64_t{1}, std::int64_t{1'000}, 2 * base::kNsPerS}) {
      CAPTURE(granularity_ns, round_ns);
      Rounding file_system{granularity_ns};
      file_system.now_ns -= file_system.now_ns % round_ns;
      UploadTimes times(file_system.set_time(), file_system.clock());
      const std::int64_t of_a_write_ns = file_system.rounded(file_system.now_ns);
      REQUIRE(times.give(-1, "a", 0));
      CHECK(file_system.kept_ns < of_a_write_ns);
      // What another program has written just now is replaced, again and again.
      std::int64_t replaced_ns = of_a_write_ns;
      for (int i = 0; i < 10; ++i) {
        REQUIRE(times.give(-1, "a", replaced_ns));
        CHECK(file_system.kept_ns > replaced_ns);
        CHECK(file_system.kept_ns != of_a_write_ns);
        replaced_ns = file_system.kept_ns;
      }
    }
  }
}

TEST_CASE("an upload is later than what it replaces, also where that is of the future",
          "[uploads]") {
  Rounding file_system{base::kNsPerS};
  UploadTimes times(file_system.set_time(), file_system.clock());
  const std::int64_t future_ns = 5'000'000'000 * base::kNsPerS;
  REQUIRE(times.give(-1, "a", future_ns));
  CHECK(file_system.kept_ns == future_ns + base::kNsPerS);
  CHECK_FALSE(times.give(-1, "a", INT64_MAX));
}

TEST_CASE("where no time can be set, an upload has none of its own", "[uploads]") {
  UploadTimes times([](int, std::int64_t) { return std::optional<std::int64_t>(); },
                    fileserver::coarse_time_ns);
  CHECK_FALSE(times.give(-1, "a", 0));
  Rounding stopped{INT64_MAX};
  UploadTimes same(stopped.set_time(), stopped.clock());
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

TEST_CASE("uploads of many names in one tick have times of their own", "[uploads]") {
  Rounding file_system{1};
  UploadTimes times(file_system.set_time(), file_system.clock());
  std::set<std::int64_t> given;
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(times.give(-1, std::to_string(i), 0));
    given.insert(file_system.kept_ns);
  }
  CHECK(given.size() == 1000);
}

TEST_CASE("a file that gets another name keeps a time that no version of it had", "[uploads]") {
  Rounding file_system{1};
  UploadTimes times(file_system.set_time(), file_system.clock());
  constexpr std::int64_t kFine = 1'000'000'000'000'000'123;
  constexpr std::int64_t kWhole = 1'000'000'000'000'000'000;
  const auto is_kept = [&](std::int64_t own_ns, std::int64_t replaced_ns) {
    file_system.kept_ns = 0;
    times.keep_or_give(-1, "a", own_ns, replaced_ns);
    return file_system.kept_ns == 0;
  };
  CHECK(is_kept(kFine, 0));
  CHECK_FALSE(is_kept(kFine, 0));  // the last version had it
  CHECK(is_kept(kFine + 1, kFine + 2));
  CHECK_FALSE(is_kept(kFine + 2, kFine + 2));
  CHECK_FALSE(is_kept(kWhole, 0));  // an earlier one may have had it
  file_system.kept_ns = 0;
  times.keep_or_give(-1, "b", kWhole, 0);
  CHECK(file_system.kept_ns == 0);
  CHECK_FALSE(is_kept(kWhole, kWhole));
}

TEST_CASE("a second that a client has named is shared by many versions", "[uploads]") {
  Rounding file_system{1};
  UploadTimes times(file_system.set_time(), file_system.clock());
  const std::int64_t now_s = file_system.now_ns / base::kNsPerS;
  for (const std::int64_t second : {std::int64_t{1'000'000'000}, now_s, now_s + 1'000}) {
    CAPTURE(second);
    std::set<std::int64_t> given;
    std::int64_t replaced_ns = 0;
    for (int i = 0; i < 1000; ++i) {
      REQUIRE(times.give_within(second, -1, replaced_ns));
      CHECK(given.insert(file_system.kept_ns).second);
      CHECK(file_system.kept_ns / base::kNsPerS == second);
      // Nobody who writes from now on gets it.
      CHECK((second > now_s || file_system.kept_ns < file_system.now_ns));
      replaced_ns = i % 3 == 0 ? 0 : file_system.kept_ns;
    }
  }
}

TEST_CASE("no second is named where the file system does not keep nanoseconds", "[uploads]") {
  for (const std::int64_t granularity_ns : kGranularities) {
    CAPTURE(granularity_ns);
    Rounding file_system{granularity_ns};
    UploadTimes times(file_system.set_time(), file_system.clock());
    CHECK(times.give_within(1'000'000'000, -1, 0) == (granularity_ns == 1));
  }
  UploadTimes none([](int, std::int64_t) { return std::optional<std::int64_t>(); },
                   fileserver::coarse_time_ns);
  CHECK_FALSE(none.give_within(1'000'000'000, -1, 0));
}
