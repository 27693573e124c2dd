// What the threads of a run measure, as counts and sums in nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/config/config.h"
#include "loadgen/figures/cause.h"
#include "loadgen/figures/channels.h"
#include "loadgen/figures/crowd.h"
#include "loadgen/figures/exchange.h"
#include "loadgen/figures/handshakes.h"
#include "loadgen/figures/histogram.h"
#include "loadgen/figures/think.h"

namespace loadgen {

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
  std::uint64_t answered = 0;         // that succeeded within the window, whenever they were due
  std::uint64_t failed = 0;           // that failed within the window, whenever they were due
  std::uint64_t found_no_thread = 0;  // that waited until a thread was free
  std::uint64_t given_up = 0;         // that are in response_ns, but failed

  void add(const OpenTally& other);
};

// What is measured of a ramp only: the time in which all threads run.
//
// Written by one thread. Read by others after it was joined.
struct PlateauTally {
  std::uint64_t threads_started = 0;

  // Of requests that succeeded: the response times of those that ended in the plateau, and the part
  // of their time that lies in it, whenever they ended.
  Histogram response_ns;
  std::uint64_t busy_ns = 0;

  // The part of the pauses of --think that lies in it.
  std::uint64_t paused_ns = 0;

  // Add a request or a pause. The plateau is [start_ns, end_ns), in times of base::now_ns().
  void add(const Exchange& exchange, std::int64_t start_ns, std::int64_t end_ns);
  void add(const Pause& pause, std::int64_t start_ns, std::int64_t end_ns);

  void add(const PlateauTally& other);
};

// When it was. Only the main thread knows it.
struct PlateauTime {
  std::int64_t start_ns = 0;    // after the start of the window
  std::int64_t elapsed_ns = 0;  // 0: there was none
};

// What is measured of each kind of request, in a run that mixes them. The members mean what those
// of Tally and OpenTally mean. The sum over the kinds is what these have.
struct KindTally {
  Histogram response_ns;
  std::uint64_t given_up = 0;  // only of an open loop, as the next one
  std::uint64_t answered = 0;
  std::uint64_t moved_bytes = 0;
  std::array<std::uint64_t, Cause::kCount> errors{};

  std::uint64_t succeeded() const { return response_ns.count() - given_up; }
  void add(const KindTally& other);
};

struct KindTallies {
  std::array<KindTally, kRequestKinds> of_kind;  // by index_of()

  KindTally& of(RequestKind kind) { return of_kind[index_of(kind)]; }
  const KindTally& of(RequestKind kind) const { return of_kind[index_of(kind)]; }
  void add(const KindTallies& other);

  // Adds a request. `has_time`: the time of one that failed is in the response times.
  void record(const Exchange& exchange, std::int64_t response_ns, bool has_time);
};

// What happened in the measured window. Every member is a count, a sum, a maximum or an example, so
// the tallies of all threads can be added up.
struct Tally {
  // Requests that succeeded. Times are sums over all of them, from the start of each request.
  //
  // In an open loop the response time starts when the request is due. Then it has the requests that
  // timed out or are unfinished too, with the time that had passed, because they are the slowest.
  Histogram response_ns;

  // Those of the second half of the run, so that a drift is seen. See Recorder::begin_second_half.
  std::optional<Histogram> second_half_ns;

  std::uint64_t connect_ns = 0;
  std::uint64_t first_byte_ns = 0;
  std::uint64_t logged_in_ns = 0;  // as the next two only of a protocol with a data connection
  std::uint64_t data_connected_ns = 0;
  std::uint64_t data_ended_ns = 0;
  std::uint64_t announced_bytes = 0;  // of files, as their senders announced them
  std::uint64_t moved_bytes = 0;      // of files, that came or were sent
  std::vector<Second> seconds;        // by the second in which they ended; see OpenTally::answered

  // Requests that failed.
  std::array<std::uint64_t, Cause::kCount> errors{};  // by Cause::index()
  std::array<std::string, Cause::kCount> first_why;   // Exchange::why of the first of each cause
  std::uint64_t failed_ns = 0;                        // the sum of the time they took

  // Requests of the warm-up, failed ones included. They count in no other figure; they are kept so
  // that the total can be compared with a server's own count.
  std::uint64_t warmup_requests = 0;
  std::uint64_t cooldown_requests = 0;  // the same for those of the cool-down

  // Of the whole run, its warm-up and its cool-down included, in whatever way a request counts. Not
  // in a crowd.
  std::uint64_t all_succeeded = 0;
  std::uint64_t all_failed = 0;

  // Over the whole run, its warm-up and its cool-down included: the connections that were made, but
  // not those for data, and how many of them were made because a kept one had ended.
  std::uint64_t connections = 0;
  std::uint64_t reconnects = 0;

  // The time from the start of the window to the end of a thread's last request, or of the pause
  // behind it that was cut: the longest of all threads, and the sum over all threads.
  std::int64_t elapsed_ns = 0;
  std::uint64_t active_ns = 0;

  std::optional<OpenTally> open;         // only of an open loop
  std::optional<crowd::Tally> crowd;     // only of a crowd
  std::optional<PlateauTally> plateau;   // only of a ramp
  std::optional<KindTallies> kinds;      // only of a run that mixes kinds of request
  std::optional<ChannelTally> channels;  // only of a run with --channels, of all of it
  std::optional<ThinkTally> think;       // only of a run with --think

  std::optional<HandshakeTally> handshakes;  // only of a run with --tls, of all of it

  std::uint64_t succeeded() const { return response_ns.count() - (open ? open->given_up : 0); }
  std::uint64_t errors_total() const;
  void add(const Tally& other);
};

}  // namespace loadgen
