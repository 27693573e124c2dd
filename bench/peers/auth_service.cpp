// The small service behind nginx's auth_request: 204 if Redis has this user with this password in
// plain text, else 401.
//
//   auth_service REDIS_PORT
//
// It reads `Authorization: Basic` and compares with the record that our authserver wrote. Waiting
// threads serve the connections, and each keeps its connection to Redis.
#include "sockets.h"

namespace {

constexpr std::string_view kScheme = "Basic ";

int sextet(char c) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto at = kAlphabet.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

// What comes before the first character that is not base64.
std::string decoded(std::string_view base64) {
  std::string text;
  unsigned bits = 0;
  int count = 0;
  for (const char c : base64) {
    const int value = sextet(c);
    if (value < 0) break;
    bits = bits << 6 | static_cast<unsigned>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      text.push_back(static_cast<char>(bits >> count & 0xFF));
    }
  }
  return text;
}

// "USER:PASSWORD", or "" without a header that has them.
std::string credentials_of(const std::string& request) {
  const auto scheme = request.find(kScheme);
  return scheme == std::string::npos
             ? ""
             : decoded(std::string_view(request).substr(scheme + kScheme.size()));
}

bool is_right(int redis, const std::string& credentials, std::string& answer) {
  const auto colon = credentials.find(':');
  if (colon == std::string::npos) return false;
  const std::string key = "user:" + credentials.substr(0, colon);
  const std::string command =
      "*2\r\n$3\r\nGET\r\n$" + std::to_string(key.size()) + "\r\n" + key + "\r\n";
  if (!peers::send_all(redis, command) || !peers::read_until(redis, "\r\n", answer))
    peers::fail("Redis");
  const std::string record = "$plain$" + credentials.substr(colon + 1);
  return answer == "$" + std::to_string(record.size()) + "\r\n" + record + "\r\n";
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: auth_service REDIS_PORT\n", stderr);
    return 2;
  }
  peers::serve_forever(peers::listen_anywhere(), [=] {
    return [redis = peers::connect_to(peers::port_of(words[1])), request = std::string(),
            answer = std::string()](int client) mutable {
      while (peers::read_until(client, "\r\n\r\n", request)) {
        const bool is_admitted = is_right(redis, credentials_of(request), answer);
        if (!peers::send_all(
                client, is_admitted ? "HTTP/1.1 204 No Content\r\n\r\n"
                                    : "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"))
          return;
      }
    };
  });
}
