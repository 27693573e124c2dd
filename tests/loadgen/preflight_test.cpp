#include "loadgen/preflight.h"

#include <algorithm>
#include <string>

#include "loadgen/host.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"
#include "tests/temporary_folder.h"

using loadgen::Config;
using loadgen::missing_files;
using loadgen::port_warning;
using tests::contains;

namespace {

Config verifying(const tests::TemporaryFolder& folder, const std::string& file, int unique,
                 int threads) {
  Config config;
  config.threads = threads;
  config.file = file;
  config.unique = unique;
  config.must_verify = true;
  config.verify_root = folder.path();
  return config;
}

}  // namespace

TEST_CASE("missing copies for --verify are counted", "[loadgen]") {
  const tests::TemporaryFolder folder;
  for (const char* name : {"f1", "f2", "f4"}) folder.write(name, "x");
  CHECK_FALSE(missing_files(verifying(folder, "f1", 0, 8)));
  CHECK_FALSE(missing_files(verifying(folder, "f%d", 1, 2)));
  const auto wrong = missing_files(verifying(folder, "f%d", 3, 2));
  REQUIRE(wrong);
  CHECK(contains(*wrong, "3 of 6 files"));
  CHECK(contains(*wrong, "the first is f3"));
}

TEST_CASE("without --verify no copy is looked for", "[loadgen]") {
  Config config;
  config.file = "nowhere";
  CHECK_FALSE(missing_files(config));
}

TEST_CASE("a run that could use up the local ports gets a warning", "[loadgen]") {
  Config config;
  config.seconds_ms = 10'000;
  CHECK(port_warning(config, {28'232, 60}, 1));
  CHECK_FALSE(port_warning(config, {28'232, 60}, 64));
  CHECK_FALSE(port_warning(config, {28'232, 1}, 1));
  config.seconds_ms = 3'600'000;
  CHECK_FALSE(port_warning(config, {28'232, 60}, 64));
}

TEST_CASE("ports on ::1 can be used again as early as those on 127.0.0.1", "[loadgen]") {
  Config config;
  config.server = {"::1", 80};
  config.seconds_ms = 10'000;
  const auto ready = loadgen::prepare(config);
  REQUIRE(ready);
  const auto warning = port_warning(config, loadgen::ephemeral_ports(true), 1);
  const auto is_of_ports = [](const std::string& one) { return contains(one, "local ports"); };
  const auto& told = ready->warnings;
  CHECK(std::count_if(told.begin(), told.end(), is_of_ports) == (warning ? 1 : 0));
}

TEST_CASE("kept connections and few requests need few ports", "[loadgen]") {
  Config config;
  config.connection = loadgen::Connection::kKeepAlive;
  CHECK_FALSE(port_warning(config, {1'000, 60}, 1));
  config.connection = loadgen::Connection::kPerRequest;
  config.threads = 4;
  config.requests = 250;
  CHECK_FALSE(port_warning(config, {1'000, 60}, 1));
  config.requests = 251;
  CHECK(port_warning(config, {1'000, 60}, 1));
}

TEST_CASE("a nearly full table of tracked connections gets a warning", "[loadgen]") {
  CHECK_FALSE(loadgen::tracking_warning({0, 0}));
  CHECK_FALSE(loadgen::tracking_warning({200'000, 262'144}));
  CHECK(contains(*loadgen::tracking_warning({250'000, 262'144}), "250000 of 262144"));
}
