// What the user decides about a crowd, as plain values.
#pragma once

#include <cstdint>

#include "flags/option.h"

namespace loadgen::crowd {

// How a thread learns that bytes have arrived. The workload is the same with all of them.
enum class EngineKind { kEpoll, kPoll, kSigio, kIoUring };

// What becomes of a user whose fetch was too slow.
enum class TooSlow {
  kDrop,  // it leaves, and the others go on
  kFail,  // the run ends and has failed
};

struct Options {
  double pace_bytes_s = 0;                // what each user reads in a second; 0: no crowd
  std::int64_t ramp_ms = 10'000;          // the users are started evenly over this time
  bool has_ramp = false;                  // --ramp was given; without a crowd it is of the threads
  std::int64_t until_stable_ms = 20'000;  // 0: the run ends by --seconds
  std::int64_t receive_buffer_bytes = 4096;
  int least_rate_percent = 75;  // of the pace; a fetch below it was too slow
  TooSlow too_slow = TooSlow::kDrop;
  EngineKind engine = EngineKind::kEpoll;
  int signal_queue = 0;  // kSigio: the most signals that wait; 0: as the system has it
};

// Declares the flags that only a crowd has, which are a group of --help.
// `seconds` is an option that was declared before.
void declare(flags::App& app, Options& options, flags::Option* seconds, std::int64_t& seconds_ms);

inline bool ends_by_time(const Options& options) { return options.until_stable_ms == 0; }

// The ramp of a crowd. By default it is at most half of a run that ends by time.
std::int64_t ramp_ms_of(const Options& options, std::int64_t seconds_ms);

const char* word_of(EngineKind engine);
const char* word_of(TooSlow too_slow);

}  // namespace loadgen::crowd
