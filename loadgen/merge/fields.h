// Takes values out of JSON that may be of a stranger.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "loadgen/figures/histogram.h"

namespace loadgen::merge {

// The fields of one object. The first one that is not as it must be is kept in `wrong`, and stands
// for all further ones.
//
// Requires: the JSON and `wrong` outlive it.
class Fields {
 public:
  Fields(const nlohmann::json& json, std::string& wrong) : json_(json), wrong_(wrong) {}

  // A field that is missing is its default. Without one it is wrong.
  std::uint64_t count(const char* key) const;
  std::uint64_t count(const char* key, std::uint64_t missing) const;
  double number(const char* key) const;
  double number(const char* key, double missing) const;
  bool truth(const char* key) const;

  // Without bytes that could mislead a terminal, and cut off where they are long.
  std::string text(const char* key) const;
  std::string text(const char* key, const std::string& missing) const;
  std::vector<std::string> texts(const char* key) const;

  // `[[upper_ms, count], ...]`, ascending.
  std::vector<Bucket> buckets(const char* key) const;
  static std::vector<Bucket> buckets_of(const nlohmann::json& list, std::string& wrong);

  // An empty object if it is missing.
  const nlohmann::json& object(const char* key) const;

  bool has(const char* key) const;
  const nlohmann::json& operator[](const char* key) const;

 private:
  void note(const char* key, const char* what) const;

  const nlohmann::json& json_;
  std::string& wrong_;
};

// What a count, a time in milliseconds, and a time in seconds can be at most. Larger ones would not
// fit into the figures.
inline constexpr std::uint64_t kMostCount = std::uint64_t{1} << 53;
inline constexpr double kMostMs = 1e12;
inline constexpr double kMostSeconds = 1e6;

// Milliseconds with six digits are whole nanoseconds. Requires: 0 <= ms <= kMostMs.
std::int64_t ns_of(double ms);

}  // namespace loadgen::merge
