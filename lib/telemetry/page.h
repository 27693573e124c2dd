// Writes metrics in the text format of Prometheus, version 0.0.4.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "telemetry/counters.h"

namespace telemetry {

// Requires of all functions: names, labels and help texts come from the source code, so they need
// no escapes. Labels are written as in `verb="new"`; an empty text stands for none. One thread.
class Page {
 public:
  // Begins a family of samples. `type` is counter, gauge or histogram.
  void family(std::string_view name, std::string_view type, std::string_view help);

  // Adds a sample to the family.
  void sample(std::string_view labels, std::uint64_t value);
  void sample(std::string_view labels, std::int64_t value);
  void sample(std::string_view labels, double value);

  // Adds a histogram of seconds to the family. `histogram` is as in a slot.
  void histogram(std::string_view labels, std::span<const std::uint64_t, kHistogramSize> histogram);

  // A family with one sample.
  template <typename Number>
  void gauge(std::string_view name, std::string_view help, Number value) {
    family(name, "gauge", help);
    sample("", value);
  }
  template <typename Number>
  void counter(std::string_view name, std::string_view help, Number value) {
    family(name, "counter", help);
    sample("", value);
  }

  const std::string& text() const { return text_; }

 private:
  void line(std::string_view suffix, std::string_view labels, std::string_view value);

  std::string name_;  // of the family
  std::string text_;
};

}  // namespace telemetry
