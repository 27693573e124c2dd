#include "fileserver/rights/rights.h"

#include <utility>

#include "base/log.h"

namespace fileserver {

static_assert(SharedText::kMaxBytes >= kMaxRightsBytes);

namespace {

// The error names the path.
base::Result<RightsFile> parse_of(const std::string& path, std::string_view text) {
  auto file = parse_rights(text);
  if (!file) return base::Error{file.error().code, path + " " + file.error().context};
  return file;
}

// The folders in front of the first part with "%u", or the whole path.
std::string_view part_for_all(std::string_view path) {
  const std::size_t user = path.find("%u");
  if (user == std::string_view::npos) return path;
  const std::size_t slash = path.rfind('/', user);
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

base::Result<RightsFile> read_rights_file(const std::string& path) {
  const auto text = read_rights(path);
  if (!text) return text.error();
  return parse_of(path, *text);
}

Rights::Rights(std::string path, SharedWith shared_with, IsThere is_there)
    : path_(std::move(path)),
      is_there_(std::move(is_there)),
      shared_(!path_.empty() && shared_with == SharedWith::kChildren
                  ? std::make_unique<serve::Shared<SharedText>>()
                  : nullptr) {
  if (!path_.empty()) table_ = std::make_shared<const RightsTable>(RightsFile{});
}

base::Status Rights::read() {
  if (path_.empty()) return base::kDone;
  const auto text = read_rights(path_);
  if (!text) return text.error();
  const auto file = parse_of(path_, *text);
  if (!file) return file.error();
  warn_of_missing(*file);
  Table table = std::make_shared<const RightsTable>(*file);
  const base::Lock lock(mutex_);
  table_.swap(table);
  if (shared_ != nullptr) {
    (*shared_)->publish(*text);
    version_ = (*shared_)->version();
  }
  return base::kDone;
}

// A line for another spelling of a name protects nothing, and nobody is told so otherwise.
void Rights::warn_of_missing(const RightsFile& file) const {
  if (is_there_ == nullptr) return;
  const RightsFile::Rule* first = nullptr;
  int count = 0;
  for (const auto& rule : file.rules) {
    const std::string_view path = part_for_all(rule.path);
    if (path.empty() || is_there_(path)) continue;
    if (first == nullptr) first = &rule;
    ++count;
  }
  if (first == nullptr) return;
  base::log::warn("paths in the rights are not there file={} first={} line={} lines={}",
                  base::log::quoted_long(path_), base::log::quoted_long("/" + first->path),
                  first->line, count);
}

// In a child: the parent has read the file again.
void Rights::take_shared() const {
  const SharedText::Copy copy = (*shared_)->copy();
  if (const auto file = parse_rights(copy.text))
    table_ = std::make_shared<const RightsTable>(*file);
  version_ = copy.version;
}

void Rights::read_again() {
  if (path_.empty()) return;
  if (const auto done = read(); done) {
    base::log::info("the rights were read again");
  } else {
    base::log::error("the rights stay as they were reason={}",
                     base::log::quoted_long(done.error().context));
  }
}

Rights::Table Rights::table() const {
  const base::Lock lock(mutex_);
  if (shared_ != nullptr && (*shared_)->version() != version_) take_shared();
  return table_;
}

UserRights Rights::of(std::string_view user) const {
  if (path_.empty()) return {};
  return {table(), user};
}

bool Rights::has(std::string_view user) const { return !path_.empty() && table()->has(user); }

std::vector<std::string> Rights::homes(std::string_view user) const {
  if (path_.empty()) return {};
  return table()->homes(user);
}

}  // namespace fileserver
