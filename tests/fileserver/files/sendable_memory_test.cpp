#include "fileserver/files/sendable_memory.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <string>

#include "tests/catch.h"

using fileserver::SendableMemory;

namespace {

constexpr std::int64_t kBytes = 64 * 1024;

SendableMemory::Region region_of(SendableMemory& memory, char letter) {
  auto region = memory.take(kBytes);
  REQUIRE_FALSE(region.is_empty());
  const SendableMemory::Mapping mapping(region);
  REQUIRE(mapping.data() != nullptr);
  std::fill_n(mapping.data(), kBytes, letter);
  return region;
}

std::int64_t allocated_bytes(int fd) {
  struct stat status {};
  REQUIRE(::fstat(fd, &status) == 0);
  return std::int64_t{status.st_blocks} * 512;
}

struct Ends {
  Ends() {
    std::array<int, 2> fds{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
    sender = net::Fd(fds[0]);
    receiver = net::Fd(fds[1]);
  }
  net::Fd sender;
  net::Fd receiver;
};

}  // namespace

TEST_CASE("what is still to be sent from memory does not change when that is given back",
          "[files]") {
  SendableMemory memory;
  const Ends ends;
  {
    const auto region = region_of(memory, 'a');
    REQUIRE(net::send_file(ends.sender.get(), region.part(kBytes)) == kBytes);
  }
  const auto next = region_of(memory, 'b');
  std::string received(kBytes, '?');
  std::size_t have = 0;
  while (have < received.size()) {
    const ssize_t got =
        net::receive(ends.receiver.get(), {received.data() + have, received.size() - have});
    REQUIRE(got > 0);
    have += static_cast<std::size_t>(got);
  }
  CHECK(received == std::string(kBytes, 'a'));
}

TEST_CASE("sendable memory is freed with its region", "[files]") {
  SendableMemory memory;
  const auto kept = region_of(memory, 'k');
  const int fd = kept.part(0).fd;
  const std::int64_t before = allocated_bytes(fd);
  CHECK(before >= kBytes);
  {
    const auto freed = region_of(memory, 'f');
    CHECK(allocated_bytes(fd) >= before + kBytes);
  }
  CHECK(allocated_bytes(fd) == before);
}

TEST_CASE("regions of sendable memory begin apart, so that they never share a page", "[files]") {
  SendableMemory memory;
  const auto one = region_of(memory, '1');
  const auto two = region_of(memory, '2');
  constexpr std::int64_t kHugePageBytes = std::int64_t{2} << 20;
  CHECK(two.part(kBytes).offset - one.part(kBytes).offset >= kHugePageBytes);
  CHECK(two.part(kBytes).offset % kHugePageBytes == 0);
}
