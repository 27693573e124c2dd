// Random bytes, in pieces of random size, for the line buffer and the parsers of lines. However the
// bytes are cut, they must give the same lines.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/fuzz/require.h"
#include "wire/line_buffer.h"
#include "wire/reply.h"
#include "wire/request.h"

namespace {

using fuzz::require;

// A link is made as it was asked for, however its numbers were written.
void check_link(std::string_view operand) {
  const auto link = wire::parse_link_wish(operand);
  require(link && operand.ends_with(link->path) && link->path.size() <= wire::kMaxLinkPathBytes);
  require(link->seconds >= 0 && link->uses >= 0);
  require(link->may == wire::GuestsMay::kRead || link->path.ends_with('/'));
  const std::string printed = wire::text_of(*link);
  const auto again = wire::parse_link_wish(printed);
  require(again && again->may == link->may && again->seconds == link->seconds);
  require(again->uses == link->uses && again->secret == link->secret && again->path == link->path);
}

// Whatever the line is, the parsed request must keep the rules of the protocol.
void check_line(std::string_view line) {
  require(line.size() < wire::kMaxLineBytes);
  const auto check_account = [](wire::Credentials account) {
    require(wire::is_valid_user(account.user) && wire::is_valid_password(account.password));
  };
  const auto client = wire::parse_client_line(line);
  if (const auto* request = std::get_if<wire::New>(&client)) check_account(request->account);
  if (const auto* request = std::get_if<wire::Get>(&client)) check_account(request->account);
  if (const auto* file = std::get_if<wire::FileName>(&client)) {
    require(file->name == line);
    if (wire::is_file_name(line))
      require(line.front() != '/' && line.find("//") == std::string_view::npos);
  }
  const auto auth = wire::parse_auth_line(line);
  if (const auto* request = std::get_if<wire::Auth>(&auth)) {
    check_account(request->account);
    const std::string compact = wire::line_of(*request);
    const auto again =
        wire::parse_auth_line(std::string_view(compact).substr(0, compact.size() - 1));
    require(std::get<wire::Auth>(again).account.password == request->account.password);
  }
  if (const auto* request = std::get_if<wire::As>(&auth)) {
    if (request->account) check_account(*request->account);
    const std::string printed = wire::line_of(*request);
    const auto again =
        wire::parse_auth_line(std::string_view(printed).substr(0, printed.size() - 1));
    const auto& [token, account, wish] = std::get<wire::As>(again);
    require(token == request->token && account.has_value() == request->account.has_value());
    require(wish.kind == request->wish.kind && wish.user == request->wish.user &&
            wish.operand == request->wish.operand);
    if (wish.kind == wire::Wish::Kind::kLink) check_link(wish.operand);
  }
  static_cast<void>(wire::parse_reply(line));
}

std::vector<std::string> lines_of(std::string_view stream, std::size_t piece_bytes) {
  wire::LineBuffer buffer;
  std::vector<std::string> lines;
  while (!stream.empty()) {
    const auto space = buffer.free_space();
    const std::size_t size = std::min({space.size(), stream.size(), piece_bytes});
    require(size > 0);
    stream.copy(space.data(), size);
    stream.remove_prefix(size);
    buffer.received(size);
    std::string_view line;
    wire::LineBuffer::Next next{};
    while ((next = buffer.next(line)) == wire::LineBuffer::Next::kLine) {
      check_line(line);
      lines.emplace_back(line);
    }
    if (next == wire::LineBuffer::Next::kTooLong) break;
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view stream = fuzz::text_of(data + 1, size - 1);
  require(lines_of(stream, data[0] + std::size_t{1}) == lines_of(stream, stream.size()));
  return 0;
}
