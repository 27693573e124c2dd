// The log: one line on standard error for one event: time, level, what happened, then key=value.
//
// Any thread. error: someone must act. warn: handled, but worth knowing. info: start, ready, stop.
// debug: each request. Never a password.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace base::log {

enum class Level { kDebug, kInfo, kWarn, kError };

// Before the first line; from one thread.
void set_level(Level least_important);
bool is_on(Level level);
void write(Level level, std::string_view line);

// What a peer sent, fit for one line of a log: quoted, cut at 80 bytes, odd bytes as \xNN.
std::string quoted(std::string_view bytes);

template <typename... Args>
void at(Level level, fmt::format_string<Args...> format, Args&&... args) {
  if (is_on(level)) write(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::kDebug, format, std::forward<Args>(args)...);
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::kInfo, format, std::forward<Args>(args)...);
}
template <typename... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::kWarn, format, std::forward<Args>(args)...);
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  at(Level::kError, format, std::forward<Args>(args)...);
}

}  // namespace base::log
