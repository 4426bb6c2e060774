"use strict";
// The generated tokens, shaded by probability; each shows its likeliest alternatives.
//   const tokens = new Tokens(by_id("output"), by_id("others"), (i, text) => go_on_with(i, text));
//   tokens.begin("Once"); tokens.add({ text: " upon", logprob: -0.1, others: [{ text: " upon", logprob: -0.1 }] });
class Tokens {
  constructor(place, box, taken) {
    Object.assign(this, { place, box, taken, list: [], spans: [], shown: -1, current: 0 });
    place.addEventListener("keydown", (event) => this.key(event));
    place.addEventListener("pointerover", (event) => {
      const i = this.spans.indexOf(event.target);
      if (i >= 0 && event.pointerType === "mouse") this.show(i);
    });
    place.addEventListener("click", (event) => {
      const i = this.spans.indexOf(event.target);
      if (i >= 0) this.show(i), this.move(i);
    });
    for (const part of [place, box]) {
      part.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse" && !box.contains(document.activeElement)) this.hide_soon();
      });
    }
    box.addEventListener("pointerenter", () => clearTimeout(this.hiding));
    box.addEventListener("keydown", (event) => this.box_key(event));
    document.addEventListener("pointerdown", (event) => {
      if (!box.contains(event.target) && !place.contains(event.target)) this.hide();
    });
  }

  begin(given) {
    this.hide();
    this.list = [];
    this.spans = [];
    this.current = 0;
    this.place.replaceChildren(element("span", { class: "given", text: given }));
    this.place.hidden = false;
  }
  add(token) {
    const span = element("span", { class: "token", text: token.text, tabindex: this.list.length === this.current ? "0" : "-1", role: "button" });
    if (token.logprob !== null) {
      const p = Math.exp(token.logprob);
      span.style.backgroundColor = `color-mix(in srgb, var(--shade) ${Math.round(100 * (1 - p) ** 1.5)}%, transparent)`;
      span.setAttribute("aria-label", `${visible(token.text)}, ${percent(p)}`);
      span.setAttribute("aria-haspopup", "listbox");
    }
    this.list.push(token);
    this.spans.push(span);
    this.place.append(span);
  }
  cut(count) {
    for (const span of this.spans.splice(count)) span.remove();
    this.list.length = count;
    this.move(0, false);
  }
  text(count = this.list.length) { return this.list.slice(0, count).map(({ text }) => text).join(""); }

  // --- alternatives
  show(i, focus = false) {
    clearTimeout(this.hiding);
    const { others } = this.list[i], span = this.spans[i];
    if (!others?.length) return this.hide();
    this.hide();
    this.shown = i;
    span.classList.add("shown");
    this.box.replaceChildren(...others.map(({ text, logprob }) => {
      const own = text === this.list[i].text;
      return element("div", { role: "option", tabindex: "-1", "aria-selected": String(own), onclick: () => this.take(i, text) },
        element("code", { text: visible(text) }), element("span", { class: "part", text: percent(Math.exp(logprob)) }));
    }));
    this.box.hidden = false;
    const at = span.getClientRects()[0], width = this.box.offsetWidth;
    this.box.style.left = `${Math.max(6, Math.min(at.left + scrollX, scrollX + document.documentElement.clientWidth - width - 6))}px`;
    this.box.style.top = `${at.bottom + scrollY + 1}px`;
    if (focus) this.box.firstElementChild.focus();
  }
  hide() {
    clearTimeout(this.hiding);
    this.box.hidden = true;
    this.spans[this.shown]?.classList.remove("shown");
    this.shown = -1;
  }
  hide_soon() {
    clearTimeout(this.hiding);
    this.hiding = setTimeout(() => this.hide(), 300);
  }
  take(i, text) {
    this.hide();
    this.taken(i, text);
  }

  move(i, focus = true) {
    if (!this.spans.length) return;
    this.spans[this.current]?.setAttribute("tabindex", "-1");
    this.current = Math.min(this.spans.length - 1, Math.max(0, i));
    this.spans[this.current].setAttribute("tabindex", "0");
    if (focus) this.spans[this.current].focus();
  }
  key(event) {
    if (event.ctrlKey || event.metaKey || !this.spans.includes(event.target)) return;
    const act = {
      ArrowLeft: () => this.move(this.current - 1), ArrowRight: () => this.move(this.current + 1),
      Home: () => this.move(0), End: () => this.move(Infinity),
      Enter: () => this.show(this.current, true), " ": () => this.show(this.current, true), ArrowDown: () => this.show(this.current, true),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    this.hide();
    act();
  }
  box_key(event) {
    const options = [...this.box.children], at = options.indexOf(document.activeElement), i = this.shown;
    const go = (to) => options[(to + options.length) % options.length].focus();
    const act = {
      ArrowDown: () => go(at + 1), ArrowUp: () => go(at - 1), Home: () => go(0), End: () => go(-1),
      Enter: () => options[at]?.click(), " ": () => options[at]?.click(),
      Escape: () => { this.hide(); this.move(i); }, Tab: () => { this.hide(); this.move(i); },
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}

const percent = (p) => p >= 0.9995 ? "100%" : p >= 0.1 ? `${(100 * p).toFixed(1)}%` : p >= 0.001 ? `${(100 * p).toFixed(2)}%` : "<0.1%";
const visible = (text) => text.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥");
