#include "http/date.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "http/syntax.h"

namespace http {

namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr std::array<std::string_view, 7> kDays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::int64_t kSecondsOfDay = 24 * 60 * 60;

// What a date says, before anybody knows whether there is such a day.
struct Parts {
  unsigned day = 0;
  unsigned month = 0;  // from 1
  int year = 0;
  unsigned seconds = 0;  // since midnight
};

// Takes texts from the front of a date, and remembers whether all of them were there.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  void literal(std::string_view expected) {
    is_good_ = is_good_ && text_.starts_with(expected);
    text_.remove_prefix(is_good_ ? expected.size() : text_.size());
  }

  unsigned number(std::size_t digits) {
    const auto value = parse_digits(text_.substr(0, digits));
    is_good_ = is_good_ && value && text_.size() >= digits;
    text_.remove_prefix(is_good_ ? digits : text_.size());
    return is_good_ ? static_cast<unsigned>(*value) : 0;
  }

  // Of asctime(), which fills up with a blank.
  unsigned padded_day() {
    if (!text_.starts_with(' ')) return number(2);
    literal(" ");
    return number(1);
  }

  unsigned month() {
    const auto found = std::ranges::find(kMonths, text_.substr(0, 3));
    literal(found == kMonths.end() ? "no month" : *found);
    return static_cast<unsigned>(found - kMonths.begin()) + 1;
  }

  unsigned time_of_day() {
    const unsigned hours = number(2);
    literal(":");
    const unsigned minutes = number(2);
    literal(":");
    const unsigned seconds = number(2);
    is_good_ = is_good_ && hours < 24 && minutes < 60 && seconds <= 60;
    return hours * 3600 + minutes * 60 + seconds;
  }

  bool is_at_end() const { return is_good_ && text_.empty(); }

 private:
  std::string_view text_;
  bool is_good_ = true;
};

// "06 Nov 1994 08:49:37 GMT", with this text between the parts of the date.
std::optional<Parts> parse_day_first(std::string_view text, std::string_view between,
                                     std::size_t digits_of_year) {
  Reader reader(text);
  Parts parts;
  parts.day = reader.number(2);
  reader.literal(between);
  parts.month = reader.month();
  reader.literal(between);
  parts.year = static_cast<int>(reader.number(digits_of_year));
  reader.literal(" ");
  parts.seconds = reader.time_of_day();
  reader.literal(" GMT");
  return reader.is_at_end() ? std::optional(parts) : std::nullopt;
}

// "06-Nov-94 08:49:37 GMT"
std::optional<Parts> parse_rfc850(std::string_view text, std::int64_t now) {
  auto parts = parse_day_first(text, "-", 2);
  if (!parts) return {};
  // The latest year with these two digits that is at most 50 years after now.
  const int this_year =
      static_cast<int>(year_month_day(sys_days(days(now / kSecondsOfDay))).year());
  const int latest = this_year + 50;
  parts->year += (latest - parts->year) / 100 * 100;
  return parts;
}

// "Nov  6 08:49:37 1994"
std::optional<Parts> parse_asctime(std::string_view text) {
  Reader reader(text);
  Parts parts;
  parts.month = reader.month();
  reader.literal(" ");
  parts.day = reader.padded_day();
  reader.literal(" ");
  parts.seconds = reader.time_of_day();
  reader.literal(" ");
  parts.year = static_cast<int>(reader.number(4));
  return reader.is_at_end() ? std::optional(parts) : std::nullopt;
}

std::optional<Parts> parse_parts(std::string_view text, std::int64_t now) {
  for (const std::string_view day : kDays) {
    const std::string_view short_day = day.substr(0, 3);
    if (!text.starts_with(short_day)) continue;
    const auto rest_behind = [&](std::string_view start) {
      return text.starts_with(start) ? text.substr(start.size()) : std::string_view();
    };
    if (const auto rest = rest_behind(std::string(short_day) + ", "); !rest.empty())
      return parse_day_first(rest, " ", 4);
    if (const auto rest = rest_behind(std::string(day) + ", "); !rest.empty())
      return parse_rfc850(rest, now);
    if (const auto rest = rest_behind(std::string(short_day) + " "); !rest.empty())
      return parse_asctime(rest);
  }
  return {};
}

void put_number(char* out, unsigned number, int digits) {
  for (int i = digits - 1; i >= 0; --i, number /= 10) out[i] = static_cast<char>('0' + number % 10);
}

}  // namespace

DateText date_text(std::int64_t seconds) {
  const auto day =
      sys_days(days((seconds - (seconds < 0 ? kSecondsOfDay - 1 : 0)) / kSecondsOfDay));
  const auto of_day =
      static_cast<unsigned>(seconds - day.time_since_epoch().count() * kSecondsOfDay);
  const year_month_day date(day);
  DateText text;
  constexpr std::string_view kForm = "ddd, 00 mmm 0000 00:00:00 GMT";
  std::ranges::copy(kForm, text.bytes.begin());
  char* const out = text.bytes.data();
  kDays[std::chrono::weekday(day).c_encoding()].copy(out, 3);
  put_number(out + 5, static_cast<unsigned>(date.day()), 2);
  kMonths[static_cast<unsigned>(date.month()) - 1].copy(out + 8, 3);
  put_number(out + 12, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  put_number(out + 17, of_day / 3600, 2);
  put_number(out + 20, of_day / 60 % 60, 2);
  put_number(out + 23, of_day % 60, 2);
  return text;
}

std::optional<std::int64_t> parse_date(std::string_view text, std::int64_t now) {
  const std::optional<Parts> parts = parse_parts(text, now);
  if (!parts) return {};
  const year_month_day date(std::chrono::year(parts->year), std::chrono::month(parts->month),
                            std::chrono::day(parts->day));
  if (!date.ok()) return {};
  return sys_days(date).time_since_epoch().count() * kSecondsOfDay +
         static_cast<std::int64_t>(parts->seconds);
}

std::optional<std::int64_t> parse_upload_time(std::string_view text) {
  constexpr std::uint64_t kEnd = INT64_MAX / 1'000'000'000;
  const auto seconds = parse_digits(text);
  if (!seconds || *seconds >= kEnd) return {};
  return static_cast<std::int64_t>(*seconds);
}

}  // namespace http
