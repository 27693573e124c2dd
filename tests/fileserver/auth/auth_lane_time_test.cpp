#include <unistd.h>

#include <atomic>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fileserver/auth/auth_lane.h"
#include "tests/catch.h"
#include "tests/fileserver/auth/lane_scene.h"

using tests::Asked;
using tests::is_told;
using tests::kAMinuteMs;
using tests::Kind;
using tests::Scene;
using tests::told;

TEST_CASE("a lane is as old as the questions that were sent last", "[fileserver]") {
  // On a slow machine somebody may come when the last questions are old. Then try with more time.
  std::string answer_to_third;
  for (int old_ms = 200; answer_to_third != "OK" && old_ms < 10'000; old_ms *= 2) {
    Scene scene({old_ms * base::kNsPerMs, kAMinuteMs});
    const auto joins = [&](const std::future<Asked>& asked) {
      while (scene.lane.callers() < 2 && !is_told(asked)) base::pause_ms(1);
      return !is_told(asked);
    };
    auto first = scene.ask("auth:first:pw");
    CHECK(scene.received() == "auth:first:pw\n");
    auto second = scene.ask("auth:second:pw");
    const bool has_second = joins(second);
    base::pause_ms(old_ms + 50);
    scene.answer("OK\n");
    CHECK(told(first) == "OK");
    if (!has_second) continue;
    CHECK(scene.received() == "auth:second:pw\n");
    auto third = scene.ask("auth:third:pw");
    const bool has_third = joins(third);
    scene.answer("OK\n");
    CHECK(told(second) == "OK");
    if (has_third) {
      CHECK(scene.received() == "auth:third:pw\n");
      scene.answer("OK\n");
    }
    answer_to_third = told(third);
  }
  CHECK(answer_to_third == "OK");
}

TEST_CASE("who is answered, or leads, as its time ends does not leave", "[fileserver]") {
  constexpr int kClients = 6;
  constexpr int kAnswers = 1500;
  Scene scene({kAMinuteMs * base::kNsPerMs, 1});
  std::atomic<bool> is_over = false;
  std::thread answering([&] {
    std::mt19937 random(1);
    std::uniform_int_distribution<unsigned> about_their_patience_us(500, 1500);
    for (int answers = 0;;) {
      const std::string lines = scene.received();
      if (lines.empty() && is_over) return;
      if (lines.empty()) scene.connect();  // all had left, so the lane has closed the last one
      ::usleep(about_their_patience_us(random));
      for (const char byte : lines) {
        if (byte != '\n') continue;
        net::send_all(scene.authserver.get(), "OK\n");
        if (++answers == kAnswers) is_over = true;
      }
    }
  });
  std::atomic<int> odd = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&] {
      while (!is_over) {
        const Asked asked = scene.lane.ask("auth:amy:pw\n", base::Deadline::in_ms(kAMinuteMs));
        if (asked && asked->kind != Kind::kAnswered) ++odd;
      }
    });
  }
  for (auto& client : clients) client.join();
  CHECK(odd == 0);
  CHECK(scene.lane.callers() == 0);
  scene.kept.clear();  // which ends the other thread
  answering.join();
  scene.connect();
  auto last = scene.ask("auth:last:pw");
  CHECK(scene.received() == "auth:last:pw\n");
  scene.answer("OK\n");
  CHECK(told(last) == "OK");
}
