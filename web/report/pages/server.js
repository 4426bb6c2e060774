"use strict";
// The server of this page. The tab keeps its API key, if it wants one, until it is closed.
const headers_of = () => {
  const key = sessionStorage.getItem("key");
  return key ? { "Content-Type": "application/json", Authorization: `Bearer ${key}` } : { "Content-Type": "application/json" };
};
async function refusal(answer) {
  const json = await answer.json().catch(() => null);
  if (answer.status === 401) ask_key();
  return new Error(json?.error?.message || `the server answered ${answer.status}`);
}
function ask_key() {
  if (by_id("key")) return;
  const input = element("input", { id: "key", type: "password", autocomplete: "off", required: true });
  const form = element("form", { class: "ask", onsubmit: (event) => {
    event.preventDefault();
    sessionStorage.setItem("key", input.value);
    location.reload();
  } }, element("label", { for: "key", text: "This server wants a key" }), input, element("button", { text: "Use it" }));
  document.querySelector("header").after(form);
}
// Fetches JSON; throws an Error with the reason.
async function ask(path, body) {
  const answer = await fetch(path, body === undefined ? { headers: headers_of() } : { method: "POST", headers: headers_of(), body: JSON.stringify(body) });
  if (!answer.ok) throw await refusal(answer);
  return answer.json();
}
