"""Makes jinja.json: templates of the kinds that chat templates are made of, and what Python's jinja2 renders for them, set up as
transformers sets it up for chat templates; null where it refuses them.

    python tests/reference/make_jinja_reference.py        (jinja2)
"""
import json
import pathlib
from datetime import datetime

import jinja2
import jinja2.ext
import jinja2.sandbox


class Generation(jinja2.ext.Extension):
    """transformers' {% generation %}, without what it keeps track of."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body, lineno=line)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


env = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                   extensions=[Generation, jinja2.ext.loopcontrols])
env.filters["tojson"] = tojson
env.globals.update(raise_exception=raise_exception, strftime_now=lambda form: datetime.now().strftime(form))

CALL = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Köln", "days": [1, 2.5, None, True], "none": {}}}}
VARIABLES = {
    "messages": [{"role": "system", "content": " Be brief. "}, {"role": "user", "content": "Hi <|im_end|>\n  there, 'you' \"two\""},
                 {"role": "assistant", "content": "<think>\nhm\n</think>\n\nYes", "tool_calls": [CALL]},
                 {"role": "tool", "name": "weather", "content": None}, {"role": "user", "content": "ﬁne, straße é 日本"}],
    "list": ["p", "q", "r"], "numbers": [3, 1, 2, 10, 1], "none": None, "yes": True, "n": 7, "half": 2.5, "text": "a,b,,c",
    "map": {"b": 1, "a": [1, "x"], "C": None}, "people": [{"name": "Rosa", "age": 9, "at": {"x": 1}}, {"name": "otto", "age": 7},
                                                        {"name": "Ann", "age": 9, "at": {"x": 0}}],
}
LINES = " one\n\n two\r\nthree\n"
TEMPLATES = [
    # statements
    "{% for m in messages if m.role != 'tool' %}{{ loop.index }}/{{ loop.length }}{{ m.role }}{% if not loop.last %},{% endif %}{% endfor %}",
    "{% for x in [] %}a{% else %}none{% endfor %}{% for x in list if x == 'z' %}a{% else %}no z{% endfor %}{% for x in list %}{{ x }}{% else %}b{% endfor %}",
    "{% for x in list %}{% if x == 'q' %}{% continue %}{% endif %}{{ x }}{% endfor %}|{% for x in list %}{% if x == 'q' %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for a in list %}{% for b in numbers %}{% if b == 2 %}{% break %}{% endif %}{{ a }}{{ b }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for x in missing %}a{% else %}none{% endfor %}", "{% for x in none %}a{% endfor %}", "{% for x in 3 %}a{% endfor %}",
    "{% for c in 'aé日' %}{{ c }}-{% endfor %}{% for k in map %}{{ k }}{% endfor %}{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for a, (b, c) in [[1, [2, 3]], [4, [5, 6]]] %}{{ a + b * c }},{% endfor %}", "{% for a, b in [[1, 2, 3]] %}{% endfor %}",
    "{% for x in list %}{{ loop.revindex0 }}{% endfor %}",
    "{% set a, b = 1, 'x' %}{{ a }}{{ b }}{% set c = (1, 2) %}{{ c[1] }}{{ c }}", "{% set t %}a{{ n }}{% for x in list %}{{ x }}{% endfor %}{% endset %}{{ t }}{{ t | length }}",
    "{% set t | upper | trim %} ab {% endset %}[{{ t }}]", "{% filter upper %}a{{ list[0] }}{% endfilter %}{% filter replace('a', 'b') | trim %} aa {% endfilter %}|",
    "{% macro greet(name, mark='!', n=1) %}Hi {{ name }}{{ mark * n }}{% endmacro %}{{ greet('a') }}{{ greet('b', n=3) }}{{ greet('c', '?') }}{{ greet() }}",
    "{% macro walk(x) %}{% if x is mapping %}{% for k, v in x.items() %}{{ k }}({{ walk(v) }}){% endfor %}{% else %}{{ x }}{% endif %}{% endmacro %}{{ walk({'a': {'b': 1}, 'c': 2}) }}",
    "{% set x = 1 %}{% macro see() %}{{ x }}{% set x = 5 %}{{ x }}{% endmacro %}{% set x = 2 %}{{ see() }}{{ x }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ (m('a') + 'b') | upper }}",
    "{% set ns = namespace(found=false, n=0) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.found = true %}{% set ns.n = ns.n + loop.index %}{% endif %}{% endfor %}{{ ns.found }}{{ ns.n }}{{ ns.missing is defined }}",
    "{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{{ x }}{% for y in list %}{% set x = y %}{% endfor %}{{ x }}",
    "{% generation %}{{ n }}{% endgeneration %}{%- generation -%} b {%- endgeneration %}", "{% if n > 5 and n < 8 %}a{% elif n %}b{% else %}c{% endif %}",
    "{% break %}", "{% macro a %}{% endmacro %}", "{% set x.y = 1 %}", "{% for %}{% endfor %}", "{{ raise_exception('no ' ~ n) }}",
    "{% if false %}{{ raise_exception('never') }}{% endif %}{% if strftime_now is defined %}{{ strftime_now('%%') | length }}{% endif %}",
    # white space
    "  {%- for x in list -%}\n {{ x }} \n{%- endfor %}  \n  {% if yes %}\n    b\n  {% endif %}\nc\n", "a\r\n{% if yes %}\r\nb\r{% endif %}c\r\n", "{{ '}}' }}{{ {'a': {'b': '%}'}}['a']['b'] }}{# a }} b #}c",
    "x {%+ if yes %}a{%+ endif +%}\n b", "\n{{ n }}\n\n", "{{ n -}} \n {{- n }}  {#- c -#}  d",
    # values and operators
    "{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 4 / 2 }} {{ 2 - 3 - 4 }} {{ 1 + 2 * 3 }}",
    "{{ 0.1 + 0.2 }} {{ 1e16 }} {{ 1e15 }} {{ 0.0001 }} {{ 2.5 / 1 }} {{ 1e300 * 1e10 }} {{ 100.0 }} {{ 1_000 }} {{ 123456.789e3 }}",
    "{{ 1 < 2 < 3 }}{{ 3 > 2 > 2 }}{{ 1 == 1.0 }}{{ true == 1 }}{{ 'a' == 1 }}{{ [1, 2] == [1, 2.0] }}{{ (1, 2) == [1, 2] }}{{ {'a': 1} == {'a': 1} }}{{ none == false }}{{ missing == none }}",
    "{{ 'a' in 'cat' }}{{ 'x' not in list }}{{ 1 in [1.0] }}{{ 'a' in map }}{{ 'p' in list and not 'z' in list }}{{ 2 in (1, 2) }}{{ 'a' in missing }}", "{{ 1 in 'a1' }}", "{{ 'a' + 1 }}", "{{ 'a' < 1 }}", "{{ missing.x }}",
    "{{ missing }}|{{ missing | upper }}|{{ none.x }}|{{ n.x }}|{{ list.x }}|{{ map.zz }}|{{ missing ~ 1 }}", "{{ missing + 'a' }}", "{{ 1 / 0 }}", "{{ 1 % 0 }}", "{{ none + 1 }}",
    "{{ list }} {{ map }} {{ people[1] }} {{ (1,) }} {{ () }} {{ [] }} {{ {} }} {{ [none, true, 1.0, 'é\\n\\'', \"a'b\", 'a\"b'] }} {{ ['\\x00\\x7f\\u200b\\u00a0\\U0001F600'] }}",
    "{{ [1, 2] + [3] }}{{ (1, 2) + (3,) }}{{ 'ab' * 2 }}", "{{ [1] + (2,) }}", "{{ true + true }}{{ -true }}{{ +n }}", "{{ 'a' if missing }}{{ 'b' if n else 'c' }}{{ 'x' if false else 'y' if true else 'z' }}",
    "{{ n if n is number and n is not string else 0 }}{{ not n is none }}{{ n is defined and missing is not defined }}", "{{ -n | int }}{{ 1 + -2 | int }}{{ -1.5 | int }}{{ 'a' 'b' | upper }}{{ 'a' ~ 'b' | upper }}",
    "{{ list[1:] }}{{ list[::-1] }}{{ list[-2:] }}{{ 'héllo'[1:3] }}{{ 'héllo'[::-1] }}{{ 'abc'[-1] }}{{ 'abc'[5] is defined }}{{ text[:-1] }}{{ list[::2] }}{{ 'abcdef'[1:5:2] }}{{ 'abcdef'[-1:-5:-2] }}{{ list[5:] }}{{ list[0:none] }}",
    "{{ 'a\\tb\\x41\\u00e9\\d\\\\' }}{{ \"it's\" }}", "{{ dict(a=1, b='x') }}{{ {'a': 1, 'a': 2} }}{{ {1: 'x', none: 'y', 2.0: 'z'}[2] }}",
    "{{ range(5) | list }}{{ range(2, 8, 3) | list }}{{ range(3, 0, -1) | list }}{{ range(4)[2] }}{{ range(4) | length }}{{ 2 in range(3) }}{% for i in range(messages | length) %}{{ i }}{% endfor %}", "{{ range(1000000) | length }}",
    # filters
    "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ messages | rejectattr('role', 'in', ['user', 'tool']) | map(attribute='role') | join(',') }}{{ people | selectattr('at') | map(attribute='at.x') | list }}{{ people | selectattr('age', 'gt', 8) | map(attribute='name') | list }}",
    "{{ messages | selectattr('tool_calls', 'defined') | map(attribute='content') | list | tojson }}{{ messages | selectattr('content', 'none') | list | length }}", "{{ (messages | selectattr('role', 'equalto', 'nobody')) is iterable }}{% if messages | selectattr('role', 'equalto', 'nobody') %}generator{% endif %}",
    "{{ numbers | select('odd') | list }}{{ numbers | reject('odd') | list }}{{ numbers | select | list }}{{ ['a', none, 'b'] | select('string') | join }}{{ none | select('odd') | list }}", "{{ messages | selectattr('role', 'equalto', 'user') | length }}",
    "{{ list | map('upper') | join('-') }}{{ ['1', '2'] | map('int') | list }}{{ people | map(attribute='name') | map('lower') | list }}", "{{ list | map | list }}",
    "{{ numbers | sort }}{{ numbers | sort(reverse=true) }}{{ ['b', 'A', 'c', 'a'] | sort }}{{ people | sort(attribute='age') | map(attribute='name') | list }}{{ [1, 'a'] | length }}", "{{ [1, 'a'] | sort }}",
    "{{ map | dictsort }}{{ map | items | list }}{{ map | list }}{{ map | length }}{{ map | first }}", "{{ ['a', 'A', 'b', 'a'] | unique | list }}{{ numbers | unique | list }}{{ numbers | max }}{{ numbers | min }}{{ [] | max is defined }}{{ people | max(attribute='age') }}",
    "{{ list | first }}{{ list | last }}{{ [] | first is defined }}{{ 'abc' | first }}{{ 'abc' | list }}{{ list | join }}{{ list | join(', ') }}{{ people | join('+', attribute='name') }}",
    "{{ missing | default('d') }}{{ none | default('d') }}{{ none | default('d', true) }}{{ '' | d('e', boolean=true) }}{{ missing | default }}{{ 0 | default(3) }}", "{{ \"it's o'neil (x)\".title() }}{{ 'hELLO wORLD' | capitalize }}{{ 'hELLO'.capitalize() }}",
    "{{ 'straße ﬁne ŉ İ ΐ' | upper }}{{ 'ÄÖÜ İ' | lower }}", "{{ '  a ' | trim }}|{{ 'xxaxx' | trim('x') }}|{{ 'xyaxy'.strip('yx') }}|{{ 'xxa'.lstrip('x') }}|{{ 'axx'.rstrip('x') }}|{{ '\\n a\\n'.lstrip('\\n') }}|{{ n | trim }}",
    "{{ 'aXbXc' | replace('X', '-') }}{{ 'aaa' | replace('a', 'b', 2) }}{{ 'aaa'.replace('a', 'b', 1) }}{{ 'aa'.replace('a', 'aa') }}", "{{ lines | indent }}|{{ lines | indent(2, true) }}|{{ lines | indent(width=1, first=false, blank=true) }}|{{ '' | indent(2, true) }}|",
    "{{ '42' | int }}{{ '42.9' | int }}{{ 'x' | int }}{{ 3.9 | int }}{{ -3.9 | int }}{{ true | int }}{{ none | int }}{{ ' 7 ' | int }}{{ '+7' | int }}",
    "{{ '%s-%s' | format('a', 1) }}{{ '%d%%' | format(3) }}{{ '%d' | format(true) }}", "{{ '%s %d' | format('a', 'b') }}",
    "{{ '%s' | format }}", "{{ '%s' | format(1, 2) }}", "{{ '{} {}'.format('a', 1) }}{{ '{{}}{}'.format(3, 4) }}", "{{ '{}'.format() }}", "{{ 'a' | string }}{{ 1 | string + '2' }}{{ list | string }}",
    "{{ map | tojson }}{{ messages[2] | tojson }}{{ map | tojson(indent=2) }}{{ [] | tojson(indent=1) }}{{ {'a': {}} | tojson(indent=2) }}{{ '\"\\\\\\n\\u0001\\u007fé\\u2028</x>' | tojson }}{{ 'é😀\\u007f' | tojson(ensure_ascii=true) }}{{ map | tojson(separators=(',', ':')) }}{{ (1, 2) | tojson }}{{ {1: 2, none: 3, true: 4, 1.5: 5} | tojson }}{{ [1e16, 0.1, -1.0] | tojson }}",
    "{{ missing | tojson }}", "{{ list | length + 1 }}{{ 'é' | length }}{{ missing | length }}", "{{ none | length }}", "{{ 'a' | shout }}", "{{ n is odd }}{{ n is even }}{{ 'a' is in 'abc' }}{{ n is in [7] }}{{ n is eq 7 }}{{ n is ge(8) }}{{ 'a' is lt 'b' }}{{ n is integer }}{{ half is float }}{{ yes is integer }}{{ yes is number }}",
    "{{ list is sequence }}{{ map is sequence }}{{ map is mapping }}{{ 'a' is iterable }}{{ missing is iterable }}{{ n is iterable }}{{ none is none }}{{ yes is boolean }}{{ false is false }}{{ 0 is false }}{{ map.items() is sequence }}", "{{ n is strange }}", "{{ n is not odd or false }}{{ 'x' if n is odd else 'y' }}",
    # methods
    "{{ text.split(',') }}{{ text.split(',', 1) }}{{ ' a  b\\nc '.split() }}{{ ' a  b c '.split(none, 1) }}{{ ''.split(',') }}{{ ''.split() }}{{ lines.splitlines() }}{{ 'a'.split('abc') }}", "{{ text.split('') }}",
    "{{ 'abc'.startswith('ab') }}{{ 'abc'.startswith(('x', 'a')) }}{{ 'abc'.endswith('c') }}{{ 'abc'.endswith(('x', 'y')) }}{{ ''.startswith('') }}{{ '-'.join(list) }}{{ 'a'.upper().lower() }}", "{{ ','.join([1]) }}",
    "{{ map.get('a') }}{{ map.get('z') }}{{ map.get('z', 3) }}{{ map.keys() | list }}{{ map.values() | list }}{{ map.items() | length }}{{ map['a'][1] }}{{ map.a[0] }}", "{{ list.append('x') }}", "{{ map.update({'a': 1}) }}", "{{ 'a'.nothing() }}", "{{ n() }}",
    "{{ map.items()[0] is defined }}{{ list.0 }}{{ list['1'] is defined }}{{ messages[0]['content'] | trim }}{{ messages[-1].content.split(' ')[-1] }}",
    # what published templates do
    "{%- set content = messages[2].content -%}{%- if '</think>' in content -%}{%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') -%}{%- set content = content.split('</think>')[-1].lstrip('\\n') -%}[{{ thought }}|{{ content }}]{%- endif -%}",
    "{% for m in messages[::-1] %}{% set i = (messages | length - 1) - loop.index0 %}{{ i }}{{ m.role }}{{ m.content.startswith('<') if m.content is string }}{% endfor %}",
    "{% set loop_messages = messages[1:] if messages[0]['role'] == 'system' else messages %}{% for m in loop_messages | rejectattr('role', 'equalto', 'tool') %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}!{% endif %}{{ m['role'] ~ loop.index }}{% endfor %}",
    "{% for c in messages[2].tool_calls %}{% if c.function is defined %}{% set c = c.function %}{% endif %}{{ '{\"name\": \"' ~ c.name ~ '\", \"arguments\": ' }}{{ c.arguments | tojson if c.arguments is not string else c.arguments }}}{% endfor %}",
    "{% for m in messages %}{% if loop.previtem is defined and loop.previtem.role == m.role %}same{% endif %}{% if loop.nextitem %}{{ loop.nextitem.role }}{% else %}end{% endif %}{% endfor %}", "{{ messages[0].content.replace('/no_think', '').rstrip() }}{{ messages | map(attribute='role') | unique | list | length }}",
]
# Of the variables SMALL: white space around tags, expressions, filters, methods, tests and slices.
SMALL = {"a": "x", "n": 3, "none": None, "list": ["p", "q", "r"], "yes": True, "zero": 0, "half": 0.5, "empty": [], "long": "Größe Ab",
         "o": {"k": " v ", "flag": True}}
SMALL_TEMPLATES = [
    'plain { text } %\n', '{{ a }}-{{ a ~ n ~ none }}-{{ missing }}', "{{ 'a\\n\"b\\'' + \"c\" 'd' }}",
    "{{ o.k }}|{{ o['k'].strip() }}|{{ o.k | trim | upper }}|{{ o.missing is defined }}",
    '{% for i in list %}{{ loop.index }}{{ loop.index0 }}{{ i }}{% if not loop.last %},{% endif %}{% endfor %}',
    '{% for i in list[1:] %}{{ i }}{% endfor %}{{ list[-1] }}{{ list[::-1][0] }}{{ list | length }}', '{% for i in list[:-1] %}{{ i }}{% endfor %}',
    "{% if n == 3 and a != 'x' %}1{% elif n >= 3 or missing.x %}2{% else %}3{% endif %}", "{{ 'yes' if n > 2 else 'no' }}{{ 'yes' if not o.flag }}",
    '{{ n + 2 - 1 }} {{ -n }} {{ n % 2 == 1 }} {{ (n + 1) % 2 == 0 }}', "{% set y = a + '!' %}{% for i in list %}{% set y = i %}{% endfor %}{{ y }}",
    "{% set s = namespace(y='a') %}{% for i in list %}{% set s.y = s.y + i %}{% endfor %}{{ s.y }}",
    "{{ 'a' in 'cat' }} {{ 'z' not in list }} {{ 'k' in o }} {{ a is string }} {{ none is none }}",
    "{{ a.startswith('x') }}{{ 'a,b'.split(',')[1] }}{{ missing | default('d') }}{{ o.get('z', 'w') }}", '  {% if true %}\n  a\n  {% endif %}\n b',
    '  {{ a }}\n  {%- if true %}\n b {%- endif -%} \n c', 'a {# a comment {{ #}\n b {{- a -}}  c', '{{ a }}  {% if true %}1{% endif %}',
    '  {%+ if true %}1{% endif %}', '{% if true +%}\n  {% if true %}b{% endif %}{% endif %}x{# c +#}\n{#-#}  y', '{% generation %}{{ a }}{% endgeneration %}',
    "{{ '%}' }}{% if '%}' == \"%}\" %}1{% endif %}", "{{ (a ~ 'b') | trim }}{{ a ~ 'b ' | trim }}{{ not a == 'y' }}", "{{ '\u2028 é\xa0' | trim }}.",
    "{{ 'AbZ[' | upper }} {{ 'x9'.upper() }} {{ 'AbZ['.lower() }} {{ long | length }} {{ o | length }} {{ list | count }}{{ 'Q' | lower }}",
    "{{ 'äγ𝅗𝅥中' | upper }}{{ 'ÄЖ'.lower() }}", '{{ list | first }}{{ list | last }}{{ empty | first }}{{ (list | list)[0] }}{{ n | string }}{{ a | safe }}',
    "{{ missing | d('e') }}{{ a | default('e') }}{{ missing | default }}",
    "{{ '  a ' | trim }}|{{ '  a '.lstrip() }}|{{ '  a '.rstrip() }}|{{ '  a '.strip() }}|{{ '   '.strip() }}|{{ ''.lstrip() }}{{ ''.rstrip() }}|",
    "{{ a.endswith('x') }}{{ a.endswith('y') }}{{ a.startswith('') }}{{ 'ab'.split('b') | length }}{{ o.get('k') }}{{ o.get('z') }}",
    '{{ a is defined }}{{ missing is undefined }}{{ missing is defined }}{{ n is number }}{{ a is number }}{{ yes is boolean }}{{ a is boolean }}',
    '{{ o is mapping }}{{ list is iterable }}{{ a is sequence }}{{ o is iterable }}{{ n is iterable }}{{ list is mapping }}{{ n is string }}{{ none is not none }}',
    '{{ yes is true }}{{ yes is false }}{{ n is true }}{{ zero is false }}',
    "{% for v in [missing, none, yes, false, 0, 1, half, zero, '', 'a', empty, [0]] %}{{ 'T' if v else 'F' }}{% endfor %}",
    '{{ none }}|{{ yes }}|{{ false }}|{{ half }}|{{ missing }}|{{ n }}',
    "{{ n in [1, 3] }}{{ n in list }}{{ 'p' in list }}{{ '' in a }}{{ 'z' in o }}{{ 'z' not in o }}",
    "{{ list[3] is defined }}{{ list[-3] }}{{ list[-4] is defined }}{{ o[a] is defined }}{{ list['k'] is defined }}{{ n[0] is defined }}{{ o[0] is defined }}",
    '{% for i in list[::-1] %}{{ i }}{% endfor %}|{% for i in list[1::-1] %}{{ i }}{% endfor %}|{% for i in list[:0:-1] %}{{ i }}{% endfor %}|{% for i in list[-9:9] %}{{ i }}{% endfor %}|{% for i in list[9::-1] %}{{ i }}{% endfor %}|{% for i in list[::1] %}{{ i }}{% endfor %}|{% for i in list[:-9:-1] %}{{ i }}{% endfor %}',
    "{{ '\xa0 a\u3000' | trim }}|{{ '\u1680\u2005a\u2029\u202f\u205f\x85\x1c'.strip() }}|{{ '\u200ba‐、'.strip() }}|",
    '{{ loop is defined }}{% for i in list %}{{ loop.first }}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.length }} {% endfor %}',
    '{ a {{ a }} { {# c #}{%- if a -%} b {%- endif %} c {', "x{{- ' y ' -}}  z {%+ if a +%}\n b {% endif +%}\n c",
    "{% set t = 'a' %}{% if false %}{% elif true %}{{ t }}{% else %}n{% endif %}{% if false %}1{% endif %}",
    '{% for i in list %}{{ loop.revindex }}{{ loop.revindex0 }}{% endfor %}',
    "{{ 'a' < 'b' }}{{ 'b' <= 'a' }}{{ 2 > n }}{{ n >= 3 }}{{ n != 3 }}{{ half < n }}{{ [1] == [1] }}{{ n == 'x' }}{{ none == none }}{{ missing == none }}",
    '{{\ta\n~\r\nTrue ~ False~None }}', "{{ none or 'b' }}{{ a or 'b' }}{{ a and 'b' }}{{ none and 'b' }}{{ not not a }}{{ 'q' in missing }}",
    "{{ -n % 2 }} {{ 7 % 4 }} {{ \"a\\tb\\rc\\\"d\\\\e\" }}{{ 'a' + 'b' }}{{ [] | length }}{{ [1, 2,] | length }}{{ namespace(a=1, b='c').b }}",
]


def rendered(template, variables):
    try:
        return env.from_string(template).render(**variables)
    except Exception:
        return None


def made(variables, templates):
    variables = json.loads(json.dumps(variables, sort_keys=True))  # as the tests read them
    return {"variables": variables, "made": [[t, rendered(t, variables)] for t in templates]}


groups = [made({"lines": LINES, **VARIABLES}, TEMPLATES), made(SMALL, SMALL_TEMPLATES)]
(pathlib.Path(__file__).parent / "jinja.json").write_text(json.dumps(
    {"jinja2": jinja2.__version__, "groups": groups}, ensure_ascii=False, indent=0) + "\n")
texts = [text for group in groups for _, text in group["made"]]
print(len(texts), "templates,", texts.count(None), "refused")
