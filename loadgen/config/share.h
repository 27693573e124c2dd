// Which of many clients are of one part: of a thread with several users, or of a tester that shares
// the load with others.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "flags/option.h"

namespace loadgen {

// The clients of a part are those whose number, modulo the number of parts, is that of the part.
// All count from 0.
struct Share {
  int part = 0;
  int parts = 1;

  // How many of `clients` are of the part.
  int count_of(int clients) const { return (clients - part + parts - 1) / parts; }

  // The number that client `own` of the part has among all.
  int number_of(std::uint32_t own) const { return part + static_cast<int>(own) * parts; }

  bool operator==(const Share&) const = default;
};

// Reads "J/N", where J counts from 1. Nothing for any other text.
std::optional<Share> parse_share(std::string_view text);

// Declares --share.
void declare_share(flags::App& app, Share& share);

}  // namespace loadgen
