#include "fileserver/http/part_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/waits.h"
#include "fileserver/http/change_folder.h"
#include "fileserver/http/dav/lock_check.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/exchange_lines.h"
#include "fileserver/http/permitted.h"
#include "fileserver/http/server_paths.h"
#include "fileserver/http/still_allowed.h"
#include "fileserver/parts.h"
#include "http/date.h"
#include "http/path.h"

namespace fileserver {

namespace {

constexpr std::uint64_t kMuchBytes = 16 << 20;  // between two calls of after_much

// What is kept of the request that begins an upload, until the file gets its name.
constexpr std::array<std::pair<http::Field, std::string_view>, 8> kKeptFields{{
    {http::Field::kIf, "If"},
    {http::Field::kIfMatch, "If-Match"},
    {http::Field::kIfModifiedSince, "If-Modified-Since"},
    {http::Field::kIfNoneMatch, "If-None-Match"},
    {http::Field::kIfUnmodifiedSince, "If-Unmodified-Since"},
    {http::Field::kReprDigest, "Repr-Digest"},
    {http::Field::kUploadMetadata, "Upload-Metadata"},
    {http::Field::kXOcMtime, "X-OC-Mtime"},
}};

std::string head_to_keep(const http::RequestHead& head, std::string_view name) {
  std::string kept = fmt::format("PUT /{} HTTP/1.1\r\nHost: -\r\n", http::encode_path(name));
  for (const auto& [field, field_name] : kKeptFields) {
    head.each(field, [&kept, text = field_name](std::string_view value) {
      kept += fmt::format("{}: {}\r\n", text, value);
    });
  }
  return kept + "\r\n";
}

Refusal refusal_of_append(int failure) {
  if (failure == ECANCELED) return http::Status(409);
  const UploadStatus status = fileserver::status_of(failure, "keep a part of an upload");
  if (status == UploadStatus::kNoSpace) return http::Status(507);
  return status == UploadStatus::kForbidden ? http::Status(403) : http::Status(500);
}

}  // namespace

// What an upload is to become, and what it is held against.
class PartSteps::Wish {
 public:
  // `kept` is the text of head_to_keep().
  Wish(Exchange& exchange, Parts& parts, const http::RequestHead& own, std::string_view kept)
      : exchange_(exchange), parts_(parts) {
    if (parser_.parse(kept) != http::HeadParser::State::kComplete) return;
    path_bytes_ = head().path();
    path_ = http::decode_path(head().path(), path_bytes_);
    if (!path_ || server_path(*path_) != nullptr) path_.reset();
    if (!path_) return;
    std::vector<std::string> tokens = dav::submitted_tokens(head());
    for (std::string& token : dav::submitted_tokens(own)) tokens.push_back(std::move(token));
    locks_.emplace(exchange, parts, path_->name, std::move(tokens));
    still_allowed_.emplace(exchange, parts, own, StillAllowed::ToPut{path_->name});
    conditions_ = conditions_of(head(), exchange.connection().now_s());
  }
  Wish(const Wish&) = delete;
  Wish& operator=(const Wish&) = delete;

  // Whether any file can have the name.
  bool is_possible() const { return path_.has_value(); }
  std::string_view name() const { return path_->name; }
  const http::RequestHead& head() const { return parser_.head(); }

  MayChange may_change() {
    return [this](const FileVersion* current) {
      return still_allowed_->holds() && locks_->allow(current == nullptr) && conditions_(current) &&
             dav::if_holds(exchange_, parts_, head(), name());
    };
  }

  // Whether a refusal of may_change() was answered.
  bool answers_refusal() {
    if (still_allowed_->answers_refusal(exchange_)) return true;
    const auto& conflict = locks_->conflict();
    if (conflict) dav::answer_locked(exchange_, "lock-token-submitted", *conflict);
    return conflict.has_value();
  }

 private:
  Exchange& exchange_;
  Parts& parts_;
  http::HeadParser parser_;
  std::string path_bytes_;
  std::optional<http::Path> path_;
  std::optional<dav::PutLocks> locks_;
  std::optional<StillAllowed> still_allowed_;
  MayChange conditions_;
};

PartSteps::PartSteps(Exchange& exchange, Parts& parts, PartialState::Protocol protocol)
    : exchange_(exchange),
      parts_(parts),
      protocol_(protocol),
      head_(exchange.head()),
      transfer_{.asked_ns = parts.time_for_log(), .change = Change::kPut} {
  exchange.verb = telemetry::Verb::kPut;
}

bool PartSteps::answers_rights(std::string_view name) {
  const auto refusal = refusal_to_put(exchange_.rights, name);
  if (refusal) exchange_.answer(*refusal);
  return refusal.has_value();
}

void PartSteps::answer_failure(int failure) {
  switch (failure) {
    case ENOENT: return exchange_.answer(404);
    case EBUSY: return exchange_.answer(423);
    case ETOOMANYREFS: return exchange_.answer(429);
    case EUSERS: return exchange_.answer(503);
    default: return answer_change(exchange_, parts_, status_of(failure, "keep an upload"));
  }
}

bool PartSteps::begin(std::string_view name, std::optional<std::uint64_t> length_bytes) {
  PartialState state;
  state.protocol = protocol_;
  state.user = exchange_.user;
  state.head = head_to_keep(head(), name);
  state.length_bytes = length_bytes;
  Wish wish(exchange_, parts_, head(), state.head);
  if (!wish.is_possible()) return exchange_.answer(404), false;
  if (answers_rights(wish.name())) return false;
  if (dav::has_malformed_if(head())) return exchange_.answer(400), false;
  const auto may_change = wish.may_change();
  const UploadStatus status = base::may_block_long([&] {
    return parts_.uploads->begin(wish.name(), length_bytes.value_or(0), may_change).status();
  });
  if (status != UploadStatus::kGoOn) {
    if (!wish.answers_refusal()) answer_change(exchange_, parts_, status);
    return false;
  }
  upload_ = parts_.partial_uploads->create(std::move(state));
  if (upload_ == nullptr) return answer_failure(errno), false;
  if (upload_->has_room_for(length_bytes.value_or(0))) return true;
  upload_->remove();
  return exchange_.answer(507), false;
}

bool PartSteps::open(std::string_view id, PartialUploads::For purpose) {
  upload_ = parts_.partial_uploads->open(id, exchange_.user, protocol_, purpose);
  if (upload_ == nullptr) return answer_failure(errno), false;
  if (purpose == PartialUploads::For::kLook || state().is_complete) return true;
  Wish wish(exchange_, parts_, head(), state().head);
  if (!wish.is_possible()) return exchange_.answer(404), false;
  return !answers_rights(wish.name());
}

std::uint64_t PartSteps::left_bytes() const {
  const std::uint64_t most = state().length_bytes.value_or(parts_.most_upload_bytes());
  return most - std::min(most, upload_->offset_bytes());
}

Refusal PartSteps::take_body(std::uint64_t most_bytes, DigestCheck& digest,
                             const std::function<void()>& after_much) {
  if (!upload_->has_room_for(announced_size(head().body()).value_or(0))) return http::Status(507);
  if (digest.is_announced() && !upload_->begin_check()) return refusal_of_append(errno);
  std::uint64_t told_bytes = upload_->offset_bytes();
  const auto take = [&](std::string_view piece) -> Refusal {
    digest.add(piece);
    transfer_.reply.sent_bytes += piece.size();
    transfer_.reply.last_byte_ns = parts_.time_for_log();
    if (transfer_.reply.first_byte_ns == 0)
      transfer_.reply.first_byte_ns = transfer_.reply.last_byte_ns;
    if (!upload_->append(piece)) return refusal_of_append(errno);
    if (!after_much || upload_->offset_bytes() - told_bytes < kMuchBytes) return {};
    told_bytes = upload_->offset_bytes();
    if (!upload_->sync()) return refusal_of_append(errno);
    after_much();
    return {};
  };
  upload_->receive_from(exchange_.stream().fd());
  const Refusal refusal = read_body(exchange_, most_bytes, take);
  upload_->receive_from(-1);
  if (!digest.is_announced())
    return upload_->sync() || refusal ? refusal : refusal_of_append(errno);
  const bool holds = !refusal && digest.holds();
  if (!upload_->end_check(holds)) return refusal_of_append(errno);
  if (refusal || holds) return refusal;
  has_wrong_digest_ = true;
  return http::Status(400);
}

std::string PartSteps::kept_field(http::Field field) const {
  http::HeadParser parser;
  if (parser.parse(state().head) != http::HeadParser::State::kComplete) return {};
  return std::string(parser.head().value(field));
}

void PartSteps::publish(std::optional<http::Status> done) {
  Wish wish(exchange_, parts_, head(), state().head);
  if (!wish.is_possible()) return exchange_.answer(404);
  DigestCheck whole(http::parse_digest(wish.head(), http::Field::kReprDigest),
                    http::parse_digest(head(), http::Field::kReprDigest));
  if (whole.is_announced()) {
    const auto digest = upload_->digest();
    if (!digest) return exchange_.answer(500);
    if (!whole.is(*digest)) {
      upload_->remove();
      return exchange_.answer(400);
    }
  }
  transfer_.name = wish.name();
  transfer_.size_bytes = upload_->offset_bytes();
  const auto may_change = wish.may_change();
  if (!state().length_bytes && !upload_->set_length(upload_->offset_bytes()))
    return answer_failure(errno);
  const Uploads::Published published = base::may_block_long([&] {
    Upload whole_file = parts_.uploads->begin_with(wish.name(), upload_->fd(), may_change,
                                                   [&] { upload_->drop_bytes(); });
    if (const auto time_s = http::parse_upload_time(wish.head().value(http::Field::kXOcMtime)))
      whole_file.ask_for_time(*time_s);
    return parts_.uploads->publish(std::move(whole_file), may_change);
  });
  if (is_done(published.status)) upload_->complete();
  if (is_done(published.status) || !wish.answers_refusal())
    answer_published(exchange_, parts_, published, done);
  log_change(exchange_, parts_, transfer_);
}

void answer_problem(Exchange& exchange, http::Status status, std::string_view type,
                    std::string_view title, std::string_view members) {
  http::AnswerHead head = exchange.begin(status);
  exchange.send_text(
      head, "application/problem+json",
      fmt::format("{{\"type\": \"https://iana.org/assignments/http-problem-types#{}\", "
                  "\"title\": \"{}\"{}}}\n",
                  type, title, members));
}

}  // namespace fileserver
