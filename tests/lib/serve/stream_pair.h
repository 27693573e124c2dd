// A client, and the server's end of its connection.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "net/connect.h"
#include "net/listen.h"
#include "net/socket_io.h"
#include "serve/options.h"
#include "serve/stream.h"

namespace tests {

struct StreamPair {
  explicit StreamPair(std::int64_t idle_timeout_ms = 60'000, std::int64_t min_rate = 0,
                      const serve::Encryption* encryption = nullptr) {
    const auto listener = net::listen_on({"127.0.0.1", 0}, serve::io_slice_ms(idle_timeout_ms));
    auto connected = net::connect_to(net::resolve(listener->address)->front(), 60'000);
    client = std::move(*connected);
    auto accepted = net::accept_from(listener->fd.get());
    stream.emplace(std::move(accepted.fd), accepted.peer, idle_timeout_ms, is_draining, min_rate,
                   encryption);
  }

  // All that the client gets until the connection ends.
  std::string received() const {
    std::string all;
    std::array<char, 4096> buffer;
    for (ssize_t got = 0; (got = net::receive(client.get(), buffer)) > 0;) {
      all.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

  std::atomic<bool> is_draining = false;
  net::Fd client;
  std::optional<serve::Stream> stream;
};

}  // namespace tests
