// Jinja against what Python's jinja2 makes of the same (with trim_blocks and lstrip_blocks).
#include "formats/jinja/template.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "formats/files/file.h"
#include "tests/catch.h"
#include "tests/paths.h"

using namespace inkling;
using Jinja = formats::jinja::Template;
using nlohmann::ordered_json;

TEST_CASE("jinja: statements, expressions and white space", "[formats]") {
    const ordered_json variables = {
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
        {"{% if true +%}\n  {% if true %}b{% endif %}{% endif %}x{# c +#}\n{#-#}  y", "\nbx  y"},
        {"{% generation %}{{ a }}{% endgeneration %}", "x"},
        {"{{ '%}' }}{% if '%}' == \"%}\" %}1{% endif %}", "%}1"},
        {"{{ (a ~ 'b') | trim }}{{ a ~ 'b ' | trim }}{{ not a == 'y' }}", "xbxbTrue"},
        {"{{ '\xE2\x80\xA8 e\xCC\x81\xC2\xA0' | trim }}.", "e\xCC\x81."},
    };
    for (const auto& [text, made] : table) {
        INFO(text);
        CHECK(Jinja(text).render(variables.dump()) == made);
    }
}

TEST_CASE("jinja: filters, methods, tests and slices", "[formats]") {
    const ordered_json variables = {{"a", "x"},
                                    {"n", 3},
                                    {"none", nullptr},
                                    {"list", {"p", "q", "r"}},
                                    {"yes", true},
                                    {"zero", 0},
                                    {"half", 0.5},
                                    {"empty", ordered_json::array()},
                                    {"long", "Gr\u00f6\u00dfe Ab"},
                                    {"o", {{"k", " v "}, {"flag", true}}}};
    const std::pair<std::string, std::string> table[] = {
        {"{{ 'AbZ[' | upper }} {{ 'x9'.upper() }} {{ 'AbZ['.lower() }} {{ long | length }} {{ o | length }} {{ list | "
         "count }}{{ 'Q' | lower }}",
         "ABZ[ X9 abz[ 8 2 3q"},
        {"{{ '\u00e4\u03b3\U0001d15e\u4e2d' | upper }}{{ '\u00c4\u0416'.lower() }}",
         "\u00c4\u0393\U0001d15e\u4e2d\u00e4\u0436"},
        {"{{ list | first }}{{ list | last }}{{ empty | first }}{{ (list | list)[0] }}{{ n | string }}{{ a | safe }}",
         "prp3x"},
        {"{{ missing | d('e') }}{{ a | default('e') }}{{ missing | default }}", "ex"},
        {"{{ '%5s|%-5s|% d|%+d|%05d|%-05d|%++d|%x' | format('ab', 'cd', 3, 4, -5, 6, 7, -255) }}",
         "   ab|cd   | 3|+4|-0005|6    |+7|-ff"},  // as Python's % gives them
        {"{{ '%.f|%8.3f|%+e|%G|% .1f' | format(2.6, 2.5, 12345.678, 0.0001, 3.0) }}",
         "3|   2.500|+1.234568e+04|0.0001| 3.0"},
        {"{{ '% s|%05s|%-s|%d%d' | format('a', 'b', 'c', 3.7, -3.7) }}", "a|    b|c|3-3"},
        {"{{ '  a ' | trim }}|{{ '  a '.lstrip() }}|{{ '  a '.rstrip() }}|{{ '  a '.strip() }}|{{ '   '.strip() }}|{{ "
         "''.lstrip() }}{{ ''.rstrip() }}|",
         "a|a |  a|a|||"},
        {"{{ a.endswith('x') }}{{ a.endswith('y') }}{{ a.startswith('') }}{{ 'ab'.split('b') | length }}{{ o.get('k') "
         "}}{{ o.get('z') }}",
         "TrueFalseTrue2 v None"},
        {"{{ a is defined }}{{ missing is undefined }}{{ missing is defined }}{{ n is number }}{{ a is number }}{{ yes "
         "is boolean }}{{ a is boolean }}",
         "TrueTrueFalseTrueFalseTrueFalse"},
        {"{{ o is mapping }}{{ list is iterable }}{{ a is sequence }}{{ o is iterable }}{{ n is iterable }}{{ list is "
         "mapping }}{{ n is string }}{{ none is not none }}",
         "TrueTrueTrueTrueFalseFalseFalseFalse"},
        {"{{ yes is true }}{{ yes is false }}{{ n is true }}{{ zero is false }}", "TrueFalseFalseFalse"},
        {"{% for v in [missing, none, yes, false, 0, 1, half, zero, '', 'a', empty, [0]] %}{{ 'T' if v else 'F' }}{% "
         "endfor %}",
         "FFTFFTTFFTFT"},
        {"{{ none }}|{{ yes }}|{{ false }}|{{ half }}|{{ missing }}|{{ n }}", "None|True|False|0.5||3"},
        {"{{ n in [1, 3] }}{{ n in list }}{{ 'p' in list }}{{ '' in a }}{{ 'z' in o }}{{ 'z' not in o }}",
         "TrueFalseTrueTrueFalseTrue"},
        {"{{ list[3] is defined }}{{ list[-3] }}{{ list[-4] is defined }}{{ o[a] is defined }}{{ list['k'] is defined "
         "}}{{ n[0] is defined }}{{ o[0] is defined }}",
         "FalsepFalseFalseFalseFalseFalse"},
        {"{% for i in list[::-1] %}{{ i }}{% endfor %}|{% for i in list[1::-1] %}{{ i }}{% endfor %}|{% for i in "
         "list[:0:-1] %}{{ i }}{% endfor %}|{% for i in list[-9:9] %}{{ i }}{% endfor %}|{% for i in list[9::-1] %}{{ "
         "i }}{% endfor %}|{% for i in list[::1] %}{{ i }}{% endfor %}|{% for i in list[:-9:-1] %}{{ i }}{% endfor %}",
         "rqp|qp|rq|pqr|rqp|pqr|rqp"},
        {"{{ '\u00a0 a\u3000' | trim }}|{{ '\u1680\u2005a\u2029\u202f\u205f\u0085\u001c'.strip() }}|{{ "
         "'\u200ba\u2010\u3001'.strip() }}|",
         "a|a|\u200ba\u2010\u3001|"},
        {"{{ loop is defined }}{% for i in list %}{{ loop.first }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.length "
         "}} {% endfor %}",
         "FalseTrueq3 Falsepr3 Falseq3 "},
        {"{ a {{ a }} { {# c #}{%- if a -%} b {%- endif %} c {", "{ a x { b c {"},
        {"x{{- ' y ' -}}  z {%+ if a +%}\n b {% endif +%}\n c", "x y z \n b \n c"},
        {"{% set t = 'a' %}{% if false %}{% elif true %}{{ t }}{% else %}n{% endif %}{% if false %}1{% endif %}", "a"},
        {"{% for i in list %}{{ loop.revindex }}{{ loop.revindex0 }}{% endfor %}", "322110"},
        {"{{ 'a' < 'b' }}{{ 'b' <= 'a' }}{{ 2 > n }}{{ n >= 3 }}{{ n != 3 }}{{ half < n }}{{ [1] == [1] }}{{ n == 'x' "
         "}}{{ none == none }}{{ missing == none }}",
         "TrueFalseFalseTrueFalseTrueTrueFalseTrueFalse"},
        {"{{\ta\n~\r\nTrue ~ False~None }}", "xTrueFalseNone"},
        {"{{ none or 'b' }}{{ a or 'b' }}{{ a and 'b' }}{{ none and 'b' }}{{ not not a }}{{ 'q' in missing }}",
         "bxbNoneTrueFalse"},
        {"{{ -n % 2 }} {{ 7 % 4 }} {{ \"a\\tb\\rc\\\"d\\\\e\" }}{{ 'a' + 'b' }}{{ [] | length }}{{ [1, 2,] | length "
         "}}{{ namespace(a=1, b='c').b }}",
         "1 3 a\tb\rc\"d\\eab02c"},
    };
    for (const auto& [text, made] : table) {
        INFO(text);
        CHECK(Jinja(text).render(variables.dump()) == made);
    }
}

TEST_CASE("jinja: what is broken or not known is refused", "[formats]") {
    const std::pair<std::string, std::string> table[] = {
        {"{{ a", "{{ without its end"},
        {"{% if a %}", "a statement without its end"},
        {"{% endif %}", "its statement endif is not known"},
        {"{{ a b }}", "it has 'b' where an end is expected"},
        {"{{ (a ] }}", "where ')' is expected"},
        {"{% for i of a %}{% endfor %}", "where 'in' is expected"},
        {"{{ 'a }}", "without"},
        {"{{ a.b.c }}", "'c' of what is not defined"},
        {"{{ f(1) }}", "it calls what is no function"},
        {"{{ a.join(1) }}", "its method join is not known"},
        {"{{ a is strange }}", "its test 'strange' is not known"},
        {"{{ " + std::string(200, '(') + "1" + std::string(200, ')') + " }}", "nested more than 100 deep"},
        {"{% set x.y = 1 %}", "which is no namespace"},
        {"{{ 1x }}", "its number 1x is not known"},
        {"{{ '%8-5d' | format(1) }}", "%8-5d is not known"},
        {"{{ '%.2.3f' | format(1) }}", "%.2.3f is not known"},
        {"{{ '%5' | format(1) }}", "%5"},
        {"{{ '%w' | format(1) }}", "%w is not known"},
        {"{{ '%99999d' | format(1) }}", "is not known"},
        {"{{ '%d' | format(1e300) }}", "%d of 1e+300 is not known"},
        {"{{ 'a }}", "a {{ without its end"},
        {"{% set y = 'a\\%}", "a {% without its end"},
        {"{% elif a %}", "its statement elif is not known"},
        {"{{ [1, 2) }}", "where ']' is expected"},
        {"{{ namespace(a=1] }}", "where ')' is expected"},
        {"{{ a[1:2:3] }}", "slices of what is no list or text"},
        {"{{ 1 < 'a' }}", "neither two numbers nor two texts"},
        {"{{ a >= 1 }}", "neither two numbers nor two texts"},
        {"{{ 'a' + 1 }}", "its + wants two numbers or two texts"},
        {"{{ 1 - 'a' }}", "its - wants two numbers"},
        {"{{ 1 % 0 }}", "its % wants other numbers"},
        {"{{ 1 % 'a' }}", "its % wants two numbers"},
        {"{{ -'a' }}", "its - wants two numbers"},
        {"{{ 1 not 2 }}", "where 'in' is expected"},
        {"{{ '\xff'.split() }}", "it is not UTF-8"},
        {"{{ a.strip() }}", "its method strip is not known"},
        {"{{ 'a'.split('') }}", "split('') is not known"},
        {"{{ 'a'.startswith(1) }}", "startswith wants a text"},
        {"{{ 'a'.get() }}", "its method get is not known"},
        {"{{ a.get(1, 2, 3) }}", "get with 3 arguments is not known"},
        {"{{ raise_exception('no system message') }}", "no system message"},
        {"{{ f is callable and f() }}{{ (1)() }}", "it calls what is no function"},
        {"{% set s = 1 %}{% set s.a = 1 %}", "it sets a of s, which is no namespace"},
    };
    for (const auto& [text, message] : table) {
        INFO(text);
        CHECK_THROWS_WITH(Jinja(text).render(R"({"a": {}})"), ContainsSubstring(message));
    }
    std::string nested = "1";
    for (int i = 0; i < 200; ++i) nested = "{% if true %}" + nested + "{% endif %}";
    CHECK_THROWS_WITH(Jinja(nested), ContainsSubstring("nested more than 100 deep"));
}

TEST_CASE("jinja: what jinja2 renders, and what it refuses", "[formats]") {
    const ordered_json r = ordered_json::parse(formats::read_file(testing::tests_path("reference/jinja.json")));
    REQUIRE(r["made"].size() > 100);
    for (const ordered_json& made : r["made"]) {
        INFO(made[0]);
        const std::string text = made[0].get<std::string>();
        if (made[1].is_null())
            CHECK_THROWS_AS(Jinja(text).render(r["variables"].dump()), BadInput);
        else
            CHECK(Jinja(text).render(r["variables"].dump()) == made[1].get<std::string>());
    }
}

namespace {

// What a template makes of x, with (brackets) around what is of x.
std::string with_spans(const std::string& text, const std::string& x) {
    formats::jinja::Run run({});
    run.set("x", run.text(formats::jinja::Text(x, 5)));
    const formats::jinja::Text made = Jinja(text).render(run);
    std::string shown;
    for (std::size_t i = 0; i <= made.bytes.size(); ++i) {
        const auto inside = [&](std::size_t at) {
            return std::any_of(made.spans.begin(), made.spans.end(),
                               [&](const auto& s) { return s.source == 5 && s.begin <= at && at < s.end; });
        };
        if (i > 0 && inside(i - 1) && !inside(i)) shown += ')';
        if (inside(i) && (i == 0 || !inside(i - 1))) shown += '(';
        if (i < made.bytes.size()) shown += made.bytes[i];
    }
    return shown;
}

}  // namespace

TEST_CASE("jinja: the bytes of a text keep their source", "[formats]") {
    const std::pair<std::string, std::string> table[] = {
        {"a{{ x }}b", "a(<X y>)b"},
        {"{{ '[' + x + ']' ~ 1 }}", "[(<X y>)]1"},
        {"{{ ('  ' + x + ' ') | trim }}{{ x.strip('<>') }}", "(<X y>X y)"},
        {"{{ (' -' + x)[1:4] }}{{ x[0] }}{{ x[::-1] }}", "-(<X<>y X<)"},
        {"{{ ('a<' + x).split('<') }}", "['a', '', '(X y>)']"},
        {"{{ x.split(' ')[1] }}{{ (x + '|b').partition('|')[2] }}", "(y>)b"},
        {"{{ x | replace('X', 'zz') }}{{ 'abc'.replace('b', x) }}", "(<)zz( y>)a(<X y>)c"},
        {"{{ ('q' + x) | upper }}{{ x | lower | capitalize }}{{ ('a' + x) | title }}", "Q(<X Y><x y>)A(<X Y>)"},
        {"{{ [x, 1] }}{{ {x: 'k'} | tojson }}", "['(<X y>)', 1]{\"(<X y>)\": \"k\"}"},
        {"{{ ['a', x] | join('-') }}{{ '%s;%5s' | format(x, 'a') }}", "a-(<X y><X y>);    a"},
        {"{{ '{}.'.format(x) }}{{ x.center(9, '.') }}{{ ('a\n' + x) | indent(1) }}", "(<X y>)...(<X y>)..a\n (<X y>)"},
        {"{{ ('a' + x) | e }}{{ x * 2 }}{{ x | first }}{{ x | list | last }}", "a(&lt;X y&gt;<X y><X y><>)"},
        {"{% set t %}[{{ x }}]{% endset %}{{ t }}{% filter upper %}a{{ x }}{% endfilter %}", "[(<X y>)]A(<X Y>)"},
        {"{% macro m(y) %}<{{ y }}>{% endmacro %}{{ m(x) + m('a') }}", "<(<X y>)><a>"},
        {"{% for c in x %}{{ c }},{% endfor %}{{ {'k': x}.k }}{{ namespace(k=x).k }}",
         "(<),(X),( ),(y),(>),(<X y><X y>)"},
        {"{{ x | length }}{{ x == '<X y>' }}{{ 'X' in x }}{{ x if x.startswith('<') else 'no' }}", "5TrueTrue(<X y>)"},
    };
    for (const auto& [text, made] : table) {
        INFO(text);
        const std::string all = with_spans(text, "<X y>");
        CHECK(all == made);
    }
}

TEST_CASE("jinja: a template is bounded in steps, bytes and depth", "[formats]") {
    std::string filters = "{{ 'a'";
    for (int i = 0; i < 50'000; ++i) filters += "|trim";
    filters += " }}";
    const std::string ten = "[1,2,3,4,5,6,7,8,9,0]";
    std::string loops, ends;
    for (int i = 0; i < 9; ++i) loops += "{% for x" + std::to_string(i) + " in " + ten + " %}", ends += "{% endfor %}";
    const auto repeated = [&](const std::string& body, const std::string& first = "") {
        return first + "{% set r = range(10000) %}{% for a in r %}{% for b in r %}" + body + "{% endfor %}{% endfor %}";
    };
    const std::pair<std::string, std::string> table[] = {
        {filters, "nested more than 400 deep"},
        {loops + ends, "it makes more than 8 MB"},
        {repeated("{% set ns.l = ns.l + ns.l %}", "{% set ns = namespace(l=[1]) %}"), "more than 8 MB"},
        {repeated("{% set ns.l = ns.l ~ ns.l %}", "{% set ns = namespace(l='a') %}"), "more than 8 MB"},
        {repeated("{% set ns.l = [ns.l] %}", "{% set ns = namespace(l=1) %}"), "nested more than 100 deep"},
        {repeated("{% set ns.l = [ns.l, ns.l] %}{{ ns.l == ns.l }}", "{% set ns = namespace(l=1) %}"),
         "it takes more than"},
        {repeated("{% set ns.l = [ns.l, ns.l] %}{{ ns.l | tojson }}", "{% set ns = namespace(l=1) %}"),
         "more than 8 MB"},
        {repeated("{{ 'abcdefghijklmnopqrstuvwxyz' }}"), "it makes more than 8 MB"},
        {repeated("{{ x.find('z') }}", "{% set x = 'a' * 1000000 %}"), "it takes more than"},
        {repeated("{{ x | length }}", "{% set x = 'a' * 1000000 %}"), "it takes more than"},
        {repeated("{{ x | trim }}", "{% set x = ' ' * 1000000 %}"), "it takes more than"},
        {repeated("{{ x in y }}", "{% set y = 'a' * 1000000 %}{% set x = 'a' * 500000 ~ 'b' %}"), "it takes more than"},
        {"{{ ('a' * 1000000).strip('a' * 10000) }}", "strip of more than 1000 characters"},
        {"{{ ('a' * 1000000).rfind('a' * 10000) }}", "rfind of more than 1000 bytes"},
        {"{% macro m() %}{% endmacro %}" + repeated("{% if m(*r) %}{% endif %}"), "m with 10000 arguments"},
        {"{{ 'a' * 999999999999 }}", "it takes more than 4000000 steps"},
        {"{{ [1] * 999999999999 }}", "it makes more than 8 MB"},
        {"{{ 'a'.center(999999999999) }}", "it makes more than 8 MB"},
        {"{{ ('a' * 100000).replace('a', 'b' * 100000) }}", "it makes more than 8 MB"},
        {"{{ ('a' * 100000).split('a') | join('b' * 100000) }}", "it makes more than 8 MB"},
        {"{{ '%999999999d' | format(1) }}", "format: %999999999d is not known"},
        {repeated("{% if a == b %}{% endif %}"), "it takes more than 4000000 steps"},
        {"{{ [1] | tojson(indent=999999999) | length }}{{ 'a\na' | indent(99999999) }}", "indent of more than 1000"},
        {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nested more than 400 deep"},
        {"{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}", "nested more than 400 deep"},
        {"{{ " + std::string(100'000, '-') + "1 }}", "nested more than 100 deep"},
        {"{{ " + std::string(100'000, '[') + "1 }}", "a {{ without its end"},
        {"{{ 9223372036854775807 + 1 }}", "its + wants other numbers"},
    };
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& [text, message] : table) {
        INFO(text.substr(0, 200));
        CHECK_THROWS_WITH(Jinja(text).render("{}"), ContainsSubstring(message));
    }
    if (!testing::kSanitized) CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
    int asked = 0;
    const formats::jinja::Limits limits{.stop = [&] { return ++asked > 3; }};
    CHECK_THROWS_WITH(Jinja(loops + ends).render("{}", limits), ContainsSubstring("nobody waits"));
    CHECK(asked == 4);
    CHECK(Jinja("{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns.a | length }}").render("{}") == "1");
}
