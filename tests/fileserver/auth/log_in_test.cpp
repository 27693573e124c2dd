#include "fileserver/auth/log_in.h"

#include <atomic>
#include <chrono>
#include <future>
#include <vector>

#include "base/clock.h"
#include "net/address.h"
#include "tests/catch.h"
#include "tests/fileserver/auth/scripted_authserver.h"

using fileserver::auth_failed_line;

namespace {

const net::IpAddress kClient(*net::resolve({"192.0.2.1", 80})->front().get());

std::string line_for(std::string_view user) {
  return auth_failed_line(kClient, user, fileserver::Front::kNative);
}

bool is_answered(const std::future<bool>& asked) {
  return asked.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

TEST_CASE("the line for a failed log-in has its frozen form", "[fileserver]") {
  CHECK(line_for("amy") == R"(auth-failed address=192.0.2.1 user="amy" front=native)");
  CHECK(auth_failed_line(kClient, "amy", fileserver::Front::kHttp) ==
        R"(auth-failed address=192.0.2.1 user="amy" front=http)");
}

TEST_CASE("no user name can end its quotes or the line", "[fileserver]") {
  CHECK(
      line_for("a\" address=198.51.100.1 user=\"b") ==
      R"(auth-failed address=192.0.2.1 user="a\x22 address=198.51.100.1 user=\x22b" front=native)");
  CHECK(
      line_for("a\nauth-failed address=198.51.100.1") ==
      R"(auth-failed address=192.0.2.1 user="a\x0aauth-failed address=198.51.100.1" front=native)");
}

TEST_CASE("a guess has a connection of its own", "[fileserver]") {
  constexpr std::int64_t kPatienceMs = 60'000;
  tests::Gate gate;
  tests::ScriptedAuthserver server([&](tests::ScriptedAuthserver::Peer& peer) {
    while (const auto line = peer.next_line()) {
      gate.pass();
      peer.send(line->ends_with(":right\n") ? "OK\n" : "ERR denied no\n");
    }
  });
  fileserver::AuthClient auth(
      {server.address(), fileserver::AuthConnection::kPersistent, kPatienceMs}, net::resolve,
      fileserver::AuthAddresses::OutageLog::kOn, {kPatienceMs * base::kNsPerMs, kPatienceMs});
  fileserver::GuessThrottle throttle({});
  fileserver::LogIn log_in(auth, throttle, kPatienceMs);
  std::vector<std::future<bool>> asked;
  const tests::Gate::OpenAtEnd open_at_end(gate);
  const auto ask = [&](const char* user, const char* password) {
    asked.push_back(std::async(std::launch::async, [&log_in, user, password] {
      return log_in.check(kClient, fileserver::Front::kNative, {user, password}).status.ok();
    }));
  };
  const auto ask_and_wait = [&](const char* user, const char* password) {
    const int before = gate.waiting();
    const auto deadline = base::Deadline::in_ms(kPatienceMs);
    ask(user, password);
    while (gate.waiting() == before && !is_answered(asked.back())) {
      CAPTURE(asked.size(), before, server.connections());
      REQUIRE_FALSE(deadline.has_passed());
      base::pause_ms(1);
    }
  };
  const auto answers = [&] {
    gate.set_open(true);
    std::vector<bool> all;
    for (auto& one : asked) all.push_back(one.get());
    asked.clear();
    return all;
  };
  // First log-ins: each has a connection of its own.
  gate.set_open(false);
  ask_and_wait("amy", "right");
  ask_and_wait("bob", "right");
  CHECK(answers() == std::vector<bool>{true, true});
  CHECK(server.connections() == 2);
  // Both are known by now, and lead the two lanes. A guess has a connection of its own.
  gate.set_open(false);
  ask_and_wait("amy", "right");
  ask_and_wait("bob", "right");
  ask_and_wait("amy", "wrong");
  CHECK(server.connections() == 3);
  CHECK(answers() == std::vector<bool>{true, true, false});
}

TEST_CASE("a pair for which there was no answer is a guess again", "[throttle]") {
  constexpr std::int64_t kPatienceMs = 60'000;
  std::atomic<bool> is_down = false;
  tests::ScriptedAuthserver server([&](tests::ScriptedAuthserver::Peer& peer) {
    while (peer.next_line()) peer.send(is_down ? "ERR unavailable no\n" : "OK\n");
  });
  fileserver::AuthClient auth(
      {server.address(), fileserver::AuthConnection::kPersistent, kPatienceMs});
  fileserver::GuessThrottle throttle({});
  fileserver::LogIn log_in(auth, throttle, kPatienceMs);
  const wire::Credentials account{"amy", "right"};
  const auto is_known = [&] {
    return throttle.begin(kClient, account, kPatienceMs).was_right_lately();
  };
  CHECK(log_in.check(kClient, fileserver::Front::kNative, account).status);
  CHECK(is_known());
  is_down = true;
  CHECK_FALSE(log_in.check(kClient, fileserver::Front::kNative, account).status);
  CHECK_FALSE(is_known());
}

TEST_CASE("one address that repeats a wrong pair asks as often at once as the limit says",
          "[throttle]") {
  constexpr std::int64_t kPatienceMs = 60'000;
  constexpr int kClients = 40;
  std::atomic<int> under_way = 0;
  std::atomic<int> most = 0;
  tests::ScriptedAuthserver server([&](tests::ScriptedAuthserver::Peer& peer) {
    while (peer.next_line()) {
      const int now = ++under_way;
      for (int known = most; known < now && !most.compare_exchange_weak(known, now);) {
      }
      base::pause_ms(20);  // as long as a password hash
      --under_way;
      peer.send("ERR denied no\n");
    }
  });
  fileserver::AuthClient auth(
      {server.address(), fileserver::AuthConnection::kPersistent, kPatienceMs}, net::resolve,
      fileserver::AuthAddresses::OutageLog::kOn, {kPatienceMs * base::kNsPerMs, kPatienceMs});
  fileserver::GuessThrottle throttle({.wrong_passwords = 4});
  fileserver::LogIn log_in(auth, throttle, kPatienceMs);
  const auto guess = [&] {
    return log_in.check(kClient, fileserver::Front::kNative, {"amy", "wrong"}).status;
  };
  CHECK(guess().error().code == base::ErrorCode::kDenied);
  std::vector<std::future<base::Status>> answers;
  for (int i = 0; i < kClients; ++i) answers.push_back(std::async(std::launch::async, guess));
  for (auto& answer : answers) CHECK(answer.get().error().code == base::ErrorCode::kDenied);
  CHECK(most <= 4);
}
