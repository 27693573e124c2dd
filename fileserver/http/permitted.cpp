#include "fileserver/http/permitted.h"

#include "fileserver/http/dav/lock_check.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/folder_entries.h"
#include "fileserver/http/methods.h"
#include "fileserver/parts.h"

namespace fileserver {

namespace {

using http::Method;

void refuse_not_found(Exchange& exchange, Parts&) { exchange.answer(404); }
void refuse_forbidden(Exchange& exchange, Parts&) { exchange.answer(403); }

// A folder on the way to something that may be read can be listed. A file of its name cannot be
// read, so nothing but the folder may show itself.
void redirect_or_nothing(Exchange& exchange, Parts& parts) {
  if (is_folder_without_slash(exchange, parts)) return redirect_to_folder(exchange);
  get_nothing(exchange, parts);
}

RightsRefusal refusal_to_read(const UserRights& rights, std::string_view name) {
  if (rights.may_read(name)) return {};
  return http::Status(404);
}

RightsRefusal refusal_to_write(const UserRights& rights, std::string_view name) {
  if (const auto refusal = refusal_to_read(rights, name)) return refusal;
  if (rights.may_write(name)) return {};
  return http::Status(403);
}

// COPY, and MOVE, which also removes it.
RightsRefusal refusal_of_source(const UserRights& rights, std::string_view name, Method method) {
  if (const auto refusal = refusal_to_read(rights, name)) return refusal;
  const bool may = method == Method::kMove ? rights.may_write_all(name) : rights.may_read_all(name);
  if (may) return {};
  return http::Status(403);
}

// Nothing below a folder of our name could be reached.
RightsRefusal refusal_to_make(const UserRights& rights, std::string_view name) {
  if (const auto refusal = refusal_to_write(rights, name)) return refusal;
  if (name != kServerFolder) return {};
  return http::Status(403);
}

RightsRefusal refusal_to_see(const Exchange& exchange, Parts& parts) {
  const http::Path& path = *exchange.path();
  if (exchange.rights.may_read(path.name)) return {};
  if (exchange.rights.may_list(path.name) &&
      (path.ends_with_slash || is_folder_without_slash(exchange, parts)))
    return {};
  return http::Status(404);
}

Handler reading_handler(const Exchange& exchange, Handler handler) {
  const http::Path& path = *exchange.path();
  if (path.ends_with_slash) return exchange.rights.may_list(path.name) ? handler : &get_nothing;
  if (exchange.rights.may_read(path.name)) return handler;
  return exchange.rights.may_list(path.name) ? &redirect_or_nothing : &get_nothing;
}

bool may_make(Method method) {
  return method == Method::kPut || method == Method::kMkcol || method == Method::kLock;
}

bool is_change(Method method) {
  switch (method) {
    case Method::kPut:
    case Method::kMkcol:
    case Method::kProppatch:
    case Method::kLock:
    case Method::kUnlock:
    case Method::kDelete:
    case Method::kMove:
    case Method::kCopy: return true;
    case Method::kGet:
    case Method::kHead:
    case Method::kPropfind:
    case Method::kPost:
    case Method::kPatch:
    case Method::kOptions:
    case Method::kConnect:
    case Method::kTrace:
    case Method::kOther: return false;
  }
  return false;
}

}  // namespace

Handler permitted_handler(const Exchange& exchange, Parts& parts, Handler handler) {
  const Method method = exchange.method();
  if (method == Method::kGet || method == Method::kHead) return reading_handler(exchange, handler);
  const auto refusal = is_change(method) ? refusal_to_change(exchange, exchange.rights)
                                         : refusal_to_see(exchange, parts);
  if (!refusal) return handler;
  return *refusal == http::Status(404) ? &refuse_not_found : &refuse_forbidden;
}

void answer_within_rights(Exchange& exchange, Parts& parts, Handler handler) {
  const Handler permitted = permitted_handler(exchange, parts, handler);
  const bool may_be_locked = permitted == handler && parts.offer.uploads == UploadMode::kFolder;
  if (may_be_locked && dav::is_refused_by_locks(exchange, parts)) return;
  permitted(exchange, parts);
}

RightsRefusal refusal_to_change(const Exchange& exchange, const UserRights& rights) {
  const std::string_view name = exchange.path()->name;
  const Method method = exchange.method();
  if (method == Method::kDelete) return refusal_of_target(rights, name);
  if (method == Method::kMove || method == Method::kCopy)
    return refusal_of_source(rights, name, method);
  return may_make(method) ? refusal_to_make(rights, name) : refusal_to_write(rights, name);
}

RightsRefusal refusal_to_put(const UserRights& rights, std::string_view name) {
  return refusal_to_make(rights, name);
}

RightsRefusal refusal_of_target(const UserRights& rights, std::string_view name) {
  if (const auto refusal = refusal_to_read(rights, name)) return refusal;
  if (rights.may_write_all(name)) return {};
  return http::Status(403);
}

}  // namespace fileserver
