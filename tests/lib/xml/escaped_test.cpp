#include "xml/escaped.h"

#include "tests/catch.h"

TEST_CASE("text inside of XML has no marks of its own", "[xml]") {
  CHECK(xml::escaped("a<b>&\"c\"'d'") == "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
  CHECK(xml::escaped("\xff\xc3\xa4") == "\xef\xbf\xbd\xc3\xa4");
}

TEST_CASE("text inside of XML has no code point that no document can have", "[xml]") {
  CHECK(xml::escaped("a\xef\xbf\xbe"
                     "b\xef\xbf\xbf") ==
        "a\xef\xbf\xbd"
        "b\xef\xbf\xbd");
  CHECK(xml::escaped("\xef\xbf\xbc") == "\xef\xbf\xbc");
}
