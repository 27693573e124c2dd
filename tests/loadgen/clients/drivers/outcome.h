// What a driver makes of the bytes of a server, however they are cut.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "loadgen/clients/drivers/driver.h"
#include "tests/catch.h"

namespace tests {

struct Outcome {
  std::string sent;
  std::string file;
  std::optional<loadgen::Cause> failure;
  std::string why;
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
  driver.begin_connection();
  driver.begin(request);
  while (!outcome.is_starving) {
    const loadgen::Step step = driver.next(said.substr(at, here - at));
    REQUIRE(step.taken_bytes <= here - at);
    at += step.taken_bytes;
    switch (step.kind) {
      case Kind::kSend: outcome.sent += step.bytes; break;
      case Kind::kReceive: receive_more(); break;
      case Kind::kOpenData: outcome.sent += "<port " + std::to_string(step.data_port) + ">"; break;
      case Kind::kData:
        outcome.sent += step.size_bytes == loadgen::Step::kUnknownSize
                            ? "<data unknown>"
                            : "<data " + std::to_string(step.size_bytes) + ">";
        break;
      case Kind::kUpload: outcome.sent.append(step.size_bytes, 'x'); break;
      case Kind::kSendData: outcome.sent += "<send " + std::to_string(step.size_bytes) + ">"; break;
      case Kind::kFile:
      case Kind::kSkip: {
        here = said.size();
        const auto body = said.substr(at, std::min<std::size_t>(step.size_bytes, here - at));
        if (step.kind == Kind::kFile) outcome.file = body;
        at += body.size();
        outcome.is_starving = body.size() < step.size_bytes;
        break;
      }
      case Kind::kDone:
        outcome.failure = step.failure;
        outcome.why = step.why;
        outcome.keeps_connection = step.keeps_connection;
        outcome.left_bytes = said.size() - at;
        return outcome;
    }
  }
  return outcome;
}

// Also checks that any cut has the same outcome, with the driver that `driver` returns for it. Only
// of bytes that are not understood, more or fewer may be shown.
inline Outcome outcome_of(const std::function<loadgen::Driver&()>& driver,
                          const loadgen::Request& request, std::string_view said) {
  const Outcome whole = outcome_if_cut(driver(), request, said, said.size());
  for (std::size_t cut = 0; cut < said.size(); ++cut) {
    Outcome outcome = outcome_if_cut(driver(), request, said, cut);
    if (outcome.failure == loadgen::Fault::kProtocol) outcome.why = whole.why;
    CHECK(outcome == whole);
  }
  return whole;
}

inline Outcome outcome_of(loadgen::Driver& driver, const loadgen::Request& request,
                          std::string_view said) {
  return outcome_of([&]() -> loadgen::Driver& { return driver; }, request, said);
}

}  // namespace tests
