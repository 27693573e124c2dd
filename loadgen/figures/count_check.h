// Whether loadgen and the server have counted the same requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "loadgen/figures/tally.h"

namespace loadgen {

// The requests of a whole run, its warm-up and its cool-down included.
struct CountCheck {
  std::string address = {};   // where the server's counters were read
  std::uint64_t server = 0;   // answered with OK, by the server's count
  std::uint64_t loadgen = 0;  // succeeded, by loadgen's count

  // Those which failed for loadgen or were broken off, but may have been answered with OK.
  std::uint64_t doubtful = 0;

  // Why the server's count is not known. Empty: it is.
  std::string why_unknown = {};

  bool agrees() const {
    return why_unknown.empty() && server >= loadgen && server - loadgen <= doubtful;
  }
};

// Loadgen's side of it.
CountCheck count_of(const Tally& tally);

std::string text_of(const CountCheck& check);

// What is wrong, or nothing.
std::optional<std::string> fault_of(const CountCheck& check);

}  // namespace loadgen
