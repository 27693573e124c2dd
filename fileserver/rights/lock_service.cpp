#include "fileserver/rights/lock_service.h"

#include <fmt/core.h>
#include <poll.h>
#include <sodium.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "base/completes.h"
#include "base/file_io.h"
#include "base/log.h"
#include "net/abstract_socket.h"
#include "net/listen.h"
#include "net/socket_io.h"

namespace fileserver {

namespace {

constexpr std::size_t kMostRequestBytes = 32 << 10;  // a path has less
constexpr std::int64_t kReadMs = 2'000;              // for the request
constexpr std::int64_t kSendMs = 10'000;             // for the whole answer

net::Fd stop_event() {
  net::Fd fd(::eventfd(0, EFD_CLOEXEC));
  if (!fd.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

bool may_ask(int fd) {
  const auto peer = net::credentials_of_peer(fd);
  return peer && (peer->uid == 0 || peer->uid == ::geteuid());
}

// What the path names: without the slash at its beginning, and one at its end.
std::string_view name_in(std::string_view path) {
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

bool is_meant(const Lock& lock, std::string_view token_or_path) {
  if (token_or_path.starts_with('/')) return lock.name == name_in(token_or_path);
  return lock.token == token_or_path;
}

std::string path_of(const Lock& lock) {
  std::string path = "/" + lock.name + (lock.is_folder && !lock.name.empty() ? "/" : "");
  // The name of a folder behind a link may have what no path of a client has.
  std::ranges::replace_if(
      path, [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; }, '?');
  return path;
}

}  // namespace

std::string line_of(const Lock& lock, std::int64_t now_ns) {
  const std::int64_t left_s = (lock.ends_ns - now_ns + base::kNsPerS - 1) / base::kNsPerS;
  return fmt::format("{}  {:<9}  {:<8}  {:>4} s  {}  {}", lock.token,
                     lock.scope == Lock::Scope::kShared ? "shared" : "exclusive",
                     lock.depth == Lock::Depth::kZero ? "0" : "infinity", left_s, lock.user,
                     path_of(lock));
}

net::Fd open_for_locks() {
  std::array<unsigned char, 8> random{};
  ::randombytes_buf(random.data(), random.size());
  std::string name(kLockServicePrefix);
  for (const unsigned char byte : random) name += fmt::format("{:02x}", byte);
  auto fd = net::listen_on_abstract(name);
  if (fd) return std::move(*fd);
  base::log::warn("nobody can list or end locks reason=\"{}\"", fd.error().context);
  return {};
}

// One request and its answer.
class LockService::Visit {
 public:
  Visit(const LockService& service, int fd) : service_(service), fd_(fd) {}

  // Nothing if no whole line comes in time.
  std::optional<std::string> request() {
    const auto deadline = base::Deadline::in_ms(kReadMs);
    std::string text;
    while (text.size() < kMostRequestBytes) {
      std::array<char, 2048> piece;
      const ssize_t got = net::receive_now(fd_, piece);
      if (got == 0 || (got < 0 && errno != EAGAIN)) return {};
      if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
      if (const std::size_t end = text.find('\n'); end != std::string::npos)
        return text.substr(0, end);
      if (got < 0 && !service_.wait(fd_, POLLIN, deadline)) return {};
    }
    return {};
  }

  // Returns false once nobody takes it any more.
  bool say(std::string_view line) {
    std::string text = std::string(line) + "\n";
    for (std::string_view left = text; !left.empty();) {
      const ssize_t sent = net::send_now(fd_, left);
      if (sent > 0) {
        left.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno != EAGAIN || !service_.wait(fd_, POLLOUT, deadline_)) {
        return false;
      }
    }
    return true;
  }

 private:
  const LockService& service_;
  const int fd_;
  const base::Deadline deadline_ = base::Deadline::in_ms(kReadMs + kSendMs);
};

LockService::LockService(net::Fd listener, Locks& locks)
    : listener_(std::move(listener)), locks_(locks), stop_(stop_event()), thread_([this] {
        while (!is_stopped_ && !base::completes("cannot tell about locks", [this] { run(); })) {
          constexpr int kPauseMs = 1000;
          base::pause_ms(kPauseMs);
        }
      }) {}

LockService::~LockService() {
  is_stopped_ = true;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

// Returns false if the deadline passes, or the service ends.
bool LockService::wait(int fd, short events, base::Deadline deadline) const {
  pollfd waited[] = {{stop_.get(), POLLIN, 0}, {fd, events, 0}};
  const int ready = base::retried([&] { return ::poll(waited, 2, deadline.left_ms()); });
  return ready > 0 && waited[0].revents == 0;
}

void LockService::run() {
  constexpr int kPauseMs = 100;
  while (wait(listener_.get(), POLLIN, base::Deadline::never())) {
    const net::Accepted accepted = net::accept_from(listener_.get());
    if (accepted.verdict == net::AcceptVerdict::kOutOfResources) base::pause_ms(kPauseMs);
    if (accepted.verdict != net::AcceptVerdict::kAccepted || !may_ask(accepted.fd.get())) continue;
    Visit visit(*this, accepted.fd.get());
    answer(visit);
  }
}

// Ends the lock. False if that has happened already.
bool LockService::has_ended(const Lock& lock) {
  if (locks_.remove(lock.token, lock.name, lock.user, base::now_ns()) != Locks::Unlocked::kDone)
    return false;
  base::log::info("the owner of the host has ended a lock user={} path={}", lock.user,
                  base::log::quoted_long("/" + lock.name));
  return true;
}

void LockService::answer(Visit& visit) {
  const auto request = visit.request();
  if (!request) return;
  const bool ends = request->starts_with(kEndLocks);
  if (!ends && *request != kListLocks) return;
  const std::string_view meant = ends ? std::string_view(*request).substr(kEndLocks.size()) : "";
  std::optional<std::string> last;
  for (;;) {
    const std::vector<Lock> some = locks_.some_behind(last, base::now_ns());
    if (some.empty()) break;
    last = some.back().name;
    for (const Lock& lock : some) {
      if (ends && !(is_meant(lock, meant) && has_ended(lock))) continue;
      if (!visit.say(line_of(lock, base::now_ns())) && !ends) return;
    }
  }
  visit.say(kEndOfLocks);
}

}  // namespace fileserver
