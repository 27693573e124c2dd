// Which packets a stuck connection loses, and for how long.
#include "lab/delay_line/stall.h"

#include <netinet/in.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "tests/catch.h"

namespace {

using base::kNsPerS;
using delay_line::Packet;
using delay_line::segment;
using delay_line::Stall;

constexpr std::size_t kIp = 20, kTcp = 32;  // headers; that of TCP has options

// From 10.0.0.1 to 10.0.0.2.
Packet packet(std::uint16_t from, std::uint16_t to, std::size_t data, int protocol = IPPROTO_TCP) {
  Packet made(kIp + kTcp + data);
  const auto set = [&](std::size_t at, unsigned value) {
    made[at] = static_cast<std::byte>(value);
  };
  set(0, 0x45);
  set(9, static_cast<unsigned>(protocol));
  for (const std::size_t at : {12U, 16U}) set(at, 10);
  set(15, 1);
  set(19, 2);
  set(kIp, from >> 8U);
  set(kIp + 1, from & 0xffU);
  set(kIp + 2, to >> 8U);
  set(kIp + 3, to & 0xffU);
  set(kIp + 12, kTcp / 4 << 4U);
  return made;
}

Packet answer_to(const Packet& one) {
  Packet made = one;
  std::swap_ranges(made.begin() + 12, made.begin() + 16, made.begin() + 16);
  std::swap_ranges(made.begin() + kIp, made.begin() + kIp + 2, made.begin() + kIp + 2);
  return made;
}

TEST_CASE("both directions are one connection, and other ports are another", "[delay_line]") {
  const auto one = segment(packet(80, 5000, 100)), other = segment(packet(80, 5001, 100));
  REQUIRE((one && other));
  CHECK(segment(answer_to(packet(80, 5000, 100)))->connection == one->connection);
  CHECK(!(one->connection == other->connection));
  CHECK(one->has_data);
  CHECK(!segment(packet(80, 5000, 0))->has_data);
}

TEST_CASE("what is no whole packet of TCP over IPv4 is none", "[delay_line]") {
  CHECK(!segment(packet(80, 5000, 100, IPPROTO_UDP)));
  Packet whole = packet(80, 5000, 0);
  for (std::size_t size = 0; size < kIp + 20; ++size) {
    CHECK(!segment(Packet(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))));
  }
  whole[0] = std::byte{0x60};
  CHECK(!segment(whole));
}

TEST_CASE("the connection with the next data is stuck for its time", "[delay_line]") {
  Stall stall;
  CHECK(!stall.holds(packet(80, 5000, 100), 0));
  stall.begin(3 * kNsPerS);
  CHECK(!stall.holds(packet(80, 5000, 0), kNsPerS));
  CHECK(stall.holds(packet(80, 5001, 100), kNsPerS));
  CHECK(stall.holds(answer_to(packet(80, 5001, 0)), 2 * kNsPerS));
  CHECK(!stall.holds(packet(80, 5000, 100), 2 * kNsPerS));
  CHECK(stall.holds(packet(80, 5001, 100), 4 * kNsPerS - 1));
  CHECK(!stall.holds(packet(80, 5001, 100), 4 * kNsPerS));
  CHECK(!stall.holds(packet(80, 5001, 100), 5 * kNsPerS));
}

}  // namespace
