// Looks at what a request of WebDAV names.
#pragma once

#include "base/result.h"
#include "fileserver/http/dav/multistatus.h"
#include "fileserver/rights/user_rights.h"

namespace fileserver {
class Exchange;
struct Parts;
}  // namespace fileserver

namespace fileserver::dav {

// The file or folder of exchange.path(), as a GET would give it: the tag is the same. A folder
// needs no slash at its end. kNotFound also where the user may not read it. kInternal if nobody
// knows.
base::Result<Resource> find_resource(const Exchange& exchange, Parts& parts);

// Whether the user may see a file or folder of this name (http/permitted.h).
bool may_see(const UserRights& rights, std::string_view name, bool is_folder);

}  // namespace fileserver::dav
