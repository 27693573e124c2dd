// The pauses that the users of a closed loop make before their requests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flags/option.h"

namespace loadgen {

enum class ThinkKind {
  kNone,         // a request begins as soon as the one before has ended
  kFixed,        // all pauses are equal
  kExponential,  // drawn from the exponential distribution
};

// What the user asked for. The pauses that were made are in figures/think.h.
struct ThinkTime {
  ThinkKind kind = ThinkKind::kNone;
  double mean_s = 0;

  bool is_none() const { return kind == ThinkKind::kNone; }
  bool operator==(const ThinkTime&) const = default;
};

// Reads a value of --think, such as "exp:0.5". Nothing: that is not what `text` is.
std::optional<ThinkTime> parse_think_time(std::string_view text);

// "exp:0.5", or "none"
std::string text_of(const ThinkTime& think);

// Declares a group of --help.
void declare_closed_loop(flags::App& app, ThinkTime& think);

}  // namespace loadgen
