#include "loadgen/file_names.h"

#include <set>

#include "tests/catch.h"

using loadgen::file_name;
using loadgen::file_number;

TEST_CASE("thread t asks for t*COUNT+1 to (t+1)*COUNT, in order, wrapping", "[loadgen]") {
  CHECK(file_number(0, 3, 0) == 1);
  CHECK(file_number(0, 3, 1) == 2);
  CHECK(file_number(0, 3, 2) == 3);
  CHECK(file_number(0, 3, 3) == 1);
  CHECK(file_number(2, 3, 0) == 7);
  CHECK(file_number(2, 3, 2) == 9);
  CHECK(file_number(2, 3, 3) == 7);
}

TEST_CASE("no two threads ever ask for the same file, and together they ask for all", "[loadgen]") {
  constexpr int kThreads = 7;
  constexpr int kCount = 5;
  std::set<std::int64_t> seen;
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int request = 0; request < kCount; ++request)
      CHECK(seen.insert(file_number(thread, kCount, request)).second);
  }
  CHECK(*seen.begin() == 1);
  CHECK(*seen.rbegin() == kThreads * kCount);
}

TEST_CASE("file numbers do not overflow", "[loadgen]") {
  CHECK(file_number(99'999, 1'000'000'000, 999'999'999) == 100'000'000'000'000);
}

TEST_CASE("the number stands for each %d of a name", "[loadgen]") {
  CHECK(file_name("1KB%d.txt", 12) == "1KB12.txt");
  CHECK(file_name("%d/%d", 3) == "3/3");
  CHECK(file_name("1KB1.txt", 12) == "1KB1.txt");
  CHECK(file_name("100%.txt", 12) == "100%.txt");
}
