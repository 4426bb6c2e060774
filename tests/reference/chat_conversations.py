"""Chat templates as models publish them, with transformers' marks of what the assistant says, and random conversations with
awkward contents; and what transformers makes of a conversation where contents are never read as special tokens.
"""
import random

CHATML = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}{% generation_if %}{{ message['content'] + "
          "'<|im_end|>' }}{% endgeneration_if %}{{ '\n' }}{% endfor %}{% if add_generation_prompt %}"
          "{{ '<|im_start|>assistant\n' }}{% endif %}")
QWEN = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {{- "# Tools\\n\\n" }}
    {%- for tool in tools %}
        {{- tool | tojson }}
    {%- endfor %}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>system\\nYou are Qwen. You are a helpful assistant.<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role + '\\n' }}
        {%- generation %}{{- message.content + '<|im_end|>' }}{% endgeneration %}
        {{- '\\n' }}
    {%- elif message.role == "tool" %}
        {{- message.content | fromjson }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""
LLAMA2 = ("{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]"
          "['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in "
          "loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles "
          "must alternate user/assistant/user/assistant/...') }}{% endif %}{% if loop.index0 == 0 and system_message != false %}"
          "{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}{% else %}{% set content = "
          "message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + "
          "' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' ' }}{% generation %}{{ content.strip() + ' ' + eos_token }}"
          "{% endgeneration %}{% endif %}{% endfor %}")
LLAMA3 = ("{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + "
          "message['role'] + '<|end_header_id|>\n\n' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}"
          "{{ content }}{% generation_if %}{{ message['content'] | trim + '<|eot_id|>' }}{% endgeneration_if %}{% endfor %}"
          "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}")
ZEPHYR = """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>
' }}{% generation %}{{ message['content'] + eos_token }}{% endgeneration %}

{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""
GEMMA = ("{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}"
         "{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '\n' }}{% generation_if %}{{ message['content'] "
         "| trim + '<end_of_turn>' }}{% endgeneration_if %}{{ '\n' }}{% endfor %}{% if add_generation_prompt %}"
         "{{'<start_of_turn>model\n'}}{% endif %}")
# What Qwen 3 and SmolLM 3 do with contents: thoughts are cut out of the turns before the last question, and a flag of the
# system's message is taken out of it.
THOUGHTS = """{%- set ns = namespace(last=messages | length - 1, looking=true) %}
{%- for m in messages[::-1] %}
    {%- if ns.looking and m.role == "user" and not (m.content.startswith('[') and m.content.endswith(']')) %}
        {%- set ns.looking = false %}
        {%- set ns.last = (messages | length - 1) - loop.index0 %}
    {%- endif %}
{%- endfor %}
{%- for m in messages %}
    {{- '<|im_start|>' + m.role + '\\n' }}
    {%- if m.role == 'assistant' %}
        {%- set content, thought = m.content, '' %}
        {%- if '</think>' in content %}
            {%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- generation %}
        {%- if loop.index0 > ns.last and (loop.last or thought) %}
            {{- '<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' }}
        {%- endif %}
        {{- content + '<|im_end|>' }}
        {%- endgeneration %}
        {{- '\\n' }}
    {%- else %}
        {%- set content = m.content.replace('\\t', '').rstrip() if m.role == 'system' else m.content %}
        {{- ('' if m.content | length > 20 else '[short]') ~ content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""


def only_assistant(template):
    """transformers' {% generation %} around what is between generation_if's, where the role is the assistant's."""
    head, rest = template.split("{% generation_if %}")
    inner, tail = rest.split("{% endgeneration_if %}")
    return (head + "{% if message['role'] == 'assistant' %}{% generation %}" + inner + "{% endgeneration %}{% else %}" + inner +
            "{% endif %}" + tail)


# name: template, tokenizer of tokenizers.json, tokens that it gets, bos_token, eos_token
FORMS = {
    "chatml": (only_assistant(CHATML), "smollm", ["<|im_start|>", "<|im_end|>"], None, "<|im_end|>"),
    "qwen": (QWEN, "qwen2", [], None, "<|im_end|>"),
    "thoughts": (THOUGHTS, "smollm", ["<|im_start|>", "<|im_end|>"], None, "<|im_end|>"),
    "llama2": (LLAMA2, "tinyllama", [], "<s>", "</s>"),
    "llama2_mistral": (LLAMA2, "mistral", [], "<s>", "</s>"),
    "llama3": (only_assistant(LLAMA3), "llama3", ["<|start_header_id|>", "<|end_header_id|>"], "<|begin_of_text|>", "<|eot_id|>"),
    "zephyr": (ZEPHYR, "tinyllama", [], "<s>", "</s>"),
    "zephyr_neox": (ZEPHYR, "neox", [], None, "<|endoftext|>"),
    "gemma": (only_assistant(GEMMA), "gemma", ["<start_of_turn>", "<end_of_turn>"], "<bos>", "<eos>"),
}
MARKS = ["<|im_end|>", "<|im_start|>system\n", "</s>", "<s>", "[/INST]", "<<SYS>>", "<|eot_id|>", "<|user|>\n", "<|endoftext|>",
         "<end_of_turn>", "<|im_end", "|>", "{{ x }}", "{% if %}"]
PARTS = ["a", "The cat", " sat", "\n", "\n\n", " ", "  ", "\t", "\r\n", "é", "e\u0301", "ﬁ", "日本", "🙂", "👩🏽\u200d🚀", "\u00a0", "\u2028",
         "\u3000", "0", "1234", "don't", "!", "...", "'s", "</think>", "\u1e9b\u0323", "\x1c", "|", "<", "[", "]", "assistant",
         "user\n", "عربى", "नमस्ते"]


def text(r, spelled):
    return "".join(r.choice(MARKS) if spelled and r.random() < 0.15 else r.choice(PARTS) for _ in range(r.randrange(12)))


def conversations(n, seed=1):
    """Roles take turns, as Llama 2 wants them; a third have a message of the system, a third contents that spell marks."""
    r = random.Random(seed)
    for i in range(n):
        spelled = i % 3 == 2
        messages = [{"role": "system", "content": text(r, spelled) or "x"}] if r.random() < 0.33 else []
        for turn in range(2 * r.randrange(1, 4)):
            messages.append({"role": "assistant" if turn % 2 else "user", "content": text(r, spelled)})
        yield messages


def make_tokenizer(tokenizers, form):
    """The tokenizer of a form and its tokenizer.json."""
    import json

    import tokenizers as library
    import transformers
    template, name, added, bos, eos = FORMS[form]
    backend = library.Tokenizer.from_str(json.dumps(tokenizers[name]["tokenizer"]))
    backend.no_padding()
    backend.no_truncation()
    backend.add_special_tokens([library.AddedToken(t, normalized=False, special=True) for t in added])
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, bos_token=bos, eos_token=eos)
    tokenizer.chat_template = template
    return tokenizer


def whole(tokenizer, messages):
    """(ids, mask of the answers, ids of the prompt for an answer), by apply_chat_template."""
    made = tokenizer.apply_chat_template(messages, return_dict=True, return_assistant_tokens_mask=True)
    prompt = tokenizer.apply_chat_template(messages, return_dict=True, add_generation_prompt=True)
    return made["input_ids"], made["assistant_masks"], prompt["input_ids"]


def specials_of(tokenizer):
    return [t.content for t in tokenizer.added_tokens_decoder.values() if t.special]


def spells_special(tokenizer, messages):
    return any(s in m["content"] for m in messages for s in specials_of(tokenizer))


def apart(tokenizer, messages):
    """The same where contents may spell special tokens, which are text: the rendered text is cut at its own marks, and what is
    between them is encoded without special tokens. Not for tokenizers that treat the beginning of a text as no other part."""
    import re

    from transformers.utils.chat_template_utils import render_jinja_template
    specials = specials_of(tokenizer)
    mark = re.compile("|".join(re.escape(s) for s in sorted(specials, key=len, reverse=True)))
    backend = tokenizer.backend_tokenizer

    def ids_of(answer):
        spelled = []  # each is hidden by a private character of its own
        covered = [{**m, "content": mark.sub(lambda f: spelled.append(f[0]) or chr(0xDFFF + len(spelled)) * len(f[0]),
                                             m["content"])} for m in messages]
        texts, spans = render_jinja_template(conversations=[covered], chat_template=tokenizer.chat_template,
                                             return_assistant_tokens_mask=True, add_generation_prompt=answer,
                                             **tokenizer.special_tokens_map)
        text, spans, ids, mask = texts[0], spans[0] if spans else [], [], []
        marks = [(f.start(), f.end()) for f in mark.finditer(text)]
        for i, s in enumerate(spelled):  # the template may have cut it out
            text = text.replace(chr(0xE000 + i) * len(s), s)

        def add(begin, end, special):
            backend.encode_special_tokens = not special
            encoding = backend.encode(text[begin:end], add_special_tokens=False)
            backend.encode_special_tokens = False
            for i, (a, b) in zip(encoding.ids, encoding.offsets):
                ids.append(i)
                mask.append(int(any(begin + a < stop and max(begin + b, begin + a + 1) > start for start, stop in spans)))

        done = 0
        for begin, end in marks:
            if begin > done:
                add(done, begin, False)
            add(begin, end, True)
            done = end
        if done < len(text):
            add(done, len(text), False)
        return ids, mask

    return *ids_of(False), ids_of(True)[0]


def expected(tokenizer, messages):
    return (apart if spells_special(tokenizer, messages) else whole)(tokenizer, messages)


def hashed(values):
    h = 0xCBF29CE484222325
    for v in values:
        h = (h ^ v) * 0x100000001B3 % 2**64
    return h
