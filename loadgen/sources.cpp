#include "loadgen/sources.h"

namespace loadgen {

namespace {

net::SocketAddress loopback(int last_byte) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + static_cast<std::uint32_t>(last_byte) - 1);
  return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
}

}  // namespace

Sources Sources::spread(int count) {
  Sources made;
  for (int last_byte = 1; last_byte <= count; ++last_byte)
    made.addresses_.push_back(loopback(last_byte));
  return made;
}

const net::SocketAddress* Sources::of(int thread, std::int64_t connection) const {
  if (addresses_.empty()) return nullptr;
  const auto turn = static_cast<std::uint64_t>(thread) + static_cast<std::uint64_t>(connection);
  return &addresses_[turn % addresses_.size()];
}

}  // namespace loadgen
