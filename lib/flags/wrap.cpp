#include "flags/wrap.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace flags {

namespace {

// What the user says about the terminal, or what the terminal says itself.
int columns_of_terminal() {
  if (const char* const told = std::getenv("COLUMNS")) {
    if (const int columns = std::atoi(told); columns > 0) return columns;
  }
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t taken) {
  std::vector<std::string> lines(1);
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    std::string& line = lines.back();
    const bool is_shortened = lines.size() == 1 && taken > 0;
    const std::size_t used = line.size() + (line.empty() ? 0 : 1) + (is_shortened ? taken : 0);
    if (used + word.size() <= width || (line.empty() && !is_shortened)) {
      line += (line.empty() ? "" : " ") + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::vector<std::string> wrapped_command(std::string_view command, std::size_t width) {
  constexpr std::string_view kGoesOn = " \\";
  constexpr std::string_view kIndent = "    ";
  if (command.size() <= width) return {std::string(command)};
  auto lines = wrapped(command, width - kGoesOn.size() - kIndent.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) lines[i].insert(0, kIndent);
    if (i + 1 < lines.size()) lines[i] += kGoesOn;
  }
  return lines;
}

std::size_t columns_for_help() {
  constexpr int kFewest = 60;
  constexpr int kMost = 120;
  return static_cast<std::size_t>(std::clamp(columns_of_terminal(), kFewest, kMost));
}

}  // namespace flags
