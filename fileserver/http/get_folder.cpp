#include "fileserver/http/get_folder.h"

#include <dirent.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "fileserver/http/listing.h"
#include "fileserver/http/page.h"

namespace fileserver {

namespace {

constexpr std::string_view kOwnFolder = "-";  // "/-/" is not the folder of this name

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

// The entry, if a GET would give it. Nothing otherwise.
std::optional<ListedEntry> entry_of(const Fence& fence, std::string_view folder,
                                    std::string_view name) {
  if (!http::is_path_name(name)) return {};
  std::string path(folder);
  if (!folder.empty()) path += '/';
  const auto status = fence.status_of_readable(path.append(name));
  if (!status || (path == kOwnFolder && S_ISDIR(status->st_mode))) return {};
  return ListedEntry{.name = std::string(name),
                     .is_folder = S_ISDIR(status->st_mode),
                     .size_bytes = static_cast<std::uint64_t>(status->st_size),
                     .modified_s = status->st_mtim.tv_sec};
}

base::Result<std::vector<ListedEntry>> entries_of(const Fence& fence, std::string_view name) {
  auto fd = fence.open_folder(name);
  if (!fd) return fd.error();
  const OpenFolder folder(::fdopendir(fd->get()));
  if (folder == nullptr)
    return base::errno_error(base::ErrorCode::kInternal, "list a folder", errno);
  fd->release();
  std::vector<ListedEntry> entries;
  while (const dirent* const one = ::readdir(folder.get())) {
    if (auto entry = entry_of(fence, name, one->d_name)) entries.push_back(std::move(*entry));
  }
  sort_listing(entries);
  return entries;
}

}  // namespace

void get_folder(Exchange& exchange, Parts& parts) {
  const std::string_view name = exchange.path()->name;
  if (!parts.config.has_listings) return exchange.answer(404);
  const auto entries = entries_of(*parts.fence, name);
  if (!entries) return exchange.answer(entries.error());
  const bool is_json = preferred_form(exchange.head()) == Preferred::kJson;
  http::AnswerHead head = exchange.begin(200);
  head.field("Vary", "Accept").field("Cache-Control", "private, no-cache");
  if (is_json) {
    exchange.send_text(head, "application/json; charset=utf-8", listing_json(*entries));
  } else {
    head.field("Content-Security-Policy", kPagePolicy);
    exchange.send_text(head, "text/html; charset=utf-8", listing_page(name, *entries));
  }
}

bool is_folder_without_slash(const Exchange& exchange, Parts& parts) {
  if (!parts.config.has_listings || exchange.path()->name == kOwnFolder) return false;
  const auto status = parts.fence->status_of_readable(exchange.path()->name);
  return status && S_ISDIR(status->st_mode);
}

void redirect_to_folder(Exchange& exchange) {
  const std::string_view name = exchange.path()->name;
  const std::string last = http::encode_path(name.substr(name.rfind('/') + 1)) + "/";
  http::AnswerHead head = exchange.begin(301);
  head.field("Location", last).field("Cache-Control", "private, no-cache");
  exchange.send_text(head, "text/plain; charset=utf-8", "Moved Permanently\n");
}

}  // namespace fileserver
