#include "fileserver/files/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace fileserver {

namespace {

constexpr std::size_t kThreads = 8;
constexpr int kReportEveryMs = 2000;

}  // namespace

void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work,
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
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < std::min(kThreads, count); ++i) threads.emplace_back(life);
  {
    const base::Lock lock(mutex);
    auto report_at = base::Deadline::in_ms(kReportEveryMs);
    while (done < count) {
      all_done.wait_ms(mutex, report_at.left_ms());
      if (done == count || !report_at.has_passed()) continue;
      report(done, static_cast<double>(base::now_ns() - start_ns) / 1e9);
      report_at = base::Deadline::in_ms(kReportEveryMs);
    }
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace fileserver
