#include "loadgen/config/think.h"

#include <fmt/core.h>

#include "loadgen/config/decimal.h"

namespace loadgen {

namespace {

// A shorter pause is mostly the time that the system takes to wake a thread.
constexpr double kLeastS = 0.001;
constexpr double kMostS = 3600;

constexpr const char* word_of(ThinkKind kind) {
  switch (kind) {
    case ThinkKind::kNone: break;
    case ThinkKind::kFixed: return "fixed";
    case ThinkKind::kExponential: return "exp";
  }
  return "none";
}

}  // namespace

std::optional<ThinkTime> parse_think_time(std::string_view text) {
  for (const ThinkKind kind : {ThinkKind::kFixed, ThinkKind::kExponential}) {
    const auto mean_s = number_behind(fmt::format("{}:", word_of(kind)), text);
    if (mean_s && *mean_s >= kLeastS && *mean_s <= kMostS) return ThinkTime{kind, *mean_s};
  }
  return {};
}

std::string text_of(const ThinkTime& think) {
  if (think.is_none()) return word_of(think.kind);
  return fmt::format("{}:{:g}", word_of(think.kind), think.mean_s);
}

void declare_closed_loop(flags::App& app, ThinkTime& think) {
  app.group("Closed loop");
  const auto take = [&think](const std::string& text) {
    const auto read = parse_think_time(text);
    if (read) think = *read;
    return read.has_value();
  };
  app.add_parsed("--think", "fixed:S|exp:S", "fixed:S or exp:S with S from 0.001 to 3600",
                 "pause before each request of a thread, the first one included, as a user thinks; "
                 "fixed: S seconds, and before the first request a part of it, so that the threads "
                 "are not in step; exp: S seconds on average, at random. The pauses are in no "
                 "response time",
                 take)
      ->reset = [&think] { think = {}; };
}

}  // namespace loadgen
