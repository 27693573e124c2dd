// What the threads measure, as counts and sums in nanoseconds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/clients/client.h"
#include "loadgen/figures/cause.h"
#include "loadgen/figures/histogram.h"

namespace loadgen {

// loadgen measures in nanoseconds and reports in milliseconds and seconds. These are the only
// conversions.
constexpr double ms_of(double ns) { return ns / 1e6; }
constexpr double seconds_of(double ns) { return ns / 1e9; }

// The requests that succeeded in one second of the measured window.
struct Second {
  std::uint64_t requests = 0;
  std::uint64_t response_ns = 0;  // the sum of their response times
};

// What only an open loop measures.
struct OpenTally {
  Histogram service_ns;   // of requests that succeeded, from the moment at which they were sent
  Histogram lateness_ns;  // from the moment at which a request was due, and a thread was free
  std::uint64_t due = 0;  // in the window
  std::uint64_t in_window = 0;        // that succeeded before the end of the window
  std::uint64_t found_no_thread = 0;  // that waited until a thread was free
  std::uint64_t given_up = 0;         // that are in response_ns, but failed

  void add(const OpenTally& other);
};

// What happened in the measured window. Every member is a count, a sum, a maximum or an example, so
// the tallies of all threads can be added up.
struct Tally {
  // Requests that succeeded. Times are sums over all of them, from the start of each request.
  //
  // In an open loop the response time starts when the request is due. Then it has the requests that
  // timed out or are unfinished too, with the time that had passed, because they are the slowest.
  Histogram response_ns;
  std::uint64_t connect_ns = 0;
  std::uint64_t first_byte_ns = 0;
  std::uint64_t logged_in_ns = 0;  // as the next two only of a protocol with a data connection
  std::uint64_t data_connected_ns = 0;
  std::uint64_t data_ended_ns = 0;
  std::uint64_t announced_bytes = 0;  // of files, as their senders announced them
  std::uint64_t moved_bytes = 0;      // of files, that came or were sent
  std::vector<Second> seconds;        // by the second in which they ended

  // Requests that failed.
  std::array<std::uint64_t, Cause::kCount> errors{};  // by Cause::index()
  std::array<std::string, Cause::kCount> first_why;   // Exchange::why of the first of each cause
  std::uint64_t failed_ns = 0;                        // the sum of the time they took

  // Requests of the warm-up, failed ones included. They count in no other figure; they are kept so
  // that the total can be compared with a server's own count.
  std::uint64_t warmup_requests = 0;
  std::uint64_t cooldown_requests = 0;  // the same for those of the cool-down

  // The time from the start of the window to the end of a thread's last request: the longest of all
  // threads, and the sum over all threads.
  std::int64_t elapsed_ns = 0;
  std::uint64_t active_ns = 0;

  std::optional<OpenTally> open;  // empty in a closed loop

  std::uint64_t succeeded() const { return response_ns.count() - (open ? open->given_up : 0); }
  std::uint64_t errors_total() const;
  void add(const Tally& other);
};

// The part of a Tally that can be read while the run goes on.
struct Live {
  std::uint64_t requests = 0;  // that succeeded
  std::uint64_t errors = 0;
  std::uint64_t response_ns = 0;  // the sum of all response times
};

// When a request of an open loop could have been sent.
struct Due {
  std::int64_t due_ns = 0;
  std::int64_t free_ns = 0;   // when the thread was done with the request before
  std::int64_t begun_ns = 0;  // when the thread began with this one
};

// Adds the requests of one thread to a Tally. Only that thread writes, so recording needs no lock;
// the alignment keeps two Recorders off the same cache line.
class alignas(64) Recorder {
 public:
  // Begins the measured window. Requires: no request was recorded yet.
  void begin(std::int64_t start_ns) { start_ns_ = start_ns; }

  // Begins the measured window of an open loop.
  void begin_open(std::int64_t start_ns, std::int64_t end_ns);

  // Adds a request of the measured window.
  void record(const Exchange& exchange);

  // Adds a request of an open loop. Requires: begin_open() was called.
  void record(const Exchange& exchange, const Due& due);

  // Adds a request that was due, but that no thread will send. Requires: as above.
  void record_unfinished(std::int64_t due_ns, std::int64_t now_ns);

  // Count a request of the warm-up, of the cool-down.
  void count_warmup() { ++tally_.warmup_requests; }
  void count_cooldown() { ++tally_.cooldown_requests; }

  // Requires: the thread was joined.
  const Tally& tally() const { return tally_; }

  // Any thread. The three figures may be of slightly different moments.
  Live live() const;

 private:
  void ended_at(std::int64_t moment_ns);
  void gave_up(std::int64_t after_ns);
  void failed(Cause cause, const std::string& why, std::int64_t took_ns);
  void succeeded(const Exchange& exchange, std::int64_t response_ns);

  std::int64_t start_ns_ = 0;
  std::int64_t end_ns_ = 0;  // of an open loop's window
  Tally tally_;

  // Copies of figures in tally_, for live(). They are for display only and no other data depends on
  // them, so relaxed memory order is enough.
  std::atomic<std::uint64_t> live_requests_ = 0;
  std::atomic<std::uint64_t> live_errors_ = 0;
  std::atomic<std::uint64_t> live_response_ns_ = 0;
};

}  // namespace loadgen
