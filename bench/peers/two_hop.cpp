// The bare shape of Turnstile: what two hops cost when nothing is checked, counted or logged.
//
//   two_hop front SECOND_PORT      answers each pipelined `get:` with 1 KB, after asking the second
//   two_hop second [REDIS_PORT]    answers each line with OK, at once or after one command to Redis
//
// Without Redis it has the shape of Turnstile on SQLite, which is a library. Waiting threads serve
// the connections, and the connections behind them are kept. loadgen --pipeline can measure it.
#include <cstring>

#include "sockets.h"

namespace {

constexpr std::size_t kFileBytes = 1000;

void run_front(std::uint16_t second_port) {
  const std::string reply = "OK\nOK 1000\n" + std::string(kFileBytes, 'x');
  peers::serve_forever(peers::listen_anywhere(), [&] {
    return [&reply, second = peers::connect_to(second_port), request = std::string(),
            answer = std::string()](int client) mutable {
      while (peers::read_until(client, ".txt\n", request)) {
        const std::string_view credentials(request.data(), request.find('\n') + 1);
        if (!peers::send_all(second, credentials) || !peers::read_until(second, "\n", answer))
          peers::fail("the second hop");
        if (!peers::send_all(client, reply)) return;
      }
    };
  });
}

void run_second(std::uint16_t redis_port) {
  peers::serve_forever(peers::listen_anywhere(), [=] {
    const int redis = redis_port != 0 ? peers::connect_to(redis_port) : -1;
    return [redis, request = std::string(), answer = std::string()](int client) mutable {
      while (peers::read_until(client, "\n", request)) {
        const std::string_view user = std::string_view(request).substr(4, request.rfind(':') - 4);
        const std::string command = "GET user:" + std::string(user) + "\r\n";
        if (redis >= 0 &&
            (!peers::send_all(redis, command) || !peers::read_until(redis, "\r\n", answer)))
          peers::fail("Redis");
        if (!peers::send_all(client, "OK\n")) return;
      }
    };
  });
}

}  // namespace

int main(int count, char** words) {
  if (count == 3 && std::strcmp(words[1], "front") == 0) run_front(peers::port_of(words[2]));
  if (count >= 2 && std::strcmp(words[1], "second") == 0)
    run_second(count == 3 ? peers::port_of(words[2]) : std::uint16_t{0});
  std::fputs("usage: two_hop front SECOND_PORT | two_hop second [REDIS_PORT]\n", stderr);
  return 2;
}
