"use strict";
// The page of one run, or of several: its initial data, and the updates from a server.
const state = { runs: page_data.runs, curves: null, samples: null, tokens: null };
const { live } = page_data;

const titles = { curves: "Curves", compare: "Best first", samples: "Samples", heads: "Attention", settings: "Settings", tokenizer: "Tokenizer", card: "Model card" };
for (const [id, text] of Object.entries(titles)) {
  document.querySelector("main").append(element("section", { id, hidden: true, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title`, text }), by_id(`${id}-head`)?.content, element("div", { class: "content" })));
}
const section = (id, shown) => { by_id(id).hidden = !shown; return by_id(id).querySelector(".content"); };

function show_title() {
  const { runs } = state, single = runs.length === 1 && !live?.list;
  const named = single ? runs[0].name : live?.list ? "Runs" : `${runs.length} runs`;
  by_id("title").textContent = named;
  document.title = named;
  const several = runs.length ? "The best one comes first." : "No runs here yet.";
  if (!single) return void (by_id("summary").textContent = [...(page_data.verdicts ?? []), several].join(" "));
  const { metrics, settings } = runs[0], val = lowest(metrics.val_loss), step = last_of(metrics.step) ?? 0;
  const parts = [`step ${count_text(step)}${settings ? ` of ${count_text(settings.max_iters)}` : ""}`];
  if (val !== null) parts.push(`best validation loss ${val.toFixed(4)}${metrics.step[0] === 0 ? `, ${metrics.val_loss[0].toFixed(4)} before training` : ""}`);
  else if (metrics.loss.length) parts.push(`training loss ${last_of(metrics.loss)?.toFixed(4) ?? "not a number"}`);
  if (last_of(metrics.train_s) !== null) parts.push(`${time_text(last_of(metrics.train_s))} of training`);
  by_id("summary").textContent = parts.join("; ");
}

function show_notes() {
  const notes = state.runs.flatMap(({ notes }) => notes || []);
  section("notes", notes.length).replaceChildren(...notes.map((text) => element("li", { text })));
}

// The parts that stay the same during a run.
function show_facts() {
  const { runs } = state, [first] = runs;
  const several = runs.length > 1 || live?.list;
  const compared = section("compare", several && runs.length);
  if (several) compared.replaceChildren(compare_table(runs, live?.list ? ({ name }) => `/runs/${encodeURIComponent(name)}` : null));
  section("settings", runs.length).replaceChildren(...settings_tables(groups_of(runs).map((group) => runs.find((run) => group_of(run) === group)), page_data.defaults));
  const tokenizer = section("tokenizer", !several && first?.tokenizer);
  if (!several && first?.tokenizer) tokenizer.replaceChildren(...tokenizer_parts(first));
  const card = section("card", !several && first);
  if (!several && first) card.replaceChildren(...card_parts(first));
}

function show_curves() {
  if (!state.runs.length) return void section("curves", false);
  const place = section("curves", true);
  if (state.curves) state.curves.update(state.runs);
  else state.curves = new Curves(place, state.runs);
}

// For several runs, shows those of the best run.
function show_whose() {
  const of = state.runs.length > 1 ? ` of ${state.runs[0].name}` : "";
  by_id("samples-title").textContent = `Samples${of}`;
  by_id("heads-title").textContent = `Attention${of}`;
}

function show_samples() {
  const run = state.runs[0], shown = run && (run.samples?.length || live?.run);
  const place = section("samples", shown && !live?.list);
  if (!shown || live?.list) return;
  state.samples ||= new Samples(place);
  state.samples.set(run.samples);
}

// Another text recreates the heads' elements; the same text only updates their weights.
function show_heads_of(data) {
  if (!data) return;
  const place = section("heads", true), tokens = JSON.stringify([data.tokens, data.layers, data.heads]);
  if (state.tokens === tokens) return show_heads.update(data);
  state.tokens = tokens;
  place.replaceChildren(by_id("heads-parts").content.cloneNode(true));
  show_heads(data);
}

function show_all() {
  show_title();
  show_notes();
  show_curves();
  show_samples();
  show_whose();
  show_facts();
}

// --- live: follows the run of a server
const notice = (text) => { by_id("notice").textContent = text; };
const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

function take(data) {
  const run = state.runs[0];
  if (!run || data.fresh) {
    state.runs = [{ ...data, most_points: 10000 + 2 * data.metrics.step.length }];
    return show_all();
  }
  const { metrics, samples, notes, ...others } = data, facts = "settings" in data;  // these come with a new checkpoint
  for (const [key, values] of Object.entries(metrics)) run.metrics[key].push(...values);
  run.samples.push(...samples);
  run.notes.push(...notes);
  Object.assign(run, others);
  if (run.metrics.step.length > run.most_points) run.cursor = "";  // for all of it, which the server thins
  if (!metrics.step.length && !samples.length && !facts) return;
  show_title();
  show_notes();
  show_curves();
  if (samples.length) show_samples();
  if (facts) show_facts();
}

// Repeats once(), until it returns true; pauses while the page is hidden.
async function follow(once) {
  for (let failures = 0; ;) {
    try {
      if (await once()) return;
      failures = 0;
    } catch (error) {
      if (++failures > 2) notice(live.controls ? "The training program has ended or cannot be reached." : `Cannot be reached: ${error.message}`);
      if (failures > 2 && live.controls) return end_controls();
    }
    do await wait(failures ? 3 : live.seconds); while (document.hidden);
  }
}

async function follow_run() {
  const data = await ask(`${live.run}?cursor=${encodeURIComponent(state.runs[0]?.cursor || "")}`);
  take(data);
  notice(data.ended ? "The run has ended." : "");
  if (data.ended) end_controls();
  return data.ended;
}

async function follow_list() {
  state.runs = (await ask(live.list)).runs;
  show_all();
  notice("");
}

// Fetches the heads of the chosen prompt repeatedly during a run.
async function follow_heads() {
  const input = by_id("heads-prompt");
  let asked = 0;
  const once = async () => {
    const mine = ++asked;
    try {
      const data = await ask(live.heads, { prompt: input.value });
      if (mine !== asked) return;
      by_id("heads-error").textContent = "";
      if (data.heads) show_heads_of(data.heads);
      if (data.heads && !input.value) input.placeholder = data.prompt;
    } catch (error) {
      if (mine === asked) by_id("heads-error").textContent = error.message;
    }
  };
  by_id("heads-form").hidden = false;
  section("heads", true);
  by_id("heads-form").addEventListener("submit", (event) => { event.preventDefault(); once(); });
  await once();
  while (live.controls && !state.ended) {
    await wait(live.seconds * 3);
    if (!document.hidden && !by_id("heads").matches(":focus-within")) await once();
  }
}

function start_controls() {
  by_id("live").hidden = false;
  const ask_button = by_id("ask"), stop = by_id("stop");
  by_id("sample-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    ask_button.disabled = true;
    by_id("answer").replaceChildren(element("p", { class: "hint", text: "Generating after the current step…" }));
    try {
      const data = await ask("/api/sample", { prompt: by_id("sample-prompt").value });
      by_id("answer").replaceChildren(element("p", { class: "hint", text: `At step ${count_text(data.step)}:` }), sample_text(data));
    } catch (error) {
      by_id("answer").replaceChildren(element("p", { class: "error", text: error.message }));
    }
    ask_button.disabled = state.ended === true;
  });
  stop.addEventListener("click", async () => {
    if (!confirm("Stop training, and save a checkpoint?")) return;
    stop.disabled = true;
    try {
      await ask("/api/stop", {});
      notice("Stopping after this step and saving a checkpoint.");
    } catch (error) {
      notice(error.message);
      stop.disabled = false;
    }
  });
}

function end_controls() {
  state.ended = true;
  for (const id of ["ask", "stop", "show-heads"]) by_id(id).disabled = true;
}

if (live?.controls) start_controls();
if (state.runs.length) show_all();
if (page_data.heads) show_heads_of(page_data.heads);
if (live?.run) follow(follow_run);
if (live?.list) follow(follow_list);
if (live?.heads) follow_heads();
