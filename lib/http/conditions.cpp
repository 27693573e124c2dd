#include "http/conditions.h"

#include <algorithm>
#include <charconv>

#include "http/date.h"
#include "http/syntax.h"

namespace http {

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

bool is_tag_byte(char byte) { return !is_control(byte) && byte != ' ' && byte != '"'; }

// Takes the next tag of a list from its front, quotes included. Empty at the end of the list, and
// where it is malformed. Tags may hold commas.
std::string_view take_tag(std::string_view& list, bool& is_weak) {
  while (!list.empty() && (is_blank(list.front()) || list.front() == ',')) list.remove_prefix(1);
  is_weak = list.starts_with("W/");
  if (is_weak) list.remove_prefix(2);
  if (!list.starts_with('"')) return {};
  std::size_t size = 1;
  while (size < list.size() && is_tag_byte(list[size])) ++size;
  if (size == list.size() || list[size] != '"') return {};
  const std::string_view tag = list.substr(0, size + 1);
  list = trimmed(list.substr(size + 1));
  if (!list.empty() && list.front() != ',') list = {};
  return tag;
}

// Whether a field of tags names the current version. "*" names any. Tags are taken without W/, so
// none is equal to a weak one.
bool names(const RequestHead& head, Field field, const Validators* current, bool takes_weak) {
  bool is_named = false;
  head.each(field, [&](std::string_view list) {
    if (current == nullptr) return;
    is_named = is_named || list == "*";
    bool is_weak = false;
    while (true) {
      const std::string_view tag = take_tag(list, is_weak);
      if (tag.empty()) return;
      is_named = is_named || (tag == current->tag.view() && (takes_weak || !is_weak));
    }
  });
  return is_named;
}

// Whether the file was modified after the date of a field. Nothing if the field does not count.
std::optional<bool> is_modified_since(const RequestHead& head, Field field,
                                      const Validators* current, std::int64_t now_s) {
  const std::optional<std::int64_t> date = parse_date(head.value(field), now_s);
  if (!date || current == nullptr || !current->modified) return {};
  return *current->modified > *date;
}

}  // namespace

EntityTag::EntityTag(std::uint64_t size_bytes, std::int64_t modified_ns, Strength strength) {
  const std::string_view begin = strength == Strength::kWeak ? "W/\"" : "\"";
  const std::string_view last = strength == Strength::kWeak ? "-w\"" : "\"";
  char* at = std::copy(begin.begin(), begin.end(), text_.data());
  char* const end = text_.data() + text_.size();
  at = std::to_chars(at, end, size_bytes, 16).ptr;
  *at++ = '-';
  at = std::to_chars(at, end, static_cast<std::uint64_t>(modified_ns), 16).ptr;
  at = std::copy(last.begin(), last.end(), at);
  size_ = static_cast<std::uint8_t>(at - text_.data());
}

Validators::Validators(std::uint64_t size_bytes, std::int64_t modified_ns, std::int64_t now_s,
                       Strength strength)
    : tag(size_bytes, modified_ns, strength) {
  const std::int64_t seconds = modified_ns / kNsPerSecond;
  if (modified_ns >= 0 && seconds <= now_s) modified = seconds;
}

Verdict evaluate(const RequestHead& head, const Validators* current, std::int64_t now_s) {
  const bool is_read = head.method() == Method::kGet || head.method() == Method::kHead;
  const Verdict same =
      current != nullptr && current->tag.is_weak() ? Verdict::kGoOn : Verdict::kNotModified;
  if (head.has(Field::kIfMatch)) {
    if (!names(head, Field::kIfMatch, current, false)) return Verdict::kPreconditionFailed;
  } else if (is_modified_since(head, Field::kIfUnmodifiedSince, current, now_s).value_or(false)) {
    return Verdict::kPreconditionFailed;
  }
  if (head.has(Field::kIfNoneMatch)) {
    if (!names(head, Field::kIfNoneMatch, current, true)) return Verdict::kGoOn;
    return is_read ? same : Verdict::kPreconditionFailed;
  }
  if (is_read && !is_modified_since(head, Field::kIfModifiedSince, current, now_s).value_or(true))
    return same;
  return Verdict::kGoOn;
}

bool if_range_holds(const RequestHead& head, const Validators& current) {
  if (!head.has(Field::kIfRange)) return true;
  if (current.tag.is_weak()) return false;
  return head.value(Field::kIfRange) == current.tag.view();
}

}  // namespace http
