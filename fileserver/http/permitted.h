// Whether the user of a request may do what it asks for.
//
// Of the three doors at which rights are asked this one is the wall: no request whose path is that
// of a file or a folder reaches its handler without permitted_handler(), but for PUT with --uploads
// sink, which touches none. Session::open() is the door of the native protocol. The third door is
// for names that are not the path of a request: FolderEntries and may_see() hide members of
// folders. get_zip(), get_digest() and the uploads in parts ask themselves for what their paths
// name.
#pragma once

#include <optional>
#include <string_view>

#include "fileserver/http/methods.h"
#include "fileserver/rights/user_rights.h"
#include "http/status.h"

namespace fileserver {

// Nothing: it may be done. 404: what is asked for must look as if it were not there. 403: it may be
// read, and not changed so.
using RightsRefusal = std::optional<http::Status>;

// Who answers a request for exchange.path(), which `handler` would answer if its user had all
// rights: that one, or one that refuses. Of MOVE and COPY only the source is looked at.
//
// HttpSession asks for each such request, so that no handler has to. Requires: exchange.rights are
// those of its user, and the path is one that a file can have.
Handler permitted_handler(const Exchange& exchange, Parts& parts, Handler handler);

// Answers with it, unless a lock is in the way. The requirements are the same.
void answer_within_rights(Exchange& exchange, Parts& parts, Handler handler);

// Why the rights do not let a PUT, DELETE, MOVE or COPY change its path. They may be other ones
// than those at its beginning. Requires: the path is one that a file can have.
RightsRefusal refusal_to_change(const Exchange& exchange, const UserRights& rights);

// The same for a PUT of this name, by a request with another path.
RightsRefusal refusal_to_put(const UserRights& rights, std::string_view name);

// For MOVE and COPY, whose target replaces what is there with all that is below it.
RightsRefusal refusal_of_target(const UserRights& rights, std::string_view name);

}  // namespace fileserver
