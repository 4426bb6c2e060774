"""The ids of conversations, what is learned of them, and prompts for answers, against transformers' apply_chat_template: of 1,000
random conversations with awkward contents under each of the templates in tests/reference/chat_conversations.py.

    python tests/peers/chat_templates.py [build/inkling] [1000]        (transformers, tokenizers)
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/reference"))
import chat_conversations as chats  # noqa: E402

program = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/inkling"
n = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
tokenizers = json.loads((ROOT / "tests/reference/tokenizers.json").read_text())["tokenizers"]
conversations = list(chats.conversations(n, seed=2))
wrong = 0
for form in chats.FORMS:
    tokenizer = chats.make_tokenizer(tokenizers, form)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save_pretrained(folder)
        lines = pathlib.Path(folder) / "lines.jsonl"
        lines.write_text("".join(json.dumps({"messages": m}, ensure_ascii=False) + "\n" for m in conversations))

        def encode(*flags):
            made = subprocess.run([program, "tokenize", "documents", "--tokenizer", folder, "--data", lines, *flags],
                                  capture_output=True, text=True, check=True)
            return [json.loads(line) for line in made.stdout.splitlines()]
        whole, prompts = encode(), encode("--prompts")
    assert len(whole) == len(prompts) == n
    checked = spelled = learned = 0
    for messages, mine, prompt in zip(conversations, whole, prompts):
        spells = chats.spells_special(tokenizer, messages)
        if form == "llama2_mistral" and spells:
            continue
        ids, mask, _ = chats.expected(tokenizer, messages)
        asked = messages[:-1] if messages[-1]["role"] == "assistant" else messages
        for_answer = chats.expected(tokenizer, asked)[2]
        checked, spelled, learned = checked + 1, spelled + spells, learned + sum(mask)
        if list(ids) != mine["ids"] or list(mask) != mine["learn"] or list(for_answer) != prompt["ids"]:
            wrong += 1
            if wrong <= 5:
                print(form, "differs in", "ids" if list(ids) != mine["ids"] else "learn" if list(mask) != mine["learn"] else "prompt",
                      json.dumps(messages, ensure_ascii=False), ids, mask, mine)
    print(f"{form}: {checked} conversations, {spelled} of which spell special tokens, {learned} tokens learned")
print("all agree" if wrong == 0 else f"{wrong} differ")
sys.exit(wrong > 0)
