"use strict";
// Shared by all pages. Text from outside only ever becomes text: element() sets attributes and appends text nodes.
const by_id = (id) => document.getElementById(id);
const page_data = JSON.parse(by_id("data").textContent);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "text") made.textContent = value;
    else if (key in made && typeof value !== "string") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const count_text = (n) => Number(n).toLocaleString("en-US");
const short_count = (n) => n >= 1e9 ? `${trim(n / 1e9)}G` : n >= 1e6 ? `${trim(n / 1e6)}M` : n >= 1e4 ? `${trim(n / 1e3)}k` : count_text(Math.round(n * 100) / 100);
const trim = (x) => String(Number(x.toPrecision(3)));
const bytes_text = (n) => n >= 1e9 ? `${trim(n / 1e9)} GB` : n >= 1e6 ? `${trim(n / 1e6)} MB` : n >= 1e3 ? `${trim(n / 1e3)} kB` : `${n} bytes`;
function time_text(seconds) {
  const s = Math.round(seconds), two = (n) => String(n).padStart(2, "0");
  if (seconds < 10) return `${Number(seconds.toPrecision(2))}s`;
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m${two(s % 60)}s`;
  return `${Math.floor(s / 3600)}h${two(Math.floor(s / 60) % 60)}m`;
}
