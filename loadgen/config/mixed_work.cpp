#include "loadgen/config/mixed_work.h"

#include <cmath>
#include <string>
#include <string_view>

#include "flags/values.h"
#include "loadgen/config/decimal.h"

namespace loadgen {

namespace {

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

// Takes one part of --mix, such as `get:90`, into `mix`. False: that is not what it is, or its kind
// has a share already.
bool take_share(std::string_view part, Mix& mix) {
  constexpr double kMostShare = 1'000'000;
  for (const RequestKind kind : {RequestKind::kNew, RequestKind::kGet, RequestKind::kPut}) {
    const auto share = number_behind(std::string(word_of(kind)) + ":", part);
    if (!share) continue;
    int& target = mix[index_of(kind)];
    if (target > 0 || !(*share >= 1 && *share <= kMostShare) || *share != std::floor(*share))
      return false;
    target = static_cast<int>(*share);
    return true;
  }
  return false;
}

void add_mix(flags::App& app, Mix& target) {
  const auto take = [&target](const std::string& text) {
    Mix mix = {};
    std::string_view left = text;
    for (std::size_t end = 0; end != std::string_view::npos;) {
      end = left.find(',');
      if (!take_share(left.substr(0, end), mix)) return false;
      if (end != std::string_view::npos) left.remove_prefix(end + 1);
    }
    target = mix;
    return true;
  };
  app.add_parsed("--mix", "KIND:SHARE,...",
                 "kinds of request with their shares, such as get:90,put:9,new:1, whole numbers "
                 "from 1 to 1000000",
                 "draw the kind of each request, such as get:90,put:9,new:1; written as get "
                 "--mix, it has the flags of all its kinds, and a new makes a name that no other "
                 "run makes",
                 take)
      ->reset = [&target] { target = {}; };
}

}  // namespace

void declare_mixed_work(flags::App& app, Config& config) {
  app.group("Mixed work");
  add_mix(app, config.mix);
  flags::add_whole(app, "--files", config.files, 1, 1'000'000'000,
                   "draw %d in --file from 1 to COUNT for each request (get only); all threads "
                   "share the files")
      ->type_name("COUNT")
      ->default_str("");
  add_popularity(app, config.zipf);
  flags::add_whole(app, "--seed", config.seed, 0, 1'000'000'000,
                   "fixes all that is drawn: accounts, files, kinds, pauses, and the gaps of "
                   "--arrivals poisson; "
                   "with the same seed the requests of each thread are the same");
}

}  // namespace loadgen
