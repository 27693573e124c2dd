// A lane to the authserver whose other end is the test.
#pragma once

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fileserver/auth/auth_lane.h"
#include "net/socket_io.h"
#include "tests/catch.h"

namespace tests {

using fileserver::AuthLane;
using fileserver::AuthOutcome;
using Kind = AuthOutcome::Kind;
using Asked = std::optional<AuthOutcome>;

constexpr std::int64_t kAMinuteMs = 60'000;
constexpr AuthLane::Limits kPatient{kAMinuteMs * base::kNsPerMs, kAMinuteMs};

// A lane with one kept connection; the test is the authserver at its other end.
struct Scene {
  explicit Scene(AuthLane::Limits limits = kPatient, std::int64_t timeout_ms = kAMinuteMs)
      : lane(
            kept,
            [this](int, const AuthOutcome& outcome) {
              if (is_short_of_memory) throw std::bad_alloc();
              noted.push_back(outcome.kind);
            },
            limits),
        timeout_ms_(timeout_ms) {
    connect();
  }

  // Keeps a new connection for the lane, and is the authserver at its other end.
  void connect() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    net::set_io_timeout(ends[0], timeout_ms_);
    net::set_io_timeout(ends[1], kAMinuteMs);
    kept.put(net::Fd(ends[0]));
    authserver = net::Fd(ends[1]);
  }

  std::future<Asked> ask(const std::string& line, std::int64_t answer_in_ms = kAMinuteMs) {
    return std::async(std::launch::async, [=, this] {
      return lane.ask(line + "\n", base::Deadline::in_ms(answer_in_ms));
    });
  }
  // The same once it waits behind those who are on the lane already.
  std::future<Asked> ask_behind(const std::string& line) {
    const std::size_t before = lane.callers();
    auto asked = ask(line);
    wait_for_callers(before + 1);
    return asked;
  }
  void wait_for_callers(std::size_t count) const {
    while (lane.callers() != count) base::pause_ms(1);
  }

  // What the authserver receives with one call. Empty at the end of the connection.
  std::string received() const {
    std::array<char, 4096> bytes;
    const ssize_t got = net::receive(authserver.get(), bytes);
    return {bytes.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
  }
  void answer(std::string_view bytes) const { REQUIRE(net::send_all(authserver.get(), bytes)); }
  void close() { authserver = net::Fd(); }
  bool is_connection_kept() { return kept.take_quiet().is_open(); }

  fileserver::ConnectionShelf kept;
  net::Fd authserver;
  std::vector<Kind> noted;
  std::atomic<bool> is_short_of_memory = false;  // a leader is
  AuthLane lane;

 private:
  const std::int64_t timeout_ms_;
};

// What a caller was told: OK, denied, another reply, how its connection failed, or to ask alone.
inline std::string told(std::future<Asked>& future) {
  const Asked asked = future.get();
  if (!asked) return "alone";
  if (asked->kind == Kind::kBroken) return "broken";
  if (asked->kind == Kind::kCut) return "cut";
  if (asked->kind == Kind::kTimedOut) return "timed out";
  if (std::holds_alternative<wire::Ok>(asked->reply)) return "OK";
  const auto* const err = std::get_if<wire::Err>(&asked->reply);
  return err != nullptr && err->code == base::ErrorCode::kDenied ? "denied" : "odd";
}

inline bool is_told(const std::future<Asked>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Three callers, of which the first two questions of the later ones were sent together.
struct Batch : Scene {
  explicit Batch(AuthLane::Limits limits = kPatient, std::int64_t timeout_ms = kAMinuteMs)
      : Scene(limits, timeout_ms) {
    auto before = ask("auth:before:pw");
    REQUIRE(received() == "auth:before:pw\n");
    first = ask_behind("auth:first:pw");
    second = ask_behind("auth:second:pw");
    third = ask_behind("auth:third:pw");
    answer("OK\n");
    CHECK(told(before) == "OK");
    is_whole = received() == "auth:first:pw\nauth:second:pw\nauth:third:pw\n";
    CHECK((is_whole || limits.patience_ms < kAMinuteMs));
  }

  // False only if a caller had no patience until all were there.
  bool is_whole = false;
  std::future<Asked> first;
  std::future<Asked> second;
  std::future<Asked> third;
};

}  // namespace tests
