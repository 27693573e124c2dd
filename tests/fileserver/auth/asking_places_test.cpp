// How many contexts of a loop ask the authserver at one moment.
#include "fileserver/auth/asking_places.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "fileserver/auth/auth_client.h"
#include "tests/catch.h"
#include "tests/fileserver/auth/scripted_authserver.h"
#include "tests/lib/events/loop_scene.h"

using fileserver::AskingPlaces;

namespace {

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

TEST_CASE("a crowd on one loop makes few connections, and all are answered", "[fileserver]") {
  tests::Gate gate;
  tests::ScriptedAuthserver server([&](tests::ScriptedAuthserver::Peer& peer) {
    while (peer.next_line()) {
      gate.pass();
      peer.send("OK\n");
    }
  });
  fileserver::AuthClient client(
      {server.address(), fileserver::AuthConnection::kPersistent, 60'000});
  tests::LoopThread one;
  const tests::Gate::OpenAtEnd open_at_end(gate);
  gate.set_open(false);
  constexpr int kCrowd = 300;
  std::atomic<int> answered = 0;
  const auto ask = [&] { answered += client.ask(wire::Auth{{"amy", "pw"}}).ok() ? 1 : 0; };
  std::thread asking([&] { one.do_all(std::vector<std::function<void()>>(kCrowd, ask)); });
  while (gate.waiting() < static_cast<int>(AskingPlaces::kMost)) base::pause_ms(1);
  gate.set_open(true);
  asking.join();
  CHECK(answered == kCrowd);
  CHECK(server.connections() == static_cast<int>(AskingPlaces::kMost));
}
