#include "loadgen/config/share.h"

#include <charconv>
#include <string>
#include <system_error>

namespace loadgen {

namespace {

constexpr int kMostTesters = 1'000'000;

// A whole number from 1 to kMostTesters, without a sign.
std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stopped != end || number < 1 || number > kMostTesters) return {};
  return number;
}

}  // namespace

std::optional<Share> parse_share(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {};
  const auto tester = number_in(text.substr(0, slash));
  const auto testers = number_in(text.substr(slash + 1));
  if (!tester || !testers || *tester > *testers) return {};
  return Share{.part = *tester - 1, .parts = *testers};
}

void declare_share(flags::App& app, Share& share) {
  const auto take = [&share](const std::string& text) {
    const auto read = parse_share(text);
    if (read) share = *read;
    return read.has_value();
  };
  app.add_parsed("--share", "J/N", "J/N, two whole numbers from 1 to 1000000 with J at most N",
                 "this is tester J of N that share a closed loop: it has the threads or users J, "
                 "J+N, J+2N and so on of all, and all other flags are those of the whole load",
                 take)
      ->reset = [&share] { share = {}; };
}

}  // namespace loadgen
