#include "fileserver/files/demand.h"

#include <string>

#include "tests/catch.h"

using fileserver::Demand;
using fileserver::FirstOf;
using fileserver::Replacement;
using fileserver::replacements;
using fileserver::WantedFiles;

namespace {

constexpr std::int64_t kMuch = 1'000'000;

std::string names_of(const std::vector<Demand>& files) {
  std::string names;
  for (const Demand& file : files) names += file.name;
  return names;
}

// "a>b" for each: a comes in, b leaves for it.
std::string text_of(const std::vector<Replacement>& found) {
  std::string text;
  for (const auto& [out, in] : found) {
    text += text.empty() ? "" : " ";
    text += in.name + ">";
    for (const std::string& name : out) text += name;
  }
  return text;
}

}  // namespace

TEST_CASE("the most wanted for their size come first, and no more than were asked for", "[files]") {
  FirstOf most(FirstOf::Order::kMost, 3);
  most.add("a", 100, 5);
  most.add("b", 100, 9);
  most.add("c", 10, 1);
  most.add("d", 1000, 20);
  most.add("e", 100, 8);
  CHECK(names_of(most.take()) == "cbe");
  CHECK(names_of(most.take()).empty());
}

TEST_CASE("the least wanted are as many as take the bytes that are needed", "[files]") {
  const auto least = [](std::int64_t bytes) {
    FirstOf found(FirstOf::Order::kLeast, bytes);
    found.add("a", 100, 5);
    found.add("b", 100, 1);
    found.add("c", 100, 3);
    found.add("d", 1000, 4);
    return names_of(found.take());
  };
  CHECK(least(0).empty());
  CHECK(least(1) == "d");
  CHECK(least(1000) == "d");
  CHECK(least(1001) == "db");
  CHECK(least(kMuch) == "dbca");
}

TEST_CASE("a file gets the memory of those that are asked for less", "[files]") {
  const std::vector<Demand> inside = {{"a", 100, 1}, {"b", 100, 2}, {"c", 100, 9}};
  const auto found = [&](const std::vector<Demand>& outside, std::int64_t free = 0) {
    return text_of(replacements(outside, inside, free, kMuch));
  };
  CHECK(found({{"x", 100, 8}}) == "x>a");
  CHECK(found({{"x", 100, 8}, {"y", 100, 8}}) == "x>a y>b");
  CHECK(found({{"x", 200, 8}}) == "x>ab");
  CHECK(found({{"x", 250, 8}, {"y", 50, 1}}).empty());
  CHECK(found({{"x", 100, 8}}, 100) == "x>");
  CHECK(found({{"x", 150, 8}}, 99) == "x>a");
  CHECK(found({{"x", 50, 8}, {"y", 50, 7}}) == "x>a y>");
  CHECK(found({}).empty());
  CHECK(found({{"x", 1000, 100}}).empty());
}

TEST_CASE("files that are asked for alike do not take turns", "[files]") {
  const std::vector<Demand> inside = {{"a", 100, 8}};
  CHECK(text_of(replacements({{"x", 100, 12}}, inside, 0, kMuch)).empty());
  CHECK(text_of(replacements({{"x", 100, 13}}, inside, 0, kMuch)) == "x>a");
}

TEST_CASE("a large file does not push out many small ones that are asked for more", "[files]") {
  std::vector<Demand> inside;
  for (int i = 0; i < 100; ++i) inside.push_back({"a", 10, 1});
  CHECK(replacements({{"x", 1000, 100}}, inside, 0, kMuch).empty());
  CHECK(replacements({{"x", 1000, 200}}, inside, 0, kMuch).size() == 1);
}

TEST_CASE("a large file that stays does not keep others in", "[files]") {
  const std::vector<Demand> inside = {{"a", 10'000, 300}, {"b", 10, 2}, {"c", 10, 3}};
  CHECK(text_of(replacements({{"x", 10, 100}, {"y", 10, 90}}, inside, 0, kMuch)) == "x>b y>c");
}

TEST_CASE("one round takes no more than its bytes, unless it is one file", "[files]") {
  const std::vector<Demand> inside = {{"a", 100, 0}, {"b", 100, 0}, {"c", 100, 0}};
  const std::vector<Demand> outside = {{"x", 100, 9}, {"y", 150, 8}, {"z", 50, 7}};
  CHECK(text_of(replacements(outside, inside, 0, 150)) == "x>a z>b");
  CHECK(text_of(replacements(outside, inside, 0, 1)) == "x>a");
}

TEST_CASE("files outside of the memory are wanted from the fourth time on", "[files]") {
  WantedFiles wanted;
  for (int i = 0; i < 3; ++i) wanted.add("a", 100);
  CHECK(wanted.most(10).empty());
  wanted.add("a", 120);
  for (int i = 0; i < 9; ++i) wanted.add("b", 100);
  const auto found = wanted.most(10);
  REQUIRE(names_of(found) == "ba");
  CHECK(found[1].bytes == 120);
  CHECK(found[1].times == 4);
  CHECK(wanted.times() == 13);
  wanted.remove("b");
  CHECK(names_of(wanted.most(10)) == "a");
}

TEST_CASE("what was asked for long ago is forgotten", "[files]") {
  WantedFiles wanted;
  for (int i = 0; i < 16; ++i) wanted.add("a", 100);
  wanted.add("b", 100);
  wanted.forget_old(2);
  CHECK(wanted.times() == 4);
  CHECK(names_of(wanted.most(10)) == "a");
}

TEST_CASE("no more names are kept than the limit says", "[files]") {
  WantedFiles wanted;
  for (std::size_t i = 0; i < WantedFiles::kMostNames; ++i) wanted.add(std::to_string(i), 100);
  for (int i = 0; i < 9; ++i) wanted.add("one too many", 100);
  CHECK(wanted.most(10).empty());
  for (int i = 0; i < 9; ++i) wanted.add("7", 100);
  CHECK(names_of(wanted.most(10)) == "7");
}

TEST_CASE("names of a full table that were asked for once make room for others", "[files]") {
  WantedFiles wanted;
  for (std::size_t i = 0; i < WantedFiles::kMostNames; ++i) wanted.add(std::to_string(i), 100);
  for (int i = 0; i < 9; ++i) wanted.add("7", 100);
  wanted.forget_old(0);
  CHECK(wanted.times() == 10);
  for (int i = 0; i < 9; ++i) wanted.add("another", 100);
  CHECK(names_of(wanted.most(10)) == "7another");
}
