"use strict";
// The weights of all heads for one text, and their colours.
function head_weights(data) {
  const count = data.tokens.length;

  // --- weights: the lower triangle of each head, row by row; each as its position on the colour scale, 0 to 255, in base64
  const triangles = new Map();
  function triangle(layer, head) {
    const at = layer * data.heads + head;
    if (!triangles.has(at)) {
      const text = atob(data.weights[at]), bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
      triangles.set(at, bytes);
    }
    return triangles.get(at);
  }
  const weights_at = Array.from({ length: 256 }, (_, i) => (i / 255) ** (1 / data.exponent));
  const weight = ({ layer, head }, query, key) => key > query ? 0 : weights_at[triangle(layer, head)[query * (query + 1) / 2 + key]];

  // --- colours: all heads share one scale
  const position = (w) => Math.min(1, Math.max(0, w)) ** data.exponent;
  const steps = Array.from({ length: 256 }, (_, i) => {
    const at = i / 255 * (data.scale.length - 1), low = Math.min(data.scale.length - 2, Math.floor(at));
    return data.scale[low].map((c, j) => Math.round(c + (data.scale[low + 1][j] - c) * (at - low)));
  });
  const words = Uint32Array.from(steps, ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0);  // as pixels are stored
  const colour = (w) => steps[Math.round(position(w) * 255)];

  // One pixel per weight; beyond `max_side` tokens, one per square, with its highest weight.
  function paint(canvas, layer, head, max_side) {
    const side = Math.min(count, max_side), highest = new Int16Array(side * side).fill(-1), positions = triangle(layer, head);
    for (let query = 0, i = 0; query < count; ++query) {
      const row = Math.floor(query * side / count) * side;
      for (let key = 0; key <= query; ++key, ++i) {
        const at = row + Math.floor(key * side / count);
        if (positions[i] > highest[at]) highest[at] = positions[i];
      }
    }
    canvas.width = canvas.height = side;
    const image = new ImageData(side, side), out = new Uint32Array(image.data.buffer);
    for (let at = 0; at < out.length; ++at) {
      if (highest[at] >= 0) out[at] = words[highest[at]];
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  // Takes other weights for the same text.
  function update(other) {
    data.weights = other.weights;
    data.lens = other.lens;
    triangles.clear();
  }
  return { weight, position, steps, colour, paint, update };
}

const weight_text = (w) => w.toPrecision(2);  // as positions tell them
// Relative luminance of WCAG; at 0.179 black and white text have the same contrast.
const luminance = (rgb) => rgb.map((c) => c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const css = (rgb) => `rgb(${rgb.join(" ")})`;
const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
