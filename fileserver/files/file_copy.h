// Copies the bytes of one version of a file.
#pragma once

#include "fileserver/files/file_version.h"
#include "fileserver/files/upload_status.h"

namespace fileserver {

// Copies all bytes of `from` to the empty file `to`, without reading them where the file system can
// share or copy them by itself. A file that somebody changes meanwhile is copied again a few times.
// Returns 0 or an errno: EBUSY if it goes on changing, ECANCELED if `may_go_on` has ended it.
int copy_one_version(int from, int to, const MayGoOn& may_go_on);

}  // namespace fileserver
