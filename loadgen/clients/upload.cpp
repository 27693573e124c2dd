#include "loadgen/clients/upload.h"

#include <algorithm>
#include <cerrno>
#include <random>
#include <string>

#include "net/socket_io.h"

namespace loadgen {

namespace {

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::minstd_rand generator;
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(generator() >> 8); });
  return bytes;
}

}  // namespace

std::string_view upload_bytes() {
  static const std::string bytes = random_bytes(64 * 1024);
  return bytes;
}

UploadEnd send_upload(tls::Socket& socket, std::uint64_t size_bytes, base::Deadline deadline,
                      ThreadSeries* series) {
  const std::string_view bytes = upload_bytes();
  for (std::uint64_t left = size_bytes; left > 0;) {
    const ssize_t sent = socket.send_now(bytes.substr(0, left));
    if (sent >= 0) {
      left -= static_cast<std::uint64_t>(sent);
      if (series != nullptr) series->move(static_cast<std::uint64_t>(sent));
    } else if (errno != EAGAIN || socket.has_answer()) {
      return UploadEnd::kCut;
    } else if (deadline.has_passed() || !net::wait_until_either(socket.get(), deadline)) {
      return UploadEnd::kTimeout;
    }
  }
  return UploadEnd::kWhole;
}

}  // namespace loadgen
