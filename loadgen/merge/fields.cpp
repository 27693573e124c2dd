#include "loadgen/merge/fields.h"

#include <fmt/core.h>

#include <cmath>

namespace loadgen::merge {

namespace {

using Json = nlohmann::json;

bool is_number(const Json& value) {
  return value.is_number() && value.get<double>() >= 0 && value.get<double>() <= kMostMs;
}

bool is_count(const Json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= kMostCount;
}

// A text may hold what misleads a terminal, and may be long.
std::string shown(std::string text) {
  constexpr std::size_t kMostShownBytes = 1000;
  if (text.size() > kMostShownBytes) text.resize(kMostShownBytes);
  for (char& one : text) {
    if (static_cast<unsigned char>(one) < ' ' || one == '\x7f') one = '?';
  }
  return text;
}

bool is_pair(const Json& one) {
  return one.is_array() && one.size() == 2 && is_number(one[0]) && is_count(one[1]);
}

}  // namespace

std::int64_t ns_of(double ms) { return std::llround(ms * 1e6); }

void Fields::note(const char* key, const char* what) const {
  if (wrong_.empty()) wrong_ = fmt::format("its {} is {}", key, what);
}

bool Fields::has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }

const Json& Fields::operator[](const char* key) const {
  static const Json kMissing;
  return has(key) ? json_[key] : kMissing;
}

std::uint64_t Fields::count(const char* key) const {
  const Json& value = (*this)[key];
  if (is_count(value)) return value.get<std::uint64_t>();
  note(key, "no count");
  return 0;
}

std::uint64_t Fields::count(const char* key, std::uint64_t missing) const {
  return has(key) ? count(key) : missing;
}

double Fields::number(const char* key) const {
  const Json& value = (*this)[key];
  if (is_number(value)) return value.get<double>();
  note(key, "no number that can be");
  return 0;
}

double Fields::number(const char* key, double missing) const {
  return has(key) ? number(key) : missing;
}

bool Fields::truth(const char* key) const {
  const Json& value = (*this)[key];
  if (value.is_boolean()) return value.get<bool>();
  note(key, "neither true nor false");
  return false;
}

std::string Fields::text(const char* key) const {
  const Json& value = (*this)[key];
  if (value.is_string()) return shown(value.get<std::string>());
  note(key, "no text");
  return {};
}

std::string Fields::text(const char* key, const std::string& missing) const {
  return has(key) ? text(key) : missing;
}

std::vector<std::string> Fields::texts(const char* key) const {
  std::vector<std::string> all;
  if (!(*this)[key].is_array()) note(key, "no list");
  for (const Json& one : (*this)[key]) {
    if (one.is_string()) all.push_back(shown(one.get<std::string>()));
  }
  return all;
}

const Json& Fields::object(const char* key) const {
  static const Json kNothing = Json::object();
  if (!has(key)) return kNothing;
  if ((*this)[key].is_object()) return (*this)[key];
  note(key, "no object");
  return kNothing;
}

std::vector<Bucket> Fields::buckets(const char* key) const {
  if (has(key)) return buckets_of((*this)[key], wrong_);
  if (wrong_.empty()) wrong_ = fmt::format("it has no {}", key);
  return {};
}

std::vector<Bucket> Fields::buckets_of(const Json& list, std::string& wrong) {
  std::vector<Bucket> all;
  std::uint64_t total = 0;
  if (!list.is_array() && wrong.empty()) wrong = "a distribution is no list";
  for (const Json& one : list) {
    if (!is_pair(one)) {
      if (wrong.empty()) wrong = "a distribution is no list of [upper_ms, count]";
      return {};
    }
    const Bucket bucket{ns_of(one[0].get<double>()), one[1].get<std::uint64_t>()};
    total += bucket.count;
    if (total > kMostCount || (!all.empty() && bucket.upper <= all.back().upper)) {
      if (wrong.empty()) wrong = "a distribution is not ascending, or counts too much";
      return {};
    }
    all.push_back(bucket);
  }
  return all;
}

}  // namespace loadgen::merge
