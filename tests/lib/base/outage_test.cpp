#include "base/outage.h"

#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "serve/shared_memory.h"
#include "tests/catch.h"

namespace {

constexpr base::Outage::Subject kStore{"the store", "127.0.0.1:1"};

std::atomic<std::int64_t> fake_now_ns = 0;
std::int64_t fake_now() { return fake_now_ns; }

// Reports that a request which began just now failed.
bool fail(base::Outage& outage) { return outage.note_failure(kStore, "refused", fake_now_ns); }

void pass_s(std::int64_t seconds) { fake_now_ns += seconds * base::kNsPerS; }

// An outage whose clock starts at 1000 s.
struct Watched : base::Outage {
  Watched() : Outage(&fake_now) { fake_now_ns = 1000 * base::kNsPerS; }
};

}  // namespace

TEST_CASE("an outage is logged once when it begins and once when it ends", "[base]") {
  Watched outage;
  CHECK_FALSE(outage.note_success(kStore));
  CHECK(fail(outage));
  CHECK(outage.is_on());
  CHECK_FALSE(fail(outage));
  pass_s(3);
  CHECK_FALSE(fail(outage));
  CHECK(outage.note_success(kStore));
  CHECK_FALSE(outage.is_on());
  CHECK_FALSE(outage.note_success(kStore));
}

TEST_CASE("a request that began before the end of an outage does not begin the next", "[base]") {
  Watched outage;
  const std::int64_t before_ns = fake_now_ns;
  CHECK(fail(outage));
  pass_s(1);
  CHECK(outage.note_success(kStore));
  pass_s(1);
  CHECK_FALSE(outage.note_failure(kStore, "too late", before_ns));
  CHECK_FALSE(outage.is_on());
  CHECK(fail(outage));
}

TEST_CASE("a server that comes and goes does not fill the log", "[base]") {
  Watched outage;
  int lines = 0;
  for (int i = 0; i < 600; ++i) {  // for a minute
    lines += fail(outage) ? 1 : 0;
    fake_now_ns += 50 * base::kNsPerMs;
    lines += outage.note_success(kStore) ? 1 : 0;
    fake_now_ns += 50 * base::kNsPerMs;
  }
  CHECK(lines == 2 * (5 + 4));
}

TEST_CASE("an outage that lasts is logged, even if outages before it were left out", "[base]") {
  Watched outage;
  for (int i = 0; i < 100; ++i) {
    fail(outage);
    fake_now_ns += 1;
    outage.note_success(kStore);
    fake_now_ns += 1;
  }
  CHECK_FALSE(fail(outage));
  pass_s(13);
  CHECK(fail(outage));
  CHECK_FALSE(fail(outage));
  CHECK(outage.note_success(kStore));
}

TEST_CASE("of many threads that notice an outage, one logs it", "[base]") {
  Watched outage;
  std::atomic<int> lines = 0;
  const auto in_threads = [&](auto report) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&] { lines += report() ? 1 : 0; });
    for (std::thread& thread : threads) thread.join();
  };
  in_threads([&] { return fail(outage); });
  CHECK(lines == 1);
  pass_s(1);
  in_threads([&] { return outage.note_success(kStore); });
  CHECK(lines == 2);
}

TEST_CASE("of many processes that notice an outage, one logs it", "[base]") {
  fake_now_ns = 1000 * base::kNsPerS;
  const serve::Shared<base::Outage> outage(std::in_place, &fake_now);
  std::vector<pid_t> children(4);
  for (pid_t& child : children) {
    child = ::fork();
    if (child == 0) ::_exit(fail(*outage) ? 1 : 0);
  }
  int lines = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    lines += WEXITSTATUS(status);
  }
  CHECK(lines == 1);
  CHECK(outage->is_on());
  pass_s(1);
  CHECK(outage->note_success(kStore));
}
