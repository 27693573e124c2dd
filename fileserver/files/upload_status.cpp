#include "fileserver/files/upload_status.h"

#include <cerrno>

#include "base/allowance.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"

namespace fileserver {

namespace {

// Logs at most once a minute, because every PUT may fail then.
void warn_of_full_disk(const base::Error& error) {
  static base::Allowance allowance(1, 60 * base::kNsPerS);
  if (!allowance.take(base::now_ns())) return;
  base::log::warn("the served folder has no room for an upload reason={}",
                  base::log::quoted_long(error.context));
}

// In the same way, because a client may ask for it again and again.
void warn_of_missing_right(const base::Error& error) {
  static base::Allowance allowance(1, 60 * base::kNsPerS);
  if (!allowance.take(base::now_ns())) return;
  base::log::warn("a part of the served folder may not be changed reason={}",
                  base::log::quoted_long(error.context));
}

}  // namespace

UploadStatus status_of(int errno_value, std::string_view what) {
  const base::Error error = base::errno_error(base::ErrorCode::kInternal, what, errno_value);
  switch (errno_value) {
    case ENOSPC:
    case EDQUOT: warn_of_full_disk(error); return UploadStatus::kNoSpace;
    case EACCES:
    case EPERM:
    case EROFS: warn_of_missing_right(error); return UploadStatus::kForbidden;
    case EFBIG: return UploadStatus::kNoSpace;
    case EBUSY:  // something is mounted there
    case EISDIR:
    case ENAMETOOLONG:
    case ENOTDIR:
    case ENOTEMPTY: return UploadStatus::kConflict;
    case ENOENT: return UploadStatus::kNotFound;
    case ECANCELED: return UploadStatus::kFailed;  // MayGoOn has ended it
    default: break;
  }
  base::log::error("the served folder cannot be changed reason={}",
                   base::log::quoted_long(error.context));
  return UploadStatus::kFailed;
}

UploadStatus status_of_put(int errno_value, std::string_view what) {
  const UploadStatus status = status_of(errno_value, what);
  return status == UploadStatus::kNotFound ? UploadStatus::kConflict : status;
}

}  // namespace fileserver
