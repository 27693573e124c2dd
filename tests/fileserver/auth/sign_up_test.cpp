#include "fileserver/auth/sign_up.h"

#include <atomic>
#include <future>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/fileserver/auth/scripted_authserver.h"

namespace {

using base::ErrorCode;

constexpr std::int64_t kBurstMs = 60'000;
const std::string kClassRoom = "192.0.2.1";
const std::string kOtherHost = "192.0.2.2";

std::atomic<std::int64_t> sign_up_now_ns = 0;
std::int64_t sign_up_now() { return sign_up_now_ns; }
void pass_seconds(std::int64_t seconds) { sign_up_now_ns += seconds * base::kNsPerS; }

net::IpAddress address_of(const std::string& text) { return *net::parse_ip_address(text); }

// A limit whose clock stands still, in front of an authserver that makes every account but `amy`.
class SignUpScene {
 public:
  explicit SignUpScene(int accounts, const std::string& proxies = {})
      : server_([this](tests::ScriptedAuthserver::Peer& peer) {
          while (const auto line = peer.next_line()) {
            ++asked;
            peer.send(line->starts_with("new:amy:") ? "ERR exists taken\n" : "OK\n");
          }
        }),
        auth_({server_.address(), fileserver::AuthConnection::kPersistent, kBurstMs}),
        proxies_(proxies.empty() ? fileserver::TrustedProxies{}
                                 : *fileserver::parse_trusted_proxies(proxies)),
        sign_up_(auth_, proxies_, {accounts, 1000, kBurstMs}, &sign_up_now) {
    sign_up_now_ns = 1'000'000 * base::kNsPerS;
  }

  fileserver::SignUp::Answer make(const fileserver::SignUp::From& from, const std::string& user) {
    return sign_up_.make(from, {user, "pw"});
  }

  // Of `count` requests for accounts of new names, how many were carried out.
  int make(const fileserver::SignUp::From& from, int count) {
    int made = 0;
    for (int i = 0; i < count; ++i) {
      const auto answer = make(from, "u" + std::to_string(next_user_++));
      made += answer.status.ok() ? 1 : 0;
    }
    return made;
  }
  int make(const std::string& host, int count) {
    return make({address_of(host), address_of(host)}, count);
  }

  std::atomic<int> asked = 0;

 private:
  std::atomic<int> next_user_ = 0;
  tests::ScriptedAuthserver server_;
  fileserver::AuthClient auth_;
  const fileserver::TrustedProxies proxies_;
  fileserver::SignUp sign_up_;
};

}  // namespace

TEST_CASE("an address makes as many accounts as the limit says, then one each minute",
          "[throttle]") {
  SignUpScene scene(3);
  CHECK(scene.make(kClassRoom, 2) == 2);
  CHECK(scene.make(kClassRoom, 1) == 1);
  CHECK(scene.make(kClassRoom, 1) == 0);
  CHECK(scene.asked == 3);
  CHECK(scene.make(kOtherHost, 1) == 1);
  pass_seconds(59);
  CHECK(scene.make(kClassRoom, 10) == 0);
  pass_seconds(1);
  CHECK(scene.make(kClassRoom, 10) == 1);
}

TEST_CASE("the answer at the limit of accounts is busy", "[throttle]") {
  SignUpScene scene(1);
  CHECK(scene.make(kClassRoom, 1) == 1);
  const auto answer = scene.make({address_of(kClassRoom), address_of(kClassRoom)}, "bob");
  CHECK(answer.is_throttled);
  CHECK(answer.status.error().code == ErrorCode::kBusy);
}

TEST_CASE("an account that is not made does not count", "[throttle]") {
  SignUpScene scene(2);
  for (int i = 0; i < 20; ++i) {
    const auto answer = scene.make({address_of(kClassRoom), address_of(kClassRoom)}, "amy");
    CHECK_FALSE(answer.is_throttled);
    CHECK(answer.status.error().code == ErrorCode::kExists);
  }
  CHECK(scene.make(kClassRoom, 10) == 2);
}

TEST_CASE("without a limit an address makes any number of accounts", "[throttle]") {
  SignUpScene scene(0);
  CHECK(scene.make(kClassRoom, 200) == 200);
}

TEST_CASE("clients on this machine make any number of accounts", "[throttle]") {
  SignUpScene scene(1);
  for (const char* const host : {"127.0.0.1", "127.8.9.10", "::1"}) CHECK(scene.make(host, 5) == 5);
  CHECK(scene.make({net::IpAddress(), net::IpAddress()}, 5) == 5);  // a Unix-domain socket
  CHECK(scene.make("2001:db8::1", 5) == 1);
}

TEST_CASE("clients behind a trusted proxy have a limit each, wherever the proxy is", "[throttle]") {
  SignUpScene scene(2, "127.0.0.1, unix, 198.51.100.1");
  for (const net::IpAddress& proxy :
       {address_of("127.0.0.1"), net::IpAddress(), address_of("198.51.100.1")}) {
    SignUpScene one(2, "127.0.0.1, unix, 198.51.100.1");
    CHECK(one.make({proxy, address_of(kClassRoom)}, 5) == 2);
    CHECK(one.make({proxy, address_of(kOtherHost)}, 5) == 2);
    CHECK(one.make({proxy, address_of("127.0.0.9")}, 5) == 2);  // as the proxy says
    CHECK(one.make({proxy, proxy}, 5) == 2);
  }
  CHECK(scene.make("127.0.0.2", 5) == 5);  // no proxy
}

TEST_CASE("of many requests at once an address gets no more accounts than one after the other",
          "[throttle]") {
  SignUpScene scene(10);
  std::vector<std::future<int>> all;
  for (int i = 0; i < 40; ++i)
    all.push_back(std::async(std::launch::async, [&] { return scene.make(kClassRoom, 1); }));
  int made = 0;
  for (auto& one : all) made += one.get();
  CHECK(made == 10);
  CHECK(scene.asked == 10);
}
