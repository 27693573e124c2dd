#include "loadgen/sources.h"

#include <map>
#include <set>
#include <string>

#include "tests/catch.h"

using loadgen::Sources;

TEST_CASE("without a spread the system chooses the source address", "[loadgen]") {
  const Sources sources;
  CHECK(sources.count() == 1);
  CHECK(sources.of(0, 0) == nullptr);
  CHECK(sources.of(5, 1000) == nullptr);
}

TEST_CASE("sources are the first addresses of the loopback range, with any port", "[loadgen]") {
  const Sources sources = Sources::spread(254);
  CHECK(sources.count() == 254);
  CHECK(sources.of(0, 0)->text() == "127.0.0.1:0");
  CHECK(sources.of(0, 253)->text() == "127.0.0.254:0");
  CHECK(sources.of(0, 254)->text() == "127.0.0.1:0");
}

TEST_CASE("each thread uses all source addresses evenly", "[loadgen]") {
  const Sources sources = Sources::spread(Sources::kSpread);
  for (const int thread : {0, 1, 63, 64, 1000}) {
    std::map<std::string, int> uses;
    for (int connection = 0; connection < 10 * Sources::kSpread; ++connection) {
      ++uses[sources.of(thread, connection)->text()];
    }
    CHECK(uses.size() == Sources::kSpread);
    for (const auto& [address, count] : uses) CHECK(count == 10);
  }
}

TEST_CASE("threads that connect at the same time use different addresses", "[loadgen]") {
  const Sources sources = Sources::spread(Sources::kSpread);
  std::set<std::string> seen;
  for (int thread = 0; thread < Sources::kSpread; ++thread)
    seen.insert(sources.of(thread, 17)->text());
  CHECK(seen.size() == Sources::kSpread);
}
