"""Makes training_lines.json: lines of training data, and what other trainers do with them.

    python tests/reference/make_data_reference.py        (trl, with transformers, datasets and torch)

marks: keys by which data says what is not to be learned; `peers` have what their documentation or source says of the key;
`learned` is what Inkling does: "no" obeys the mark, "refused" names the key, "yes" passes over it.
shapes: lines with the keys of several shapes; `trl` has the texts that TRL's SFTTrainer learns from, or its error.
"""
import json
import pathlib
import sys

here = pathlib.Path(__file__).parent
# key, value, where, learned, who reads it and how
marks = [
    ("weight", 0, "message", "no", {"OpenAI": "no loss", "Mistral": "no loss", "Together": "no loss"}),
    ("weight", 1, "message", "yes", {"OpenAI": "loss"}),
    ("weight", 0.5, "message", "refused", {"OpenAI": "refused: 0 or 1"}),
    ("weight", 0, "line", "refused", {"Fireworks": "scales the loss of the line"}),
    ("weight", 2.0, "line", "refused", {"Fireworks": "scales the loss of the line"}),
    ("weight", 1.0, "line", "yes", {"Fireworks": "its default"}),
    ("loss_weight", 0.0, "message", "no", {"lmms-engine": "scales the loss of the message"}),
    ("loss_weight", 0.3, "message", "refused", {"lmms-engine": "scales the loss of the message"}),
    ("train", False, "message", "no", {"Axolotl": "no loss, by message_field_training", "Open Instruct": "proposed: no loss"}),
    ("training", False, "message", "no", {"Axolotl": "no loss, by message_field_training"}),
    ("train_on_turn", False, "message", "no", {"Axolotl": "no loss, by message_field_training"}),
    ("train_detail", [{"begin_offset": 0, "end_offset": 1, "train": False}], "message", "refused",
     {"Axolotl": "no loss for these characters, by message_field_training_detail"}),
    ("training_detail", [{"begin_offset": 0, "end_offset": 1, "train": False}], "message", "refused", {"Axolotl": "the same"}),
    ("segments", [{"label": False, "text": "a"}], "line", "refused", {"Axolotl": "type input_output: no loss for this text"}),
    ("trainable", False, "message", "no", {"Tinker": "no loss, with TrainOnWhat.CUSTOMIZED", "verl": "proposed: no loss"}),
    ("loss", False, "message", "no", {"ms-swift": "no loss", "XTuner": "no loss"}),
    ("loss", False, "line", "refused", {}),
    ("loss_scale", 0.0, "message", "refused", {"ms-swift": "scales the loss"}),
    ("loss_mask", 0, "message", "no", {"verl": "proposed: no loss"}),
    ("loss_mask", [0, 1], "line", "refused", {"LLaMA-Factory": "proposed: one of each message", "Megatron": "one of each token"}),
    ("step_loss_mask", 0, "message", "no", {"slime": "no loss"}),
    ("masked", True, "message", "no", {"torchtune": "no loss"}),
    ("masked", False, "message", "yes", {"torchtune": "loss"}),
    ("masked", True, "line", "refused", {}),
    ("mask", "User", "line", "yes", {"NeMo": "no loss for this role"}),
    ("mask", "Assistant", "line", "refused", {"NeMo": "no loss for this role"}),
    ("unmask", True, "line", "refused", {"InstructLab": "loss for all but the system's message"}),
    ("labels", [-100, 5], "line", "refused", {"transformers": "no loss where -100"}),
    ("assistant_masks", [0, 1], "line", "refused", {"TRL": "no loss where 0, beside input_ids"}),
    ("completion_mask", [0, 1], "line", "refused", {"TRL": "no loss where 0, beside input_ids"}),
    ("label", False, "line", "refused", {"TRL": "KTO: a bad answer"}),
    ("label", True, "line", "yes", {"TRL": "KTO: a good answer"}),
    ("kto_tag", False, "line", "refused", {"LLaMA-Factory": "KTO: a bad answer"}),
]
chat = lambda a: [{"role": "user", "content": f"{a} asks"}, {"role": "assistant", "content": f"{a} says"}]
parts = {
    "messages": {"messages": chat("m")},
    "conversations": {"conversations": [{"from": "human", "value": "c asks"}, {"from": "gpt", "value": "c says"}]},
    "instruction": {"instruction": "i asks", "input": "", "output": "i says"},
    "completion": {"prompt": "p asks", "completion": " p says"},
    "text": {"text": "t asks and says"},
    "prompt": {"prompt": "q asks"},
}
pairs = [(a, b) for i, a in enumerate(parts) for b in list(parts)[i + 1:] if (a, b) != ("completion", "prompt")]
template = "{% for m in messages %}{{ '<' + m['role'] + '>' + m['content'] }}{% endfor %}"


def tiny_tokenizer():
    import tokenizers
    import transformers
    words = sorted({w for part in parts.values() for w in json.dumps(part).replace('"', " ").split()} | {"<user>", "<assistant>"})
    letters = {c: i for i, c in enumerate(sorted(set(" ".join(words)) | {"~"}))}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(letters, unk_token="~"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    made.decoder = tokenizers.decoders.Fuse()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="~", pad_token="~", chat_template=template)


def trl_answers():
    import datasets
    import transformers
    import trl
    tokenizer = tiny_tokenizer()
    model = transformers.AutoModelForCausalLM.from_pretrained(here / "llama_tiny")

    def answer(line):
        try:
            config = trl.SFTConfig(output_dir="/tmp/none", report_to=[], use_cpu=True, bf16=False)
            made = trl.SFTTrainer(model, config, train_dataset=datasets.Dataset.from_list([line]), processing_class=tokenizer)
            row = made.train_dataset[0]
            return tokenizer.decode(row["input_ids"])
        except Exception as e:
            return f"{type(e).__name__}: {str(e).splitlines()[0][:80]}"
    return trl.__version__, answer


if __name__ == "__main__":
    version, answer = trl_answers()
    shapes = []
    for a, b in pairs:
        line = parts[a] | parts[b]
        shapes.append({"line": line, "inkling": a, "trl": answer(line)})
        print(a, b, shapes[-1]["trl"], file=sys.stderr)
    rows = [dict(zip(("key", "value", "where", "learned", "peers"), mark)) for mark in marks]
    out = ['{"trl": "%s",' % version, '"marks": [', ",\n".join(map(json.dumps, rows)), '],', '"shapes": [', ",\n".join(map(json.dumps, shapes)), "]}"]
    (here / "training_lines.json").write_text("\n".join(out) + "\n")
