#include "fileserver/files/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace fileserver {

namespace {

constexpr std::size_t kThreads = 8;
constexpr int kReportEveryMs = 2000;
constexpr int kAskEveryMs = 50;

// At most so many, at least one: where the system has no more threads for us, those that started do
// it all.
std::vector<std::thread> start_threads(std::size_t at_most, const std::function<void()>& life) {
  std::vector<std::thread> threads;
  threads.reserve(at_most);
  while (threads.size() < at_most) {
    try {
      threads.emplace_back(life);
    } catch (const std::exception&) {
      if (threads.empty()) throw;
      break;
    }
  }
  return threads;
}

}  // namespace

bool for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work,
                          const std::function<bool()>& may_go_on,
                          const std::function<void(std::size_t done, double seconds)>& report) {
  const std::int64_t start_ns = base::now_ns();
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  base::Mutex mutex;
  base::Condition all_done;
  const auto life = [&] {
    for (std::size_t i = 0; (i = next++) < count;) {
      work(i);
      if (++done < count) continue;
      const base::Lock lock(mutex);
      all_done.wake_all();
    }
  };
  auto threads = start_threads(std::min(kThreads, count), life);
  {
    const base::Lock lock(mutex);
    auto report_at = base::Deadline::in_ms(kReportEveryMs);
    while (done < count && may_go_on()) {
      all_done.wait_ms(mutex, std::min(report_at.left_ms(), kAskEveryMs));
      if (done == count || !report_at.has_passed()) continue;
      report(done, static_cast<double>(base::now_ns() - start_ns) / 1e9);
      report_at = base::Deadline::in_ms(kReportEveryMs);
    }
  }
  next = count;  // what nobody has begun by now stays undone
  for (std::thread& thread : threads) thread.join();
  return done == count;
}

}  // namespace fileserver
