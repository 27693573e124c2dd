#include "fileserver/http/account_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "base/utf8.h"
#include "http/syntax.h"

namespace fileserver {

namespace {

// Takes JSON apart from its front. Decodes a string where it stands: escapes only get shorter.
class Scanner {
 public:
  explicit Scanner(std::span<char> json) : json_(json) {}

  // Skips blanks, and then the mark. Returns whether it was there.
  bool take(char mark) {
    skip_blanks();
    if (at_ == json_.size() || json_[at_] != mark) return false;
    ++at_;
    return true;
  }

  bool is_at_end() {
    skip_blanks();
    return at_ == json_.size();
  }

  // true or false.
  std::optional<bool> take_flag() {
    skip_blanks();
    const std::string_view rest(json_.data() + at_, json_.size() - at_);
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "true" : "false";
      if (!rest.starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    return {};
  }

  bool take_null() {
    skip_blanks();
    const bool is_null =
        std::string_view(json_.data() + at_, json_.size() - at_).starts_with("null");
    if (is_null) at_ += 4;
    return is_null;
  }

  // A whole number from 0 on.
  std::optional<std::int64_t> take_number() {
    const auto number = take_digits();
    return number && !is_at_any_of(".eE") ? number : std::nullopt;
  }

  // A time in seconds, as clocks of programs tell it: a part of a second counts as one.
  std::optional<std::int64_t> take_time() {
    auto seconds = take_digits();
    if (seconds && is_at_any_of(".")) {
      const auto rest = std::string_view(json_.data(), json_.size()).substr(++at_);
      const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
      const bool is_part = rest.substr(0, digits).find_first_not_of('0') != std::string_view::npos;
      if (digits == 0 || (is_part && *seconds == INT64_MAX)) return {};
      at_ += digits;
      if (is_part) ++*seconds;
    }
    return seconds && !is_at_any_of("eE") ? seconds : std::nullopt;
  }

  std::optional<std::string_view> take_string() {
    if (!take('"')) return {};
    const std::size_t begin = at_;
    std::size_t end = at_;  // [begin, end) is decoded
    while (at_ < json_.size() && json_[at_] != '"') {
      if (static_cast<unsigned char>(json_[at_]) < 0x20) return {};
      if (json_[at_] != '\\') {
        json_[end++] = json_[at_++];
      } else if (!take_escape(end)) {
        return {};
      }
    }
    if (at_ == json_.size()) return {};
    ++at_;
    const std::string_view text(json_.data() + begin, end - begin);
    return base::is_utf8(text) ? std::optional(text) : std::nullopt;
  }

 private:
  std::optional<std::int64_t> take_digits() {
    skip_blanks();
    std::int64_t number = 0;
    const char* const begin = json_.data() + at_;
    const char* const json_end = json_.data() + json_.size();
    if (begin == json_end || *begin < '0' || *begin > '9') return {};
    const auto [end, failure] = std::from_chars(begin, json_end, number);
    const bool has_zeros = *begin == '0' && end - begin > 1;
    if (failure != std::errc() || has_zeros) return {};
    at_ += static_cast<std::size_t>(end - begin);
    return number;
  }

  bool is_at_any_of(std::string_view marks) const {
    return at_ < json_.size() && marks.find(json_[at_]) != std::string_view::npos;
  }

  void skip_blanks() {
    while (at_ < json_.size() && std::string_view(" \t\r\n").find(json_[at_]) < 4) ++at_;
  }

  bool take_escape(std::size_t& end) {
    if (++at_ == json_.size()) return false;
    const char letter = json_[at_++];
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (const std::size_t which = kLetters.find(letter); which != std::string_view::npos) {
      json_[end++] = kMeanings[which];
      return true;
    }
    if (letter != 'u') return false;
    auto code = take_four_digits();
    if (!code) return false;
    if (*code >= 0xd800 && *code < 0xe000) {
      if (*code >= 0xdc00 || at_ + 2 > json_.size() || json_[at_] != '\\' || json_[at_ + 1] != 'u')
        return false;
      at_ += 2;
      const auto low = take_four_digits();
      if (!low || *low < 0xdc00 || *low >= 0xe000) return false;
      code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
    }
    put_utf8(*code, end);
    return true;
  }

  std::optional<std::uint32_t> take_four_digits() {
    if (at_ + 4 > json_.size()) return {};
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const int value = http::hex_value(json_[at_++]);
      if (value < 0) return {};
      code = code << 4 | static_cast<std::uint32_t>(value);
    }
    return code;
  }

  void put_utf8(std::uint32_t code, std::size_t& end) {
    const auto put = [&](std::uint32_t byte) { json_[end++] = static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xe0 | code >> 12);
      } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
      }
      put(0x80 | (code >> 6 & 0x3f));
    }
    put(0x80 | (code & 0x3f));
  }

  const std::span<char> json_;
  std::size_t at_ = 0;
};

struct TextMember {
  std::string_view name;
  std::optional<std::string_view> text = {};
};

// Reads an object whose members are the texts, once each, and maybe the flag, at most once.
bool parse_texts(std::span<char> json, std::span<TextMember> texts, std::string_view flag_name,
                 std::optional<bool>& flag) {
  Scanner scanner(json);
  if (!scanner.take('{')) return false;
  do {
    const auto name = scanner.take_string();
    if (!name || !scanner.take(':')) return false;
    if (!flag_name.empty() && *name == flag_name) {
      if (flag) return false;
      flag = scanner.take_flag();
      if (!flag) return false;
      continue;
    }
    const auto member = std::ranges::find(texts, *name, &TextMember::name);
    if (member == texts.end() || member->text) return false;
    member->text = scanner.take_string();
    if (!member->text) return false;
  } while (scanner.take(','));
  return scanner.take('}') && scanner.is_at_end() &&
         std::ranges::all_of(texts, [](const TextMember& one) { return one.text.has_value(); });
}

// Takes the value of one member. Each may be there once. Of what may be null, null is a value too.
class LinkMembers {
 public:
  bool take(std::string_view name, Scanner& scanner) {
    if (name == "path") return take_new(path_, [&] { return scanner.take_string(); });
    if (name == "may") return take_new(may_, [&] { return scanner.take_string(); });
    if (name == "end") return take_or_null(end_, scanner, [&] { return scanner.take_time(); });
    if (name == "uses") return take_or_null(uses_, scanner, [&] { return scanner.take_number(); });
    if (name == "password")
      return take_or_null(password_, scanner, [&] { return scanner.take_string(); });
    return false;
  }

  std::optional<LinkRequest> request() const {
    if (!path_ || !may_) return {};
    return LinkRequest{*path_, *may_, end_.value_or(std::nullopt), uses_.value_or(std::nullopt),
                       password_.value_or(std::nullopt)};
  }

 private:
  template <typename Value, typename Take>
  static bool take_new(std::optional<Value>& value, Take take) {
    if (value) return false;
    value = take();
    return value.has_value();
  }

  template <typename Value, typename Take>
  static bool take_or_null(std::optional<std::optional<Value>>& value, Scanner& scanner,
                           Take take) {
    if (value) return false;
    value.emplace();
    return scanner.take_null() || take_new(*value, take);
  }

  std::optional<std::string_view> path_;
  std::optional<std::string_view> may_;
  std::optional<std::optional<std::int64_t>> end_;
  std::optional<std::optional<std::int64_t>> uses_;
  std::optional<std::optional<std::string_view>> password_;
};

}  // namespace

std::optional<LinkRequest> parse_link(std::span<char> json) {
  Scanner scanner(json);
  if (!scanner.take('{')) return {};
  LinkMembers members;
  do {
    const auto name = scanner.take_string();
    if (!name || !scanner.take(':') || !members.take(*name, scanner)) return {};
  } while (scanner.take(','));
  if (!scanner.take('}') || !scanner.is_at_end()) return {};
  return members.request();
}

std::optional<wire::Credentials> parse_account(std::span<char> json) {
  const auto texts = parse_two_texts(json, "user", "password");
  if (!texts) return {};
  return wire::Credentials{texts->first, texts->second};
}

std::optional<SessionWish> parse_session(std::span<char> json) {
  std::array texts{TextMember{"user"}, TextMember{"password"}};
  std::optional<bool> stays;
  if (!parse_texts(json, texts, "stay", stays)) return {};
  return SessionWish{{*texts[0].text, *texts[1].text}, stays.value_or(false)};
}

std::optional<PasswordChange> parse_password_change(std::span<char> json) {
  const auto texts = parse_two_texts(json, "old", "new");
  if (!texts) return {};
  return PasswordChange{texts->first, texts->second};
}

std::optional<std::string_view> parse_text(std::span<char> json, std::string_view name) {
  std::array texts{TextMember{name}};
  std::optional<bool> none;
  return parse_texts(json, texts, {}, none) ? texts[0].text : std::nullopt;
}

std::optional<std::pair<std::string_view, std::string_view>> parse_two_texts(
    std::span<char> json, std::string_view first, std::string_view second) {
  std::array texts{TextMember{first}, TextMember{second}};
  std::optional<bool> none;
  if (!parse_texts(json, texts, {}, none)) return {};
  return std::pair(*texts[0].text, *texts[1].text);
}

}  // namespace fileserver
