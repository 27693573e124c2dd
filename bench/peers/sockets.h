// The few socket calls of the bare programs that the bench compares with. Blocking, on 127.0.0.1.
//
// These programs are no servers for use: they end at the first thing that they do not expect.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace peers {

constexpr int kThreads = 256;  // more than the connections of any measurement

[[noreturn]] inline void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline int make_socket(int flags = 0) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
  const int on = 1;
  if (fd < 0 || ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("socket");
  return fd;
}

inline int connect_to(std::uint16_t port) {
  const int fd = make_socket();
  const sockaddr_in address = loopback(port);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail("connect");
  return fd;
}

// Listens on a free port and prints it in the READY line that all our programs have.
inline int listen_anywhere(int flags = 0) {
  const int fd = make_socket(flags);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd, raw, size) != 0 || ::listen(fd, 4096) != 0 || ::getsockname(fd, raw, &size) != 0)
    fail("listen");
  std::printf("READY 127.0.0.1:%u\n", unsigned{ntohs(address.sin_port)});
  std::fflush(stdout);
  return fd;
}

// False if the peer is gone.
inline bool send_all(int fd, std::string_view bytes) {
  return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

// Replaces text by what comes until it ends with `end`. False if the peer closed before.
inline bool read_until(int fd, std::string_view end, std::string& text) {
  text.clear();
  char buffer[4096];
  while (!text.ends_with(end)) {
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return false;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return true;
}

// Threads wait in accept(), and each serves one connection at a time with serve(fd). make_serve()
// is called once in each thread, so that what it opens belongs to that thread. Never returns.
template <typename MakeServe>
void serve_forever(int listener, MakeServe make_serve) {
  const auto run = [&] {
    auto serve = make_serve();
    for (;;) {
      const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) fail("accept");
      serve(fd);
      ::close(fd);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(run);
  for (std::thread& thread : threads) thread.join();
}

inline std::uint16_t port_of(const char* text) {
  return static_cast<std::uint16_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace peers
