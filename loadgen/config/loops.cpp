#include "loadgen/config/loops.h"

#include "flags/values.h"
#include "loadgen/config/choices.h"
#include "loadgen/config/decimal.h"

namespace loadgen {

namespace {

constexpr double kLeastRate = 0.001;
constexpr double kMostRate = 1'000'000;

}  // namespace

void declare_open_loop(flags::App& app, Config& config) {
  app.group("Open loop");
  add_decimal(app, "--rate", "R", "a number from 0.001 to 1000000",
              "send R requests a second, whether or not earlier ones were answered; at most "
              "--threads are under way, others wait, and their time counts",
              kLeastRate, kMostRate, config.rate_rps);
  flags::add_choice<ArrivalKind>(
      app, "--arrivals", config.arrivals, choices({ArrivalKind::kFixed, ArrivalKind::kPoisson}),
      "gaps between the requests of --rate; fixed: all equal; poisson: at random, as those of many "
      "users who do not know of each other");
}

void declare_bursts(flags::App& app, Config& config) {
  app.group("Bursts", flags::Shown::kInFullHelp);
  flags::add_choice<Release>(
      app, "--release", config.release, choices({Release::kRequest, Release::kTransfer}),
      "when a thread asks for its next file; request: when it has the one before; transfer: a "
      "burst of --requests rounds: all threads connect, log in and wait for each other, then they "
      "ask in the same moment (get only)");
  flags::add_path(app, "--hold", config.hold,
                  "control group of the server (with version 1, its folder of the controller "
                  "freezer); its processes stop while all threads ask, and go on when all have "
                  "asked (--release transfer only)")
      ->type_name("GROUP");
}

}  // namespace loadgen
