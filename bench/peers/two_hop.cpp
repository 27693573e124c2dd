// The bare shape of Turnstile: what two hops cost when nothing is checked, counted or logged.
//
//   two_hop front SECOND_PORT FILE_BYTES   answers each pipelined `get:` after asking the second
//   two_hop front SECOND_PORT new          answers each `new:` with what the second says
//   two_hop second [REDIS_PORT]            answers each line with OK, at once or when Redis has
//                                          answered one command: GET, or for `new:` SET
//
// Without Redis it has the shape of Turnstile on SQLite, which is a library. Waiting threads serve
// the connections, and the connections behind them are kept. loadgen --pipeline can measure it. A
// large file is sent from memory without a copy, as the fileserver does.
#include <sys/mman.h>
#include <sys/sendfile.h>

#include <cstring>

#include "sockets.h"

namespace {

constexpr std::size_t kCopiedBelowBytes = 16 * 1024;

// What every `get:` is answered with.
class Reply {
 public:
  explicit Reply(std::size_t file_bytes)
      : file_bytes_(file_bytes < kCopiedBelowBytes ? 0 : file_bytes),
        text_("OK\nOK " + std::to_string(file_bytes) + "\n") {
    if (file_bytes_ == 0) text_.append(file_bytes, 'x');
    file_ = file_bytes_ == 0 ? -1 : ::memfd_create("file", MFD_CLOEXEC);
    const std::string bytes(file_bytes_, 'x');
    if (file_ >= 0 &&
        ::pwrite(file_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      peers::fail("memfd");
  }

  // False if the client is gone.
  bool send(int client) const {
    if (!peers::send_all(client, text_)) return false;
    for (off_t at = 0; at < static_cast<off_t>(file_bytes_);) {
      if (::sendfile(client, file_, &at, file_bytes_ - static_cast<std::size_t>(at)) <= 0)
        return false;
    }
    return true;
  }

 private:
  const std::size_t file_bytes_;  // of file_; 0 if the bytes are in text_
  std::string text_;
  int file_;
};

void run_front(std::uint16_t second_port, std::size_t file_bytes) {
  const Reply reply(file_bytes);
  peers::serve_forever(peers::listen_anywhere(), [&] {
    return [&reply, second = peers::connect_to(second_port), request = std::string(),
            answer = std::string()](int client) mutable {
      while (peers::read_until(client, ".txt\n", request)) {
        const std::string_view credentials(request.data(), request.find('\n') + 1);
        if (!peers::send_all(second, credentials) || !peers::read_until(second, "\n", answer))
          peers::fail("the second hop");
        if (!reply.send(client)) return;
      }
    };
  });
}

void run_creating_front(std::uint16_t second_port) {
  peers::serve_forever(peers::listen_anywhere(), [=] {
    return [second = peers::connect_to(second_port), request = std::string(),
            answer = std::string()](int client) mutable {
      while (peers::read_until(client, "\n", request)) {
        if (!peers::send_all(second, request) || !peers::read_until(second, "\n", answer))
          peers::fail("the second hop");
        if (!peers::send_all(client, answer)) return;
      }
    };
  });
}

// What the authserver asks Redis. `line` is VERB:USER:PASSWORD and an LF.
std::string command_for(std::string_view line) {
  const auto colon = line.rfind(':');
  const std::string key = "user:" + std::string(line.substr(4, colon - 4));
  if (!line.starts_with("new:")) return "GET " + key + "\r\n";
  const auto password = line.substr(colon + 1, line.size() - colon - 2);
  return "SET " + key + " $plain$" + std::string(password) + " NX\r\n";
}

void run_second(std::uint16_t redis_port) {
  peers::serve_forever(peers::listen_anywhere(), [=] {
    const int redis = redis_port != 0 ? peers::connect_to(redis_port) : -1;
    return [redis, request = std::string(), answer = std::string()](int client) mutable {
      while (peers::read_until(client, "\n", request)) {
        if (redis >= 0 && (!peers::send_all(redis, command_for(request)) ||
                           !peers::read_until(redis, "\r\n", answer)))
          peers::fail("Redis");
        if (!peers::send_all(client, "OK\n")) return;
      }
    };
  });
}

}  // namespace

int main(int count, char** words) {
  if (count == 4 && std::strcmp(words[1], "front") == 0 && std::strcmp(words[3], "new") == 0)
    run_creating_front(peers::port_of(words[2]));
  if (count == 4 && std::strcmp(words[1], "front") == 0)
    run_front(peers::port_of(words[2]), std::strtoul(words[3], nullptr, 10));
  if (count >= 2 && std::strcmp(words[1], "second") == 0)
    run_second(count == 3 ? peers::port_of(words[2]) : std::uint16_t{0});
  std::fputs("usage: two_hop front SECOND_PORT FILE_BYTES|new | two_hop second [REDIS_PORT]\n",
             stderr);
  return 2;
}
