// The two forms in which a crowd is reported, and its figures.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loadgen/loops/crowd/run.h"

namespace loadgen::crowd {

// How far the users were from their rates, each by the fetch with its largest error.
struct RateErrors {
  std::size_t users = 0;  // that hold and have ended a fetch
  double worst = 0;
  double p50 = 0;
  double share_within_5_percent = 0;
};
RateErrors rate_errors_of(std::vector<double> errors);

// The causes of drop-outs with their counts, in the order of their first appearance.
std::vector<std::pair<std::string, int>> causes_of(const std::vector<DropOut>& drop_outs);

// A file that fits into the sockets' buffers is sent at once, and only its reading is slow. Then
// the run is "paced reading". Otherwise the server has to wait for its users: "paced transfer".
struct Pacing {
  const char* name;
  std::uint64_t buffers_bytes;  // of the receive buffer, and the largest send buffer of this system
};
Pacing pacing_of(const Tally& tally, std::uint64_t most_send_buffer_bytes);

// The largest send buffer that this system gives a connection (net.ipv4.tcp_wmem). That of another
// host may differ.
std::uint64_t most_send_buffer_bytes();

// Both end with a line ending, and hold neither the user's name nor the password.
std::string json_of(const Config& config, const CrowdResult& result);
std::string table_of(const Config& config, const CrowdResult& result);

// Why the exit status must be 1, in one line, or nothing: no user holds, or with --too-slow fail
// one of them left.
std::optional<std::string> failure_of(const CrowdResult& result);

// "stable", "seconds", "too-slow", "nobody-holds", "signal"
const char* word_of(End end);

}  // namespace loadgen::crowd
