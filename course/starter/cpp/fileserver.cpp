// A fileserver that serves one client after the other. It is yours to change: course/1-processes.md
// is the first sheet, course/server.md says what a server must do.
//
//   fileserver --listen HOST:PORT --auth HOST:PORT --root DIR

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace {

sockaddr_in address_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr);
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(text.c_str() + colon + 1)));
  return address;
}

bool send_all(int fd, const std::string& data) {
  for (std::size_t done = 0; done < data.size();) {
    const ssize_t sent = ::send(fd, data.data() + done, data.size() - done, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    done += static_cast<std::size_t>(sent);
  }
  return true;
}

// Reads byte by byte up to the end of a line. False at the end of the connection.
bool read_line(int fd, std::string& line) {
  line.clear();
  for (char byte = 0; ::recv(fd, &byte, 1, 0) == 1;) {
    if (byte == '\n') return true;
    line += byte;
  }
  return false;
}

// The authserver's reply to a line. A connection for each question: stage 4 changes that.
std::string ask(const std::string& auth, const std::string& question) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = address_of(auth);
  std::string reply = "ERR unavailable the authserver cannot be asked now";
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      send_all(fd, question + "\n")) {
    read_line(fd, reply);
  }
  ::close(fd);
  return reply;
}

// Reads it from the disk: stage 3 changes that. To do: which names must not be opened at all?
std::string answer_file(const std::string& root, const std::string& name) {
  std::ifstream file(root + "/" + name, std::ios::binary);
  if (!file) return "ERR not-found no such file\n";
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return "OK " + std::to_string(bytes.size()) + "\n" + bytes;
}

struct Config {
  std::string listen = "127.0.0.1:9000", auth = "127.0.0.1:9001", root = "files";
};

// The conversation with one client. To do: syntax, invalid, too-long, and the form with spaces.
void serve(int fd, const Config& config) {
  bool is_granted = false;
  std::string line;
  while (read_line(fd, line)) {
    std::string reply;
    if (line == "ping") {
      reply = ask(config.auth, "ping") + "\n";
    } else if (line.rfind("get:", 0) == 0) {
      reply = ask(config.auth, "auth:" + line.substr(4)) + "\n";
      is_granted = reply == "OK\n";
    } else if (line.rfind("new:", 0) == 0) {
      reply = ask(config.auth, line) + "\n";
    } else if (is_granted) {
      reply = answer_file(config.root, line);
    } else {
      reply = "ERR denied no granted get: yet\n";
    }
    if (!send_all(fd, reply)) return;
  }
}

// Prints the READY line, which names the port also where port 0 was asked for.
int listening(const std::string& text) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = address_of(text);
  socklen_t size = sizeof address;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd, 128) != 0) {
    std::perror("fileserver");
    std::exit(1);
  }
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string host = text.substr(0, text.rfind(':'));
  std::printf("READY %s:%d\n", host.c_str(), ntohs(address.sin_port));
  std::fflush(stdout);
  return fd;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> flags;
  for (int i = 1; i + 1 < argc; i += 2) flags[argv[i]] = argv[i + 1];
  Config config;
  if (flags.count("--listen")) config.listen = flags["--listen"];
  if (flags.count("--auth")) config.auth = flags["--auth"];
  if (flags.count("--root")) config.root = flags["--root"];
  std::signal(SIGTERM, [](int) { ::_exit(0); });
  const int listener = listening(config.listen);
  for (;;) {
    const int connection = ::accept(listener, nullptr, nullptr);
    if (connection < 0) continue;
    serve(connection, config);  // the others wait: stages 1 and 2 change that
    ::close(connection);
  }
}
