// What a driver makes of the bytes of a server, however they are cut.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "loadgen/drivers/driver.h"
#include "tests/catch.h"

namespace tests {

struct Outcome {
  std::string sent;
  std::string file;
  std::optional<loadgen::Cause> failure;
  bool keeps_connection = false;
  bool is_starving = false;  // the driver wants more than the server said
  std::size_t left_bytes = 0;

  bool operator==(const Outcome&) const = default;
};

// The outcome if the first `cut` bytes of what the server says come first.
inline Outcome outcome_if_cut(loadgen::Driver& driver, const loadgen::Request& request,
                              std::string_view said, std::size_t cut) {
  using Kind = loadgen::Step::Kind;
  Outcome outcome;
  std::size_t here = cut;  // [at, here) was received
  std::size_t at = 0;
  const auto receive_more = [&] {
    outcome.is_starving = here == said.size();
    here = said.size();
  };
  driver.begin(request);
  while (!outcome.is_starving) {
    const loadgen::Step step = driver.next(said.substr(at, here - at));
    REQUIRE(step.taken_bytes <= here - at);
    at += step.taken_bytes;
    switch (step.kind) {
      case Kind::kSend: outcome.sent += step.bytes; break;
      case Kind::kReceive: receive_more(); break;
      case Kind::kFile:
        if (here - at < step.size_bytes) receive_more();
        outcome.file = said.substr(at, std::min<std::size_t>(step.size_bytes, here - at));
        at += outcome.file.size();
        outcome.is_starving = outcome.file.size() < step.size_bytes;
        break;
      case Kind::kDone:
        outcome.failure = step.failure;
        outcome.keeps_connection = step.keeps_connection;
        outcome.left_bytes = said.size() - at;
        return outcome;
    }
  }
  return outcome;
}

// Also checks that any cut has the same outcome.
inline Outcome outcome_of(loadgen::Driver& driver, const loadgen::Request& request,
                          std::string_view said) {
  const Outcome whole = outcome_if_cut(driver, request, said, said.size());
  for (std::size_t cut = 0; cut < said.size(); ++cut)
    CHECK(outcome_if_cut(driver, request, said, cut) == whole);
  return whole;
}

}  // namespace tests
