// What ended a run.
#pragma once

namespace loadgen {

enum class End {
  kTime,      // --seconds had passed
  kRequests,  // all requests, rounds or accounts that were asked for were carried out
  kStable,    // of a crowd: see --until-stable
  kSignal,    // SIGINT or SIGTERM
  kFiles,     // --once: a thread had asked for all its files
  kFailed,    // it could not go on; of a crowd also: nobody, or with --too-slow fail one, held
};

// The word in the results.
constexpr const char* word_of(End end) {
  switch (end) {
    case End::kTime: return "time";
    case End::kRequests: return "requests";
    case End::kStable: return "stable";
    case End::kSignal: return "signal";
    case End::kFiles: return "files";
    case End::kFailed: return "failed";
  }
  return "";
}

}  // namespace loadgen
