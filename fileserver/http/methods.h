// Which methods the served folder has, and who answers them.
#pragma once

#include <string>
#include <string_view>

#include "fileserver/offer.h"
#include "http/request_head.h"

namespace fileserver {

class Exchange;
struct Parts;

// Answers one request, whose credentials were validated. Sends exactly one answer. The path is one
// that a file can have, except for put_nowhere(). Sessions share the parts.
using Handler = void (*)(Exchange& exchange, Parts& parts);

// Null: the method is not allowed. `is_folder`: the path ends with a slash.
Handler handler_of(http::Method method, bool is_folder, const Offer& offer);

// The methods of all names of the served folder, as in Allow. `refused` is left out, which this
// name does not have now.
std::string allowed_with(const Offer& offer, http::Method refused = http::Method::kOther);

// GET and HEAD of a path without a slash at its end: a file, or the way to a folder.
void get_file(Exchange& exchange, Parts& parts);

// Answers as get_file() does when there is nothing of the name, without a look.
void get_nothing(Exchange& exchange, Parts& parts);

// GET and HEAD of a folder: its listing.
void get_folder(Exchange& exchange, Parts& parts);

// Whether the path is that of a folder with a listing, but for the slash at its end.
bool is_folder_without_slash(const Exchange& exchange, Parts& parts);

// Answers with the path of the folder.
void redirect_to_folder(Exchange& exchange);
void redirect_to(Exchange& exchange, std::string_view where);

// PUT with --uploads folder. 201 or 204 once the file is on disk and served. After any other answer
// the folder is as it was.
void put_file(Exchange& exchange, Parts& parts);

// PUT with --uploads sink.
void put_nowhere(Exchange& exchange, Parts& parts);

// The rest changes the served folder (--uploads folder), or belongs to WebDAV.
void delete_file(Exchange& exchange, Parts& parts);
void make_collection(Exchange& exchange, Parts& parts);
void move_name(Exchange& exchange, Parts& parts);
void copy_name(Exchange& exchange, Parts& parts);

// DELETE of a name that ends with a slash: the folder goes with all that is in it.
void delete_folder(Exchange& exchange, Parts& parts);

namespace dav {

// PROPFIND. 207 with the properties of the resource, and with Depth: 1 of what a listing of it
// names. 403 with another depth, 404, 400 and what read_xml() answers.
void find_properties(Exchange& exchange, Parts& parts);

// PROPPATCH. No property can be set. 207 with 403 for each one that was named, 404, 400 and what
// read_xml() answers.
void change_properties(Exchange& exchange, Parts& parts);

// LOCK (RFC 4918, section 9.10). With a body: 200 and a new lock, or 201 if a new, empty file has
// the name. 423 if another lock is in the way, 503 if there are too many. Without a body: 200, and
// a lock whose token is in If has a new end. After any other answer nothing is locked.
void lock(Exchange& exchange, Parts& parts);

// UNLOCK. 204. 403 for the lock of another user, 409 if the token is of no lock of the name.
void unlock(Exchange& exchange, Parts& parts);

}  // namespace dav

}  // namespace fileserver
