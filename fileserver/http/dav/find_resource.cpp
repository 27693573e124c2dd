#include "fileserver/http/dav/find_resource.h"

#include <string>

#include "base/waits.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/folder_entries.h"
#include "fileserver/parts.h"

namespace fileserver::dav {

namespace {

using base::Error;
using base::ErrorCode;

base::Result<struct stat> status_of_folder(const Fence& fence, std::string_view name) {
  if (!name.empty()) return fence.status_of_readable(name);
  const auto folder = fence.open_folder(name);
  if (!folder) return folder.error();
  struct stat status {};
  if (!read_status(folder->get(), status))
    return base::errno_error(ErrorCode::kInternal, "look at the served folder", errno);
  return status;
}

base::Result<Resource> find_folder(const http::Path& path, Parts& parts) {
  if (path.name == kServerFolder) return Error{ErrorCode::kNotFound, "/-/ is no folder"};
  const auto status = base::may_block([&] { return status_of_folder(*parts.fence, path.name); });
  if (!status) return status.error();
  if (!S_ISDIR(status->st_mode)) return Error{ErrorCode::kNotFound, "not a folder"};
  return Resource{.name = std::string(path.name),
                  .is_folder = true,
                  .modified_ns = version_in(*status).modified_ns};
}

base::Result<Resource> find_any(const http::Path& path, Parts& parts) {
  if (path.ends_with_slash) return find_folder(path, parts);
  const auto file = parts.files->open(path.name);
  if (!file && file.error().code == ErrorCode::kNotFound) return find_folder(path, parts);
  if (!file) return file.error();
  return Resource{.name = std::string(path.name),
                  .size_bytes = file->size_bytes(),
                  .modified_ns = file->version.modified_ns,
                  .strength = file->was_settled ? http::Strength::kStrong : http::Strength::kWeak};
}

}  // namespace

base::Result<Resource> find_resource(const Exchange& exchange, Parts& parts) {
  auto found = find_any(*exchange.path(), parts);
  if (found && !may_see(exchange.rights, found->name, found->is_folder))
    return Error{ErrorCode::kNotFound, "this user may not read it"};
  return found;
}

bool may_see(const UserRights& rights, std::string_view name, bool is_folder) {
  return is_folder ? rights.may_list(name) : rights.may_read(name);
}

}  // namespace fileserver::dav
