// Uploads that come in parts, as draft-ietf-httpbis-resumable-upload-15 and tus 1.0.0 have them.
// docs/http.md says what is answered when.
#pragma once

#include <string_view>

#include "http/answer.h"

namespace fileserver {

class Exchange;
struct Parts;

inline constexpr std::string_view kPartsPaths = "-/parts/";
inline constexpr std::string_view kTusPaths = "-/tus/";

// Whether a PUT of a file says that it is one part, or that its client can go on after a break.
bool comes_in_parts(const Exchange& exchange, const Parts& parts);

// Such a PUT.
void put_in_parts(Exchange& exchange, Parts& parts);

// POST and PUT of "/-/parts/NAME", POST of "/-/parts/FOLDER/" with a name in Content-Disposition,
// and HEAD, PATCH and DELETE of "/-/parts/ID".
void take_part(Exchange& exchange, Parts& parts);

// The same for tus: POST of "/-/tus/" and "/-/tus/FOLDER/", and the others of "/-/tus/ID".
void take_tus(Exchange& exchange, Parts& parts);

// Has the answer say the version of tus, as each one below "/-/tus/" must.
void speak_tus(Exchange& exchange);

// Adds what OPTIONS tells of them.
void tell_of_parts(http::AnswerHead& head, const Parts& parts);
void tell_of_tus(http::AnswerHead& head, const Parts& parts);

}  // namespace fileserver
