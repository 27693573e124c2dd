#include "loadgen/config/crowd.h"

#include <algorithm>

#include "flags/alternatives.h"
#include "flags/values.h"
#include "loadgen/config/choices.h"
#include "loadgen/config/decimal.h"

namespace loadgen::crowd {

void declare(flags::App& app, Options& options, flags::Option* seconds, std::int64_t& seconds_ms) {
  app.group("Crowds", flags::Shown::kInFullHelp);
  add_decimal(app, "--pace", "BYTES_S", "a number from 1 to 1000000",
              "makes a crowd of the --users: each logs in once and gets its file again and again, "
              "reading so many bytes a second (get only)",
              1, 1'000'000, options.pace_bytes_s);
  flags::Option* const ramp = flags::add_seconds(
      app, "--ramp", options.ramp_ms,
      "start the users evenly over SECONDS; without --users, the threads of a closed loop, which "
      "start together by default (one every K seconds: K times their number)");
  flags::forget_when_taken(ramp, [&options] { options.has_ramp = true; });
  ramp->reset = [&options] {
    options.ramp_ms = Options{}.ramp_ms;
    options.has_ramp = false;
  };
  flags::Option* const until_stable = flags::add_seconds(
      app, "--until-stable", options.until_stable_ms,
      "end a crowd when all users were started, each has ended a fetch, and their number has not "
      "changed for SECONDS; --seconds ends it at a time instead",
      1);
  flags::make_alternatives({seconds, [&seconds_ms] { seconds_ms = 10'000; }},
                           {until_stable, [&options] { options.until_stable_ms = 0; }});
  flags::add_size(app, "--receive-buffer", options.receive_buffer_bytes,
                  "receive buffer of each user's socket; the system doubles it, and has at least "
                  "2304 bytes")
      ->default_str("4096");
  flags::add_whole(app, "--least-rate", options.least_rate_percent, 1, 99,
                   "a fetch at less than PERCENT of --pace was too slow")
      ->type_name("PERCENT");
  flags::add_choice<TooSlow>(
      app, "--too-slow", options.too_slow, choices({TooSlow::kDrop, TooSlow::kFail}),
      "what becomes of a user with a fetch that was too slow; drop: it leaves; "
      "fail: the run ends and has failed");
  flags::add_choice<EngineKind>(
      app, "--engine", options.engine,
      choices({EngineKind::kEpoll, EngineKind::kPoll, EngineKind::kSigio, EngineKind::kIoUring}),
      "how a crowd learns that bytes have arrived; sigio: a signal for "
      "each event (F_SETSIG)");
  flags::add_whole(app, "--signal-queue", options.signal_queue, 1, 1'000'000,
                   "with sigio, the kernel queues at most COUNT signals (RLIMIT_SIGPENDING); when "
                   "the queue is full, one poll() finds what has arrived")
      ->type_name("COUNT")
      ->default_str("");
}

std::int64_t ramp_ms_of(const Options& options, std::int64_t seconds_ms) {
  if (options.has_ramp || !ends_by_time(options)) return options.ramp_ms;
  return std::min(options.ramp_ms, seconds_ms / 2);
}

const char* word_of(EngineKind engine) {
  switch (engine) {
    case EngineKind::kEpoll: return "epoll";
    case EngineKind::kPoll: return "poll";
    case EngineKind::kSigio: return "sigio";
    case EngineKind::kIoUring: return "io_uring";
  }
  return "";
}

const char* word_of(TooSlow too_slow) { return too_slow == TooSlow::kFail ? "fail" : "drop"; }

}  // namespace loadgen::crowd
