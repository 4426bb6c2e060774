"""Makes chats.json: ids, masks of answers and prompts of random conversations under the chat templates of
chat_conversations.py, as hashes, with the tokenizers of tokenizers.json.

    python tests/reference/make_chat_reference.py        (transformers, tokenizers)
"""
import json
import pathlib

import chat_conversations as chats
import transformers

here = pathlib.Path(__file__).parent
tokenizers = json.loads((here / "tokenizers.json").read_text())["tokenizers"]
conversations = list(chats.conversations(40))
forms = {}
for form, (template, name, added, bos, eos) in chats.FORMS.items():
    tokenizer = chats.make_tokenizer(tokenizers, form)
    made = []
    for messages in conversations:
        if form == "llama2_mistral" and chats.spells_special(tokenizer, messages):
            made.append(None)
            continue
        ids, mask, prompt = chats.expected(tokenizer, messages)
        made.append([len(ids), sum(mask), *(f"{chats.hashed(x):016x}" for x in (ids, mask, prompt))])
    forms[form] = {"template": template, "tokenizer": name, "added": added, "eos_token": eos, "made": made,
                   **({"bos_token": bos} if bos else {})}
(here / "chats.json").write_text(json.dumps({"transformers": transformers.__version__, "conversations": conversations,
                                             "forms": forms}, indent=0) + "\n")
print({form: sum(m[1] for m in f["made"] if m) for form, f in forms.items()})
