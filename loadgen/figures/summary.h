// The figures of a run in the units of the reports, and whether they can be trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loadgen/figures/figures.h"

namespace loadgen {

// A run whose n_check is outside of these bounds is invalid.
inline constexpr double kLeastNCheck = 0.97;
inline constexpr double kMostNCheck = 1.03;

// A shorter run is not judged by n_check, because starting and ending its threads takes a good part
// of the time.
inline constexpr double kLeastElapsedS = 5;

// Waiting for a core is told when it is over this part of the time of a mean request.
inline constexpr double kToldStarvation = 0.25;

// In a closed loop nobody asks while the server stands still, so its percentiles hardly show that
// time. It is told when it is over all of these: a time, a part of the run, and so many requests of
// one thread.
inline constexpr double kToldSilenceS = 0.3;
inline constexpr double kToldSilenceShare = 0.01;
inline constexpr double kToldSilenceCycles = 10;

// The largest value of each bucket in milliseconds, and how many values it has, ascending.
using Distribution = std::vector<std::pair<double, std::uint64_t>>;

// A percentile is not known while no request lies beyond it, see Histogram::knows(). The median is
// always given.
struct ResponseTimes {
  double mean_ms = 0;
  double min_ms = 0;
  double p50_ms = 0;
  std::optional<double> p90_ms = {};
  std::optional<double> p99_ms = {};
  std::optional<double> p999_ms = {};
  double max_ms = 0;
};

struct Interval {
  double low = 0;
  double high = 0;
};

// 95% intervals, see intervals.h. That of a percentile is not known where too few requests lie
// beyond it.
struct Intervals {
  Interval throughput_rps;
  Interval mean_ms;
  std::optional<Interval> p50_ms = {};
  std::optional<Interval> p90_ms = {};
  std::optional<Interval> p99_ms = {};
};

// The requests that ended in one second of the window.
struct SecondSummary {
  std::uint64_t requests = 0;
  double mean_ms = 0;  // 0 when there are none
};

// What only an open loop has.
struct OpenSummary {
  std::uint64_t due = 0;              // requests that were due in the window
  std::uint64_t found_no_thread = 0;  // of them, those that waited until a thread was free
  std::uint64_t given_up = 0;         // of them, those that timed out or were never sent
  ResponseTimes service;              // from the moment at which a request was sent
  ResponseTimes lateness;             // of loadgen itself
  Distribution service_distribution;
  Distribution lateness_distribution;
  bool is_late = false;  // the lateness makes the run invalid
};

// What only a ramp has: the time in which all threads ran.
struct PlateauSummary {
  std::uint64_t threads = 0;          // that the run should have
  std::uint64_t threads_started = 0;  // of them
  double start_s = 0;                 // after the start of the window
  double elapsed_s = 0;
  std::uint64_t requests = 0;  // that ended in it
  double throughput_rps = 0;
  ResponseTimes response;
  Distribution distribution;  // of these response times
  double n_check = 0;         // the part of the threads' time in it that is in requests and pauses
};

using CausesAndCounts = std::vector<std::pair<std::string, std::uint64_t>>;

// The requests of one kind. The members mean what those of Summary mean.
struct KindSummary {
  RequestKind kind = RequestKind::kGet;
  std::uint64_t requests = 0;
  double throughput_rps = 0;
  std::uint64_t bytes = 0;
  CausesAndCounts errors;
  std::uint64_t errors_total = 0;
  ResponseTimes response;
};

// Only requests that succeeded count, except in the errors.
// All times of requests are 0 when none succeeded.
struct Summary {
  double elapsed_s = 0;  // the length of the measured window
  std::uint64_t requests = 0;
  double throughput_rps = 0;
  std::uint64_t bytes = 0;  // of files

  // The causes that occurred, each with its count.
  CausesAndCounts errors;
  std::uint64_t errors_total = 0;

  // By cause, what the system said about the first failure, where it said anything.
  std::vector<std::pair<std::string, std::string>> first_errors;

  // The cause for which everything failed, so that the run ended early. Empty: it did not.
  std::string hopeless;

  // Mean times from the start of a request until it was connected, until the first byte of its last
  // reply, and until its last byte with the percentiles. In an open loop the first two start when
  // the request is sent, and the percentiles when it is due.
  double connect_ms = 0;
  double first_byte_ms = 0;
  ResponseTimes response;

  // With --think: the time in pauses for each request, failed ones included. A pause that the end
  // of the window cut counts with what had passed, so that no part of the threads' time is missing.
  std::optional<double> think_ms;

  // With --tls: of the handshakes that succeeded.
  std::optional<ResponseTimes> handshake;
  std::optional<Distribution> handshake_distribution;

  // From the end of one request to the end of the next one, on average.
  double cycle_ms() const { return response.mean_ms + think_ms.value_or(0); }

  // Of all response times, and of those of both halves of the run, where these are known.
  Distribution distribution;
  std::vector<Distribution> halves;

  // The same until the log-in had ended, until the connection for the file was there, and until the
  // file had come. Only of a protocol that has such a connection.
  double logged_in_ms = 0;
  double data_connected_ms = 0;
  double data_ended_ms = 0;

  std::vector<SecondSummary> per_second;
  std::optional<Intervals> intervals;  // of a closed or an open loop that was long enough
  std::vector<KindSummary> kinds;      // of all kinds, in a run that mixes them

  // The self-check: X*R/N, or X*(R+Z)/N with --think. It is 1 when every thread always had a
  // request under way, or was in a pause. See docs/measuring.md. It is not defined for the other
  // kinds of run. Of a ramp it is that of the plateau.
  //
  // It says little about a run shorter than kLeastElapsedS, which is not judged by it. So a few
  // requests can be used as a test of the server.
  double n_check = 0;
  bool has_n_check() const { return !open && !burst && !crowd; }
  bool is_long_enough() const {
    return (plateau ? plateau->elapsed_s : elapsed_s) >= kLeastElapsedS;
  }
  bool is_n_check_good() const {
    return !has_n_check() || !is_long_enough() ||
           (n_check >= kLeastNCheck && n_check <= kMostNCheck);
  }

  std::optional<UnderWaySummary> under_way;  // only of a closed loop and an open one

  std::optional<OpenSummary> open;        // only of an open loop
  std::optional<burst::Summary> burst;    // only of a burst
  std::optional<crowd::Summary> crowd;    // only of a crowd
  std::optional<PlateauSummary> plateau;  // only of a ramp

  // See starvation_of().
  double starvation = 0;
  bool is_starved() const { return starvation > kToldStarvation; }

  // Only of a closed loop: the longest time in which no request ended, see Silence. It is told
  // unless loadgen itself stood still.
  std::optional<double> silence_s;
  bool is_silence_told = false;

  // Of every kind of run: sentences that say why its figures cannot be trusted. Empty: the run is
  // valid. A request that failed, and a user that left, do not make a run invalid by themselves.
  std::vector<std::string> invalid_because;

  double last_byte_ms() const { return open ? open->service.mean_ms : response.mean_ms; }
};

// Requires: threads > 0.
Summary summarize(const Figures& figures, int threads);

// Errors in one line, such as "denied 3, timeout 1", or "none".
std::string errors_text(const CausesAndCounts& errors);

// What is N by the self-check: "X*R", or "X*(R+Z)" with --think.
const char* law_of(const Summary& summary);

// "valid" or "INVALID"
const char* verdict_text(const Summary& summary);

// Why the exit status must be 1, in one line, or nothing: a request failed, a user of a crowd left,
// or the run is invalid.
std::optional<std::string> failure_of(const Summary& summary);

}  // namespace loadgen
