#include "authserver/links.h"

#include <sodium.h>

#include <array>
#include <optional>
#include <utility>

#include "authserver/passwords/scheme.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

// Nobody has this name. Its record is looked for in place of that of a maker.
constexpr std::string_view kNobody = ":nobody";

// So often somebody else may use a link while its counter is written. Those of one authserver wait
// for each other from the second time on, so that a crowd is served.
constexpr int kTries = 64;

Error no_such_link() { return {ErrorCode::kDenied, "no such link"}; }

bool is_same(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

// Of a link whose token and path were found.
struct Found {
  std::string record;  // as the store has it
  TokenRecord token;
  std::string path;
};

base::Result<std::optional<Found>> find(AccountStore& store, const std::string& row) {
  const std::string path_row = path_row_of(row);
  const auto records = store.find_records(std::array<std::string_view, 2>{row, path_row});
  for (const auto& record : records) {
    if (!record && record.error().code != ErrorCode::kNotFound) return record.error();
  }
  auto token = records[0] ? parse_token_record(*records[0]) : std::nullopt;
  const auto path = records[1] ? parse_path_record(*records[1]) : std::string_view();
  if (!token || token->kind != TokenKind::kLink || path.empty()) return std::optional<Found>();
  return std::optional(Found{*records[0], std::move(*token), std::string(path)});
}

// Whether the use was counted. Not if somebody else has changed the record meanwhile.
base::Result<bool> count_use(AccountStore& store, const std::string& row, const Found& found) {
  if (found.token.link.uses_left == kAnyNumber) return true;
  TokenRecord used = found.token;
  --used.link.uses_left;
  const auto counted = store.replace_if({row, text_of(used)}, found.record);
  if (!counted && counted.error().code != ErrorCode::kNotFound) return counted.error();
  return counted.ok();
}

// Nothing: somebody else has used the link meanwhile.
base::Result<std::optional<VisitedLink>> try_to_visit(AccountStore& store, SharedTokenState& shared,
                                                      std::string_view token,
                                                      std::string_view secret, Visit visit) {
  const std::string row = row_of_token(token);
  auto found = find(store, row);
  if (!found) return found.error();
  auto account = store.find_record(*found ? std::string_view((*found)->token.user) : kNobody);
  if (!*found)
    return account || account.error().code == ErrorCode::kNotFound ? no_such_link()
                                                                   : account.error();
  Found& link = **found;
  if (visit == Visit::kGoesOn && link.token.link.uses_left == 0)
    link.token.link.uses_left = kAnyNumber;
  const auto good = check_token(store, shared, row, link.token, account);
  if (account) wipe(*account);
  if (!good) return good.error();
  VisitedLink visited{id_of(row), link.token.user, link.path, link.token.link};
  const std::string& proof = link.token.link.proof;
  visited.is_closed = !proof.empty() && !is_same(proof, proof_of(token, secret));
  if (visit != Visit::kUses || visited.is_closed) return std::optional(std::move(visited));
  const auto counted = count_use(store, row, link);
  if (!counted) return counted.error();
  return *counted ? std::optional(std::move(visited)) : std::nullopt;
}

}  // namespace

base::Result<VisitedLink> visit_link(AccountStore& store, SharedTokenState& shared,
                                     std::string_view token, std::string_view secret, Visit visit) {
  const auto first = try_to_visit(store, shared, token, secret, visit);
  if (!first) return first.error();
  if (*first) return **first;
  const HeldName held(shared.locks_of_links, row_of_token(token));
  for (int tries = 1; held.is_held() && tries < kTries; ++tries) {
    const auto visited = try_to_visit(store, shared, token, secret, visit);
    if (!visited) return visited.error();
    if (*visited) return **visited;
  }
  return Error{ErrorCode::kUnavailable, "others go on using the link"};
}

}  // namespace authserver
