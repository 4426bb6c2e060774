"use strict";
// The samples of each step, one step at a time; the last step comes first.
class Samples {
  constructor(place) {
    this.steps = [];
    this.at = null;  // a step; null: the last
    this.slider = element("input", { type: "range", min: "0", step: "1", "aria-label": "Sample", oninput: () => this.choose(Number(this.slider.value)) });
    this.back = element("button", { type: "button", text: "←", "aria-label": "Previous sample", onclick: () => this.choose(this.index() - 1) });
    this.on = element("button", { type: "button", text: "→", "aria-label": "Next sample", onclick: () => this.choose(this.index() + 1) });
    this.where = element("span", { class: "where" });
    this.text = element("div", { class: "samples", "aria-live": "off" });
    this.bar = element("div", { class: "sample-bar" }, this.back, this.slider, this.on, this.where);
    place.append(this.bar, this.text);
  }

  set(samples) {
    const steps = new Map();
    for (const sample of samples) {
      if (!steps.has(sample.step)) steps.set(sample.step, []);
      steps.get(sample.step).push(sample);
    }
    this.steps = [...steps.entries()].sort((a, b) => a[0] - b[0]);
    this.show();
  }

  index() {
    const found = this.steps.findIndex(([step]) => step === this.at);
    return found < 0 ? this.steps.length - 1 : found;
  }
  choose(i) {
    const last = this.steps.length - 1;
    this.at = i >= last ? null : this.steps[Math.max(0, i)][0];
    this.show();
  }

  show() {
    const i = this.index(), last = this.steps.length - 1;
    this.bar.hidden = last < 0;
    if (last < 0) return this.text.replaceChildren(element("p", { class: "hint", text: "No samples yet." }));
    this.slider.max = last;
    this.slider.value = i;
    this.slider.hidden = last < 1;
    this.back.disabled = i === 0;
    this.on.disabled = i === last;
    const [step, samples] = this.steps[i];
    this.where.textContent = `step ${count_text(step)} (${i + 1} of ${last + 1})`;
    this.slider.setAttribute("aria-valuetext", this.where.textContent);
    this.text.replaceChildren(...samples.map(sample_text));
  }
}

// Highlights the prompt.
const sample_text = ({ prompt, text }) =>
  element("blockquote", {}, prompt ? element("mark", { text: prompt }) : null, String(text ?? ""));
