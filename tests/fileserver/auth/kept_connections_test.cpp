// Which connections to the authserver an AuthClient keeps.
#include <atomic>
#include <thread>

#include "base/clock.h"
#include "fileserver/auth/auth_client.h"
#include "tests/catch.h"
#include "tests/fileserver/auth/scripted_authserver.h"

TEST_CASE("after a kept connection that hangs the others that are idle are closed",
          "[fileserver]") {
  tests::Gate gate;
  std::atomic<int> connections = 0;
  std::atomic<int> ended = 0;
  // The first two connections hang after one answer.
  tests::ScriptedAuthserver server([&](tests::ScriptedAuthserver::Peer& peer) {
    const bool hangs = ++connections <= 2;
    while (peer.next_line()) {
      gate.pass();
      peer.send("OK\n");
      if (hangs) break;
    }
    while (peer.next_line()) continue;
    ++ended;
  });
  fileserver::AuthClient client({server.address(), fileserver::AuthConnection::kPersistent, 3000});
  gate.set_open(false);
  std::atomic<int> answered = 0;
  const auto ask = [&] { answered += client.ask(wire::Auth{{"amy", "pw"}}).ok() ? 1 : 0; };
  std::thread other(ask);
  while (gate.waiting() < 1) base::pause_ms(1);
  std::thread another(ask);
  while (gate.waiting() < 2) base::pause_ms(1);
  gate.set_open(true);
  other.join();
  another.join();
  ask();
  CHECK(answered == 3);
  while (ended < 2) base::pause_ms(1);
  CHECK(connections == 3);
}

TEST_CASE("a connection on which more than an answer came is not kept", "[fileserver]") {
  tests::ScriptedAuthserver server([](tests::ScriptedAuthserver::Peer& peer) {
    while (peer.next_line()) peer.send("OK\nOK\n");
  });
  fileserver::AuthClient client(
      {server.address(), fileserver::AuthConnection::kPersistent, 60'000});
  for (int i = 0; i < 3; ++i) CHECK(client.ask(wire::Ping{}).ok());
  CHECK(server.connections() == 3);
}
