// What becomes of a change that a client asks for.
#pragma once

#include <functional>
#include <string_view>

#include "fileserver/files/file_version.h"

namespace fileserver {

enum class UploadStatus {
  kGoOn,        // nothing has happened yet, and nothing speaks against it
  kCreated,     // 201
  kReplaced,    // 204; of a removal: it is done
  kNotFound,    // 404
  kExists,      // 405: a folder is to be made where something is
  kConflict,    // 409: no folder to put it into, or what is there is in the way
  kForbidden,   // 403: it cannot be done, or the file system does not let the server do it
  kNotAllowed,  // 412: `may_change` has said no
  kNoSpace,     // 507
  kFailed,      // 500, and logged
};

constexpr bool is_done(UploadStatus status) {
  return status == UploadStatus::kCreated || status == UploadStatus::kReplaced;
}

// Decides whether what has a name now may be changed. `current` is null if there is nothing, and a
// version of size -1 if there is something other than a file.
using MayChange = std::function<bool(const FileVersion* current)>;

// Asked again and again by what may take long. Once it returns false, that ends early, and nothing
// has changed.
using MayGoOn = std::function<bool()>;

// What the errno of a change means. Logs what is no fault of the client.
UploadStatus status_of(int errno_value, std::string_view what);

// The same for something that is to be put into a folder: the folder may be gone by now.
UploadStatus status_of_put(int errno_value, std::string_view what);

}  // namespace fileserver
