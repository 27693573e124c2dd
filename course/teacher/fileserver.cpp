// The fileserver of the course, for teachers: all stages in one source, built with -DSTAGE=1 to 4.
//
//   1  a process for each connection, files from the disk, a connection to the authserver for each
//      question
//   2  the same with a thread for each connection
//   3  as 2, and files stay in memory once they were read
//   4  as 3, and connections to the authserver are kept
//
// What a stage changes is behind `if constexpr`. course/server.md says what a server must do.

#include <fcntl.h>
#include <linux/openat2.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#ifndef STAGE
#define STAGE 4
#endif

namespace {

constexpr int kStage = STAGE;
constexpr std::size_t kMostLine = 512;
constexpr int kAuthTimeoutSeconds = 5;

// Owns a descriptor.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

bool send_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t sent = ::send(fd, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Cuts what comes over a connection into lines.
class Lines {
 public:
  enum class Found { kLine, kEnd, kTooLong };

  explicit Lines(int fd) : fd_(fd) {}

  Found next(std::string& line) {
    for (;;) {
      const std::size_t end = received_.find('\n');
      if (end != std::string::npos && end < kMostLine) {
        line = received_.substr(0, end);
        received_.erase(0, end + 1);
        if (!line.empty() && line.back() == '\r') line.pop_back();
        return Found::kLine;
      }
      if (received_.size() >= kMostLine) return Found::kTooLong;
      char chunk[4096];
      const ssize_t count = ::recv(fd_, chunk, sizeof chunk, 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return Found::kEnd;
      received_.append(chunk, static_cast<std::size_t>(count));
    }
  }

 private:
  int fd_;
  std::string received_;
};

Fd connected(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return Fd();
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  Fd made(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{kAuthTimeoutSeconds, 0};
  ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const int on = 1;
  ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(made.get(), found->ai_addr, found->ai_addrlen) != 0) return Fd();
  return made;
}

const std::string kUnavailable = "ERR unavailable the authserver cannot be asked now";

// Asks the authserver. Any thread.
class AuthClient {
 public:
  AuthClient(std::string host, std::string port) : host_(std::move(host)), port_(std::move(port)) {}

  // Its reply, without the end of the line.
  std::string ask(const std::string& question) {
    Fd connection = take();
    std::string reply;
    if (!connection.is_open() || !send_all(connection.get(), question + "\n") ||
        Lines(connection.get()).next(reply) != Lines::Found::kLine) {
      return kUnavailable;
    }
    if constexpr (kStage >= 4) {
      const std::lock_guard<std::mutex> lock(mutex_);
      kept_.push_back(std::move(connection));
    }
    return reply;
  }

 private:
  // A kept connection that the authserver has not closed, or a new one.
  Fd take() {
    for (;;) {
      Fd found;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (kept_.empty()) break;
        found = std::move(kept_.back());
        kept_.pop_back();
      }
      char byte = 0;
      if (::recv(found.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN) {
        return found;
      }
    }
    return connected(host_, port_);
  }

  const std::string host_, port_;
  std::mutex mutex_;
  std::vector<Fd> kept_;
};

bool is_path(std::string_view name) {
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    const std::string_view part = name.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return true;
}

// The served folder. Any thread.
class Files {
 public:
  using Bytes = std::shared_ptr<const std::string>;

  explicit Files(const std::string& root)
      : root_(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  bool is_open() const { return root_.is_open(); }

  // Null when there is no such file.
  Bytes find(const std::string& name) {
    if (!is_path(name)) return nullptr;
    if constexpr (kStage < 3) return read(name);
    struct stat now {};
    const bool is_there = ::fstatat(root_.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) == 0;
    if (!is_there || !S_ISREG(now.st_mode)) return read(name);  // a link, perhaps
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto kept = kept_.find(name);
      if (kept != kept_.end() && kept->second.is(now)) return kept->second.bytes;
    }
    Bytes bytes = read(name);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bytes) kept_[name] = Kept{now, bytes};
    return bytes;
  }

 private:
  struct Kept {
    struct stat seen {};
    Bytes bytes;

    bool is(const struct stat& now) const {
      return now.st_ino == seen.st_ino && now.st_size == seen.st_size &&
             now.st_mtim.tv_sec == seen.st_mtim.tv_sec &&
             now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec;
    }
  };

  Fd opened(const std::string& name, unsigned flags) const {
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
    return Fd(
        static_cast<int>(::syscall(SYS_openat2, root_.get(), name.c_str(), &how, sizeof how)));
  }

  // A FIFO is looked at, but not opened.
  Bytes read(const std::string& name) const {
    struct stat found {};
    const Fd looked_at = opened(name, O_PATH);
    if (!looked_at.is_open() || ::fstat(looked_at.get(), &found) != 0 || !S_ISREG(found.st_mode)) {
      return nullptr;
    }
    const Fd file = opened(name, O_RDONLY | O_NONBLOCK);
    if (!file.is_open() || ::fstat(file.get(), &found) != 0) return nullptr;
    auto bytes = std::make_shared<std::string>(static_cast<std::size_t>(found.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes->size()) {
      const ssize_t count = ::read(file.get(), bytes->data() + done, bytes->size() - done);
      if (count <= 0) return nullptr;  // it became shorter
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  }

  const Fd root_;
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;
};

struct Account {
  std::string user, password;
};

// What stands behind the verb; nothing without a second colon.
std::optional<Account> account_of(std::string_view rest) {
  const bool is_spaced = rest.substr(0, 1) == " ";
  if (is_spaced) rest.remove_prefix(1);
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view password = rest.substr(colon + 1);
  if (is_spaced && password.substr(0, 1) == " ") password.remove_prefix(1);
  return Account{std::string(rest.substr(0, colon)), std::string(password)};
}

bool is_valid(const Account& account) {
  const auto is_good = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::strchr("._-@+", c) != nullptr;
  };
  const std::string& user = account.user;
  return !user.empty() && user.size() <= 64 && std::all_of(user.begin(), user.end(), is_good) &&
         !account.password.empty() && account.password.size() <= 128;
}

struct Parts {
  AuthClient auth;
  Files files;
};

// The conversation with one client.
class Session {
 public:
  Session(Fd connection, Parts& parts) : connection_(std::move(connection)), parts_(parts) {}

  void run() {
    Lines lines(connection_.get());
    std::string line;
    for (;;) {
      switch (lines.next(line)) {
        case Lines::Found::kEnd: return;
        case Lines::Found::kTooLong: say("ERR too-long a line has at most 512 bytes"); return;
        case Lines::Found::kLine: break;
      }
      if (!answer(line)) return;
    }
  }

 private:
  bool say(const std::string& reply) { return send_all(connection_.get(), reply + "\n"); }

  bool answer(const std::string& line) {
    const std::string verb = line.substr(0, 4);
    const bool has_control = std::any_of(line.begin(), line.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
    if (verb == "get:") is_granted_ = false;
    if (line.empty() || has_control) return say("ERR syntax the line cannot be understood");
    if (line == "ping") return say(parts_.auth.ask("ping") == "OK" ? "OK" : kUnavailable);
    if (verb != "get:" && verb != "new:") return send_file(line);
    const std::optional<Account> account = account_of(std::string_view(line).substr(4));
    if (!account) return say("ERR syntax a colon is missing");
    if (!is_valid(*account)) return say("ERR invalid the user or the password is not acceptable");
    const std::string tail = account->user + ":" + account->password;
    const std::string reply = parts_.auth.ask((verb == "get:" ? "auth:" : "new:") + tail);
    if (verb == "get:") is_granted_ = reply == "OK";
    return say(reply);
  }

  bool send_file(const std::string& name) {
    if (!is_granted_) return say("ERR denied no granted get: yet");
    const Files::Bytes bytes = parts_.files.find(name);
    if (!bytes) return say("ERR not-found no such file");
    const std::string head = "OK " + std::to_string(bytes->size()) + "\n";
    if (bytes->size() < 64 * 1024) return send_all(connection_.get(), head + *bytes);
    return send_all(connection_.get(), head) && send_all(connection_.get(), *bytes);
  }

  Fd connection_;
  Parts& parts_;
  bool is_granted_ = false;
};

void serve(Fd connection, Parts& parts, int listener) {
  const int on = 1;
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if constexpr (kStage == 1) {
    // Children that have ended are waited for, so that their CPU time is ours.
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
    if (::fork() != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(listener);
    Session(std::move(connection), parts).run();
    ::_exit(0);
  } else {
    try {
      std::thread([&parts, own = std::move(connection)]() mutable {
        Session(std::move(own), parts).run();
      }).detach();
    } catch (const std::exception&) {
      return;  // no more threads can be had; the client sees the end of its connection
    }
  }
}

std::pair<std::string, std::string> host_and_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {"127.0.0.1", text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// Prints the READY line. Not open when that fails.
Fd listening(const std::string& address) {
  const auto [host, port] = host_and_port(address);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST;
  hints.ai_family = AF_INET;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return Fd();
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(listener.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(listener.get(), 1024) != 0) {
    return Fd();
  }
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  std::printf("READY %s:%d\n", host.c_str(), ntohs(bound.sin_port));
  std::fflush(stdout);
  return listener;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> flags{
      {"--listen", "127.0.0.1:9000"}, {"--auth", "127.0.0.1:9001"}, {"--root", "files"}};
  for (int i = 1; i + 1 < argc; i += 2) flags[argv[i]] = argv[i + 1];
  std::signal(SIGTERM, [](int) { ::_exit(0); });
  const auto [host, port] = host_and_port(flags["--auth"]);
  Parts parts{{host, port}, Files(flags["--root"])};
  const Fd listener = parts.files.is_open() ? listening(flags["--listen"]) : Fd();
  if (!listener.is_open()) {
    std::fprintf(stderr, "fileserver: cannot start: %s\n", std::strerror(errno));
    return 1;
  }
  for (;;) {
    Fd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.is_open()) serve(std::move(connection), parts, listener.get());
  }
}
