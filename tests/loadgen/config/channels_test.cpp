#include "loadgen/config/channels.h"

#include "loadgen/config/config.h"
#include "tests/catch.h"

using loadgen::ChannelOptions;
using loadgen::least_pool_bytes;
using loadgen::part_bytes_of;
using loadgen::Protocol;

namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;

std::size_t part_bytes(int channels, std::uint64_t file_bytes,
                       Protocol protocol = Protocol::kHttp) {
  return part_bytes_of({.count = channels}, protocol, file_bytes);
}

}  // namespace

TEST_CASE("the parts of a small file are small, so that all channels have some", "[loadgen]") {
  CHECK(part_bytes(4, 0) == 64 << 10);
  CHECK(part_bytes(4, kMegabyte) == 64 << 10);
  CHECK(part_bytes(4, 20 * kMegabyte) == 155'648);
  CHECK(part_bytes(1, 20 * kMegabyte) == 622'592);
}

TEST_CASE("the parts of a large file are large, so that requests are few", "[loadgen]") {
  CHECK(part_bytes(1, 1'000 * kMegabyte) == 1 << 20);
  CHECK(part_bytes(1, UINT64_MAX) == 1 << 20);
}

TEST_CASE("each part of FTP costs a connection, so they are larger", "[loadgen]") {
  CHECK(part_bytes(4, kMegabyte, Protocol::kFtp) == 256 << 10);
  CHECK(part_bytes(4, 20 * kMegabyte, Protocol::kFtp) == 622'592);
  CHECK(part_bytes(1, UINT64_MAX, Protocol::kFtp) == 4 << 20);
}

TEST_CASE("the pool has two parts for each channel, or all but two of the least size",
          "[loadgen]") {
  for (const int channels : {1, 2, 3, 8, 31, 64}) {
    for (const Protocol protocol : {Protocol::kHttp, Protocol::kFtp}) {
      ChannelOptions options{.count = channels};
      options.pool_bytes = least_pool_bytes(options);
      for (; options.pool_bytes < 1 << 28; options.pool_bytes = options.pool_bytes * 5 / 4) {
        const std::size_t bytes = part_bytes_of(options, protocol, UINT64_MAX);
        const auto buffers = static_cast<std::size_t>(options.pool_bytes) / bytes;
        CAPTURE(channels, options.pool_bytes, bytes);
        CHECK(buffers >= static_cast<std::size_t>(channels) + 1);
        CHECK((bytes == loadgen::kLeastPartBytes ||
               buffers >= 2 * static_cast<std::size_t>(channels)));
      }
    }
  }
}
