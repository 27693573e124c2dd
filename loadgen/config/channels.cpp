#include "loadgen/config/channels.h"

#include <algorithm>

#include "flags/values.h"
#include "loadgen/config/choices.h"
#include "loadgen/config/config.h"

namespace loadgen {

namespace {

constexpr int kMostChannels = 64;

// How large the parts are, where the pool allows it.
struct PartRule {
  std::uint64_t parts_per_channel;
  std::uint64_t least_bytes;
  std::uint64_t most_bytes;
};

constexpr PartRule kHttpRule{32, kLeastPartBytes, 1 << 20};
constexpr PartRule kFtpRule{8, 256 << 10, 4 << 20};

}  // namespace

std::size_t part_bytes_of(const ChannelOptions& options, Protocol protocol,
                          std::uint64_t file_bytes) {
  constexpr std::uint64_t kPage = 4096;
  const auto channels = static_cast<std::uint64_t>(options.count);
  const PartRule& rule = protocol == Protocol::kFtp ? kFtpRule : kHttpRule;
  const std::uint64_t wanted = std::clamp(file_bytes / (channels * rule.parts_per_channel),
                                          rule.least_bytes, rule.most_bytes);
  const std::uint64_t most = static_cast<std::uint64_t>(options.pool_bytes) / (2 * channels);
  const std::uint64_t bytes = std::min(wanted, most) / kPage * kPage;
  return std::max<std::uint64_t>(bytes, kLeastPartBytes);
}

void declare_channels(flags::App& app, ChannelOptions& options) {
  app.group("Channels", flags::Shown::kInFullHelp);
  flags::add_whole(app, "--channels", options.count, 1, kMostChannels,
                   "each thread gets a file by COUNT connections at once, in parts of one version "
                   "of the file (get over http or ftp); the response time is that of the file. "
                   "Without it, a file comes by one connection and one request")
      ->type_name("COUNT")
      ->default_str("");
  flags::add_size(app, "--pool", options.pool_bytes,
                  "memory of each thread for parts that come before earlier ones; at least 64K "
                  "for each channel, and 64K more")
      ->default_str("8M");
  flags::add_choice<Write>(
      app, "--write", options.write, choices({Write::kInOrder, Write::kInPlace}),
      "how --save writes with --channels; in-order: without gaps, so that a killed run can be "
      "started again and goes on where it ended; in-place: each part where it belongs, at once");
}

const char* word_of(Write write) { return write == Write::kInPlace ? "in-place" : "in-order"; }

}  // namespace loadgen
