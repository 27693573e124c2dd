// One list of the fields of a result: what each is called, its unit, which runs have it, how it is
// found, how those of several testers add up, and how it is read back.
//
// json_of() writes the fields in the order of the list. `loadgen merge` reads back what the list
// says, and docs/results.md has the same list, with a sentence for each field.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "loadgen/config/config.h"
#include "loadgen/figures/figures.h"
#include "loadgen/figures/summary.h"

namespace loadgen {

// Of "schema". It changes when a field that all runs have changes what it means, or goes.
inline constexpr int kSchema = 1;

// What a result is made of. The summary is that of the figures.
struct Report {
  const Config& config;
  const Figures& figures;
  const Summary& summary;
};

// Which runs have a field, in the words of the docs. Without a function, those that have the part
// of the figures which the field is taken from.
struct When {
  const char* runs;
  bool (*has)(const Report& report) = nullptr;
};

// What the sum of several testers has.
enum class InSum {
  kAdded,
  kMost,   // the largest
  kAgain,  // computed of what was added up, or of the time that all share
  kSame,   // what all of them have
  kNone,   // nothing: 0, the default, or no such field
};

enum class Back {
  kNo,
  kByHand,  // by a function of loadgen/merge/part.cpp
  kAlways,  // a result without it is refused
  kLater,   // results of older versions do not have it, which stands for 0
};

struct Field {
  const char* name;  // with a point behind the name of its block
  const char* unit;
  When when;
  InSum in_sum;
  Back back;
  nlohmann::ordered_json (*write)(const Report& report);  // is_discarded() if the run has none

  // Of a field that is kAlways or kLater, one of them. Makes the part of the Tally that has it.
  void (*set_count)(Figures& figures, std::uint64_t value) = nullptr;
  void (*set_number)(Figures& figures, double value) = nullptr;
};

// The unit of a distribution. Distributions are the last fields.
inline constexpr const char* kCounts = "counts";

std::span<const Field> fields();

}  // namespace loadgen
