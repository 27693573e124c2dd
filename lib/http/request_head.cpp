#include "http/request_head.h"

#include "http/syntax.h"

namespace http {

namespace {

// How many bytes stand in front of the authority. 0: the target begins with no scheme of HTTP.
std::size_t scheme_size(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (is_same(target.substr(0, scheme.size()), scheme)) return scheme.size();
  }
  return 0;
}

// OPTIONS asks about the server. HTTP/2 begins with `PRI *`, and shall be told the version.
bool may_have_asterisk(Method method) {
  return method == Method::kOptions || method == Method::kOther;
}

// Whether a byte may stand in Host: a name or an address, a port, and "[]" around IPv6.
bool is_host_byte(char byte) {
  return is_digit(byte) || is_letter(byte) ||
         std::string_view("-._~%!$&'()*+,;=:[]").find(byte) != std::string_view::npos;
}

}  // namespace

RequestHead::FieldLine RequestHead::line_at(std::size_t begin) const {
  const std::size_t end = text_.find('\r', begin);
  const std::string_view line = text_.substr(begin, end - begin);
  const std::size_t colon = line.find(':');
  return {line.substr(0, colon), trimmed(line.substr(colon + 1)), end + 2};
}

RequestHead RequestHead::copied_to(std::string& bytes) const {
  bytes = text_.substr(0, size_bytes_);
  RequestHead copy = *this;
  copy.text_ = bytes;
  return copy;
}

HeadParser::State HeadParser::refuse(Status status) {
  status_ = status;
  return State::kRefused;
}

HeadParser::State HeadParser::parse(std::string_view received) {
  head_.text_ = received;
  State state = State::kNeedMore;
  while (state == State::kNeedMore && at_ < received.size() && at_ - begin_ < kMaxHeadBytes)
    state = step(received.substr(0, begin_ + kMaxHeadBytes));
  if (state == State::kNeedMore && at_ - begin_ == kMaxHeadBytes) return refuse(431);
  return state;
}

// Takes as much of one part as has come. Requires: at_ < text.size().
HeadParser::State HeadParser::step(std::string_view text) {
  switch (part_) {
    case Part::kStart:
      part_ = text[at_] == '\r' ? Part::kEmptyLineLf : Part::kMethod;
      if (part_ == Part::kEmptyLineLf) ++at_;
      return State::kNeedMore;
    case Part::kEmptyLineLf:
      if (text[at_] != '\n') return refuse(400);
      begin_ = static_cast<std::uint16_t>(++at_);
      start_part(Part::kMethod);
      return State::kNeedMore;
    case Part::kMethod: return take_method(text);
    case Part::kTarget: return take_target(text);
    case Part::kVersion: return take_version(text);
    case Part::kFieldName: return take_field_name(text);
    case Part::kFieldValue: return take_field_value(text);
    case Part::kFieldLf: return end_field(text);
    case Part::kLastLf: return text[at_++] == '\n' ? finish() : refuse(400);
  }
  return refuse(400);
}

void HeadParser::start_part(Part part) {
  part_ = part;
  part_begin_ = static_cast<std::uint16_t>(at_);
}

HeadParser::State HeadParser::take_method(std::string_view text) {
  while (at_ < text.size() && is_token_byte(text[at_])) ++at_;
  if (at_ == text.size()) return State::kNeedMore;
  if (text[at_] != ' ' || at_ == part_begin_) return refuse(400);
  head_.method_begin_ = part_begin_;
  head_.method_size_ = static_cast<std::uint16_t>(at_ - part_begin_);
  head_.method_ = method_of(head_.method_text());
  ++at_;
  start_part(Part::kTarget);
  return State::kNeedMore;
}

HeadParser::State HeadParser::take_target(std::string_view text) {
  for (; at_ < text.size() && text[at_] != ' '; ++at_) {
    if (is_control(text[at_]) || text[at_] == '#') return refuse(400);
    if (at_ - part_begin_ == kMaxTargetBytes) return refuse(414);
  }
  if (at_ == text.size()) return State::kNeedMore;
  head_.target_begin_ = part_begin_;
  head_.target_size_ = static_cast<std::uint16_t>(at_ - part_begin_);
  if (!find_path()) return refuse(400);
  ++at_;
  start_part(Part::kVersion);
  return State::kNeedMore;
}

std::string_view RequestHead::authority() const {
  const std::size_t scheme = scheme_size(target());
  if (method_ == Method::kConnect || scheme == 0) return {};
  const std::string_view rest = target().substr(scheme);
  return rest.substr(0, rest.find_first_of("/?"));
}

// Cuts scheme, authority and query off the target. Returns whether the target is well-formed.
bool HeadParser::find_path() {
  std::string_view path = head_.target();
  if (head_.method_ == Method::kConnect) {
    // It has an authority, which nobody looks at.
  } else if (const std::size_t scheme = scheme_size(path); scheme > 0) {
    path.remove_prefix(scheme);
    const std::size_t end = std::min(path.find_first_of("/?"), path.size());
    if (end == 0) return false;
    path.remove_prefix(end);
    head_.has_bare_authority_ = !path.starts_with('/');
  } else if (!path.starts_with('/') && !(path == "*" && may_have_asterisk(head_.method_))) {
    return false;
  }
  if (head_.method_ != Method::kConnect) path = path.substr(0, path.find('?'));
  head_.path_begin_ = static_cast<std::uint16_t>(path.data() - head_.text_.data());
  head_.path_size_ = static_cast<std::uint16_t>(path.size());
  return !head_.target().empty();
}

HeadParser::State HeadParser::take_version(std::string_view text) {
  constexpr std::string_view kForm = "HTTP/0.0\r\n";  // "0" is any digit
  for (; at_ < text.size(); ++at_) {
    const std::size_t i = at_ - part_begin_;
    if (i == kForm.size()) break;
    if (kForm[i] == '0' ? !is_digit(text[at_]) : text[at_] != kForm[i]) return refuse(400);
  }
  if (at_ - part_begin_ < kForm.size()) return State::kNeedMore;
  if (text[part_begin_ + kForm.find('0')] != '1') return refuse(505);
  head_.is_1_0_ = text[part_begin_ + kForm.rfind('0')] == '0';
  start_part(Part::kFieldName);
  return State::kNeedMore;
}

HeadParser::State HeadParser::take_field_name(std::string_view text) {
  if (at_ == part_begin_ && text[at_] == '\r') {
    ++at_;
    part_ = Part::kLastLf;
    return State::kNeedMore;
  }
  if (at_ == part_begin_ && fields_ == kMaxFields) return refuse(431);
  while (at_ < text.size() && is_token_byte(text[at_])) ++at_;
  if (at_ == text.size()) return State::kNeedMore;
  if (text[at_] != ':' || at_ == part_begin_) return refuse(400);
  ++at_;
  part_ = Part::kFieldValue;
  return State::kNeedMore;
}

HeadParser::State HeadParser::take_field_value(std::string_view text) {
  while (at_ < text.size() && is_value_byte(text[at_])) ++at_;
  if (at_ == text.size()) return State::kNeedMore;
  if (text[at_] != '\r') return refuse(400);
  ++at_;
  part_ = Part::kFieldLf;
  return State::kNeedMore;
}

HeadParser::State HeadParser::end_field(std::string_view text) {
  if (text[at_] != '\n') return refuse(400);
  const auto [name, value, end] = head_.line_at(part_begin_);
  const Field field = field_of(name);
  if (field != Field::kOther) {
    RequestHead::Occurrence& occurrence = head_.occurrences_[static_cast<std::size_t>(field)];
    if (occurrence.count++ == 0) occurrence.line_begin = part_begin_;
    if (!is_acceptable(field, value)) return refuse(400);
  }
  ++fields_;
  ++at_;
  start_part(Part::kFieldName);
  return State::kNeedMore;
}

// Whether a field may stand here, after those before it. Notes what it says about the body.
bool HeadParser::is_acceptable(Field field, std::string_view value) {
  Body& body = head_.body_;
  switch (field) {
    case Field::kAuthorization: return head_.count(field) == 1;
    case Field::kHost: return head_.count(field) == 1 && std::ranges::all_of(value, is_host_byte);
    case Field::kContentLength: {
      const std::optional<std::uint64_t> size = parse_digits(value);
      if (!size || body.kind != Body::Kind::kNone) return false;
      body = {Body::Kind::kSized, *size};
      return true;
    }
    case Field::kTransferEncoding:
      if (!is_same(value, "chunked") || body.kind != Body::Kind::kNone || head_.is_1_0_)
        return false;
      body.kind = Body::Kind::kChunked;
      return true;
    default: return true;
  }
}

HeadParser::State HeadParser::finish() {
  if (!head_.has(Field::kHost) && !head_.is_1_0_) return refuse(400);
  bool closes = false;
  bool keeps = !head_.is_1_0_;
  head_.each(Field::kConnection, [&](std::string_view options) {
    while (!options.empty()) {
      const std::string_view option = take_element(options);
      closes = closes || is_same(option, "close");
      keeps = keeps || is_same(option, "keep-alive");
    }
  });
  head_.keeps_connection_ = keeps && !closes;
  head_.size_bytes_ = static_cast<std::uint16_t>(at_);
  bool is_known = true;
  head_.each(Field::kExpect, [&](std::string_view value) {
    is_known = is_known && is_same(value, "100-continue");
  });
  head_.expects_continue_ = head_.has(Field::kExpect) && !head_.is_1_0_;
  return is_known ? State::kComplete : refuse(417);
}

}  // namespace http
