"""Makes serve.json: log-probabilities of texts under greedy_gpt2/ as transformers computes them, and the ids of
conversations under ChatML, which its tokenizer gets here.

    python tests/reference/make_serve_reference.py        (torch, transformers)
"""
import json
import pathlib

import torch
import transformers

here = pathlib.Path(__file__).parent
folder = here / "greedy_gpt2"
tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

texts = []
for text in ("One day Rosa found a red ball.", "Rosa was a young", "zq 17 ~", "One day " * 11):
    ids = tokenizer.encode(text)
    with torch.no_grad():
        logprobs = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
    top = logprobs.topk(3)
    texts.append({"text": text, "ids": ids,
                  "logprobs": [float(logprobs[i, ids[i + 1]]) for i in range(len(ids) - 1)],
                  "top": [[[int(t), float(v)] for t, v in zip(top.indices[i], top.values[i])] for i in range(len(ids))]})

plain = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + "
         "'\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
system = ("{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
          "You are a mouse.<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
          "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
conversations = [
    [{"role": "user", "content": "Tell me of Rosa."}],
    [{"role": "system", "content": "Be short."}, {"role": "user", "content": "One day"},
     {"role": "assistant", "content": "Rosa ran."}, {"role": "user", "content": " And then?\n"}]]
chats = [{"template": template, "messages": messages,
          "ids": tokenizer.apply_chat_template(messages, chat_template=template, add_generation_prompt=True,
                                               return_dict=False)}
         for template in (plain, system) for messages in conversations]
(here / "serve.json").write_text(json.dumps({
    "transformers": transformers.__version__, "torch": torch.__version__, "texts": texts, "chats": chats,
    "marks": tokenizer.convert_tokens_to_ids(["<|im_start|>", "<|im_end|>"])}, indent=0) + "\n")
print([len(t["ids"]) for t in texts], chats[0]["ids"])
