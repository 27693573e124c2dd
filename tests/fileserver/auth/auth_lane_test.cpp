#include "fileserver/auth/auth_lane.h"

#include <future>
#include <new>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/fileserver/auth/lane_scene.h"

using tests::Asked;
using tests::Batch;
using tests::kAMinuteMs;
using tests::Kind;
using tests::kPatient;
using tests::Scene;
using tests::told;

TEST_CASE("a question alone on a lane gets its answer, and the connection is kept",
          "[fileserver]") {
  Scene scene;
  for (const char* const answer : {"OK", "denied", "OK"}) {
    auto asked = scene.ask("auth:amy:pw");
    CHECK(scene.received() == "auth:amy:pw\n");
    scene.answer(answer == std::string("OK") ? "OK\n" : "ERR denied no\n");
    CHECK(told(asked) == answer);
  }
  CHECK(scene.noted == std::vector(3, Kind::kAnswered));
  CHECK(scene.is_connection_kept());
}

TEST_CASE("without a kept connection a caller asks by itself", "[fileserver]") {
  Scene scene;
  scene.close();
  auto asked = scene.ask("auth:amy:pw");
  CHECK(told(asked) == "alone");
  CHECK(scene.lane.callers() == 0);
}

TEST_CASE("bytes that came before a question on a lane are no answer to it", "[fileserver]") {
  Scene scene;
  scene.answer("OK\n");
  auto asked = scene.ask("auth:amy:pw");
  CHECK(told(asked) == "alone");
  CHECK(scene.received().empty());
}

TEST_CASE("who comes meanwhile is asked for together, and each gets its own answer",
          "[fileserver]") {
  Batch batch;
  batch.answer("OK\nERR denied no\nOK\n");
  CHECK(told(batch.first) == "OK");
  CHECK(told(batch.second) == "denied");
  CHECK(told(batch.third) == "OK");
  CHECK(batch.is_connection_kept());
}

TEST_CASE("two equal questions have an answer each", "[fileserver]") {
  Scene scene;
  auto before = scene.ask("auth:amy:pw");
  CHECK(scene.received() == "auth:amy:pw\n");
  auto first = scene.ask_behind("auth:amy:pw");
  auto second = scene.ask_behind("auth:amy:pw");
  scene.answer("OK\n");
  CHECK(scene.received() == "auth:amy:pw\nauth:amy:pw\n");
  scene.answer("OK\nERR denied no\n");
  CHECK(told(before) == "OK");
  CHECK(told(first) == "OK");
  CHECK(told(second) == "denied");
}

TEST_CASE("a leader with its answer does not wait for those behind it", "[fileserver]") {
  Batch batch;
  batch.answer("O");
  batch.answer("K\nERR denied no");
  CHECK(told(batch.first) == "OK");
  batch.answer("\n");
  CHECK(told(batch.second) == "denied");
  batch.answer("OK\n");
  CHECK(told(batch.third) == "OK");
  CHECK(batch.is_connection_kept());
}

TEST_CASE("of more answers than questions none is believed, and the lane is closed",
          "[fileserver]") {
  for (const char* const answers : {"OK\nOK\nOK\nOK\n", "OK\nOK\nOK\nO"}) {
    Batch batch;
    batch.answer(answers);
    CHECK(told(batch.first) == "broken");
    CHECK(told(batch.second) == "alone");
    CHECK(told(batch.third) == "alone");
    CHECK(batch.received().empty());
    CHECK_FALSE(batch.is_connection_kept());
  }
}

TEST_CASE("a lane is closed by what does not answer a question and go on", "[fileserver]") {
  for (const std::string& answer :
       {std::string("ERR busy too many\n"), std::string("hello\n"), std::string("OK 7\n1234567"),
        std::string("\n"), std::string(600, 'x')}) {
    Batch batch;
    batch.answer("OK\n" + answer);
    // The answer before it may have been read by itself.
    const std::string first = told(batch.first);
    const std::string second = told(batch.second);
    CHECK((first == "OK" ? second == "broken" : first == "broken" && second == "alone"));
    CHECK(told(batch.third) == "alone");
    CHECK(batch.received().empty());
  }
}

TEST_CASE("when the connection ends, those without an answer ask again", "[fileserver]") {
  Batch batch;
  batch.answer("OK\n");
  CHECK(told(batch.first) == "OK");
  batch.close();
  CHECK(told(batch.second) == "broken");
  CHECK(told(batch.third) == "alone");
  CHECK(batch.noted.back() == Kind::kBroken);
}

TEST_CASE("what is left of one connection is no part of an answer on the next one",
          "[fileserver]") {
  Scene scene;
  auto cut = scene.ask("auth:amy:pw");
  CHECK(scene.received() == "auth:amy:pw\n");
  scene.answer("O");
  scene.close();
  CHECK(told(cut) == "cut");
  scene.connect();
  auto asked = scene.ask("auth:bob:pw");
  CHECK(scene.received() == "auth:bob:pw\n");
  scene.answer("K\n");
  CHECK(told(asked) == "broken");
}

TEST_CASE("any number of callers learn that the connection ended", "[fileserver]") {
  Scene scene;
  auto first = scene.ask("auth:first:pw");
  CHECK(scene.received() == "auth:first:pw\n");
  std::vector<std::future<Asked>> waiting;
  for (int i = 0; i < 70; ++i) waiting.push_back(scene.ask_behind("auth:amy:pw"));
  base::pause_ms(20);  // so that most of them sleep
  scene.close();
  CHECK(told(first) == "broken");
  for (auto& one : waiting) CHECK(told(one) == "alone");
}

TEST_CASE("a leader that waits in vain tells it, and those behind it ask by themselves",
          "[fileserver]") {
  Scene scene(kPatient, 1000);
  auto first = scene.ask("auth:first:pw", 1);
  CHECK(scene.received() == "auth:first:pw\n");
  auto second = scene.ask("auth:second:pw");
  CHECK(told(first) == "timed out");
  CHECK(told(second) == "alone");
  CHECK(scene.noted.front() == Kind::kTimedOut);
  CHECK(scene.received().empty());
}

TEST_CASE("nobody joins a lane whose last question is old", "[fileserver]") {
  Scene scene({0, kAMinuteMs});
  auto first = scene.ask("auth:first:pw");
  CHECK(scene.received() == "auth:first:pw\n");
  auto second = scene.ask("auth:second:pw");
  CHECK(told(second) == "alone");
  scene.answer("OK\n");
  CHECK(told(first) == "OK");
}

TEST_CASE("who has waited for long leaves before it is asked for", "[fileserver]") {
  Scene scene({kPatient.old_ns, 1});
  auto first = scene.ask("auth:first:pw");
  CHECK(scene.received() == "auth:first:pw\n");
  auto second = scene.ask("auth:second:pw");
  CHECK(told(second) == "alone");
  CHECK(scene.lane.callers() == 1);
  scene.answer("OK\n");
  CHECK(told(first) == "OK");
  CHECK(scene.is_connection_kept());
}

TEST_CASE("the answer for somebody who has left is for nobody", "[fileserver]") {
  // On a slow machine a caller may leave before the questions are sent. Then try with more
  // patience.
  for (int patience_ms = 500;; patience_ms *= 2) {
    Batch batch({kPatient.old_ns, patience_ms});
    if (!batch.is_whole) {
      batch.close();
      continue;
    }
    CHECK(told(batch.second) == "alone");  // the first one leads
    CHECK(told(batch.third) == "alone");
    batch.answer("ERR denied no\nOK\nOK\n");
    CHECK(told(batch.first) == "denied");
    auto next = batch.ask("auth:next:pw");
    CHECK(batch.received() == "auth:next:pw\n");
    batch.answer("ERR denied no\n");
    CHECK(told(next) == "denied");
    break;
  }
}

TEST_CASE("any number of callers wait on a lane, and at most 32 are asked for at once",
          "[fileserver]") {
  Scene scene;
  auto first = scene.ask("auth:first:pw");
  CHECK(scene.received() == "auth:first:pw\n");
  std::vector<std::future<Asked>> waiting;
  for (int i = 0; i < 70; ++i) waiting.push_back(scene.ask_behind("auth:amy:pw"));
  scene.answer("OK\n");
  CHECK(told(first) == "OK");
  for (const int together : {32, 32, 6}) {
    std::string lines;
    std::string answers;
    for (int i = 0; i < together; ++i) {
      lines += "auth:amy:pw\n";
      answers += "OK\n";
    }
    CHECK(scene.received() == lines);
    scene.answer(answers);
  }
  for (auto& one : waiting) CHECK(told(one) == "OK");
  CHECK(scene.is_connection_kept());
}

TEST_CASE("who leaves from the middle of those that wait is not asked for", "[fileserver]") {
  Scene scene({kPatient.old_ns, 1});
  auto first = scene.ask("auth:first:pw");
  CHECK(scene.received() == "auth:first:pw\n");
  std::vector<std::future<Asked>> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(scene.ask("auth:amy:pw"));
  for (auto& one : waiting) CHECK(told(one) == "alone");
  CHECK(scene.lane.callers() == 1);
  scene.answer("OK\n");
  CHECK(told(first) == "OK");
  auto next = scene.ask("auth:next:pw");
  CHECK(scene.received() == "auth:next:pw\n");
  scene.answer("OK\n");
  CHECK(told(next) == "OK");
}

TEST_CASE("a leader that finds no memory gives the lane up, and others use it", "[fileserver]") {
  Scene scene;
  scene.is_short_of_memory = true;
  auto first = scene.ask("auth:first:pw");
  CHECK(scene.received() == "auth:first:pw\n");
  auto behind = scene.ask_behind("auth:behind:pw");
  scene.answer("OK\n");
  CHECK_THROWS_AS(first.get(), std::bad_alloc);
  CHECK(told(behind) == "alone");
  scene.is_short_of_memory = false;
  scene.connect();
  auto next = scene.ask("auth:next:pw");
  CHECK(scene.received() == "auth:next:pw\n");
  scene.answer("OK\n");
  CHECK(told(next) == "OK");
}
