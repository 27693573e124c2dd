// The short and the full help, the man page and the configuration file of one program.
#include "flags/page.h"

#include <sstream>

#include "flags/alternatives.h"
#include "flags/values.h"
#include "tests/catch.h"

namespace {

const flags::Program kProgram{
    "sampler",
    "Takes samples.\n\nIt takes them where they are.",
    {{"Take many", "sampler --count 50 --some-word behind-a-long-command"}},
    1,
    {"other(8)"}};

struct HelpSample {
  std::string text = "word";
  std::string kind;
  int count = 10;
  std::int64_t wait_ms = 2000;
  std::int64_t until_ms = 3000;
  bool is_loud = false;
};

// The pages of a program with a positional argument and two groups.
class Pages {
 public:
  Pages() {
    app_.group("Basics");
    app_.add_option("kind", sample_.kind, "big: large; small: little")->type_name("big|small");
    flags::add_whole(app_, "--count", sample_.count, 1, 100, "how many; each takes a second");
    app_.group("To measure", flags::Shown::kInFullHelp);
    app_.add_option("--some-word", sample_.text, ".starts with a dot")->capture_default_str();
    app_.group("Basics");
    auto* const wait = flags::add_seconds(app_, "--wait", sample_.wait_ms, "how long");
    auto* const until = flags::add_seconds(app_, "--until", sample_.until_ms, "until when");
    flags::exclude_each_other({wait, until});
    app_.add_flag("--loud", sample_.is_loud, "not quiet");
    app_.add_option("--limit", sample_.text, "how much")->default_is("half of RAM");
  }

  flags::Page page() const { return {kProgram, "1.2.3", flags::groups_of(app_)}; }

 private:
  HelpSample sample_;
  flags::App app_;
};

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text, part);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("options belong to the group that was begun last", "[flags]") {
  const Pages pages;
  const auto groups = pages.page().groups;
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].title == "Basics");
  CHECK(groups[0].options.size() == 6);
  CHECK(groups[1].title == "To measure");
  CHECK(groups[1].options.size() == 1);
}

TEST_CASE("the short help has the first part of each text, and no special groups", "[flags]") {
  const std::string help = flags::short_help(Pages().page(), 80);
  CHECK(has(help, "Takes samples.\n"));
  CHECK_FALSE(has(help, "where they are"));
  CHECK(has(help, "Usage: sampler big|small [--FLAG VALUE]...\n"));
  CHECK(has(help, "  Take many:\n    sampler --count 50"));
  CHECK(has(help, "Basics:\n  big|small                 big: large; small: little\n"));
  CHECK(has(help, "  --count N                 how many [10]\n"));
  CHECK(has(help, "  --limit TEXT              how much [half of RAM]\n"));
  CHECK_FALSE(has(help, "--some-word TEXT"));
  CHECK(has(help, "--help=all"));
  CHECK(has(help, "the groups To\nmeasure.\n"));
}

TEST_CASE("the full help has everything, with variables", "[flags]") {
  const std::string help = flags::full_help(Pages().page(), 80);
  CHECK(has(help, "where they are"));
  CHECK(has(help, "  --count N  [10]  SAMPLER_COUNT\n      how many; each takes a second\n"));
  CHECK(has(help, "To measure:\n  --some-word TEXT  [word]  SAMPLER_SOME_WORD\n"));
  CHECK(has(help, "  --loud  SAMPLER_LOUD\n"));
}

TEST_CASE("no line of the help is wider than it may be", "[flags]") {
  for (const std::size_t columns : {60U, 61U, 80U, 120U}) {
    const Pages pages;
    std::istringstream lines(flags::short_help(pages.page(), columns) +
                             flags::full_help(pages.page(), columns));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(line.size() <= columns);
      CHECK_FALSE(line.ends_with(' '));
    }
  }
}

TEST_CASE("the configuration file has every flag with its default", "[flags]") {
  const std::string file = flags::config_template(Pages().page());
  CHECK(has(file, "# how many; each takes a second (N)\n# count = 10\n"));
  CHECK(has(file, "# some-word = word\n"));
  CHECK(has(file, "# loud = false\n"));
  CHECK(has(file, "# how much (TEXT; by default half of RAM)\n# limit =\n"));
  CHECK_FALSE(has(file, "kind"));
}

TEST_CASE("the configuration file gives no two flags that exclude each other", "[flags]") {
  const std::string file = flags::config_template(Pages().page());
  CHECK(has(file, "# wait = 2\n"));
  CHECK(has(file, "# until when (SECONDS; by default 3)\n# until =\n"));
}

TEST_CASE("the man page has every section and escapes what roff would read", "[flags]") {
  const std::string page = flags::man_page(Pages().page());
  CHECK(page.starts_with(".TH SAMPLER 1 \"\" \"Turnstile 1.2.3\""));
  CHECK(has(page, "sampler \\- takes samples\n"));
  for (const char* title : {"NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "OPTIONS", "ENVIRONMENT",
                            "FILES", "EXIT STATUS", "SEE ALSO"})
    CHECK(has(page, std::string(".SH ") + title + "\n"));
  CHECK(has(page, "\\fB\\-\\-some\\-word\\fR \\fITEXT\\fR\n\\&.starts with a dot."));
  CHECK(has(page, "\\fBSAMPLER_SOME_WORD\\fR"));
  CHECK(has(page, "\\fBother\\fR(8)\n"));
}
