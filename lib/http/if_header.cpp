#include "http/if_header.h"

#include <algorithm>

#include "http/syntax.h"

namespace http {

namespace {

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

bool take(std::string_view& text, char byte) {
  if (!text.starts_with(byte)) return false;
  text.remove_prefix(1);
  return true;
}

// Takes "<...>" from the front of the text. Nothing if it does not begin with that, or there is
// something inside that cannot be in a URI.
std::optional<std::string_view> take_bracketed(std::string_view& text) {
  if (!text.starts_with('<')) return {};
  const std::size_t end = text.find('>');
  if (end == std::string_view::npos) return {};
  const std::string_view inside = text.substr(1, end - 1);
  const auto is_bad = [](char byte) {
    return is_control(byte) || byte == ' ' || byte == '<' || byte == '"';
  };
  if (inside.empty() || std::ranges::any_of(inside, is_bad)) return {};
  text.remove_prefix(end + 1);
  return inside;
}

bool is_absolute(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  return colon != std::string_view::npos && colon > 0 && is_letter(uri.front());
}

// Takes "<urn:...>" from the front of the text.
std::optional<std::string_view> take_token(std::string_view& text) {
  const auto token = take_bracketed(text);
  return token && is_absolute(*token) ? token : std::nullopt;
}

// Takes a tag in square brackets, as in ["a"] and [W/"a"].
std::optional<std::string_view> take_tag(std::string_view& text) {
  if (!take(text, '[')) return {};
  const std::size_t begin = text.starts_with("W/") ? 2 : 0;
  if (!text.substr(begin).starts_with('"')) return {};
  const std::size_t end = text.find('"', begin + 1);
  if (end == std::string_view::npos) return {};
  const std::string_view tag = text.substr(0, end + 1);
  const auto is_bad = [](char byte) { return is_control(byte) || byte == ' '; };
  if (std::ranges::any_of(tag, is_bad)) return {};
  text.remove_prefix(end + 1);
  if (!take(text, ']')) return {};
  return tag;
}

std::optional<IfCondition> take_condition(std::string_view& text) {
  const bool is_negated = text.size() >= 3 && is_same(text.substr(0, 3), "Not");
  if (is_negated) text.remove_prefix(3);
  skip_blanks(text);
  const bool is_tag = text.starts_with('[');
  const auto part = is_tag ? take_tag(text) : take_token(text);
  if (!part) return {};
  return IfCondition{is_tag ? IfCondition::Kind::kTag : IfCondition::Kind::kToken, is_negated,
                     *part};
}

// Takes the conditions of a list, whose "(" is taken already, and its ")".
std::optional<std::vector<IfCondition>> take_conditions(std::string_view& text,
                                                        std::size_t at_most) {
  std::vector<IfCondition> conditions;
  for (;;) {
    skip_blanks(text);
    if (!conditions.empty() && take(text, ')')) return conditions;
    const auto condition = take_condition(text);
    if (!condition || conditions.size() == at_most) return {};
    conditions.push_back(*condition);
  }
}

// The path of a reference to a resource: "http://host/a?b" and "/a" are "/a".
std::string_view path_of(std::string_view reference) {
  constexpr std::string_view kMark = "://";
  if (!reference.starts_with('/')) {
    const std::size_t mark = reference.find(kMark);
    if (mark == std::string_view::npos) return {};
    reference.remove_prefix(mark + kMark.size());
    const std::size_t slash = reference.find('/');
    if (slash == std::string_view::npos) return {};
    reference.remove_prefix(slash);
  }
  return reference.substr(0, reference.find_first_of("?#"));
}

}  // namespace

std::optional<IfHeader> parse_if(std::string_view value) {
  IfHeader header;
  std::optional<std::string_view> path;
  std::size_t left = kMaxIfConditions;
  bool needs_list = true;
  for (std::string_view text = value;;) {
    skip_blanks(text);
    if (text.empty()) return needs_list ? std::nullopt : std::optional(std::move(header));
    if (take(text, '(')) {
      auto conditions = take_conditions(text, left);
      if (!conditions) return {};
      left -= conditions->size();
      header.lists.push_back({path, std::move(*conditions)});
      needs_list = false;
      continue;
    }
    // Lists are all about the request, or each is about a resource that stands before it.
    if (path ? needs_list : !header.lists.empty()) return {};
    const auto reference = take_bracketed(text);
    if (!reference || !(reference->starts_with('/') || is_absolute(*reference))) return {};
    path = path_of(*reference);
    needs_list = true;
  }
}

bool holds(const IfHeader& header, const IsTrue& is_true) {
  return std::ranges::any_of(header.lists, [&](const IfList& list) {
    return std::ranges::all_of(list.conditions, [&](const IfCondition& condition) {
      return is_true(list.path, condition) != condition.is_negated;
    });
  });
}

std::optional<std::string_view> parse_lock_token(std::string_view value) {
  const auto token = take_token(value);
  return token && value.empty() ? token : std::nullopt;
}

std::optional<std::uint32_t> parse_timeout(std::string_view value) {
  constexpr std::string_view kSecond = "Second-";
  while (!value.empty()) {
    const std::string_view element = take_element(value);
    if (is_same(element, "Infinite")) return UINT32_MAX;
    if (element.size() <= kSecond.size() || !is_same(element.substr(0, kSecond.size()), kSecond))
      continue;
    if (const auto seconds = parse_digits(element.substr(kSecond.size())))
      return static_cast<std::uint32_t>(std::min<std::uint64_t>(*seconds, UINT32_MAX));
  }
  return {};
}

}  // namespace http
