// The grid, the text, and the events of choosing.

// --- the grid of all heads
const cells = [];
function make_grid() {
  const grid = $("grid"), short = heads > 6;
  const name = (text) => Object.assign(grid.appendChild(document.createElement("div")), { className: "name", textContent: text });
  grid.style.gridTemplateColumns = `auto repeat(${heads}, minmax(${short ? 28 : 40}px, 1fr))`;
  name(short ? "head" : "");
  for (let head = 0; head < heads; ++head) name(short ? head : `head ${head}`);
  for (let layer = 0; layer < layers; ++layer) {
    name(`layer ${layer}`);
    for (let head = 0; head < heads; ++head) {
      const button = grid.appendChild(document.createElement("button"));
      button.setAttribute("role", "radio");
      button.setAttribute("aria-label", `layer ${layer}, head ${head}`);
      button.title = `layer ${layer}, head ${head}`;
      button.addEventListener("click", () => choose({ layer, head }));
      cells.push({ button, canvas: button.appendChild(document.createElement("canvas")) });
    }
  }
  let next = 0;
  (function some() {  // many heads of a long text must not hold the page up
    const start = performance.now();
    for (; next < cells.length && performance.now() - start < 100; ++next) {
      paint(cells[next].canvas, Math.floor(next / heads), next % heads, 128);
    }
    if (next < cells.length) setTimeout(some);
  })();
  grid.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!move) return;
    event.preventDefault();
    choose({ layer: clamp(state.layer + move[0], layers), head: clamp(state.head + move[1], heads) });
    cells[state.layer * heads + state.head].button.focus();
  });
}
const clamp = (i, size) => Math.min(size - 1, Math.max(0, i));

// --- text: the weight under the pointer, and the chosen row over the text
const spans = [];
function make_text() {
  const text = $("text");
  tokens.forEach((token, i) => {
    if (token.startsWith("␣")) text.append(document.createElement("wbr"));
    const span = Object.assign(document.createElement("span"), { textContent: token, tabIndex: -1 });
    span.setAttribute("role", "button");
    span.addEventListener("click", () => look(i));
    span.addEventListener("pointerenter", () => point({ query: state.query, key: i }));
    span.addEventListener("pointerleave", () => point(null));
    spans.push(span);
    text.append(span);
    if (token.endsWith("␣")) text.append(document.createElement("wbr"));
    if (token.includes("↵")) text.append(document.createElement("br"));
  });
  text.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -count, End: count }[event.key];
    if (!move) return;
    event.preventDefault();
    look(clamp(state.query + move, count));
    spans[state.query].focus();
  });
}

const element = (name, text, kind) => Object.assign(document.createElement(name), { textContent: text, className: kind || "" });
function readout() {
  const { query, key } = state.pointed || state;
  for (const place of document.querySelectorAll(".heads .readout")) {
    place.replaceChildren(element("b", digits(weight(query, key))), ": token ", `${query} `, element("code", tokens[query]),
      key > query ? " cannot attend to token " : " attends to token ", `${key} `, element("code", tokens[key]),
      key > query ? ", which comes later" : "");
  }
}

function show_row() {
  const row = tokens.slice(0, state.query + 1).map((_, key) => weight(state.query, key));
  $("text-title").replaceChildren("What token ", `${state.query} `, element("code", tokens[state.query]), " attends to");
  const highest = Math.max(...row);  // colours share out what the row has, which may be little everywhere
  spans.forEach((span, key) => {
    const rgb = key <= state.query ? steps[Math.round(255 * (row[key] / highest))] : null;
    span.className = (rgb ? "" : "ahead") + (key === state.query ? " query" : "");
    span.style.background = rgb ? css(rgb) : "";
    span.style.color = rgb ? (luminance(rgb) > 0.179 ? "#000000" : "#ffffff") : "";
    span.tabIndex = key === state.query ? 0 : -1;
    span.setAttribute("aria-label", `${tokens[key]}${rgb ? `, weight ${digits(row[key])}` : ""}`);
  });
  const order = row.map((_, key) => key).sort((a, b) => row[b] - row[a]).slice(0, 8);
  $("ranking").replaceChildren(...order.map((key) => {
    const line = document.createElement("li"), bar = element("span", "", "length"), what = element("span", "", "what");
    bar.style.cssText = `width: ${100 * row[key] / highest}%; background: ${css(colour(row[key]))}`;
    what.append(element("code", tokens[key]));
    line.append(what, element("span", key, "at"), digits(row[key]), bar);
    return line;
  }));
}

// --- events
// Chooses a token as the query, and the key with its highest weight.
function look(query) {
  const row = tokens.slice(0, query + 1).map((_, key) => weight(query, key));
  choose({ query, key: row.indexOf(Math.max(...row)) });
}

function point(at) {
  state.pointed = at;
  draw();
  readout();
}

function choose(change) {
  Object.assign(state, change, { pointed: null });
  if ("layer" in change) {
    paint(pixels, state.layer, state.head, Infinity);
    $("head-title").textContent = `Layer ${state.layer}, head ${state.head}`;
    cells.forEach(({ button }, i) => {
      const chosen = i === state.layer * heads + state.head;
      button.setAttribute("aria-checked", chosen);
      button.tabIndex = chosen ? 0 : -1;
    });
  }
  draw();
  readout();
  show_row();
}

function draw_legend() {
  const canvas = $("legend"), width = canvas.clientWidth, height = canvas.clientHeight, pen = canvas.getContext("2d");
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const from = 8, length = width - 24;
  for (let x = 0; x < length; ++x) {
    pen.fillStyle = css(steps[Math.round(x / length * 255)]);
    pen.fillRect(from + x, 2, 1.5, 12);
  }
  pen.fillStyle = theme("--faint");
  pen.font = "12px system-ui, sans-serif";
  pen.textAlign = "center";
  for (const w of data.legend) pen.fillText(Number(w.toPrecision(2)), from + position(w) * length, 30);
}

function redraw() {
  lay_out();
  draw();
  draw_legend();
}

map.addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") point(under(event)); });
map.addEventListener("pointerleave", () => point(null));
map.addEventListener("scroll", draw);
map.addEventListener("click", (event) => {
  const at = under(event);
  if (at) choose(at);
});
map.addEventListener("keydown", (event) => {
  const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (move) choose({ query: clamp(state.query + move[0], count), key: clamp(state.key + move[1], count) });
  else if (event.key === "+" || event.key === "=") zoom(cell * 1.5);
  else if (event.key === "-") zoom(cell / 1.5);
  else if (event.key === "0") zoom(cell, true);
  else return;
  event.preventDefault();
  if (move) {  // keep the chosen weight in sight
    const x = state.key * cell, y = state.query * cell;
    map.scrollLeft = Math.min(x, Math.max(map.scrollLeft, x + cell + labels.left - map.clientWidth));
    map.scrollTop = Math.min(y, Math.max(map.scrollTop, y + cell + labels.top - map.clientHeight));
  }
});
$("smaller").addEventListener("click", () => zoom(cell / 1.5));
$("larger").addEventListener("click", () => zoom(cell * 1.5));
$("fit").addEventListener("click", () => zoom(cell, true));
new ResizeObserver(redraw).observe(map);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw, { signal: leaving.signal });
for (const [name, begins] of [["beforeprint", true], ["afterprint", false]]) {
  addEventListener(name, () => {
    printing = begins;
    document.documentElement.classList.toggle("printing", printing);
    ratio = printing ? 3 : window.devicePixelRatio || 1;
    if (printing) fitted = true;
    redraw();
  }, { signal: leaving.signal });
}

const alone = data.weights.filter((head) => head).length === 1;  // nothing to choose from: the legend stays
if (alone) $("all-title").hidden = $("grid").hidden = true;
else make_grid();
make_text();
lay_out();
choose({ layer: state.layer, head: state.head });
look(state.query);
redraw();

// Shows other weights for the same text.
show_heads.update = (other) => {
  data.weights = other.weights;
  triangles.clear();
  cells.forEach(({ canvas }, i) => paint(canvas, Math.floor(i / heads), i % heads, 128));
  choose({ layer: state.layer, head: state.head });
};
