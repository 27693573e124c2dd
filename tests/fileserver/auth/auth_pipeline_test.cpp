#include "fileserver/auth/auth_pipeline.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "net/socket_io.h"
#include "tests/catch.h"
#include "tests/lib/events/loop_scene.h"
#include "wire/error_word.h"

using fileserver::AuthLane;
using fileserver::AuthOutcome;
using fileserver::AuthPipeline;
using fileserver::ConnectionShelf;
using Outcome = AuthOutcome::Kind;

namespace {

constexpr std::int64_t kMinuteMs = 60'000;
constexpr AuthLane::Limits kPatientPipeline{kMinuteMs * base::kNsPerMs, kMinuteMs};

// A loop with one kept connection; the test is the authserver at its other end.
struct PipelineScene {
  explicit PipelineScene(AuthLane::Limits the_limits = kPatientPipeline) : limits(the_limits) {
    connect();
  }

  void connect() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    net::set_io_timeout(ends[1], kMinuteMs);
    kept.put(net::Fd(ends[0]));
    authserver = net::Fd(ends[1]);
  }

  // What each of these questions, asked in one turn, is told: "OK", an error, or "alone".
  std::future<std::vector<std::string>> ask(std::vector<std::string> users,
                                            std::int64_t answer_in_ms = kMinuteMs) {
    return std::async(std::launch::async, [=, this] {
      std::vector<std::string> told(users.size());
      std::vector<std::function<void()>> works;
      for (std::size_t i = 0; i < users.size(); ++i) {
        works.push_back([&, i] {
          told[i] = text_of(
              pipeline().ask("auth:" + users[i] + ":pw\n", base::Deadline::in_ms(answer_in_ms)));
        });
      }
      one.do_all(std::move(works));
      return told;
    });
  }

  // How many are told OK, of this many contexts that ask one question after the other.
  std::future<std::size_t> ask_again_and_again(std::size_t contexts, std::size_t times) {
    return std::async(std::launch::async, [=, this] {
      std::size_t are_ok = 0;  // of one thread
      const auto work = [&] {
        for (std::size_t i = 0; i < times; ++i) {
          const auto outcome = pipeline().ask("auth:user:pw\n", base::Deadline::in_ms(kMinuteMs));
          if (text_of(outcome) == "OK") ++are_ok;
        }
      };
      one.do_all(std::vector<std::function<void()>>(contexts, work));
      return are_ok;
    });
  }

  // Until what the authserver has sent is taken, and what follows it is asked.
  void settle() {
    for (int i = 0; i < 3; ++i) one.do_one([] {});
  }

  AuthPipeline& pipeline() {
    return one.loop.kept_for<AuthPipeline>(this, [this] {
      const auto note = [this](int, const AuthOutcome& outcome) { noted.push_back(outcome.kind); };
      return std::make_shared<AuthPipeline>(one.loop, kept, note, limits);
    });
  }

  static std::string text_of(const std::optional<AuthOutcome>& outcome) {
    if (!outcome) return "alone";
    if (std::holds_alternative<wire::Ok>(outcome->reply)) return "OK";
    return std::string(wire::word_of(std::get<wire::Err>(outcome->reply).code));
  }

  std::string received() const {
    std::array<char, 4096> bytes;
    const ssize_t got = net::receive(authserver.get(), bytes);
    return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : std::string();
  }
  void answer(std::string_view bytes) const { net::send_all(authserver.get(), bytes); }
  void answer_all(std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) answer("OK\n");
  }
  std::ptrdiff_t received_lines() const { return std::ranges::count(received(), '\n'); }

  const AuthLane::Limits limits;
  ConnectionShelf kept;
  net::Fd authserver;
  std::vector<Outcome> noted;
  tests::LoopThread one;  // the last one, as its contexts use the others
};

// More than may be under way at once, with short names.
constexpr std::size_t kCrowd = AuthPipeline::kMostAtOnce + 72;
const std::vector<std::string> crowd(kCrowd, "user");

}  // namespace

TEST_CASE("the questions of one turn come together, and each gets its own answer", "[fileserver]") {
  PipelineScene scene;
  auto asked = scene.ask({"amy", "bob", "cat"});
  CHECK(scene.received() == "auth:amy:pw\nauth:bob:pw\nauth:cat:pw\n");
  scene.answer("OK\nERR denied no\nOK\n");
  CHECK(asked.get() == std::vector<std::string>{"OK", "denied", "OK"});
}

TEST_CASE("a later question does not wait for the answers to earlier ones", "[fileserver]") {
  PipelineScene scene;
  auto first = scene.ask({"amy"});
  CHECK(scene.received() == "auth:amy:pw\n");
  auto second = scene.ask({"bob"});
  CHECK(scene.received() == "auth:bob:pw\n");
  scene.answer("OK\nERR denied no\n");
  CHECK(first.get().front() == "OK");
  CHECK(second.get().front() == "denied");
}

TEST_CASE("without a kept connection a context asks by itself", "[fileserver]") {
  PipelineScene scene;
  scene.kept.clear();
  CHECK(scene.ask({"amy"}).get().front() == "alone");
}

TEST_CASE("of more answers than questions a pipeline believes none", "[fileserver]") {
  PipelineScene scene;
  auto asked = scene.ask({"amy", "bob"});
  CHECK_FALSE(scene.received().empty());
  scene.answer("OK\nOK\nOK\n");
  CHECK(asked.get() == std::vector<std::string>{"alone", "alone"});
}

TEST_CASE("of an answer with bytes behind it a pipeline believes nothing", "[fileserver]") {
  PipelineScene scene;
  auto asked = scene.ask({"amy"});
  CHECK_FALSE(scene.received().empty());
  scene.answer("OK\nO");
  CHECK(asked.get().front() == "alone");
}

TEST_CASE("of a crowd some questions are under way, and the others follow", "[fileserver]") {
  PipelineScene scene;
  auto asked = scene.ask(crowd);
  CHECK(scene.received_lines() == AuthPipeline::kMostAtOnce);
  scene.answer_all(AuthPipeline::kMostAtOnce);
  for (std::ptrdiff_t left = kCrowd - AuthPipeline::kMostAtOnce; left > 0;) {
    const std::ptrdiff_t lines = scene.received_lines();
    REQUIRE(lines > 0);
    scene.answer_all(static_cast<std::size_t>(lines));
    left -= lines;
  }
  CHECK(asked.get() == std::vector<std::string>(kCrowd, "OK"));
}

TEST_CASE("so many questions in a row are all answered before the next one", "[fileserver]") {
  constexpr std::size_t kContexts = 2 * AuthPipeline::kMostAtOnce;
  constexpr std::size_t kTimes = AuthPipeline::kMostInARow / kContexts + 2;
  constexpr std::size_t kAll = kContexts * kTimes;
  PipelineScene scene;
  auto asking = scene.ask_again_and_again(kContexts, kTimes);
  std::size_t asked = 0, answered = 0;
  const auto take = [&] {
    const std::ptrdiff_t lines = scene.received_lines();
    REQUIRE(lines > 0);
    asked += static_cast<std::size_t>(lines);
  };
  const auto answer_all_but = [&](std::size_t open) {
    scene.answer_all(asked - answered - open);
    answered = asked - open;
  };
  take();
  while (asked < AuthPipeline::kMostInARow) {
    answer_all_but(1);
    take();
  }
  answer_all_but(1);
  scene.settle();
  CHECK(asked == AuthPipeline::kMostInARow);
  CHECK(net::unread_bytes(scene.authserver.get()) == 0);
  answer_all_but(0);
  while (asked < kAll) {
    take();
    answer_all_but(0);
  }
  CHECK(asking.get() == kAll);
}

TEST_CASE("a crowd behind a slow question leaves, and is not asked for later", "[fileserver]") {
  PipelineScene scene({0, 20});
  auto asked = scene.ask(crowd);
  CHECK(scene.received_lines() == AuthPipeline::kMostAtOnce);
  CHECK(asked.get() == std::vector<std::string>(kCrowd, "alone"));
  scene.answer_all(AuthPipeline::kMostAtOnce);
  auto later = scene.ask({"amy"});
  CHECK(scene.received() == "auth:amy:pw\n");
}

TEST_CASE("a pipeline is closed by what does not answer a question and go on", "[fileserver]") {
  for (const char* const odd : {"HELLO\n", "ERR busy no\n", "OK 5\nhello"}) {
    PipelineScene scene;
    auto asked = scene.ask({"amy"});
    CHECK_FALSE(scene.received().empty());
    scene.answer(odd);
    CHECK(asked.get().front() == "alone");
    CHECK(scene.received().empty());
  }
}

TEST_CASE("when a pipeline ends, those without an answer ask by themselves", "[fileserver]") {
  PipelineScene scene;
  auto asked = scene.ask({"amy", "bob"});
  CHECK_FALSE(scene.received().empty());
  scene.answer("OK\n");
  scene.authserver = {};
  CHECK(asked.get() == std::vector<std::string>{"OK", "alone"});
  scene.connect();
  auto again = scene.ask({"amy"});
  CHECK(scene.received() == "auth:amy:pw\n");
  scene.answer("OK\n");
  CHECK(again.get().front() == "OK");
}

TEST_CASE("an end that comes with the last answer is seen", "[fileserver]") {
  constexpr std::int64_t kDayMs = 24 * 60 * kMinuteMs;  // who gives up is told the same
  PipelineScene scene({kDayMs * base::kNsPerMs, kDayMs});
  auto asked = scene.ask({"amy", "bob"}, kDayMs);
  CHECK_FALSE(scene.received().empty());
  scene.one.loop.post([&] {  // in one turn: the loop does not look between these
    scene.answer("OK\n");
    ::shutdown(scene.authserver.get(), SHUT_WR);
  });
  CHECK(asked.get() == std::vector<std::string>{"OK", "alone"});
}

TEST_CASE("an end that has come is seen before a question is called old", "[fileserver]") {
  PipelineScene scene({0, kMinuteMs});
  auto first = scene.ask({"amy"});
  CHECK(scene.received() == "auth:amy:pw\n");
  auto ended = std::make_unique<net::Fd>(std::move(scene.authserver));
  scene.connect();
  auto second = std::async(std::launch::async, [&] {
    std::string told;
    scene.one.do_one([&] {  // in one turn: the loop does not look between these
      ended.reset();
      told = PipelineScene::text_of(
          scene.pipeline().ask("auth:bob:pw\n", base::Deadline::in_ms(kMinuteMs)));
    });
    return told;
  });
  CHECK(scene.received() == "auth:bob:pw\n");
  scene.answer("OK\n");
  CHECK(first.get().front() == "alone");
  CHECK(second.get() == "OK");
}

TEST_CASE("nobody asks behind an old question", "[fileserver]") {
  PipelineScene scene({0, kMinuteMs});
  auto first = scene.ask({"amy"});
  CHECK(scene.received() == "auth:amy:pw\n");
  CHECK(scene.ask({"bob"}).get().front() == "alone");
  scene.answer("OK\n");
  CHECK(first.get().front() == "OK");
}

TEST_CASE("an answer that has come is read before its question is called old", "[fileserver]") {
  PipelineScene scene({0, kMinuteMs});
  auto first = scene.ask({"amy"});
  CHECK(scene.received() == "auth:amy:pw\n");
  auto second = std::async(std::launch::async, [&] {
    std::string told;
    scene.one.do_one([&] {  // in one turn: the loop does not look between these
      scene.answer("OK\n");
      told = PipelineScene::text_of(
          scene.pipeline().ask("auth:bob:pw\n", base::Deadline::in_ms(kMinuteMs)));
    });
    return told;
  });
  CHECK(scene.received() == "auth:bob:pw\n");
  scene.answer("OK\n");
  CHECK(first.get().front() == "OK");
  CHECK(second.get() == "OK");
}

TEST_CASE("who has waited for long leaves, and its answer is for nobody", "[fileserver]") {
  PipelineScene scene({kMinuteMs * base::kNsPerMs, 20});
  auto first = scene.ask({"amy"});
  CHECK(scene.received() == "auth:amy:pw\n");
  CHECK(first.get().front() == "alone");
  scene.answer("ERR denied no\n");
  auto second = scene.ask({"bob"});
  CHECK(scene.received() == "auth:bob:pw\n");
  scene.answer("OK\n");
  CHECK(second.get().front() == "OK");
}

TEST_CASE("a pipeline that hangs is closed and told", "[fileserver]") {
  PipelineScene scene({kMinuteMs * base::kNsPerMs, 20});
  CHECK(scene.ask({"amy"}).get().front() == "alone");
  CHECK(scene.received() == "auth:amy:pw\n");
  CHECK(scene.ask({"bob"}, 1).get().front() == "alone");
  CHECK(scene.received().empty());
  CHECK(scene.noted == std::vector{Outcome::kTimedOut});
}
