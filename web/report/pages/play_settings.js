"use strict";
// The controls, and the link that keeps them with the text: page#model=...&temperature=...&text=...
const kSettings = [
  { name: "temperature", label: "Temperature", value: 0.8, min: 0, max: 5, step: 0.05, help: "0: always the most likely token; higher: more random" },
  { name: "max_tokens", label: "Max tokens", value: 200, min: 1, max: 100000, step: 1 },
  { name: "top_k", label: "Top-k", value: 0, min: 0, max: 1000000, step: 1, help: "sample from the k most likely tokens; 0: off" },
  { name: "top_p", label: "Top-p", value: 1, min: 0, max: 1, step: 0.01, help: "sample from the fewest tokens whose probabilities add up to p; 1: off" },
  { name: "min_p", label: "Min-p", value: 0, min: 0, max: 1, step: 0.01, help: "drop tokens less likely than this fraction of the most likely one; 0: off" },
  { name: "repeat_penalty", label: "Repeat penalty", value: 1, min: 0.05, max: 10, step: 0.05, help: "above 1, tokens that are in the text already are less likely; 1: off" },
  { name: "presence_penalty", label: "Presence penalty", value: 0, min: -2, max: 2, step: 0.1, help: "lowers tokens that are in the text already; 0: off" },
  { name: "frequency_penalty", label: "Frequency penalty", value: 0, min: -2, max: 2, step: 0.1, help: "lowers tokens by how often they are in the text; 0: off" },
  { name: "seed", label: "Seed", value: "", min: 0, max: 9007199254740991, step: 1, help: "the same seed gives the same text; empty: random" },
];

class Settings {
  constructor(form, changed) {
    this.inputs = {};
    this.model = element("select", { onchange: changed, name: "model" });
    this.stop = element("input", { type: "text", name: "stop", oninput: changed, placeholder: "none", title: "generation ends before this text; \\n is a line break" });
    this.system = element("textarea", { rows: "2", name: "system", oninput: changed, placeholder: "none" });
    form.append(element("h2", { text: "Settings" }), element("label", { class: "wide" }, "Model", this.model));
    for (const { name, label, value, min, max, step, help } of kSettings) {
      const input = element("input", { type: "number", name, min: String(min), max: String(max), step: String(step), oninput: changed, title: help });
      input.value = value;
      if (value === "") input.placeholder = "random";
      this.inputs[name] = input;
      form.append(element("label", { title: help }, label, input));
    }
    this.for_chat = element("label", { class: "wide", hidden: true }, "System prompt", this.system);
    form.append(element("label", {}, "Stop sequence", this.stop), this.for_chat);
    const reset = element("button", { type: "button", text: "Reset", onclick: () => { this.reset(); changed(); } });
    form.append(element("div", { class: "buttons" }, reset));
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  reset() {
    for (const { name, value } of kSettings) this.inputs[name].value = value;
    this.stop.value = "";
  }

  // The valid settings that differ from their defaults, by the API's names.
  request() {
    const body = { model: this.model.value || undefined };
    for (const { name, value } of kSettings) {
      const input = this.inputs[name], { badInput, rangeUnderflow, rangeOverflow, stepMismatch } = input.validity;
      const wrong = badInput || rangeUnderflow || rangeOverflow || (stepMismatch && input.step === "1");
      if (wrong) throw new Error(`${input.parentElement.firstChild.textContent}: ${input.validationMessage}`);
      if (input.value !== "" && (Number(input.value) !== value || ["temperature", "max_tokens"].includes(name))) body[name] = Number(input.value);
    }
    if (this.stop.value) body.stop = [this.stop.value.replaceAll("\\n", "\n")];
    return body;
  }

  // Converts to the text of a link, and back.
  entries() {
    const found = kSettings.filter(({ name, value }) => this.inputs[name].value !== String(value)).map(({ name }) => [name, this.inputs[name].value]);
    if (this.stop.value) found.push(["stop", this.stop.value]);
    if (this.system.value) found.push(["system", this.system.value]);
    if (this.model.value && this.model.selectedIndex > 0) found.push(["model", this.model.value]);
    return found;
  }
  take(parameters) {
    for (const { name } of kSettings) if (parameters.has(name)) this.inputs[name].value = parameters.get(name);
    for (const name of ["stop", "system"]) if (parameters.has(name)) this[name].value = parameters.get(name);
    this.wanted_model = parameters.get("model");
  }

  set_models(models) {
    this.model.replaceChildren(...models.map(({ id }) => element("option", { value: id, text: id })));
    if (models.some(({ id }) => id === this.wanted_model)) this.model.value = this.wanted_model;
  }
}
