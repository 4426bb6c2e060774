// Jinja against Python's jinja2 (with trim_blocks and lstrip_blocks).
#include "formats/jinja/template.h"

using Jinja = formats::jinja::Template;

static std::string rendered(const std::string& text, const json& variables, const formats::jinja::Limits& limits = {}) {
    formats::jinja::Run run(limits);
    run.set_all(from_json(run, variables, [](std::string_view) { return -1; }));
    return Jinja(text).render(run).bytes;
}

TEST_CASE("jinja: what jinja2 renders and refuses, and broken or unknown syntax", "[formats]") {
    std::istringstream table(  // the refused ones, each before a ~
        R"({{ a~{% if a %}~{% endif %}~{{ a b }}~{{ (a ] }}~{% for i of a %}{% endfor %}~{{ a.b.c }}~{{ f(1) }}~)"
        R"({{ a.join(1) }}~{{ a is strange }}~{% set x.y = 1 %}~{{ 1x }}~{{ '%5d' | format(1) }}~)"
        R"({{ '%' | format(1) }}~{{ '{0}'.format(1) }}~{{ '%d' | format(1.5) }}~{{ '\101' }}~{{ 'a }}~{% elif a %}~{{ [1, 2) }}~{{ namespace(a=1] }}~{{ a[1:2:3] }}~)"
        R"({{ 1 < 'a' }}~{{ a >= 1 }}~{{ 'a' + 1 }}~{{ 1 - 'a' }}~{{ 1 % 0 }}~{{ 1 % 'a' }}~{{ -'a' }}~)"
        R"({{ 1 not 2 }}~{{ a.strip() }}~{{ 'a'.split('') }}~{{ 'a'.startswith(1) }}~{{ 'a'.get() }}~)"
        R"({{ a.get(1, 2, 3) }}~{{ raise_exception('no system message') }}~{{ (1)() }}~)"
        R"({% set s = 1 %}{% set s.a = 1 %}~)"
        "{{ '\xff'.split() }}~{% set y = 'a\\%}~");
    for (std::string text; std::getline(table, text, '~');)
        WITH_INFO(text, CHECK_THROWS_AS(rendered(text, {{"a", json::object()}}), BadInput));
    std::string nested = "1";
    for (int i = 0; i < 200; ++i) nested = "{% if true %}" + nested + "{% endif %}";
    CHECK_THROWS_WITH(Jinja(nested), contains("nested more than 100 deep"));
    const json r = json::parse(formats::read_file(testing::tests_path("reference/jinja.json")));
    for (const json& group : r["groups"]) {
        REQUIRE(group["made"].size() > 40);
        for (const json& made : group["made"]) {
            INFO(made[0]);
            const std::string text = made[0].get<std::string>();
            if (made[1].is_null())
                CHECK_THROWS_AS(rendered(text, group["variables"]), BadInput);
            else
                CHECK(rendered(text, group["variables"]) == made[1].get<std::string>());
        }
    }
}

// Renders a template with x, and puts (brackets) around the parts that come from x.
static std::string with_spans(const std::string& text, const std::string& x) {
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

TEST_CASE("jinja: the bytes of a text keep their source", "[formats]") {
    const std::pair<std::string, std::string> table[] = {
        {"a{{ x }}b", "a(<X y>)b"},
        {"{{ '[' + x + ']' ~ 1 }}", "[(<X y>)]1"},
        {"{{ ('  ' + x + ' ') | trim }}{{ x.strip('<>') }}", "(<X y>X y)"},
        {"{{ (' -' + x)[1:4] }}{{ x[0] }}{{ x[::-1] }}", "-(<X<>y X<)"},
        {"{{ ('a<' + x).split('<') }}", "['a', '', '(X y>)']"},
        {"{{ x.split(' ')[1] }}{{ (x + '|b').split('|', 1)[1] }}", "(y>)b"},
        {"{{ x | replace('X', 'zz') }}{{ 'abc'.replace('b', x) }}", "(<)zz( y>)a(<X y>)c"},
        {"{{ ('q' + x) | upper }}{{ x | lower | capitalize }}{{ ('a' + x).title() }}", "Q(<X Y><x y>)A(<X Y>)"},
        {"{{ [x, 1] }}{{ {x: 'k'} | tojson }}", "['(<X y>)', 1]{\"(<X y>)\": \"k\"}"},
        {"{{ ['a', x] | join('-') }}{{ '%s;%s' | format(x, 'a') }}", "a-(<X y><X y>);a"},
        {"{{ '{}.'.format(x) }}{{ ('a\n' + x) | indent(1) }}", "(<X y>).a\n (<X y>)"},
        {"{{ x * 2 }}{{ x | first }}{{ x | list | last }}", "(<X y><X y><>)"},
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

TEST_CASE("jinja: a template is bounded in steps, bytes and depth", "[formats][unsanitized]") {
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
        {repeated("{{ x | length }}", "{% set x = 'a' * 1000000 %}"), "it takes more than"},
        {repeated("{{ x | trim }}", "{% set x = ' ' * 1000000 %}"), "it takes more than"},
        {repeated("{{ x in y }}", "{% set y = 'a' * 1000000 %}{% set x = 'a' * 500000 ~ 'b' %}"), "it takes more than"},
        {"{{ ('a' * 1000000).strip('a' * 10000) }}", "strip of more than 1000 characters"},
        {"{{ 'a' * 999999999999 }}", "it takes more than 4000000 steps"},
        {"{{ ('a' * 100000).replace('a', 'b' * 100000) }}", "it makes more than 8 MB"},
        {"{{ ('a' * 100000).split('a') | join('b' * 100000) }}", "it makes more than 8 MB"},
        {repeated("{% if a == b %}{% endif %}"), "it takes more than 4000000 steps"},
        {"{{ [1] | tojson(indent=999999999) | length }}{{ 'a\na' | indent(99999999) }}", "indent of more than 1000"},
        {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nested more than 400 deep"},
        {"{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}", "nested more than 400 deep"},
        {"{{ " + std::string(100'000, '-') + "1 }}", "nested more than 100 deep"},
        {"{{ " + std::string(100'000, '[') + "1 }}", "a {{ without its end"},
        {"{{ 9223372036854775807 + 1 }}", "its + wants other numbers"},
    };
    for (const auto& [text, message] : table)
        WITH_INFO(text.substr(0, 200), CHECK_THROWS_WITH(rendered(text, json::object()), contains(message)));
    int asked = 0;
    const formats::jinja::Limits limits{.stop = [&] { return ++asked > 3; }};
    CHECK_THROWS_WITH(rendered(loops + ends, json::object(), limits), contains("the request was cancelled"));
    CHECK(asked == 4);
    CHECK(rendered("{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns.a | length }}", json::object()) == "1");
}
