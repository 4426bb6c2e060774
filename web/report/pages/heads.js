"use strict";
// Shows the heads of attention_data() in the elements of heads.html: a grid of all, one of them large, and the text. It
// may be called again after these have been recreated.
function show_heads(data) {
  show_heads.leave?.abort();
  const leaving = show_heads.leave = new AbortController();
  const { tokens, layers, heads } = data, count = tokens.length;
  const state = { layer: data.first.layer, head: data.first.head, query: count - 1, key: 0, pointed: null };
  const weights = head_weights(data), map = head_map(tokens, weights, state, point, choose);

  // --- the grid of all heads
  const cells = [];
  function make_grid() {
    const grid = by_id("grid"), short = heads > 6;
    const name = (text) => grid.append(element("div", { class: "name", text }));
    grid.style.gridTemplateColumns = `auto repeat(${heads}, minmax(${short ? 28 : 40}px, 1fr))`;
    name(short ? "head" : "");
    for (let head = 0; head < heads; ++head) name(short ? head : `head ${head}`);
    for (let layer = 0; layer < layers; ++layer) {
      name(`layer ${layer}`);
      for (let head = 0; head < heads; ++head) {
        const title = `layer ${layer}, head ${head}`, canvas = element("canvas");
        const button = element("button", { role: "radio", title, "aria-label": title, onclick: () => choose({ layer, head }) }, canvas);
        grid.append(button);
        cells.push({ button, canvas });
      }
    }
    let next = 0;
    (function some() {  // many heads of a long text must not hold the page up
      const start = performance.now();
      for (; next < cells.length && performance.now() - start < 100; ++next) {
        weights.paint(cells[next].canvas, Math.floor(next / heads), next % heads, 128);
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

  // --- text: the weight under the pointer, and the chosen row over the text
  const spans = [];
  function make_text() {
    const text = by_id("text");
    tokens.forEach((token, i) => {
      const span = element("span", {
        text: token, tabindex: "-1", role: "button", onclick: () => look(i),
        onpointerenter: () => point({ query: state.query, key: i }), onpointerleave: () => point(null),
      });
      spans.push(span);
      if (token.startsWith("␣")) text.append(element("wbr"));
      text.append(span);
      if (token.endsWith("␣")) text.append(element("wbr"));
      if (token.includes("↵")) text.append(element("br"));
    });
    text.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -count, End: count }[event.key];
      if (!move) return;
      event.preventDefault();
      look(clamp(state.query + move, count));
      spans[state.query].focus();
    });
  }

  const token_parts = (i) => [`token ${i} `, element("code", { text: tokens[i] })];
  function readout() {
    const { query, key } = state.pointed || state;
    for (const place of document.querySelectorAll(".heads .readout")) {
      place.replaceChildren(element("b", { text: weight_text(weights.weight(state, query, key)) }), ": ", ...token_parts(query),
        key > query ? " cannot attend to " : " attends to ", ...token_parts(key), key > query ? ", which comes later" : "");
    }
  }

  function ranked(token, at, number, length) {
    const bar = element("span", { class: "length" });
    bar.style.cssText = `width: ${100 * length}%; background: ${css(weights.colour(number))}`;
    return element("li", {}, element("span", { class: "what" }, element("code", { text: token })),
      element("span", { class: "at", text: at }), weight_text(number), bar);
  }

  function show_row() {
    const row = tokens.slice(0, state.query + 1).map((_, key) => weights.weight(state, state.query, key));
    by_id("text-title").replaceChildren("What ", ...token_parts(state.query), " attends to");
    const highest = Math.max(...row);  // relative to the row, whose weights may all be small
    spans.forEach((span, key) => {
      const rgb = key <= state.query ? weights.steps[Math.round(255 * (row[key] / highest))] : null;
      span.className = (rgb ? "" : "ahead") + (key === state.query ? " query" : "");
      span.style.background = rgb ? css(rgb) : "";
      span.style.color = rgb ? (luminance(rgb) > 0.179 ? "#000000" : "#ffffff") : "";
      span.tabIndex = key === state.query ? 0 : -1;
      span.setAttribute("aria-label", `${tokens[key]}${rgb ? `, weight ${weight_text(row[key])}` : ""}`);
    });
    const order = row.map((_, key) => key).sort((a, b) => row[b] - row[a]).slice(0, 8);
    by_id("ranking").replaceChildren(...order.map((key) => ranked(tokens[key], key, row[key], row[key] / highest)));
    by_id("lens-title").replaceChildren("What the model would say after ", ...token_parts(state.query));
    by_id("lens").replaceChildren(...data.lens.map((layer, i) => {
      const [token, probability] = layer[state.query];
      return ranked(token, `layer ${i}`, probability, probability);
    }));
  }

  // --- events
  // Chooses a token as the query, and the key with its highest weight.
  function look(query) {
    const row = tokens.slice(0, query + 1).map((_, key) => weights.weight(state, query, key));
    choose({ query, key: row.indexOf(Math.max(...row)) });
  }

  function point(at) {
    state.pointed = at;
    map.draw();
    readout();
  }

  function choose(change) {
    Object.assign(state, change, { pointed: null });
    if ("layer" in change) {
      map.paint();
      by_id("head-title").textContent = `Layer ${state.layer}, head ${state.head}`;
      cells.forEach(({ button }, i) => {
        const chosen = i === state.layer * heads + state.head;
        button.setAttribute("aria-checked", chosen);
        button.tabIndex = chosen ? 0 : -1;
      });
    }
    map.draw();
    readout();
    show_row();
  }

  function draw_legend() {
    const canvas = by_id("legend"), width = canvas.clientWidth, height = canvas.clientHeight, pen = canvas.getContext("2d"), ratio = map.ratio();
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const from = 8, length = width - 24;
    for (let x = 0; x < length; ++x) {
      pen.fillStyle = css(weights.steps[Math.round(x / length * 255)]);
      pen.fillRect(from + x, 2, 1.5, 12);
    }
    pen.fillStyle = theme("--faint");
    pen.font = "12px system-ui, sans-serif";
    pen.textAlign = "center";
    for (const w of data.legend) pen.fillText(Number(w.toPrecision(2)), from + weights.position(w) * length, 30);
  }

  function redraw() {
    map.lay_out();
    map.draw();
    draw_legend();
  }

  new ResizeObserver(redraw).observe(by_id("map"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw, { signal: leaving.signal });
  for (const [name, begins] of [["beforeprint", true], ["afterprint", false]]) {
    addEventListener(name, () => {
      map.print(begins);
      document.documentElement.classList.toggle("printing", begins);
      redraw();
    }, { signal: leaving.signal });
  }

  const alone = data.weights.filter((head) => head).length === 1;  // nothing to choose from: the legend stays
  if (alone) by_id("all-title").hidden = by_id("grid").hidden = true;
  else make_grid();
  make_text();
  map.lay_out();
  choose({ layer: state.layer, head: state.head });
  look(state.query);
  redraw();

  // Shows other weights for the same text.
  show_heads.update = (other) => {
    weights.update(other);
    cells.forEach(({ canvas }, i) => weights.paint(canvas, Math.floor(i / heads), i % heads, 128));
    choose({ layer: state.layer, head: state.head });
  };
}
