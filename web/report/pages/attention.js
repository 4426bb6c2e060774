// The page of `inkling attention`.
const map_data = JSON.parse(document.getElementById("data").textContent);
document.getElementById("sizes").textContent =
  `${map_data.tokens.length} tokens, ${map_data.layers} layers, ${map_data.heads} heads in each.`;
show_heads(map_data);
