#include "fileserver/rights/rights_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "wire/request.h"

namespace fileserver {

namespace {

using base::Error;
using base::ErrorCode;
using base::log::quoted;

constexpr std::string_view kBlanks = " \t";

// Takes the first word off the text.
std::string_view take_first_word(std::string_view& text) {
  text = base::trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text = base::trimmed(text.substr(word.size()));
  return word;
}

// Takes the word off the end of the text, if it is its last one.
bool take_last_word(std::string_view& text, std::string_view word) {
  if (!text.ends_with(word)) return false;
  const std::string_view before = text.substr(0, text.size() - word.size());
  if (!before.empty() && kBlanks.find(before.back()) == std::string_view::npos) return false;
  text = base::trimmed(before);
  return true;
}

std::optional<Right> take_right(std::string_view& text) {
  if (take_last_word(text, "none")) return Right::kNone;
  if (take_last_word(text, "read")) return Right::kRead;
  if (!take_last_word(text, "write") || !take_last_word(text, "read")) return {};
  return Right::kReadWrite;
}

bool has_control_byte(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

// What is wrong with a path of the file, which begins with a slash.
std::optional<std::string> wrong_path(std::string_view path) {
  if (path.size() > kMaxRightsPathBytes)
    return fmt::format("the path is longer than {} bytes", kMaxRightsPathBytes);
  std::string_view name = path.substr(1);
  if (name.ends_with('/')) name.remove_suffix(1);
  const bool has_tab = name.find('\t') != std::string_view::npos;
  if (path == "/" || (!has_tab && wire::is_file_name(name))) return {};
  return fmt::format("no file can have the path {}", quoted(path));
}

class Parser {
 public:
  base::Result<RightsFile> parse(std::string_view text) {
    for (; !text.empty(); ++line_) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (auto wrong = take_line(line)) return at(line_, *wrong);
    }
    for (const RightsFile::Rule& rule : file_.rules) {
      if (rule.who.starts_with('@') && !groups_.contains(rule.who.substr(1)))
        return at(rule.line, fmt::format("there is no group {}", quoted(rule.who.substr(1))));
    }
    return std::move(file_);
  }

 private:
  // What is wrong with a line; nothing if it was taken.
  using Wrong = std::optional<std::string>;

  static Error at(int line, const std::string& wrong) {
    return {ErrorCode::kInvalid, fmt::format("line {}: {}", line, wrong)};
  }

  Wrong take_line(std::string_view line) {
    if (line.starts_with('#')) return {};
    if (has_control_byte(line)) return "there is a control byte";
    std::string_view rest = line;
    const std::string_view who = take_first_word(rest);
    if (who.empty()) return {};
    if (who == "group" && !rest.starts_with('/')) return take_group(rest);
    return take_rule(who, rest);
  }

  Wrong take_group(std::string_view rest) {
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return "a group is `group NAME: members`";
    const std::string_view name = base::trimmed(rest.substr(0, colon));
    if (!wire::is_valid_user(name)) return fmt::format("{} cannot be a group", quoted(name));
    if (const auto [same, is_new] = groups_.emplace(name, line_); !is_new)
      return fmt::format("the group {} is defined in line {} already", quoted(name), same->second);
    RightsFile::Group group{std::string(name), {}, line_};
    for (rest.remove_prefix(colon + 1); !base::trimmed(rest).empty();) {
      const std::string_view member = take_first_word(rest);
      if (!wire::is_valid_user(member)) return fmt::format("{} is no user name", quoted(member));
      if (member.starts_with('@')) return "the members of a group are users, not groups";
      group.members.emplace_back(member);
    }
    file_.groups.push_back(std::move(group));
    return {};
  }

  Wrong take_rule(std::string_view who, std::string_view rest) {
    const std::string_view name = who.starts_with('@') ? who.substr(1) : who;
    if (who != "*" && !wire::is_valid_user(name))
      return fmt::format("{} is neither a user name, nor a group such as @staff, nor *",
                         quoted(who));
    const auto right = take_right(rest);
    if (!right) return "the last words must be `none`, `read` or `read write`";
    if (!rest.starts_with('/')) return "a path that begins with / must follow the first word";
    if (auto wrong = wrong_path(rest)) return wrong;
    if (rest.size() > 1 && rest.ends_with('/')) rest.remove_suffix(1);
    const std::string path(rest.substr(1));
    if (const auto [same, is_new] = lines_.emplace(std::pair(std::string(who), path), line_);
        !is_new)
      return fmt::format("line {} is for the same who and path", same->second);
    file_.rules.push_back({std::string(who), path, *right, line_});
    return {};
  }

  RightsFile file_;
  int line_ = 1;
  std::map<std::string, int, std::less<>> groups_;            // the line of each
  std::map<std::pair<std::string, std::string>, int> lines_;  // of each who and path
};

}  // namespace

std::string_view word_of(Right right) {
  switch (right) {
    case Right::kNone: return "none";
    case Right::kRead: return "read";
    case Right::kReadWrite: return "read write";
  }
  return {};
}

base::Result<RightsFile> parse_rights(std::string_view text) { return Parser().parse(text); }

base::Result<std::string> read_rights(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxRightsBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    const int reason = errno == 0 ? EIO : errno;
    return Error{ErrorCode::kInvalid, path + ": " + std::generic_category().message(reason)};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxRightsBytes)
    return Error{ErrorCode::kInvalid,
                 fmt::format("{}: it has more than {} bytes", path, kMaxRightsBytes)};
  return text;
}

}  // namespace fileserver
