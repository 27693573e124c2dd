// The pages on which users look after their account.

#include <fmt/core.h>

#include <string>

#include "fileserver/http/asker.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/page.h"
#include "fileserver/http/server_paths.h"
#include "xml/escaped.h"

namespace fileserver {

namespace {

// The field with the user name is for what keeps passwords.
constexpr std::string_view kPasswordForm = R"(<section>
<h2>Password</h2>
<p>All your sessions end with a new password, this one too. Application passwords stay.</p>
<form class="log-in" data-password>
<input type="text" name="user" value="{}" autocomplete="username" hidden>
<label class="field">Old password
<input type="password" name="old" autocomplete="current-password" required></label>
<label class="field">New password
<input type="password" name="password" autocomplete="new-password" required></label>
<label class="field">The new one again
<input type="password" name="again" autocomplete="new-password" required></label>
<div class="answers"><button>Change password</button></div>
</form>
</section>
)";
constexpr std::string_view kApps = R"(<section>
<h2>Application passwords</h2>
<p>A mount, a script or a phone signs in with your user name and a password of its own, which can
be revoked alone. It opens your files, and not this page.</p>
<form class="log-in" data-app>
<label class="field">What it is for
<input type="text" name="name" placeholder="phone" autocomplete="off" required></label>
<div class="answers"><button>Make password</button></div>
</form>
<ul data-apps></ul>
</section>
)";

constexpr std::string_view kPeopleList = R"(<section>
<h2>Somebody new</h2>
<p>You get a link on which the person chooses a password.</p>
<form class="log-in" data-add>
<label class="field">User name
<input type="text" name="user" autocomplete="off" autocapitalize="none" spellcheck="false"
required></label>
<div class="answers"><button>Add</button></div>
</form>
</section>
<section>
<h2>Accounts</h2>
<ul data-people></ul>
<p><button type="button" data-more hidden>Show more</button></p>
</section>
)";

// `further` is HTML of the header: where the page leads besides.
std::string page_of(const Person& person, std::string_view title, std::string_view further,
                    std::string_view body) {
  std::string page;
  append_page_start(title, Script::kOfAccounts, page);
  page += fmt::format("<header>\n<h1>{}</h1>\n", title);
  append_who(person.user, person.by == "session", page);
  page += fmt::format(
      "{}<p><a href=\"/\">Files</a></p>\n</header>\n<main class=\"account\">\n{}"
      "<noscript><p>This page needs JavaScript.</p></noscript>\n",
      further, body);
  return page += kPageEnd;
}

std::string account_page(const Person& person) {
  std::string way;
  if (person.is_admin)
    way = fmt::format("<p><a href=\"/{}{}\">People</a></p>\n", kAdminPaths, kPeople);
  const std::string form = fmt::format(kPasswordForm, xml::escaped(person.user));
  return page_of(person, "Account", way, form + std::string(kApps));
}

}  // namespace

std::string people_page(const Person& administrator) {
  return page_of(administrator, "People", {}, kPeopleList);
}

void send_own_page(Exchange& exchange, std::string_view page) {
  http::AnswerHead head = exchange.begin(200);
  head.field("Cache-Control", "no-store").field("Content-Security-Policy", kScriptedPagePolicy);
  exchange.send_text(head, "text/html; charset=utf-8", page);
}

void get_account(Exchange& exchange, Parts& parts) {
  const auto told = Asker(exchange.head()).ask(parts, {wire::Wish::Kind::kWho});
  if (!told) return exchange.answer(told.error());
  const Person person = parse_person(*told);
  if (person.by == "app") return exchange.answer(403);
  send_own_page(exchange, account_page(person));
}

}  // namespace fileserver
