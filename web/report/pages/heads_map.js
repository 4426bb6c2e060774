"use strict";
// One head in a large view: what `state` names. The canvas has the size of its window and draws the part scrolled to.
// point() and choose() are told the weight under the pointer, and the one that is clicked or reached with the keys.
function head_map(tokens, weights, state, point, choose) {
  const map = by_id("map"), heat = by_id("heat"), pixels = element("canvas"), count = tokens.length, font = theme("--mono");
  let cell = 0, fitted = true, printing = false, ratio = window.devicePixelRatio || 1;  // cell: a weight's side in CSS pixels
  let labels = {};  // how tokens are labelled at this size

  function lay_out() {
    const pen = heat.getContext("2d"), width = map.clientWidth;
    pen.font = `13px ${font}`;
    const widest = Math.max(...tokens.map((token) => pen.measureText(token).width)) / 13;  // of 1 px letters
    const room = Math.min(width / 5, 110);
    const side = Math.min(width, printing ? width : parseFloat(getComputedStyle(map).maxHeight));
    if (fitted) cell = Math.min(40, (side - Math.min(room, widest * 14) - 8) / count);  // with the largest labels
    const size = Math.max(7, Math.min(14, cell - 1)), stride = Math.ceil((size - 0.5) / cell);
    const length = Math.min(room, widest * size);
    pen.font = `bold ${size}px ${font}`;
    labels = { size, stride, left: Math.ceil(length) + 6, upwards: length > cell * stride * 1.2 };
    labels.tokens = tokens.map((token) => shorten(pen, token, room));
    labels.top = labels.upwards ? labels.left : size + 8;
    by_id("extent").style.width = `${labels.left + cell * count + 1}px`;
    by_id("extent").style.height = `${labels.top + cell * count + 1}px`;
    const max_height = printing ? Infinity : map.clientHeight;
    const shown = [Math.min(width, labels.left + cell * count + 1), Math.min(max_height, labels.top + cell * count + 1)];
    heat.style.width = `${shown[0]}px`;
    heat.style.height = `${shown[1]}px`;
    [heat.width, heat.height] = shown.map((length) => Math.round(length * ratio));
  }

  function shorten(pen, text, max_width) {
    if (pen.measureText(text).width <= max_width) return text;
    let letters = [...text];
    while (letters.length > 1 && pen.measureText(letters.join("") + "…").width > max_width) letters.pop();
    return letters.join("") + "…";
  }

  function draw() {
    const pen = heat.getContext("2d"), { left, top } = labels, x0 = left - map.scrollLeft, y0 = top - map.scrollTop;
    const width = heat.width / ratio, height = heat.height / ratio, side = cell * count;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = theme("--ground");
    pen.fillRect(0, 0, width, height);
    pen.save();
    pen.beginPath();
    pen.rect(left - 1, top - 1, width, height);
    pen.clip();
    pen.fillStyle = theme("--panel");
    pen.fillRect(x0, y0, side, side);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(pixels, x0, y0, side, side);
    const at = state.pointed || state;
    outline(pen, x0, y0 + state.query * cell, (state.query + 1) * cell, cell);
    outline(pen, x0 + at.key * cell, y0 + at.query * cell, cell, cell);
    pen.restore();
    for (let i = 0; i < count; i += labels.stride) label(pen, i, x0, y0, false);
    label(pen, at.query, x0, y0, true, "row");
    label(pen, at.key, x0, y0, true, "column");
  }

  function outline(pen, x, y, width, height) {
    for (const [line, style] of [[3, "#000000"], [1.25, "#ffffff"]]) {
      pen.lineWidth = line;
      pen.strokeStyle = style;
      pen.strokeRect(x, y, width, height);
    }
  }

  // A token beside its row and above its column. A marked label covers the labels that it overlaps.
  function label(pen, i, x0, y0, marked, which) {
    const { left, top, size, upwards } = labels, middle = (i + 0.5) * cell;
    pen.font = `${marked ? "bold " : ""}${size}px ${font}`;
    pen.textBaseline = "middle";
    const width = Math.min(left - 5, pen.measureText(labels.tokens[i]).width), back = theme("--ground");
    const put = (x, y, angle, align) => {
      pen.save();
      pen.translate(x, y);
      pen.rotate(angle);
      pen.fillStyle = back;
      const from = align === "end" ? -width : align === "center" ? -width / 2 : 0;
      if (marked) pen.fillRect(from - 2, -size / 2 - 1, width + 4, size + 2);
      pen.fillStyle = theme(marked ? "--accent" : "--ink");
      pen.textAlign = align;
      pen.fillText(labels.tokens[i], 0, 0, left - 5);
      pen.restore();
    };
    if (which !== "column" && y0 + middle >= top) put(left - 4, y0 + middle, 0, "end");
    if (which !== "row" && x0 + middle >= left) {
      put(x0 + middle, upwards ? top - 4 : top - 4 - size / 2, upwards ? -Math.PI / 2 : 0, upwards ? "start" : "center");
    }
  }

  function zoom(to, keep_fit = false) {
    const { left, top } = labels, old = cell;
    const seen = [(map.scrollLeft + map.clientWidth / 2 - left) / old, (map.scrollTop + map.clientHeight / 2 - top) / old];
    fitted = keep_fit;
    cell = Math.min(64, Math.max(1, to));
    lay_out();
    map.scrollLeft = seen[0] * cell + labels.left - map.clientWidth / 2;
    map.scrollTop = seen[1] * cell + labels.top - map.clientHeight / 2;
    draw();
  }

  function under(event) {
    const box = heat.getBoundingClientRect();
    const x = event.clientX - box.left + map.scrollLeft - labels.left, y = event.clientY - box.top + map.scrollTop - labels.top;
    const inside = event.clientX - box.left >= labels.left && event.clientY - box.top >= labels.top;
    const key = Math.floor(x / cell), query = Math.floor(y / cell);
    return inside && key < count && query < count ? { query, key } : null;
  }

  function print(begins) {
    printing = begins;
    ratio = printing ? 3 : window.devicePixelRatio || 1;
    if (printing) fitted = true;
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
  by_id("smaller").addEventListener("click", () => zoom(cell / 1.5));
  by_id("larger").addEventListener("click", () => zoom(cell * 1.5));
  by_id("fit").addEventListener("click", () => zoom(cell, true));
  return { lay_out, draw, print, ratio: () => ratio, paint: () => weights.paint(pixels, state.layer, state.head, Infinity) };
}
const clamp = (i, size) => Math.min(size - 1, Math.max(0, i));
