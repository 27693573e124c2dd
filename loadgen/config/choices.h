// The words of the command line are those of the reports.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace loadgen {

// Each value with its word_of(), for flags::add_choice().
template <typename Value>
std::vector<std::pair<std::string, Value>> choices(std::initializer_list<Value> values) {
  std::vector<std::pair<std::string, Value>> all;
  for (const Value value : values) all.emplace_back(word_of(value), value);
  return all;
}

}  // namespace loadgen
