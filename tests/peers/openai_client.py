#!/usr/bin/env python3
"""The `openai` client from PyPI against `inkling serve`: each call as its users write it.

    python -m venv ~/peers && ~/peers/bin/pip install openai
    ~/peers/bin/python tests/peers/openai_client.py build/inkling
"""
import asyncio
import sys
import tempfile

try:
    import openai
except ImportError:
    print("openai_client.py: skipped: pip install openai")
    sys.exit(77)
from served import STORIES, Served, make_chat_folder

program = sys.argv[1] if len(sys.argv) > 1 else "build/inkling"


def completions(client):
    ask = dict(model="stories", prompt="One day ", max_tokens=20, seed=3)
    whole = client.completions.create(**ask)
    assert whole.object == "text_completion" and whole.choices[0].finish_reason == "length"
    assert whole.usage.completion_tokens == 20
    text = whole.choices[0].text
    assert "".join(c.choices[0].text for c in client.completions.create(**ask, stream=True)) == text
    chunks = list(client.completions.create(**ask, stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].usage == whole.usage and chunks[-1].choices == []
    several = client.completions.create(**{**ask, "prompt": ["One day ", "Rosa"]}, n=2)
    assert [c.index for c in several.choices] == [0, 1, 2, 3] and several.choices[0].text == text
    stop = text[5:8]
    stopped = client.completions.create(**ask, stop=[stop]).choices[0]
    assert stopped.text == text[:text.index(stop)] and stopped.finish_reason == "stop"
    scored = client.completions.create(**ask, logprobs=2, echo=True).choices[0]
    assert scored.text == "One day " + text and "".join(scored.logprobs.tokens) == scored.text
    assert scored.logprobs.token_logprobs[0] is None and max(scored.logprobs.token_logprobs[1:]) <= 0
    assert all(len(top) in (2, 3) for top in scored.logprobs.top_logprobs[1:])
    by_ids = client.completions.create(model="stories", prompt=[47, 290, 316], max_tokens=4, seed=1)
    assert by_ids.usage.prompt_tokens == 3
    extra = client.completions.create(**ask, temperature=0, extra_body={"top_k": 1, "min_p": 0.1, "repeat_penalty": 1.2})
    assert len(extra.choices[0].text) > 0
    client.completions.create(**ask, presence_penalty=1, frequency_penalty=1, logit_bias={"5": -100}, top_p=0.5, user="me")


def chats(client):
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "One day"}]
    ask = dict(model="chat", messages=messages, max_tokens=12, seed=5)
    whole = client.chat.completions.create(**ask)
    message = whole.choices[0].message
    assert message.role == "assistant" and whole.object == "chat.completion"
    deltas = [c.choices[0].delta for c in client.chat.completions.create(**ask, stream=True)]
    assert deltas[0].role == "assistant" and "".join(d.content or "" for d in deltas) == message.content
    scored = client.chat.completions.create(**ask, logprobs=True, top_logprobs=3, n=2).choices
    assert len(scored) == 2 and all(len(t.top_logprobs) == 3 for t in scored[0].logprobs.content)
    assert bytes(b for t in scored[0].logprobs.content for b in t.bytes).decode(errors="replace") == message.content
    with client.chat.completions.stream(**ask, logit_bias={"812": 100}) as stream:  # the end of the turn, at once
        last = stream.get_final_completion().choices[0]
        assert last.message.content in ("", None) and last.finish_reason == "stop"


def errors(client, url):
    def fails(kind, call):
        try:
            call()
        except kind as e:
            return e
        raise AssertionError(f"{kind.__name__} was expected")

    ask = dict(model="stories", prompt="a")
    e = fails(openai.BadRequestError, lambda: client.completions.create(**ask, temperature=-1))
    assert e.param == "temperature" and "temperature" in e.message, e
    e = fails(openai.NotFoundError, lambda: client.completions.create(model="gpt-4", prompt="a"))
    assert e.code == "model_not_found"
    fails(openai.BadRequestError, lambda: client.completions.create(**ask, extra_body={"grammar": "x"}))
    e = fails(openai.BadRequestError, lambda: client.chat.completions.create(
        model="stories", messages=[{"role": "user", "content": "a"}]))
    assert e.code == "no_chat_template"
    wrong = openai.OpenAI(base_url=url + "/v1", api_key="wrong", max_retries=0)
    fails(openai.AuthenticationError, lambda: wrong.models.list())
    fails(openai.RateLimitError, lambda: fill(url))


def fill(url):
    """More texts than may run and wait."""
    async def all_of_them():
        async with openai.AsyncOpenAI(base_url=url + "/v1", api_key="secret", max_retries=0) as many:
            await asyncio.gather(*(many.completions.create(model="stories", prompt="a", max_tokens=2000, logit_bias={"0": -100})
                                   for _ in range(30)))

    asyncio.run(all_of_them())


with tempfile.TemporaryDirectory() as folder, open(folder + "/keys", "w") as keys:
    keys.write("secret\n")
    keys.flush()
    chat = make_chat_folder(folder + "/chat")
    with Served(program, [f"stories={STORIES}", f"chat={chat}"],
                ["--api-key-file", keys.name, "--queue", "4"]) as server:
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="secret", max_retries=0)
        assert [m.id for m in client.models.list()] == ["stories", "chat"]
        assert client.models.retrieve("chat").id == "chat"
        completions(client)
        chats(client)
        errors(client, server.url)
print(f"openai {openai.__version__}: completions, chats, streams and errors are as its users expect")
