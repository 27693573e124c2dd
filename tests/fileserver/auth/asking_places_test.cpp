// How many contexts of a loop ask the authserver at one moment.
#include "fileserver/auth/asking_places.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/waits.h"
#include "fileserver/auth/auth_client.h"
#include "tests/catch.h"
#include "tests/fileserver/auth/scripted_authserver.h"
#include "tests/lib/events/loop_scene.h"

using fileserver::AskingPlaces;

namespace {

constexpr int kAsking = 300;

base::Deadline in_a_minute() { return base::Deadline::in_ms(60'000); }

}  // namespace

TEST_CASE("who finds no place waits until one is given back", "[fileserver]") {
  AskingPlaces places;
  std::vector<std::unique_ptr<AskingPlaces::Place>> taken;
  for (std::size_t i = 0; i < AskingPlaces::kMost; ++i)
    taken.push_back(std::make_unique<AskingPlaces::Place>(places, in_a_minute()));
  CHECK_FALSE(taken.back()->has_waited());
  CHECK_FALSE(AskingPlaces::Place(places, base::Deadline::in_ms(1)).is_taken());
  std::thread other([&] {
    const AskingPlaces::Place place(places, in_a_minute());
    CHECK(place.is_taken());
  });
  taken.pop_back();
  other.join();
  CHECK_FALSE(AskingPlaces::Place(places, in_a_minute()).has_waited());
}

namespace {

using Ask = std::function<bool(fileserver::AuthClient&)>;

struct Crowd {
  int answered;
  int connections;
};

// What a crowd on one loop gets, and how many ask the authserver at one moment. No answer comes
// before `most` of them do.
Crowd ask_together(fileserver::AuthConnection mode, int most, const Ask& ask) {
  tests::Gate gate;
  tests::ScriptedAuthserver server([&](tests::ScriptedAuthserver::Peer& peer) {
    while (peer.next_line()) {
      gate.pass();
      peer.send("OK\n");
    }
  });
  fileserver::AuthClient client({server.address(), mode, 60'000});
  tests::LoopThread one;
  const tests::Gate::OpenAtEnd open_at_end(gate);
  gate.set_open(false);
  std::atomic<int> answered = 0;
  const auto ask_once = [&] { answered += ask(client) ? 1 : 0; };
  std::thread asking([&] { one.do_all(std::vector<std::function<void()>>(kAsking, ask_once)); });
  while (gate.waiting() < most) base::pause_ms(1);
  base::pause_ms(20);  // for those that should not come
  const int connections = server.connections();
  gate.set_open(true);
  asking.join();
  return {answered, connections};
}

}  // namespace

TEST_CASE("a crowd on one loop makes few connections, and all are answered", "[fileserver]") {
  const auto log_in = [](fileserver::AuthClient& client) {
    return client.ask(wire::Auth{{"amy", "pw"}}).ok();
  };
  const auto ping = [](fileserver::AuthClient& client) { return client.ask(wire::Ping{}).ok(); };
  constexpr int kMost = AskingPlaces::kMost;
  const auto log_in_elsewhere = [&](fileserver::AuthClient& client) {
    return base::may_block([&] { return log_in(client); });
  };
  for (const auto mode :
       {fileserver::AuthConnection::kPersistent, fileserver::AuthConnection::kPerRequest}) {
    for (const auto& ask : {Ask(log_in), Ask(log_in_elsewhere)}) {
      const auto [answered, connections] = ask_together(mode, kMost, ask);
      CHECK(answered == kAsking);
      CHECK(connections == kMost);
    }
    const auto [told, of_pings] = ask_together(mode, 1, ping);
    CHECK(told == kAsking);
    CHECK(of_pings == 1);
  }
}
