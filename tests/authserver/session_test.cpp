#include "authserver/session.h"

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "tests/authserver/session_scene.h"
#include "tests/catch.h"

using namespace authserver;
using namespace tests;

TEST_CASE("questions that came together are one question to the store, answered in their order",
          "[authserver]") {
  SessionScene scene("auth:amy:right\nauth:bob:wrong\nauth:bob:right\n");
  scene.serve();
  CHECK(scene.all_received() == "OK\n" + kDenied + "OK\n");
  CHECK(scene.held.asked_for == std::vector<std::size_t>{3});
}

TEST_CASE("a question alone is asked alone", "[authserver]") {
  SessionScene scene("auth:amy:right\n");
  scene.serve();
  CHECK(scene.all_received() == "OK\n");
  CHECK(scene.held.asked_for == std::vector<std::size_t>{1});
}

TEST_CASE("other requests between questions are answered in their place", "[authserver]") {
  SessionScene scene(
      "auth:amy:right\nauth:cat:right\nnew:cat:right\nauth:cat:right\nauth:amy:wrong\n"
      "ping\nauth:\nauth:bob:right\nhello\n");
  scene.held.records["cat"] = "$plain$other";
  scene.serve();
  CHECK(scene.all_received() == "OK\n" + kDenied + "ERR exists user name taken\n" + kDenied +
                                    kDenied + "OK\n" +
                                    "ERR syntax not a request\nOK\nERR syntax not a request\n");
  CHECK(scene.held.asked_for == std::vector<std::size_t>{2, 2, 1});
}

TEST_CASE("at most 32 questions are asked together", "[authserver]") {
  std::string lines;
  for (int i = 0; i < 70; ++i) lines += "auth:amy:right\n";
  SessionScene scene(lines);
  scene.serve();
  std::string expected;
  for (int i = 0; i < 70; ++i) expected += "OK\n";
  CHECK(scene.all_received() == expected);
  CHECK(scene.held.asked_for == std::vector<std::size_t>{32, 32, 6});
}

TEST_CASE("a store that is down makes all questions unavailable", "[authserver]") {
  SessionScene scene("auth:amy:right\nauth:bob:right\n");
  scene.held.is_down = true;
  scene.serve();
  const std::string all = scene.all_received();
  CHECK(all.find("ERR unavailable", all.find('\n')) == all.find('\n') + 1);
  CHECK(scene.outages.all.is_on());
}

TEST_CASE("with a connection to the store for each request each question is asked alone",
          "[authserver]") {
  SessionScene scene("auth:amy:right\nauth:bob:right\n", StoreConnection::kPerRequest);
  scene.serve();
  CHECK(scene.all_received() == "OK\nOK\n");
  CHECK(scene.held.asked_for == std::vector<std::size_t>{1, 1});
}

TEST_CASE("answers that are ready do not wait for a hash behind them", "[authserver]") {
  SessionScene scene("auth:amy:right\nauth:bob:right\nauth:eve:guess\n");
  scene.held.records["eve"] = *make_record(Scheme::kArgon2id, "right");
  std::optional<HashLanes::Turn> only_lane(std::in_place, scene.shared->lanes, 0, INT64_MAX);
  std::thread server([&] { scene.serve(); });
  // Nobody can compute the hash yet. So whatever comes now was sent before it.
  CHECK(scene.received() == "OK\nOK\n");
  only_lane.reset();
  CHECK(scene.all_received() == kDenied);
  server.join();
}
