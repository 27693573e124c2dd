#include "fileserver/rights/rights.h"

#include <utility>

#include "base/log.h"

namespace fileserver {

base::Result<RightsFile> read_rights_file(const std::string& path) {
  const auto text = read_rights(path);
  if (!text) return text.error();
  auto file = parse_rights(*text);
  if (!file) return base::Error{file.error().code, path + " " + file.error().context};
  return file;
}

Rights::Rights(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) table_ = std::make_shared<const RightsTable>(RightsFile{});
}

base::Status Rights::read() {
  if (path_.empty()) return base::kDone;
  const auto file = read_rights_file(path_);
  if (!file) return file.error();
  Table table = std::make_shared<const RightsTable>(*file);
  const base::Lock lock(mutex_);
  table_.swap(table);
  return base::kDone;
}

void Rights::read_again() {
  if (path_.empty()) return;
  if (const auto done = read(); done) {
    base::log::info("the rights were read again");
  } else {
    base::log::error("the rights stay as they were reason={}",
                     base::log::quoted(done.error().context));
  }
}

Rights::Table Rights::table() const {
  const base::Lock lock(mutex_);
  return table_;
}

UserRights Rights::of(std::string_view user) const {
  if (path_.empty()) return {};
  return {table(), user};
}

bool Rights::has(std::string_view user) const { return !path_.empty() && table()->has(user); }

}  // namespace fileserver
