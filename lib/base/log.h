// The log. Each event is one line on standard error: the time, the level, what happened, and
// details as key=value.
//
// Levels: `error` when someone must act, `warn` for what was handled but is worth knowing, `info`
// for start, ready and stop, `debug` for each request. A password is never logged.
//
// Nobody waits for the reader of standard error: lines without room are lost, and counted in the
// log when there is room again.
//
// Threads: any, except for set_level().
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace base::log {

enum class Level { kDebug, kInfo, kWarn, kError };

// Sets the lowest level that is logged. Requires: no other thread logs at the same time.
void set_level(Level least_important);

// Whether lines of this level are logged.
bool is_on(Level level);

// Logs the line, even if its level is off; at() and the functions below check the level first.
void write(Level level, std::string_view line);

// Makes bytes from outside safe for one line of the log. They are put in quotes and cut after 80
// bytes, and bytes that are not printable ASCII become \xNN.
std::string quoted(std::string_view bytes);

// As quoted(), for what is of no use without its end: the path of a file, or a reason, which often
// begins with one. Cut after 1,000 bytes.
std::string quoted_long(std::string_view bytes);

// As at(), even if the level is off.
void write_formatted(Level level, fmt::string_view format, fmt::format_args args);

// Logs a formatted line. The arguments are only formatted if the level is on. Throws nothing: if
// there is no memory for the line, the log says so instead.
template <typename... Args>
void at(Level level, fmt::format_string<Args...> format, Args&&... args) {
  if (is_on(level)) write_formatted(level, format, fmt::make_format_args(args...));
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
