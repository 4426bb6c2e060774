"use strict";
// The playground: a text or a conversation, the model's continuation, and a link that keeps both.
const kAlternatives = 8;
const play = { mode: "text", messages: [], models: [], running: null, given: "" };
const prompt_box = by_id("prompt");
const settings = new Settings(by_id("settings"), () => keep_link());
const tokens = new Tokens(by_id("output"), by_id("others"), (i, text) => go_on_from(i, text));

// --- streams of server-sent events
async function* events_of(path, body, signal) {
  const answer = await fetch(path, { method: "POST", headers: headers_of(), body: JSON.stringify(body), signal });
  if (!answer.ok) throw await refusal(answer);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = ""; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const line = text.slice(0, end).split("\n").find((part) => part.startsWith("data:"));
      if (!line) continue;
      const data = line.slice(5).trim();
      if (data === "[DONE]") return;
      const event = JSON.parse(data);
      if (event.error) throw new Error(event.error.message);
      yield event;
    }
  }
}

// The tokens of an event of /v1/completions, whose text may come later or be held back for a stop text.
function tokens_of_text({ text, logprobs }) {
  if (!logprobs?.tokens?.length) return text ? [{ text, logprob: null }] : [];
  return logprobs.tokens.map((token, i) => ({
    text: token, logprob: logprobs.token_logprobs[i],
    others: Object.entries(logprobs.top_logprobs?.[i] || {}).map(([other, logprob]) => ({ text: other, logprob })).sort((a, b) => b.logprob - a.logprob),
  }));
}
function tokens_of_chat({ delta, logprobs }) {
  if (!logprobs?.content?.length) return delta?.content ? [{ text: delta.content, logprob: null }] : [];
  return logprobs.content.map(({ token, logprob, top_logprobs }) => ({ text: token, logprob, others: (top_logprobs || []).map((other) => ({ text: other.token, logprob: other.logprob })) }));
}
const whole = ({ text }) => !text.startsWith("bytes:");  // a token that is a part of a character cannot be continued by text

// --- generating
// Continues the text; in a conversation, writes the next answer or, with `onward`, continues the last one.
async function write(onward = false) {
  if (play.running) return;
  const chat = play.mode === "chat";
  if (chat && !onward && !prompt_box.value.trim()) return void prompt_box.focus();
  const running = play.running = new AbortController();
  show_running();
  const start = performance.now();
  let count = 0, before = "", real = "";  // the text itself, where tokens do not spell it
  const answered = () => {
    if (!onward) play.messages.push({ role: "assistant" }), prompt_box.value = "";
    play.messages.at(-1).content = before + real;
    show_talk();
  };
  try {
    const wanted = settings.request();
    let source, take;
    if (chat) {
      if (onward) {
        play.messages.at(-1).content = before = tokens.text();
      } else {
        if (play.messages.at(-1)?.role === "user") play.messages.pop();
        play.messages.push({ role: "user", content: prompt_box.value });
        tokens.begin("");
      }
      show_talk();
      const system = settings.system.value ? [{ role: "system", content: settings.system.value }] : [];
      source = events_of("/v1/chat/completions", { ...wanted, messages: [...system, ...play.messages], add_generation_prompt: !onward, continue_final_message: onward, stream: true, logprobs: true, top_logprobs: kAlternatives }, running.signal);
      take = tokens_of_chat;
    } else {
      if (tokens.list.length === 0 || play.given !== prompt_box.value) {
        play.given = prompt_box.value;
        tokens.begin(play.given);
      }
      source = events_of("/v1/completions", { ...wanted, prompt: play.given + tokens.text(), stream: true, logprobs: kAlternatives }, running.signal);
      take = tokens_of_text;
    }
    by_id("legend").hidden = false;
    for await (const event of source) {
      const choice = event.choices?.[0];
      if (!choice) continue;
      real += (chat ? choice.delta?.content : choice.text) ?? "";
      const ended = choice.finish_reason === "stop";
      for (const token of take(choice)) {
        if (ended && !real.endsWith(token.text)) continue;  // a stop text or the end of the text, which do not belong to it
        tokens.add(token);
        ++count;
      }
      status_of(count, start);
    }
    if (chat) answered();
  } catch (error) {
    if (error.name !== "AbortError") show_error(error.message);
    else if (chat && real) answered();
  }
  if (!tokens.list.every(whole)) respell(real, tokens.list.length - count);
  play.running = null;
  show_running();
  status_of(count, start);
  keep_link();
}

// From the first token that holds a part of a character: the text itself, which began at token `begin`.
function respell(real, begin) {
  const broken = tokens.list.findIndex((token) => !whole(token)), before = tokens.text(broken).slice(tokens.text(begin).length);
  tokens.cut(Math.max(broken, begin));
  tokens.add({ text: real.slice(before.length), logprob: null });
}

// Replaces token i by the alternative `text` and continues from there.
function go_on_from(i, text) {
  if (play.running) return;
  if (text.startsWith("bytes:")) return show_error("This token is only part of a character and cannot be chosen alone.");
  const other = tokens.list[i].others.find((token) => token.text === text), { others } = tokens.list[i];
  tokens.cut(i);
  tokens.add({ text, logprob: other.logprob, others });
  write(play.mode === "chat");
}

function status_of(count, start) {
  const seconds = (performance.now() - start) / 1000;
  by_id("status").textContent = count ? `${count} tokens, ${(count / seconds).toFixed(1)} per second` : play.running ? "Reading the prompt…" : "";
}
function show_error(text) { by_id("error").textContent = text; }
function show_running() {
  const running = play.running !== null;
  if (running) show_error("");
  by_id("write").disabled = running;
  by_id("stop").disabled = !running;
  by_id("output").setAttribute("aria-busy", String(running));
}
function stop() { play.running?.abort(); }

function clear() {
  stop();
  play.messages = [];
  prompt_box.value = "";
  tokens.begin("");
  by_id("output").hidden = by_id("legend").hidden = true;
  by_id("status").textContent = "";
  show_error("");
  show_talk();
  keep_link();
  prompt_box.focus();
}

// --- conversation
function show_talk() {
  by_id("talk").hidden = play.mode !== "chat" || play.messages.length === 0;
  by_id("talk").replaceChildren(...play.messages.map(({ role, content }) =>
    element("li", { class: role }, element("span", { class: "who", text: role === "user" ? "You" : "Model" }), content)));
  if (!by_id("talk").hidden) prompt_box.scrollIntoView({ block: "center" });  // a long conversation would leave the window
}
function set_mode(mode) {
  play.mode = mode;
  by_id("modes").querySelector(`[value=${mode}]`).checked = true;
  const chat = mode === "chat";
  by_id("prompt-label").textContent = chat ? "Message" : "Prompt";
  by_id("write-label").textContent = chat ? "Send" : "Generate";
  prompt_box.placeholder = chat ? "Ask the model something" : "Text that the model continues";
  settings.for_chat.hidden = !chat;
  by_id("output").hidden = by_id("legend").hidden = tokens.list.length === 0;
  show_talk();
}
const can_chat = () => play.models.find(({ id }) => id === settings.model.value)?.chat === true;
function show_modes() {
  by_id("modes").hidden = !can_chat();
  if (!can_chat() && play.mode === "chat") set_mode("text");
}

// --- the link
function keep_link() {
  const state = new URLSearchParams(settings.entries());
  if (play.mode === "chat") {
    state.set("mode", "chat");
    if (play.messages.length) state.set("messages", JSON.stringify(play.messages));
  }
  if (prompt_box.value) state.set("text", prompt_box.value);
  if (play.mode === "text" && play.given === prompt_box.value && tokens.list.length) state.set("written", tokens.text());
  history.replaceState(null, "", state.size ? `#${state}` : location.pathname);
  show_modes();
}
function take_link() {
  const state = new URLSearchParams(location.hash.slice(1));
  settings.take(state);
  prompt_box.value = state.get("text") || "";
  try {
    const messages = JSON.parse(state.get("messages") || "[]");
    play.messages = Array.isArray(messages) ? messages.filter(({ role, content }) => ["user", "assistant"].includes(role) && typeof content === "string") : [];
  } catch {
    play.messages = [];
  }
  tokens.begin(play.given = prompt_box.value);
  if (state.get("written")) tokens.add({ text: state.get("written"), logprob: null });
  set_mode(state.get("mode") === "chat" ? "chat" : "text");
}

async function begin() {
  by_id("runs-link").hidden = !page_data.runs;
  take_link();
  for (;;) {
    try {
      play.models = (await ask("/v1/models")).data;
      show_error("");
      break;
    } catch (error) {
      show_error(error.message);
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
  settings.set_models(play.models);
  show_modes();
  if (can_chat() && !location.hash) set_mode("chat");  // a link says what it shows
}

by_id("write").addEventListener("click", () => write());
by_id("stop").addEventListener("click", stop);
by_id("clear").addEventListener("click", clear);
prompt_box.addEventListener("input", keep_link);
by_id("modes").addEventListener("change", (event) => { set_mode(event.target.value); keep_link(); });
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.preventDefault(), write();
  if (event.key === "Escape" && play.running) stop();
});
addEventListener("hashchange", () => { if (!play.running) take_link(); });
begin();
