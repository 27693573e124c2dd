#include "net/resolved_name.h"

#include <atomic>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/no_threads.h"

using base::Deadline;
using net::ResolvedName;

namespace {

using Found = ResolvedName::Found;

constexpr std::int64_t kLongMs = 30'000;
const net::HostPort kName{"a-name", 9001};

Found address(const std::string& host) { return net::resolve({host, 9001}); }

Found no_such_name() { return base::Error{base::ErrorCode::kUnavailable, "no such name"}; }

// A name server that answers when it is told to. Its threads may outlive it.
class SlowServer {
 public:
  ResolvedName::Resolver resolver() {
    return [answer = answer_, asked = asked_](const net::HostPort&) {
      ++*asked;
      answer.wait();
      return address("127.0.0.2");
    };
  }
  void answer_now() { may_answer_.set_value(); }
  int times_asked() const { return *asked_; }

 private:
  std::promise<void> may_answer_;
  std::shared_future<void> answer_ = may_answer_.get_future().share();
  std::shared_ptr<std::atomic<int>> asked_ = std::make_shared<std::atomic<int>>(0);
};

std::string first(const Found& found) {
  return found ? found->front().text() : found.error().context;
}

}  // namespace

TEST_CASE("a name server that hangs holds nobody longer than the deadline", "[net]") {
  SlowServer server;
  ResolvedName name(kName, server.resolver());
  CHECK_FALSE(name.addresses(Deadline::in_ms(20)));
  CHECK_FALSE(name.addresses(Deadline::in_ms(20)));
  CHECK_FALSE(name.fresh_addresses(Deadline::in_ms(20)));
  server.answer_now();
  CHECK(first(name.addresses(Deadline::in_ms(kLongMs))) == "127.0.0.2:9001");
  CHECK(server.times_asked() == 1);  // all callers share one look-up
}

TEST_CASE("why a name has no address is told", "[net]") {
  ResolvedName name(kName, [](const net::HostPort&) { return no_such_name(); });
  CHECK(first(name.addresses(Deadline::in_ms(kLongMs))) == "no such name");
  CHECK(first(name.fresh_addresses(Deadline::in_ms(kLongMs))) == "no such name");
}

TEST_CASE("known addresses stay in use, unless none works or fresh ones are wanted", "[net]") {
  std::atomic<int> times_asked = 0;
  ResolvedName name(kName, [&](const net::HostPort&) {
    return address("127.0.0." + std::to_string(++times_asked));
  });
  CHECK(first(name.addresses(Deadline::in_ms(kLongMs))) == "127.0.0.1:9001");
  CHECK(first(name.addresses(Deadline::in_ms(kLongMs))) == "127.0.0.1:9001");
  name.none_works();
  CHECK(first(name.addresses(Deadline::in_ms(kLongMs))) == "127.0.0.2:9001");
  CHECK(first(name.fresh_addresses(Deadline::in_ms(kLongMs))) == "127.0.0.3:9001");
  CHECK(first(name.addresses(Deadline::in_ms(kLongMs))) == "127.0.0.3:9001");
}

TEST_CASE("addresses that do not work are used again while no better ones are known", "[net]") {
  bool is_up = true;
  ResolvedName name(
      kName, [&](const net::HostPort&) { return is_up ? address("127.0.0.2") : no_such_name(); });
  CHECK(name.addresses(Deadline::in_ms(kLongMs)));
  is_up = false;
  name.none_works();
  CHECK(first(name.addresses(Deadline::in_ms(kLongMs))) == "127.0.0.2:9001");
  CHECK(first(name.fresh_addresses(Deadline::in_ms(kLongMs))) == "no such name");
}

TEST_CASE("a look-up for which no thread can be made has failed", "[net]") {
  std::atomic<int> times_asked = 0;
  ResolvedName name(kName, [&](const net::HostPort&) {
    ++times_asked;
    return address("127.0.0.2");
  });
  {
    const NoThreads no_threads;
    const auto found = name.addresses(Deadline::in_ms(kLongMs));
    REQUIRE_FALSE(found);
    CHECK(found.error().code == base::ErrorCode::kUnavailable);
    CHECK_FALSE(name.fresh_addresses(Deadline::in_ms(kLongMs)));
  }
  CHECK(first(name.addresses(Deadline::in_ms(kLongMs))) == "127.0.0.2:9001");
  name.none_works();
  const NoThreads no_threads;
  CHECK(first(name.addresses(Deadline::in_ms(kLongMs))) == "127.0.0.2:9001");
  CHECK(times_asked == 1);
}

TEST_CASE("a numeric host is looked up once, and not in another thread", "[net]") {
  const auto caller = std::this_thread::get_id();
  std::vector<std::thread::id> resolvers;
  ResolvedName name({"::1", 9001}, [&](const net::HostPort& numeric) {
    resolvers.push_back(std::this_thread::get_id());
    return net::resolve(numeric);
  });
  for (int i = 0; i < 3; ++i) {
    CHECK(first(name.addresses(Deadline::in_ms(kLongMs))) == "[::1]:9001");
    CHECK(first(name.fresh_addresses(Deadline::in_ms(kLongMs))) == "[::1]:9001");
    name.none_works();
  }
  CHECK(resolvers == std::vector{caller});
}

TEST_CASE("a look-up for which there is no memory is tried again by the next caller", "[net]") {
  int times_asked = 0;
  ResolvedName name({"127.0.0.2", 9001}, [&](const net::HostPort& numeric) {
    if (++times_asked == 1) throw std::bad_alloc();
    return net::resolve(numeric);
  });
  CHECK_THROWS_AS(name.addresses(Deadline::in_ms(kLongMs)), std::bad_alloc);
  CHECK(first(name.addresses(Deadline::in_ms(20))) == "127.0.0.2:9001");
}
