"use strict";
// Tables of runs: comparison, settings, tokenizers, and how to repeat them.
const number_or = (x, text) => x === null || x === undefined || Number.isNaN(x) ? "–" : text(x);
const lowest = (values) => values.reduce((low, y) => y !== null && (low === null || y < low) ? y : low, null);
const last_of = (values) => values.length ? values[values.length - 1] : null;
const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const code = (text) => element("code", { text });

function table(head, rows, kind = "") {
  const cell = (name, content) => element(name, name === "th" ? { scope: "col" } : {}, content ?? "–");
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": kind || "table" }, element("table", {},
    element("thead", {}, element("tr", {}, ...head.map((text) => cell("th", text)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((content) => cell("td", content)))))));
}

function compare_table(runs, link) {
  const head = ["run", "parameters", "step", "best validation loss", "bits per byte", "training loss", "time", "tokens/s"];
  const rows = runs.map((run) => {
    const { metrics, model, card } = run, name = link ? element("a", { href: link(run), text: run.name }) : run.name;
    return [element("span", {}, mark_of({ colour: colour_of(run, runs), style: "line" }), " ", name),
      number_or(model?.parameters ?? card?.parameters, short_count), number_or(last_of(metrics.step), count_text),
      number_or(lowest(metrics.val_loss), (y) => y.toFixed(4)), number_or(lowest(metrics.bits_per_byte), (y) => y.toFixed(4)),
      number_or(last_of(metrics.loss), (y) => y.toFixed(4)), number_or(last_of(metrics.train_s), time_text),
      number_or(last_of(metrics.tok_s), short_count)];
  });
  return table(head, rows, "Runs, best first");
}

const setting_text = (value) => typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(6))) : Array.isArray(value) ? value.join(", ") || "none" : value === "" ? "none" : String(value);

// Settings that matter only with another setting at this value.
const needs = [
  [/^muon_|^ns_steps$/, (s) => s.optimizer === "muon"],
  [/^momentum$|^nesterov$/, (s) => s.optimizer !== "adamw"],
  [/^beta[12]$|^(embedding|head|vector)_lr$/, (s) => s.optimizer !== "sgd"],
  [/^lora_[^r]|^rs_lora$|^base_precision$|^init_adapter$/, (s) => s.lora_rank > 0],
  [/^decay_fraction$/, (s) => s.schedule === "wsd"],
  [/^tokenizer$|^vocab_size$|^pre_tokenizer$|^byte_fallback$/, (s) => s.init_from === ""],
  [/^vocab_size$|^pre_tokenizer$/, (s) => s.tokenizer === "bpe"],
  [/^byte_fallback$/, (s) => s.tokenizer === "char"],
];
const is_used = (settings) => (key) => needs.every(([keys, holds]) => !keys.test(key) || holds(settings));

// For several runs: the settings that differ. For one run: those that are not defaults, then the rest.
function settings_tables(runs, defaults) {
  const with_settings = runs.filter(({ settings }) => settings);
  if (!with_settings.length) return [element("p", { class: "hint", text: "config.toml could not be read." })];
  const keys = Object.keys(with_settings[0].settings), text = (run, key) => setting_text(run.settings[key]);
  if (with_settings.length > 1) {
    const used = (key) => with_settings.some(({ settings }) => is_used(settings)(key));
    const differ = keys.filter((key) => key !== "out" && used(key) && new Set(with_settings.map((run) => text(run, key))).size > 1);
    if (!differ.length) return [element("p", { class: "hint", text: "These runs have the same settings." })];
    return [table(["setting", ...with_settings.map(({ name }) => name)],
      differ.map((key) => [code(key), ...with_settings.map((run) => text(run, key))]), "Settings that differ")];
  }
  const run = with_settings[0], used = keys.filter(is_used(run.settings));
  const is_default = (key) => text(run, key) === setting_text(defaults[key]) && !(run.settings.lora_rank > 0 && /lora_/.test(key));
  const list = (chosen) => element("dl", { class: "settings" }, ...chosen.map((key) =>
    element("div", {}, element("dt", {}, code(key)), element("dd", { text: text(run, key) }))));
  const rest = used.filter(is_default);
  return [list(used.filter((key) => !is_default(key))),
    element("details", {}, element("summary", { text: `${rest.length} settings at their defaults` }), list(rest))];
}

function tokenizer_parts(run) {
  const { tokenizer, card } = run, per_token = bytes_per_token(run);
  const facts = [["kind", { bpe: "byte pairs", char: "characters", ids: "token ids" }[tokenizer.kind]], ["vocabulary", count_text(tokenizer.vocab_size)],
    ["bytes per token of the vocabulary", tokenizer.mean_bytes.toFixed(2)]];
  if (per_token) facts.push(["bytes per token of the text", per_token.toFixed(3)]);
  if (card?.tokens) facts.push(["tokens of the text", count_text(card.tokens)]);
  const longest = element("p", {}, "Longest tokens: ");
  for (const { text, bytes } of tokenizer.longest) longest.append(element("code", { text, title: `${bytes} bytes` }), " ");
  return [fact_list(facts), longest];
}

const fact_list = (facts) => element("dl", { class: "facts" }, ...facts.map(([name, value]) =>
  element("div", {}, element("dt", { text: name }), element("dd", {}, value))));

function card_parts(run) {
  const { model, card, metrics, folder } = run, facts = [];
  const add = (name, value) => { if (value !== undefined && value !== null && value !== "") facts.push([name, value]); };
  if (model) {
    add("model", `${model.arch}: ${model.n_layer} layers, ${model.n_head} heads, width ${model.n_embd}, context ${model.block_size}`);
    add("best checkpoint", model.folder);
  }
  const parameters = model?.parameters ?? card?.parameters, before = metrics.step[0] === 0 ? metrics.val_loss[0] : card?.val_loss_before;
  if (parameters) add("parameters", count_text(parameters));
  if (card?.trained_parameters) add("trained", `${count_text(card.trained_parameters)} of adapters, rank ${run.settings?.lora_rank ?? "unknown"}`);
  add("base model", card?.base_model);
  add("validation loss before training", before?.toFixed(4));
  add("best validation loss", lowest(metrics.val_loss)?.toFixed(4));
  if (card?.peak_memory_bytes) add("memory, at most", bytes_text(card.peak_memory_bytes));
  if (last_of(metrics.train_s) !== null) add("time of training", time_text(last_of(metrics.train_s)));
  if (last_of(metrics.elapsed_s) !== null) add("time in all", time_text(last_of(metrics.elapsed_s)));
  if (run.tokens_per_step && metrics.step.length) add("tokens trained on", short_count(last_of(metrics.step) * run.tokens_per_step));
  if (card?.machine) add("machine", `${card.machine.cpu || "unknown CPU"}, ${plural(card.machine.cores, "core")}, ${bytes_text(card.machine.memory_bytes)}; ${plural(card.threads, "thread")}`);
  add("started", card?.started);
  if (card?.ended) add("ended", `${card.ended} (${{ max_iters: "all steps done", max_time: "time limit reached", patience: "no improvement within the patience", interrupted: "stopped" }[card.stop_reason] || card.stop_reason})`);
  if (card?.inkling) add("Inkling", card.inkling);
  const command = `inkling train --config ${shell_word(`${folder}/config.toml`)} --out ${shell_word(`${folder}-again`)}`;
  return [fact_list(facts), element("p", {}, "To reproduce it:"), element("pre", { tabindex: "0", text: command })];
}

const shell_word = (text) => /^[\w./+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
