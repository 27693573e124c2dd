#include "fileserver/http/exchange_lines.h"

#include "fileserver/http/exchange.h"
#include "fileserver/parts.h"

namespace fileserver {

namespace {

bool is_refusal(http::Status status) {
  return status == http::Status(401) || status == http::Status(403) || status == http::Status(429);
}

// Of a refusal that no handler has seen.
Change change_of(http::Method method) {
  switch (method) {
    case http::Method::kPut: return Change::kPut;
    case http::Method::kDelete: return Change::kDelete;
    case http::Method::kMkcol: return Change::kMkcol;
    case http::Method::kMove: return Change::kMove;
    case http::Method::kCopy: return Change::kCopy;
    case http::Method::kLock: return Change::kLock;
    case http::Method::kUnlock: return Change::kUnlock;
    case http::Method::kGet:
    case http::Method::kHead:
    case http::Method::kPropfind:
    case http::Method::kProppatch:
    case http::Method::kPost:
    case http::Method::kPatch:
    case http::Method::kOptions:
    case http::Method::kConnect:
    case http::Method::kTrace:
    case http::Method::kOther: return Change::kNone;
  }
  return Change::kNone;
}

void add(Exchange& exchange, Parts& parts, Transfer& transfer) {
  transfer.has_name = exchange.path().has_value();
  if (transfer.has_name && transfer.name.empty()) transfer.name = exchange.path()->name;
  transfer.client = exchange.client;
  transfer.user = exchange.user.empty() ? exchange.refused_user : exchange.user;
  if (exchange.guest) transfer.link = exchange.guest->link.id;
  transfer.method = http::text_of(exchange.method());
  if (const auto status = exchange.status())
    transfer.status = static_cast<std::uint16_t>(status->number());
  parts.transfer_log->add(transfer);
  exchange.is_logged = true;
}

}  // namespace

void log_transfer(Exchange& exchange, Parts& parts, Transfer transfer) {
  if (parts.transfer_log != nullptr) add(exchange, parts, transfer);
}

void log_change(Exchange& exchange, Parts& parts, Transfer transfer) {
  if (parts.transfer_log == nullptr) return;
  transfer.error = exchange.outcome();
  transfer.reply.is_whole = true;  // or there is an error
  add(exchange, parts, transfer);
}

void log_refusal(Exchange& exchange, Parts& parts, std::int64_t asked_ns) {
  const auto status = exchange.status();
  if (!parts.logs_users() || exchange.is_logged || !status || !is_refusal(*status)) return;
  Transfer transfer{
      .asked_ns = asked_ns, .error = status->outcome(), .change = change_of(exchange.method())};
  add(exchange, parts, transfer);
}

}  // namespace fileserver
