// What loadgen itself did to the figures. They are then not only the server's.
#pragma once

#include <string>
#include <vector>

#include "loadgen/figures/figures.h"
#include "loadgen/figures/summary.h"

namespace loadgen {

// Open loop: its lateness is a fault when it is more than both of these: a time, and a part of the
// response times, each by the highest percentile of kPercentiles that is known. So one late wake-up
// is no fault of a short run.
inline constexpr double kMostLatenessMs = 1;
inline constexpr double kMostLatenessShare = 0.1;

// Stalls are a fault when all of them are more than the first part of the window, or the longest is
// more than the second part of the median of the response times. Less hardly changes a figure that
// is shown.
inline constexpr double kMostStalledShare = 0.01;
inline constexpr double kLongestStallShare = 0.1;

// Waiting for a core is a fault of a closed loop when it is over this part of the time of a mean
// request, in a run that is_long_enough(). Where one host has few cores for all programs, two
// fifths are usual. Of an open loop and of a crowd the lateness tells more, and of a burst its
// simultaneity.
inline constexpr double kMostStarvation = 0.5;

// Whether an open loop was late, by the rule above. No other kind of run can be late so.
bool is_late(const Tally& tally);

// How much longer the pause before a request was than it should have been, on average: its thread
// waited for a core. 0: there are no pauses.
double overslept_ms(const Tally& tally);

// The time that a thread waited for a core, as a part of the mean response time; 0 if no request
// succeeded. Only in a closed loop all of it lies within requests, but for that by which pauses
// were too long, which is left out. In the other kinds of run it is a part of the threads' time.
double starvation_of(const Figures& figures, const Summary& summary);

// A sentence for each fault of loadgen itself, of any kind of run. Requires: all else of `summary`
// is filled in.
std::vector<std::string> own_faults_of(const Figures& figures, const Summary& summary);

}  // namespace loadgen
