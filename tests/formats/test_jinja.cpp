// Jinja against what Python's jinja2 makes of the same (with trim_blocks and lstrip_blocks).
#include "formats/jinja.h"

#include "engine/check.h"
#include "tests/catch.h"

using namespace inkling;
using formats::Jinja;
using nlohmann::json;

TEST_CASE("jinja: statements, expressions and white space", "[formats]") {
    const json variables = {
        {"a", "x"}, {"n", 3}, {"none", nullptr}, {"list", {"p", "q", "r"}}, {"o", {{"k", " v "}, {"flag", true}}}};
    const std::pair<std::string, std::string> table[] = {
        {"plain { text } %\n", "plain { text } %"},
        {"{{ a }}-{{ a ~ n ~ none }}-{{ missing }}", "x-x3None-"},
        {"{{ 'a\\n\"b\\'' + \"c\" 'd' }}", "a\n\"b'cd"},
        {"{{ o.k }}|{{ o['k'].strip() }}|{{ o.k | trim | upper }}|{{ o.missing is defined }}", " v |v|V|False"},
        {"{% for i in list %}{{ loop.index }}{{ loop.index0 }}{{ i }}{% if not loop.last %},{% endif %}{% endfor %}",
         "10p,21q,32r"},
        {"{% for i in list[1:] %}{{ i }}{% endfor %}{{ list[-1] }}{{ list[::-1][0] }}{{ list | length }}", "qrrr3"},
        {"{% for i in list[:-1] %}{{ i }}{% endfor %}", "pq"},
        {"{% if n == 3 and a != 'x' %}1{% elif n >= 3 or missing.x %}2{% else %}3{% endif %}", "2"},
        {"{{ 'yes' if n > 2 else 'no' }}{{ 'yes' if not o.flag }}", "yes"},
        {"{{ n + 2 - 1 }} {{ -n }} {{ n % 2 == 1 }} {{ (n + 1) % 2 == 0 }}", "4 -3 True True"},
        {"{% set y = a + '!' %}{% for i in list %}{% set y = i %}{% endfor %}{{ y }}", "x!"},
        {"{% set s = namespace(y='a') %}{% for i in list %}{% set s.y = s.y + i %}{% endfor %}{{ s.y }}", "apqr"},
        {"{{ 'a' in 'cat' }} {{ 'z' not in list }} {{ 'k' in o }} {{ a is string }} {{ none is none }}",
         "True True True True True"},
        {"{{ a.startswith('x') }}{{ 'a,b'.split(',')[1] }}{{ missing | default('d') }}{{ o.get('z', 'w') }}",
         "Truebdw"},
        {"  {% if true %}\n  a\n  {% endif %}\n b", "  a\n b"},
        {"  {{ a }}\n  {%- if true %}\n b {%- endif -%} \n c", "  x bc"},
        {"a {# a comment {{ #}\n b {{- a -}}  c", "a  bxc"},
        {"{{ a }}  {% if true %}1{% endif %}", "x  1"},
        {"  {%+ if true %}1{% endif %}", "  1"},
        {"{% generation %}{{ a }}{% endgeneration %}", "x"},
        {"{{ '%}' }}{% if '%}' == \"%}\" %}1{% endif %}", "%}1"},
        {"{{ (a ~ 'b') | trim }}{{ a ~ 'b ' | trim }}{{ not a == 'y' }}", "xbxbTrue"},
        {"{{ '\xE2\x80\xA8 e\xCC\x81\xC2\xA0' | trim }}.", "e\xCC\x81."},
    };
    for (const auto& [text, made] : table) {
        INFO(text);
        CHECK(Jinja(text).render(variables) == made);
    }
}

TEST_CASE("jinja: what is broken or not known is refused", "[formats]") {
    const std::pair<std::string, std::string> table[] = {
        {"{{ a", "{{ without its end"},
        {"{% if a %}", "a statement without its end"},
        {"{% endif %}", "its statement endif is not known"},
        {"{{ a b }}", "it has 'b' where an end is expected"},
        {"{{ (a }}", "where ')' is expected"},
        {"{% for i of a %}{% endfor %}", "where 'in' is expected"},
        {"{{ 'a }}", "without"},
        {"{{ a.b.c }}", "'c' of what is not defined"},
        {"{{ f(1) }}", "its function f is not known"},
        {"{{ a.join(1) }}", "its method join is not known"},
        {"{{ a is odd }}", "its test 'odd' is not known"},
        {"{% for i in 'abc' %}{% endfor %}", "its for wants a list"},
        {"{{ " + std::string(200, '(') + "1" + std::string(200, ')') + " }}", "nested more than 100 deep"},
        {"{% set x.y = 1 %}", "which is no namespace"},
        {"{{ 1.5 }}", ""},
    };
    for (const auto& [text, message] : table) {
        INFO(text);
        CHECK_THROWS_WITH(Jinja(text).render({{"a", json::object()}}), ContainsSubstring(message));
    }
    std::string nested = "1";
    for (int i = 0; i < 200; ++i) nested = "{% if true %}" + nested + "{% endif %}";
    CHECK_THROWS_WITH(Jinja(nested), ContainsSubstring("nested more than 100 deep"));
}
