// Flags with typed values. Each function declares an option that writes into `target`, which must
// outlive flags::parse(). --help shows the value that `target` has now as the default. A text that
// is not accepted is wrong usage, with a line that says what is accepted.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "flags/option.h"
#include "net/address.h"

namespace flags {

// A whole number from `least` to `most`.
Option* add_whole(App& app, const std::string& name, int& target, int least, int most,
                  const std::string& help);

// One of the words in `choices`, each with its value.
template <typename Value>
Option* add_choice(App& app, const std::string& name, Value& target,
                   const std::vector<std::pair<std::string, Value>>& choices,
                   const std::string& help);

// The path of a file or folder, which need not exist. An empty text is refused. --help calls it
// FILE and shows no default, unless type_name() and capture_default_str() say otherwise.
Option* add_path(App& app, const std::string& name, std::string& target, const std::string& help);

// HOST:PORT, such as 127.0.0.1:9000, or only a port, which means 127.0.0.1, or unix:PATH with an
// absolute path.
Option* add_address(App& app, const std::string& name, net::HostPort& target,
                    const std::string& help);

// HOST:PORT, or only a port, which means 127.0.0.1, or `off` for none. With UnixPath::kAccepted
// unix:PATH too.
enum class UnixPath { kRefused, kAccepted };
Option* add_optional_address(App& app, const std::string& name,
                             std::optional<net::HostPort>& target, const std::string& help,
                             UnixPath unix_path = UnixPath::kRefused);

// The same, or tls:HOST:PORT, which sets `is_encrypted`. A host called tls keeps its meaning.
Option* add_address_or_tls(App& app, const std::string& name, net::HostPort& target,
                           bool& is_encrypted, const std::string& help);

// A number of seconds, which may have a fraction. Less than `least_ms` is refused.
Option* add_seconds(App& app, const std::string& name, std::int64_t& target_ms,
                    const std::string& help, std::int64_t least_ms = 0);

// Which sizes are accepted.
struct SizeRange {
  std::int64_t least_bytes = 0;
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
  std::string text = {};  // for messages, such as "from 1K to 16M"; empty: all are
};

// A number of bytes, or of K, M or G (1024 each). --help shows no default unless default_str() sets
// one.
Option* add_size(App& app, const std::string& name, std::int64_t& target_bytes,
                 const std::string& help, const SizeRange& range = {});

// --log-level.
Option* add_log_level(App& app, base::log::Level& target);

template <typename Value>
Option* add_choice(App& app, const std::string& name, Value& target,
                   const std::vector<std::pair<std::string, Value>>& choices,
                   const std::string& help) {
  std::string words;
  std::string default_word;
  for (const auto& [word, value] : choices) {
    words += (words.empty() ? "" : "|") + word;
    if (value == target) default_word = word;
  }
  const auto take = [&target, choices](const std::string& text) {
    for (const auto& [word, value] : choices) {
      if (word != text) continue;
      target = value;
      return true;
    }
    return false;
  };
  Option* const option = app.add_parsed(name, words, "one of " + words, help, take);
  option->reset = [&target, initial = target] { target = initial; };
  return option->default_str(default_word);
}

}  // namespace flags
