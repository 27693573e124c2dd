#include "authserver/administration.h"

#include <fmt/core.h>
#include <sodium.h>

#include <array>
#include <map>
#include <optional>
#include <utility>

#include "authserver/account_marks.h"
#include "authserver/passwords/scheme.h"
#include "base/log.h"
#include "base/utf8.h"
#include "serve/answer.h"

namespace authserver {

using base::Error;
using base::ErrorCode;

namespace {

using WishKind = wire::Wish::Kind;

// No password matches a record that begins so.
constexpr std::string_view kInvitedMark = "$invited$";

// 22 characters that nobody guesses.
std::string random_word() {
  std::array<unsigned char, 16> bytes;
  ::randombytes_buf(bytes.data(), bytes.size());
  std::array<char, sodium_base64_ENCODED_LEN(16, sodium_base64_VARIANT_URLSAFE_NO_PADDING)> text;
  ::sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(),
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
  return text.data();
}

// Whether a wish changes something, so that the log has a line about it.
bool is_change(WishKind kind) {
  switch (kind) {
    case WishKind::kAdd:
    case WishKind::kReset:
    case WishKind::kDisable:
    case WishKind::kEnable:
    case WishKind::kRemove:
    case WishKind::kEnd:
    case WishKind::kApp:
    case WishKind::kRevoke:
    case WishKind::kPassword:
    case WishKind::kLink:
    case WishKind::kUnlink: return true;
    case WishKind::kLinks:
    case WishKind::kVisit:
    case WishKind::kUse:
    case WishKind::kGoOn:
    case WishKind::kWho:
    case WishKind::kList:
    case WishKind::kSessions:
    case WishKind::kApps: return false;
  }
  return false;
}

// What a guest asks for.
std::optional<Visit> visit_of(WishKind kind) {
  if (kind == WishKind::kVisit) return Visit::kLooks;
  if (kind == WishKind::kUse) return Visit::kUses;
  if (kind == WishKind::kGoOn) return Visit::kGoesOn;
  return {};
}

// Two that would leave the administrator outside.
bool closes(WishKind kind) { return kind == WishKind::kDisable || kind == WishKind::kRemove; }

base::Result<std::string> without_text(const base::Status& status) {
  return status ? base::Result<std::string>(std::string()) : status.error();
}

// A new token behind its ID.
base::Result<std::string> with_id(base::Result<std::string> token) {
  if (!token) return token;
  std::string told = id_of(row_of_token(*token)) + " " + *token;
  wipe(*token);
  return told;
}

std::string line_of(std::string_view user, std::string_view record) {
  const auto [marks, password] = parse_account_record(record);
  std::string line(user);
  if (marks.is_admin) line += " admin";
  if (marks.is_disabled) line += " disabled";
  if (password.starts_with(kInvitedMark)) line += " invited";
  return line += '\n';
}

// How many are left; "-": any number.
std::string uses_of(const LinkTerms& link) {
  return link.uses_left == kAnyNumber ? "-" : std::to_string(link.uses_left);
}

std::string line_of(const TokenEntry& entry) {
  const TokenRecord& token = entry.token;
  std::string line = fmt::format("{} {} {} {} {}", entry.id, word_of(token.kind), token.made_s,
                                 token.used_s, token.ends_s);
  if (!token.name.empty()) line.append(" ").append(token.name);
  if (token.kind == TokenKind::kLink)
    line += fmt::format(" {} {} {} {}", wire::word_of(token.link.may), uses_of(token.link),
                        token.link.proof.empty() ? "open" : "locked", entry.path);
  return line += '\n';
}

constexpr std::array kListedKinds{TokenKind::kSession, TokenKind::kApp, TokenKind::kLink};
constexpr std::array kAppKind{TokenKind::kApp};
constexpr std::array kLinkKind{TokenKind::kLink};

}  // namespace

// The token ends when the account has another password, so it can be used once.
base::Result<std::string> invite(AccountStore& store, SharedTokenState& tokens,
                                 std::string_view user) {
  auto record = store.find_record(user);
  if (!record) return record.error();
  auto token = open_token(store, tokens, user, *record, {TokenKind::kInvitation, kInvitationS});
  wipe(*record);
  return token;
}

struct Administration::Speaker {
  // Who has an application password asks for nothing but who he is, and who is invited sets his
  // password and does nothing else.
  bool may(const Wish& wish) const {
    switch (wish.kind) {
      case WishKind::kWho: return is_in_person() || by == TokenKind::kApp;
      case WishKind::kPassword: return by == TokenKind::kInvitation;
      case WishKind::kVisit:
      case WishKind::kUse:
      case WishKind::kGoOn: return false;  // of guests alone, who are nobody
      case WishKind::kApps:
      case WishKind::kApp:
      case WishKind::kRevoke:
      case WishKind::kLinks:
      case WishKind::kLink:
      case WishKind::kUnlink: return is_in_person();
      case WishKind::kSessions:
      case WishKind::kEnd: return is_in_person() && (is_admin || wish.user == user);
      case WishKind::kList:
      case WishKind::kAdd:
      case WishKind::kReset:
      case WishKind::kDisable:
      case WishKind::kEnable:
      case WishKind::kRemove: return is_in_person() && is_admin;
    }
    return false;
  }
  bool is_in_person() const { return !by || by == TokenKind::kSession; }

  std::string user;
  std::optional<TokenKind> by;  // nothing: a password
  bool is_admin;
  std::string row = {};  // of his token
  TokenRecord token = {};
};

base::Result<std::string> Administration::answer(const wire::As& request) {
  if (const auto visit = visit_of(request.wish.kind)) return answer_guest(request, *visit);
  const auto speaker = who_asks(request);
  if (!speaker) {
    serve::log_request(wire::word_of(request.wish.kind), {}, speaker.error());
    return speaker.error();
  }
  auto answer = speaker->may(request.wish)
                    ? carry_out(*speaker, request.wish)
                    : Answer(Error{ErrorCode::kDenied, "who asks may not do this"});
  const WishKind kind = request.wish.kind;
  const std::string_view whose = request.wish.user.empty() ? speaker->user : request.wish.user;
  if (answer && is_change(kind))
    base::log::info("account changed by={} did={} user={}", speaker->user, wire::word_of(kind),
                    whose);
  serve::log_request(wire::word_of(kind), speaker->user,
                     answer ? base::Status(base::kDone) : base::Status(answer.error()));
  return answer;
}

base::Result<std::string> Administration::answer_guest(const wire::As& request, Visit visit) {
  const auto secret = wire::parse_link_secret(request.wish.operand);
  const auto visited = !request.account && wire::is_token(request.token) && secret
                           ? visit_link(store_, tokens_, request.token, *secret, visit)
                           : base::Result<VisitedLink>(Error{ErrorCode::kDenied, "no such link"});
  serve::log_request(wire::word_of(request.wish.kind),
                     visited ? visited->maker : std::string_view(),
                     visited ? base::Status(base::kDone) : base::Status(visited.error()));
  if (!visited) return visited.error();
  if (visited->is_closed) return std::string("closed");
  return fmt::format("open {} {} {} {} {}", visited->id, visited->maker,
                     wire::word_of(visited->terms.may), uses_of(visited->terms), visited->path);
}

base::Result<Administration::Speaker> Administration::who_asks(const wire::As& request) {
  return request.account ? speaker_of(*request.account) : speaker_of(request.token);
}

base::Result<Administration::Speaker> Administration::speaker_of(std::string_view token) {
  const Error none{ErrorCode::kDenied, "no such token"};
  if (!wire::is_token(token)) return none;
  const std::string row = row_of_token(token);
  const auto found = store_.find_record(row);
  if (!found) return found.error().code == ErrorCode::kNotFound ? none : found.error();
  auto what = parse_token_record(*found);
  if (!what) return none;
  auto record = store_.find_record(what->user);
  if (const auto good = check_token(store_, tokens_, row, *what, record); !good)
    return good.error();
  const bool is_admin = parse_account_record(*record).marks.is_admin;
  wipe(*record);
  const TokenKind by = what->kind;
  return Speaker{what->user, by, is_admin, row, std::move(*what)};
}

base::Result<Administration::Speaker> Administration::speaker_of(wire::Credentials account) {
  const auto app = check_app(store_, tokens_, account);
  if (!app && app.error().code != ErrorCode::kDenied) return app.error();
  if (!app) {
    if (const auto right = authenticator_.verify(store_, account); !right) return right.error();
  }
  auto record = store_.find_record(account.user);
  if (!record) {
    const bool is_gone = record.error().code == ErrorCode::kNotFound;
    return is_gone ? Error{ErrorCode::kDenied, "the account is gone"} : record.error();
  }
  const auto [is_disabled, is_admin, apps_key] = parse_account_record(*record).marks;
  wipe(*record);
  if (is_disabled) return Error{ErrorCode::kDenied, "the account was disabled just now"};
  return Speaker{std::string(account.user), app ? std::optional(TokenKind::kApp) : std::nullopt,
                 is_admin};
}

base::Result<std::string> Administration::carry_out(const Speaker& speaker, const Wish& wish) {
  if (closes(wish.kind) && wish.user == speaker.user)
    return Error{ErrorCode::kInvalid, "nobody does this to himself"};
  switch (wish.kind) {
    case WishKind::kWho:
      return fmt::format("{} {} {}", speaker.user, speaker.is_admin ? "admin" : "user",
                         speaker.by ? word_of(*speaker.by) : "password");
    case WishKind::kList: return list(wish.user);
    case WishKind::kAdd: return add(wish.user);
    case WishKind::kReset: return invite(store_, tokens_, wish.user);
    case WishKind::kDisable:
    case WishKind::kEnable:
      return without_text(change_marks(store_, wish.user, [&](Marks& marks) {
        marks.is_disabled = wish.kind == WishKind::kDisable;
      }));
    case WishKind::kRemove: return without_text(remove(wish.user));
    case WishKind::kSessions: return tokens_of(wish.user, kListedKinds);
    case WishKind::kEnd:
      return without_text(end_token(store_, tokens_, wish.user, wish.operand, kListedKinds));
    case WishKind::kApps: return tokens_of(speaker.user, kAppKind);
    case WishKind::kApp: return make_app(speaker.user, wish.operand);
    case WishKind::kRevoke:
      return without_text(end_token(store_, tokens_, speaker.user, wish.operand, kAppKind));
    case WishKind::kLinks: return tokens_of(speaker.user, kLinkKind);
    case WishKind::kLink: return make_link(speaker.user, wish.operand);
    case WishKind::kUnlink:
      return without_text(end_token(store_, tokens_, speaker.user, wish.operand, kLinkKind));
    case WishKind::kVisit:
    case WishKind::kUse:
    case WishKind::kGoOn: break;
    case WishKind::kPassword: return without_text(set_password(speaker, wish.operand));
  }
  return Error{ErrorCode::kInternal, "no such wish"};
}

// Keeps the first names in memory, and not all of a store.
base::Result<std::string> Administration::list(std::string_view behind) {
  std::map<std::string, std::string, std::less<>> lines;
  const auto visited = store_.for_each([&](const Account& account) {
    if (!wire::is_valid_user(account.user) || account.user <= behind) return;
    lines.insert_or_assign(std::string(account.user), line_of(account.user, account.record));
    if (lines.size() > kListedAtOnce) lines.erase(std::prev(lines.end()));
  });
  if (!visited) return visited.error();
  std::string all;
  for (const auto& [user, line] : lines) all += line;
  return all;
}

base::Result<std::string> Administration::add(std::string_view user) {
  const std::string record = std::string(kInvitedMark) + random_word();
  if (const auto made = store_.create({user, record}); !made) return made.error();
  return invite(store_, tokens_, user);
}

base::Status Administration::remove(std::string_view user) {
  auto removed = store_.remove(user);
  if (removed) clear_tokens_of(store_, user, Ended::kAll);
  return removed;
}

base::Result<std::string> Administration::tokens_of(std::string_view user,
                                                    std::span<const TokenKind> kinds) {
  auto record = store_.find_record(user);
  if (!record) return record.error();
  const auto entries = list_tokens(store_, user, *record, kinds);
  wipe(*record);
  if (!entries) return entries.error();
  std::string lines;
  for (const TokenEntry& entry : *entries) lines += line_of(entry);
  return lines;
}

// "ID PASSWORD"
base::Result<std::string> Administration::make_app(std::string_view user, std::string_view name) {
  if (!base::is_utf8(name)) return Error{ErrorCode::kInvalid, "the name is not UTF-8"};
  const std::string new_key = random_word();
  std::string record;
  const auto has_key =
      change_record(store_, user, [&](const AccountRecord& before) -> base::Result<std::string> {
        AccountRecord after = before;
        if (after.marks.apps_key.empty()) after.marks.apps_key = new_key;
        return record = text_of(after);
      });
  auto token = has_key ? open_token(store_, tokens_, user, record, {TokenKind::kApp, 0, name})
                       : Answer(has_key.error());
  wipe(record);
  return with_id(std::move(token));
}

// "ID TOKEN"
base::Result<std::string> Administration::make_link(std::string_view user,
                                                    std::string_view operand) {
  const auto link = wire::parse_link_wish(operand);
  if (!link || !base::is_utf8(link->path))
    return Error{ErrorCode::kInvalid, "the path is not UTF-8"};
  auto record = store_.find_record(user);
  if (!record) return record.error();
  auto token = open_token(store_, tokens_, user, *record,
                          {.kind = TokenKind::kLink, .seconds = link->seconds, .link = &*link});
  wipe(*record);
  return with_id(std::move(token));
}

// Whoever is first with a link sets the password: the record that is replaced is the one that the
// link was made for. The hash takes time, in which a newer link may have ended this one.
base::Status Administration::set_password(const Speaker& invited, std::string_view password) {
  auto changed = change_record(
      store_, invited.user, [&](const AccountRecord& before) -> base::Result<std::string> {
        auto is_good =
            check_token(store_, tokens_, invited.row, invited.token, Answer(text_of(before)));
        if (!is_good) return is_good.error();
        auto record = authenticator_.record_of(password);
        if (!record) return record.error();
        if (const auto still = store_.find_record(invited.row); !still) {
          wipe(*record);
          return still.error().code == ErrorCode::kNotFound
                     ? Error{ErrorCode::kDenied, "another link was made meanwhile"}
                     : still.error();
        }
        std::string after = text_of(AccountRecord{before.marks, *record});
        wipe(*record);
        return after;
      });
  if (changed) clear_tokens_of(store_, invited.user, Ended::kAllButApps);
  return changed;
}

}  // namespace authserver
