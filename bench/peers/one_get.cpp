// The bare cost of a request of one user: a loop that asks an HTTP server on 127.0.0.1 for one file
// again and again, on one kept connection.
//
//   one_get PORT NAME SECONDS   prints the mean time of a request in microseconds
//
// The answer is taken with one call if it has come whole; nothing but its length is looked at.
#include <chrono>

#include "sockets.h"

namespace {

using Clock = std::chrono::steady_clock;

// How long the first answer is. Requires: no byte comes behind it.
std::size_t size_of_answer(int fd, std::string& text) {
  constexpr std::string_view kLength = "Content-Length: ";
  char buffer[16 * 1024];
  for (text.clear();;) {
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) peers::fail("recv");
    text.append(buffer, static_cast<std::size_t>(got));
    const auto head = text.find("\r\n\r\n");
    const auto length = text.find(kLength);
    if (head == std::string::npos || length > head) continue;
    const std::size_t size = head + 4 + std::strtoul(&text[length + kLength.size()], nullptr, 10);
    if (text.size() == size) return size;
  }
}

void take(int fd, std::size_t size) {
  char buffer[16 * 1024];
  while (size > 0) {
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0 || static_cast<std::size_t>(got) > size) peers::fail("recv");
    size -= static_cast<std::size_t>(got);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fputs("usage: one_get PORT NAME SECONDS\n", stderr);
    return 2;
  }
  const int fd = peers::connect_to(peers::port_of(words[1]));
  const std::string request =
      std::string("GET /") + words[2] + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::string text;
  peers::send_all(fd, request);
  const std::size_t size = size_of_answer(fd, text);
  const auto start = Clock::now();
  const auto end = start + std::chrono::duration<double>(std::strtod(words[3], nullptr));
  std::int64_t requests = 0;
  auto now = start;
  for (; now < end; now = Clock::now(), ++requests) {
    if (!peers::send_all(fd, request)) peers::fail("send");
    take(fd, size);
  }
  const std::chrono::duration<double, std::micro> took = now - start;
  std::printf("%.3f\n", took.count() / static_cast<double>(requests));
  return 0;
}
