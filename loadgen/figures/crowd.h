// What is measured of a crowd only: who left and why, how exact the rates were, what that cost.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "loadgen/figures/cause.h"

namespace loadgen::crowd {

// loadgen's timers have ticks of a millisecond, and a busy host delays them. A limit that leaves
// less than this would be decided by them.
inline constexpr std::int64_t kLeastSlackNs = 50'000'000;

// If loadgen is later than this part of the slack, it may have made its users slow itself.
inline constexpr double kMostLateShare = 0.05;
inline bool is_too_late(std::int64_t late_ns, std::int64_t slack_ns) {
  return static_cast<double>(late_ns) > kMostLateShare * static_cast<double>(slack_ns);
}

// A user that left.
struct DropOut {
  std::int64_t at_ns = 0;  // after the start of the run
  Cause cause = Fault::kTooSlow;
  std::string why = {};  // what the system or the server said; may be empty
  bool was_in_first_fetch = false;
};

// Bytes that had arrived and that the user had not read yet, in samples of users that read a file.
struct WaitingBytes {
  std::uint64_t samples = 0;
  std::uint64_t sum = 0;
  std::uint64_t most = 0;
};

// Beside what loadgen::Tally has: there a fetch is a request, and a user that left is an error.
//
// Written by one thread. Read by others after it was joined.
struct Tally {
  std::vector<DropOut> drop_outs;

  // Of each user that holds: how far the fetch with the largest error was from the rate, 0 or more.
  // Users without a fetch are not in it.
  std::vector<double> rate_errors;

  std::uint64_t file_bytes = 0;            // the largest file
  std::uint64_t receive_buffer_bytes = 0;  // as the system reports it
  std::uint64_t wakeups = 0;               // times that the thread stopped waiting
  std::uint64_t useful_reads = 0;          // that got bytes of a file
  std::uint64_t empty_reads = 0;           // that found none
  std::uint64_t overflows = 0;             // of the queue of signals
  std::int64_t most_late_ns = 0;           // of loadgen itself, with a user that was due
  std::uint64_t broken_off = 0;            // fetches that the end of the run broke off
  int late_drops = 0;                      // that are too slow or time-outs, and loadgen was late

  // By how much the fetch of the smallest file may take longer than at the pace. Under
  // kLeastSlackNs no user is judged, and the run ends.
  std::int64_t least_slack_ns = INT64_MAX;
  bool is_too_narrow() const { return least_slack_ns < kLeastSlackNs; }

  WaitingBytes waiting = {};

  void add(const Tally& other);
};

// How many users there are at a moment.
struct Standing {
  int started = 0;
  int left = 0;           // of them, those that have not dropped out
  int without_fetch = 0;  // of these, those that have not ended a fetch yet

  // A user that never got a whole file holds nothing.
  int held() const { return left - without_fetch; }

  void add(const Standing& other);
};

// The cores that loadgen used, in each second after all users were started.
struct CpuSamples {
  double least_cores = 0;
  double mean_cores = 0;
  double most_cores = 0;
  double allowed_cores = 0;
};

// What the run has come to. Only the main thread knows it.
struct Outcome {
  int asked = 0;  // how many users were asked for
  Standing standing = {};
  double steady_s = 0;  // the time after all users were started
  CpuSamples cpu = {};  // over this time; over the whole run if there is none
};

// How far the users were from their rates, each by the fetch with its largest error.
struct RateErrors {
  std::size_t users = 0;  // that hold and have ended a fetch
  double worst = 0;
  double p50 = 0;
  double share_within_5_percent = 0;
};
RateErrors rate_errors_of(std::vector<double> errors);

// A file that fits into the sockets' buffers is sent at once, and only its reading is slow. Then
// the run is "paced reading". Otherwise the server has to wait for its users: "paced transfer".
struct Pacing {
  const char* name = "";
  std::uint64_t buffers_bytes = 0;  // the receive buffer and the largest send buffer
};
Pacing pacing_of(const Tally& tally, std::uint64_t most_send_buffer_bytes);

// A Tally and its Outcome in the units of the reports.
struct Summary {
  Outcome outcome;
  std::size_t drop_outs_in_first_fetch = 0;

  // The causes of drop-outs with their counts, and what was said about the first of a cause, if
  // anything was. Both are in the order of the first appearance.
  std::vector<std::pair<std::string, int>> causes = {};
  std::vector<std::pair<std::string, std::string>> first_reasons = {};

  RateErrors rates;
  Pacing pacing;  // with the send buffers of this host; those of the server's may differ
  double wakeups_per_useful_read = 0;
  double waiting_bytes_mean = 0;
};

// Requires: the drop-outs are in the order of their times.
Summary summarize(const Tally& tally, const Outcome& outcome);

// Why the result says nothing about the server; empty if it does, whoever dropped out.
std::vector<std::string> faults_of(const Tally& tally, const Outcome& outcome,
                                   std::uint64_t fetches);

// The causes in one line, such as "too-slow 3, closed 1"; empty if nobody left.
std::string causes_text(const Summary& summary);

}  // namespace loadgen::crowd
