// What is measured of a burst: transfers that are asked for in the same moment.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loadgen/figures/exchange.h"

namespace loadgen::burst {

// What one thread did in one round. All times are of base::now_ns().
struct Transfer {
  std::int64_t asked_ns = 0;  // 0: it failed before it could ask for its file
  std::int64_t first_byte_ns = 0;
  std::int64_t file_end_ns = 0;
  std::uint64_t bytes = 0;
  bool has_failed = false;
};

Transfer transfer_of(const Exchange& exchange);

// Sums over the transfers of one round, or of several. Only transfers that succeeded count, except
// in `failed` and in the spread.
//
// The span of a round is the time from the first moment at which a file was asked for to the last
// byte of the last file.
struct Sums {
  std::uint64_t transfers = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;
  double span_ns = 0;
  double transfer_ns = 0;              // from asking for the file to its last byte
  double capacity_ns = 0;              // of each round: transfers * span
  double first_byte_ns = 0;            // from asking for the file to the first byte of the reply
  std::int64_t release_spread_ns = 0;  // first to last moment of asking; the most of all rounds

  void add(const Sums& other);
};

Sums sums_of(std::span<const Transfer> round);

// The same in the units of the reports.
struct SumsSummary {
  std::uint64_t transfers = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;
  double span_s = 0;
  double rate_bytes_s = 0;

  // The transfers' own times / (transfers * span). 1: they all took place at the same time. 1/n:
  // each began when the one before had ended; less: with gaps between them. 0: none succeeded.
  double simultaneity = 0;

  double release_spread_ms = 0;
  double first_byte_ms = 0;  // the mean
};

struct Summary {
  SumsSummary all;  // the spans added up, without the time between the rounds
  std::vector<SumsSummary> rounds;
};

Summary summarize(const std::vector<Sums>& rounds);

// The burst in one line of the table.
std::string text_of(const Summary& summary);

// Says that the transfers did not overlap much; empty if they did.
std::string warning_of(const Summary& summary);

}  // namespace loadgen::burst
