#include "loadgen/config/mixed_work.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "flags/values.h"

namespace loadgen {

namespace {

// The number behind `word`, such as `zipf:`. Nothing: that is not what `text` is.
std::optional<double> number_behind(std::string_view word, std::string_view text) {
  if (!text.starts_with(word)) return {};
  text.remove_prefix(word.size());
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

void add_popularity(flags::App& app, double& exponent) {
  constexpr double kMostExponent = 10;
  const auto take = [&exponent](const std::string& text) {
    const auto number = text == "uniform" ? 0 : number_behind("zipf:", text);
    if (!number || !(*number >= 0 && *number <= kMostExponent)) return false;
    exponent = *number;
    return true;
  };
  app.add_parsed("--popularity", "uniform|zipf:S", "uniform, or zipf:S with S from 0 to 10",
                 "how often each of --files is drawn; uniform: all alike; zipf: the file with the "
                 "number k as often as 1/k to the power of S, so file 1 most often",
                 take)
      ->default_str("uniform")
      ->reset = [&exponent] { exponent = 0; };
}

}  // namespace

void declare_mixed_work(flags::App& app, Config& config) {
  app.group("Mixed work");
  flags::add_whole(app, "--files", config.files, 1, 1'000'000'000,
                   "draw %d in --file from 1 to COUNT for each request (get only); all threads "
                   "share the files")
      ->type_name("COUNT")
      ->default_str("");
  add_popularity(app, config.zipf);
  flags::add_whole(app, "--seed", config.seed, 0, 1'000'000'000,
                   "fixes all that is drawn: accounts, files, and the gaps of --arrivals poisson; "
                   "with the same seed the requests of each thread are the same");
}

}  // namespace loadgen
