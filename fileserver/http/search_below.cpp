#include <fmt/format.h>
#include <locale.h>
#include <wctype.h>

#include <deque>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/json_text.h"
#include "base/utf8.h"
#include "base/waits.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/folder_entries.h"
#include "fileserver/http/folder_links.h"
#include "fileserver/http/server_paths.h"
#include "fileserver/http/streamed_text.h"
#include "fileserver/parts.h"
#include "http/path.h"

namespace fileserver {

namespace {

// What one search may take. With more it says that it is not complete.
constexpr std::size_t kMostFound = 500;
constexpr std::size_t kMostNames = 100'000;
constexpr std::size_t kMostWaitingBytes = std::size_t{4} << 20;  // folders that were found
constexpr std::int64_t kMostNs = 10 * base::kNsPerS;             // it is asked once who the user is

// Who has finished sending for so long is most likely gone.
constexpr std::int64_t kGoneNs = base::kNsPerS;

constexpr std::size_t kMostTextBytes = 1024;

// Opened when the program starts: the sandbox leaves no way to its file.
const locale_t kLetters = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);

// The text with small letters for capitals. Each malformed byte is something that no letter is.
std::u32string in_small_letters(std::string_view text) {
  constexpr char32_t kMalformed = 0x110000;
  std::u32string small;
  while (!text.empty()) {
    const auto [size_bytes, code] = base::utf8_front(text);
    if (!code) {
      small.push_back(kMalformed + static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
      continue;
    }
    const wint_t letter = *code;
    small.push_back(kLetters == nullptr ? letter : ::towlower_l(letter, kLetters));
    text.remove_prefix(size_bytes);
  }
  return small;
}

// Goes through the folders in the order in which it finds them, so what is near comes first.
class Search {
 public:
  Search(Exchange& exchange, Parts& parts, std::string_view root, std::string_view text)
      : exchange_(exchange),
        parts_(parts),
        root_(root),
        wanted_(in_small_letters(text)),
        links_(*parts.fence, root) {}

  // As StreamedText::print().
  base::Status print(std::string& last, const TakePiece& take) {
    last += "{\"found\": [";
    waiting_.emplace_back();
    while (!waiting_.empty() && may_go_on()) {
      const std::string inside = std::move(waiting_.front());
      waiting_.pop_front();
      waiting_bytes_ -= inside.size();
      const auto looked = look_into(inside, last, take);
      const bool is_gone = !looked && looked.error().code == base::ErrorCode::kNotFound;
      if (!looked && (inside.empty() || !is_gone)) return looked;
    }
    if (is_left_) return base::Error{base::ErrorCode::kUnavailable, "the search was left"};
    const bool is_complete = waiting_.empty() && !has_left_out_;
    last += fmt::format("{}], \"complete\": {}}}\n", found_ > 0 ? "\n" : "", is_complete);
    return base::kDone;
  }

 private:
  bool may_go_on() {
    const std::int64_t lasts_ns = base::now_ns() - begun_ns_;
    is_left_ = is_left_ || exchange_.stream().is_over() || exchange_.stream().is_draining() ||
               exchange_.is_hung_up() || (lasts_ns > kGoneNs && exchange_.has_client_finished());
    return !is_left_ && found_ < kMostFound && names_ < kMostNames && lasts_ns < kMostNs;
  }

  base::Status look_into(const std::string& inside, std::string& to, const TakePiece& take) {
    const std::string folder = joined(root_, inside);
    FolderEntries listed(*parts_.fence, folder, parts_.listings_memory, exchange_.rights);
    while (!listed.is_at_end()) {
      const auto batch = base::may_block([&] { return listed.next(); });
      if (!batch) return batch.error();
      for (std::span<const ListedEntry> left(*batch); !left.empty();) {
        if (!may_go_on()) {
          has_left_out_ = true;
          return base::kDone;
        }
        const auto some = left.first(std::min(left.size(), kLookedAtOnce));
        left = left.subspan(some.size());
        look_at(some, inside, to);
        if (to.size() < kTextPieceBytes) continue;
        is_left_ = is_left_ || !take(to);
        to.clear();
      }
    }
    return base::kDone;
  }

  void look_at(std::span<const ListedEntry> some, const std::string& inside, std::string& to) {
    const auto links = links_.among(some, inside);
    for (std::size_t i = 0; i < some.size(); ++i) {
      ++names_;
      const std::string path = joined(inside, some[i].name);
      if (in_small_letters(some[i].name).find(wanted_) != std::u32string::npos) {
        has_left_out_ |= found_ == kMostFound;
        if (found_ < kMostFound) add(some[i], path, to);
      }
      if (some[i].is_folder && !links[i]) wait_for(path);
    }
  }

  void add(const ListedEntry& entry, std::string_view path, std::string& to) {
    auto out = std::back_inserter(to);
    fmt::format_to(out, "{}\n{{\"path\": {}, \"type\": \"{}\"", found_++ > 0 ? "," : "",
                   base::json_text(path, base::JsonText::kUtf8),
                   entry.is_folder ? "directory" : "file");
    if (!entry.is_folder) fmt::format_to(out, ", \"size\": {}", entry.size_bytes);
    fmt::format_to(out, ", \"mtime\": {}}}", entry.modified_s);
  }

  void wait_for(const std::string& folder) {
    if (waiting_bytes_ + folder.size() > kMostWaitingBytes) {
      has_left_out_ = true;
      return;
    }
    waiting_bytes_ += folder.size();
    waiting_.push_back(folder);
  }

  Exchange& exchange_;
  Parts& parts_;
  const std::string_view root_;
  const std::u32string wanted_;
  FolderLinks links_;
  const std::int64_t begun_ns_ = base::now_ns();
  std::deque<std::string> waiting_;  // folders inside the root
  std::size_t waiting_bytes_ = 0;
  std::size_t names_ = 0;
  std::size_t found_ = 0;
  bool has_left_out_ = false;
  bool is_left_ = false;  // nobody waits for what is found
};

}  // namespace

void search_below(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kFile;
  const auto folder = folder_behind(kSearchPaths, exchange, parts);
  if (!folder) return exchange.answer(404);
  const auto texts = http::query_values(exchange.head().target(), "q");
  if (texts.size() != 1 || texts[0].empty() || texts[0].size() > kMostTextBytes)
    return exchange.answer(422);
  const auto begin = [&] {
    http::AnswerHead head = exchange.begin(200);
    head.field("Cache-Control", "private, no-cache");
    return head;
  };
  const auto print = [&](std::string& last, const TakePiece& take) {
    return Search(exchange, parts, *folder, texts[0]).print(last, take);
  };
  send_streamed(exchange, {.type = "application/json; charset=utf-8",
                           .is_1_0 = exchange.head().is_1_0(),
                           .begin = begin,
                           .print = print});
}

}  // namespace fileserver
