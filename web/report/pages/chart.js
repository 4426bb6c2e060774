"use strict";
// Line charts as SVG. Charts of one View share their x axis: zooming and pointing in one apply to all.
//   const view = new View((x) => `step ${x}`);
//   const chart = new Chart(place, view, { title: "Loss", height: 320, digits: 4 });
//   chart.set([{ name: "training", colour: "--c0", x: [1, 2], y: [3, 2.5], style: "line" }], true);
// Styles: line, faint, replayed (broad), dots (with a line), dashed. `quiet` series are not listed under the pointer.
class View {
  constructor(x_text) {
    Object.assign(this, { x_text, charts: [], range: null, at: null, changed: () => {} });
  }
  zoom(range) {
    this.range = range;
    for (const chart of this.charts) chart.draw();
    this.changed();
  }
  point(x, chart = null) {
    this.at = x;
    for (const other of this.charts) other.show_values(other === chart);
  }
}

const svg_element = (name, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

function linear_ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => power * times >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function log_ticks(low, high, count) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
    for (const times of [1, 2, 5]) {
      const tick = Number((times * 10 ** power).toPrecision(12));
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  if (ticks.length > 2 * count) return ticks.filter((tick) => Number.isInteger(Math.log10(tick)));
  return ticks.length >= 3 ? ticks : linear_ticks(low, high, count);
}

const tick_text = (y) => y === 0 ? "0" : Math.abs(y) >= 1e4 ? short_count(y) : Math.abs(y) < 1e-3 ? y.toExponential().replace("e-", "e−") : String(Number(y.toPrecision(6)));

class Chart {
  constructor(place, view, { title, height, digits }) {
    Object.assign(this, { place, view, title, height, digits, series: [], log: false, drag: null });
    this.svg = svg_element("svg", { role: "application", tabindex: 0, height, width: "100%" });
    this.box = element("div", { class: "values", hidden: true });
    place.classList.add("chart");
    place.append(this.svg, this.box);
    view.charts.push(this);
    this.svg.addEventListener("pointermove", (event) => this.moved(event));
    this.svg.addEventListener("pointerleave", () => { if (!this.drag) view.point(null); });
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.drag = { from: this.under(event), to: this.under(event) };
      this.svg.setPointerCapture(event.pointerId);
      if (event.pointerType !== "mouse") view.point(this.drag.from, this);
    });
    this.svg.addEventListener("pointerup", () => this.dropped());
    this.svg.addEventListener("pointercancel", () => { this.drag = null; this.mark(); });
    this.svg.addEventListener("dblclick", () => view.zoom(null));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("blur", () => view.point(null));
    new ResizeObserver(() => this.draw()).observe(place);
  }

  set(series, log = false) {
    this.series = series;
    this.log = log;
    this.draw();
  }

  // --- scales
  full_range() {
    let last = 0;
    for (const { x } of this.series) if (x.length) last = Math.max(last, x[x.length - 1]);
    return [0, last || 1];
  }
  bounds([from, to]) {
    let low = Infinity, high = -Infinity;
    for (const { x, y, style } of this.series) {
      for (let i = 0; i < x.length; ++i) {
        if (y[i] === null || (this.log && y[i] <= 0) || (style !== "dashed" && (x[i] < from || x[i] > to))) continue;
        low = Math.min(low, y[i]);
        high = Math.max(high, y[i]);
      }
    }
    if (!(low <= high)) return this.log ? [0.1, 1] : [0, 1];
    if (this.log) return [low / 1.08, high * 1.08];
    const pad = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
    return [low >= 0 && low - pad < 0 ? 0 : low - pad, high + pad];
  }
  px(x) { return this.left + (this.width - this.left - 10) * (x - this.from) / (this.to - this.from); }
  py(y) {
    const [low, high] = this.y_range, up = this.log ? Math.log(y / low) / Math.log(high / low) : (y - low) / (high - low);
    return this.height - 26 - (this.height - 36) * up;
  }
  under(event) {
    const at = event.clientX - this.svg.getBoundingClientRect().left;
    const x = this.from + (this.to - this.from) * (at - this.left) / (this.width - this.left - 10);
    return Math.min(this.to, Math.max(this.from, x));
  }

  // --- drawing
  draw() {
    this.width = this.place.clientWidth;
    if (!this.width) return;
    [this.from, this.to] = this.view.range || this.full_range();
    this.y_range = this.bounds([this.from, this.to]);
    const ticks = (this.log ? log_ticks : linear_ticks)(...this.y_range, this.height / 55);
    this.left = Math.max(40, 14 + 7 * Math.max(0, ...ticks.map((tick) => tick_text(tick).length)));
    const right = this.width - 10, bottom = this.height - 26, clip = `clip-${this.view.charts.indexOf(this)}`;
    const parts = [svg_element("clipPath", { id: clip },
      svg_element("rect", { x: this.left, y: 4, width: Math.max(0, right - this.left), height: bottom - 4 }))];
    for (const tick of ticks) {
      parts.push(svg_element("path", { class: "grid", d: `M${this.left} ${this.py(tick)}H${right}` }));
      parts.push(svg_element("text", { x: this.left - 6, y: this.py(tick) + 4, "text-anchor": "end" }, tick_text(tick)));
    }
    for (const tick of linear_ticks(this.from, this.to, this.width / 110)) {
      const anchor = this.px(tick) > right - 16 ? "end" : "middle";
      parts.push(svg_element("text", { x: this.px(tick), y: this.height - 8, "text-anchor": anchor }, this.view.x_tick(tick)));
    }
    parts.push(svg_element("path", { class: "axis", d: `M${this.left} ${bottom}H${right}` }));
    const lines = svg_element("g", { "clip-path": `url(#${clip})` });
    for (const series of this.series) this.draw_series(series, lines);
    this.cursor = svg_element("g", { "clip-path": `url(#${clip})` });
    this.band = svg_element("rect", { class: "band", y: 4, height: bottom - 4, width: 0 });
    this.svg.replaceChildren(...parts, lines, this.band, this.cursor);
    this.svg.setAttribute("aria-label", `${this.title}: ${this.summary()}. Arrow keys move along it, + and - zoom, 0 shows all`);
    this.show_values(false);
  }

  draw_series({ x, y, colour, style }, lines) {
    let path = "", pen = "M";
    for (let i = 0; i < x.length; ++i) {
      const drawn = y[i] !== null && (!this.log || y[i] > 0);
      if (drawn && !(x[i + 1] < this.from) && !(x[i - 1] > this.to)) path += `${pen}${this.px(x[i]).toFixed(1)} ${this.py(y[i]).toFixed(1)}`;
      pen = drawn && path ? "L" : "M";
    }
    const paint = `var(${colour})`;
    const drawn = svg_element("path", { class: `line ${style}`, d: path });
    drawn.style.stroke = paint;
    lines.append(drawn);
    if (style !== "dots") return;
    for (let i = 0; i < x.length; ++i) {
      if (y[i] === null || x[i] < this.from || x[i] > this.to) continue;
      const dot = svg_element("circle", { cx: this.px(x[i]).toFixed(1), cy: this.py(y[i]).toFixed(1), r: x.length > 60 ? 2 : 3.5 });
      dot.style.fill = paint;
      lines.append(dot);
    }
  }

  summary() {
    const listed = this.series.filter(({ quiet, x }) => !quiet && x.length);
    return listed.slice(0, 4).map(({ name, y }) => `${name} ${this.number(y[y.length - 1])}`).join(", ") || "nothing yet";
  }
  number(y) { return y === null ? "none" : Math.abs(y) >= 1000 ? count_text(Math.round(y)) : String(Number(y.toPrecision(this.digits))); }

  // --- values at a place
  show_values(here) {
    const { at } = this.view;
    if (!this.cursor) return;
    this.cursor.replaceChildren();
    this.box.hidden = true;
    if (at === null || at < this.from || at > this.to) return;
    const rows = [];
    let shown_at = null;
    for (const series of this.series) {
      if (series.quiet || !series.x.length) continue;
      const i = nearest(series.x, at);
      if (series.y[i] === null) continue;
      rows.push(element("div", {}, mark_of(series), ` ${series.name} `, element("b", { text: this.number(series.y[i]) })));
      if (series.style === "dashed") continue;
      if (shown_at === null || Math.abs(series.x[i] - at) < Math.abs(shown_at - at)) shown_at = series.x[i];
      if (this.log && series.y[i] <= 0) continue;
      const dot = svg_element("circle", { cx: this.px(series.x[i]), cy: this.py(series.y[i]), r: 4.5, class: "nearest" });
      dot.style.fill = `var(${series.colour})`;
      this.cursor.append(dot);
    }
    const x = this.px(at);
    this.cursor.prepend(svg_element("path", { class: "cursor", d: `M${x} 4V${this.height - 26}` }));
    if (!rows.length) return;
    this.box.replaceChildren(element("div", { class: "where", text: this.view.x_text(shown_at ?? at) }), ...rows);
    this.box.hidden = false;
    this.box.classList.toggle("minor", !here);
    const room = this.width - 10 - x, width = this.box.offsetWidth;
    this.box.style.left = `${room > width + 14 ? x + 12 : Math.max(0, x - width - 12)}px`;
  }
  moved(event) {
    const x = this.under(event);
    if (this.drag) this.drag.to = x, this.mark();
    this.view.point(x, this);
  }
  mark() {
    const [a, b] = this.drag ? [this.px(this.drag.from), this.px(this.drag.to)] : [0, 0];
    this.band.setAttribute("x", Math.min(a, b));
    this.band.setAttribute("width", Math.abs(a - b));
  }
  dropped() {
    if (!this.drag) return;
    const { from, to } = this.drag;
    this.drag = null;
    this.mark();
    if (Math.abs(this.px(from) - this.px(to)) > 6) this.view.zoom([Math.min(from, to), Math.max(from, to)]);
  }

  key(event) {
    const { view } = this, all = this.full_range(), span = this.to - this.from;
    const longest = this.series.filter(({ quiet }) => !quiet).reduce((a, b) => b.x.length > (a?.x.length ?? 0) ? b : a, null);
    if (!longest) return;
    const at = view.at ?? this.to, i = nearest(longest.x, at), middle = view.at ?? (this.from + this.to) / 2;
    const go = (to) => view.point(Math.min(this.to, Math.max(this.from, longest.x[Math.min(longest.x.length - 1, Math.max(0, to))])), this);
    const zoom = (factor) => {
      const half = span * factor / 2, from = Math.max(all[0], middle - half), to = Math.min(all[1], middle + half);
      view.zoom(to - from >= all[1] * 0.999 ? null : [from, to]);
      view.point(middle, this);
    };
    const many = event.shiftKey ? 10 : 1;
    const act = {
      ArrowLeft: () => go(i - many), ArrowRight: () => go(i + many), Home: () => go(0), End: () => go(Infinity),
      "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => view.zoom(null), Escape: () => view.zoom(null),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

function mark_of({ colour, style }) {
  const mark = element("span", { class: `mark ${style}` });
  mark.style.setProperty("--mark", `var(${colour})`);
  return mark;
}

// The index of the nearest of ascending numbers.
function nearest(sorted, x) {
  let low = 0, high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - sorted[low - 1] < sorted[low] - x ? low - 1 : low;
}
