"use strict";
// Runs with the same settings look alike, and are shown and hidden together.
const group_of = (run) => run.group ?? run.name;
const groups_of = (runs) => [...new Set(runs.map(group_of))];
const colour_of = (run, runs) => `--c${groups_of(runs).indexOf(group_of(run)) % 8}`;

// The curves of one run, or of several in one chart, and the controls of how they are drawn.
class Curves {
  constructor(place, runs) {
    this.runs = runs;
    this.hidden = new Set();
    this.view = new View((x) => this.x_text(x));
    this.view.x_tick = (x) => this.unit() === "time" ? time_text(x) : short_count(x);
    this.view.changed = () => { this.all.hidden = this.view.range === null; };
    this.make_controls(place);
    this.legend = place.appendChild(element("div", { class: "curve-legend" }));
    const chart = (holder, title, height, digits) => {
      const figure = holder.appendChild(element("figure", {}, element("figcaption", { text: title })));
      return new Chart(figure.appendChild(element("div")), this.view, { title, height, digits });
    };
    const small = (title, digits) => chart(this.small, title, 170, digits);
    this.loss = chart(place, "Loss", 340, 5);
    place.append(element("p", { class: "hint", text: "Drag across a chart to zoom; double-click, or press 0, to see all." }));
    this.small = place.appendChild(element("div", { class: "small-charts" }));
    this.others = { lr: small("Learning rate", 4), grad_norm: small("Gradient norm", 4), tok_s: small("Tokens per second", 4) };
    this.update(runs);
  }

  make_controls(place) {
    const redraw = () => this.draw();
    const choice = (label, options) => {
      const select = element("select", { onchange: () => { this.view.range = null; redraw(); } },
        ...options.map(([value, text]) => element("option", { value, text })));
      this.controls.append(element("label", {}, `${label} `, select));
      return select;
    };
    this.controls = place.appendChild(element("div", { class: "controls", role: "group", "aria-label": "How the curves are drawn" }));
    this.x = choice("x", [["step", "steps"], ["tokens", "tokens"], ["time", "time"]]);
    this.scale = choice("loss", [["log", "logarithmic"], ["linear", "linear"]]);
    this.nats = choice("in", [["nats", "nats per token"], ["bits", "bits per byte"]]);
    const longest = Math.max(...this.runs.map(({ metrics }) => metrics.step.length), 0);
    this.smooth = element("input", { type: "range", min: "0", max: "0.98", step: "0.02", oninput: redraw });
    this.smooth.value = longest > 40 ? 0.6 : 0;
    this.controls.append(element("label", {}, "smooth ", this.smooth));
    this.all = element("button", { type: "button", text: "Show all", hidden: true, onclick: () => this.view.zoom(null) });
    this.controls.append(this.all);
  }

  unit() { return this.x?.value || "step"; }
  x_text(x) {
    return { step: `step ${count_text(Math.round(x))}`, tokens: `${short_count(x)} tokens`, time: time_text(x) }[this.unit()];
  }
  xs({ metrics, tokens_per_step }) {
    if (this.unit() === "time") return metrics.train_s.map((s) => s ?? 0);
    return this.unit() === "tokens" ? metrics.step.map((step) => step * (tokens_per_step || 1)) : metrics.step;
  }

  // Takes new runs, or the same runs with more steps.
  update(runs) {
    this.runs = runs;
    const known = runs.some((run) => bytes_per_token(run));
    this.nats.parentElement.hidden = !known;
    this.draw();
  }

  draw() {
    const shown = this.runs.filter((run) => !this.hidden.has(group_of(run))), alone = this.runs.length === 1;
    const loss = [], others = { lr: [], grad_norm: [], tok_s: [] };
    for (const run of shown) {
      const colour = colour_of(run, this.runs), x = this.xs(run), { metrics } = run;
      const per_byte = this.nats.value === "bits" ? bytes_per_token(run) * Math.LN2 : 1;
      const scaled = (values) => values.map((y) => y === null || !per_byte ? null : y / per_byte);
      const training = scaled(metrics.loss), smooth = smoothed(training, Number(this.smooth.value));
      const name = (what) => alone ? what : run.name;
      if (Number(this.smooth.value) > 0) loss.push({ name: "raw", colour, x, y: training, style: "faint", quiet: !alone });
      if (run.replayed?.length) loss.push({ name: name("trained again: the same bits"), colour, ...parts_of(run.replayed, metrics.step, x, smooth), style: "replayed", quiet: true });
      const training_name = Number(this.smooth.value) > 0 ? "training, smoothed" : "training";
      loss.push({ name: alone ? training_name : `${run.name}, training`, colour, x, y: smooth, style: "line", quiet: shown.length > 4 });
      const evaluated = metrics.val_loss.map((_, i) => i).filter((i) => metrics.val_loss[i] !== null);
      loss.push({ name: name("validation"), colour: alone ? "--c1" : colour, style: "dots",
        x: evaluated.map((i) => x[i]), y: scaled(evaluated.map((i) => metrics.val_loss[i])) });
      if (!evaluated.length && !alone) loss.at(-2).quiet = false;
      const floor = alone ? floor_of(run) : null;
      if (floor) {
        const last = x.length ? x[x.length - 1] : 1, y = floor / per_byte;
        loss.push({ name: "entropy of the stories", colour: "--faint", x: [0, last], y: [y, y], style: "dashed" });
      }
      for (const key of Object.keys(others)) others[key].push({ name: name(this.others[key].title.toLowerCase()), colour, x, y: metrics[key], style: "line" });
    }
    this.loss.set(loss, this.scale.value === "log");
    for (const [key, series] of Object.entries(others)) this.others[key].set(series);
    this.show_legend(loss, alone);
    this.view.changed();
  }

  show_legend(loss, alone) {
    const items = alone ? loss.map((series) => element("span", {}, mark_of(series), ` ${series.name}`))
      : groups_of(this.runs).map((group, i) => element("button", {
        type: "button", "aria-pressed": String(!this.hidden.has(group)),
        onclick: () => {
          this.hidden.has(group) ? this.hidden.delete(group) : this.hidden.add(group);
          this.draw();
          this.legend.children[i].focus();
        },
      }, mark_of({ colour: `--c${i % 8}`, style: "line" }), ` ${group}`));
    this.legend.replaceChildren(...items);
  }
}

// The stretches [from, to] of a curve, with a gap after each. They may begin and end between two of its points.
function parts_of(stretches, steps, x, y) {
  const known = steps.map((_, i) => i).filter((i) => y[i] !== null), part = { x: [], y: [] };
  const at = (values, step) => {
    const next = known.find((i) => steps[i] >= step) ?? known.at(-1), before = known.findLast((i) => steps[i] <= step) ?? next;
    return next === before ? values[next] : values[before] + (values[next] - values[before]) * (step - steps[before]) / (steps[next] - steps[before]);
  };
  for (const [from, to] of known.length ? stretches : []) {
    const inside = known.filter((i) => from < steps[i] && steps[i] < to);
    part.x.push(at(x, from), ...inside.map((i) => x[i]), at(x, to), at(x, to));
    part.y.push(at(y, from), ...inside.map((i) => y[i]), at(y, to), null);
  }
  return part;
}

// Exponential moving average: each value weighs `weight` times the one after it.
function smoothed(values, weight) {
  let sum = 0, total = 0;
  return values.map((y) => {
    if (y === null) return null;
    sum = sum * weight + y;
    total = total * weight + 1;
    return sum / total;
  });
}

// Bytes per token of the validation text, from the two units of its loss; else of the whole text. NaN if unknown.
function bytes_per_token({ metrics, card }) {
  for (let i = metrics.step.length - 1; i >= 0; --i) {
    if (metrics.val_loss[i] !== null && metrics.bits_per_byte[i]) return metrics.val_loss[i] / (metrics.bits_per_byte[i] * Math.LN2);
  }
  return card?.tokens && !card.documents ? card.text_bytes / card.tokens : NaN;  // a conversation's text depends on its template
}

const floor_of = (run) => run.floor && bytes_per_token(run) ? run.floor * bytes_per_token(run) : null;
