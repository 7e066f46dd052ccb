// The page is whole without this: all steps, one below the other. This shows one step at a time,
// searches, filters, and goes along. What it reads from the page it sets as text, never as markup.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

const rows = $$(".list li[data-step]");
const articles = $$("article");
const bars = $$("#graph a");
const versions = $$("aside tr[data-step]");
const planChanges = JSON.parse($("#data").textContent);
const MOST_MARKS = 20000; // in one step: a search for "e" need not be drawn whole

let at = 0; // the place of the open step
let fits = rows.map(() => true);
let found = []; // of each step, how often the search is in it; empty while nothing is searched
let marks = [];
let mark = -1;

// ---- The open step

function walkTo(place, { scroll = true, address = true } = {}) {
  if (!articles.length) return;
  place = Math.min(Math.max(place, 0), articles.length - 1);
  articles[at].classList.remove("open");
  $("a", rows[at]).removeAttribute("aria-current");
  unmark();
  at = place;
  const article = articles[at];
  article.classList.add("open");
  const anchor = $("a", rows[at]);
  anchor.setAttribute("aria-current", "step");
  reveal(rows[at]);
  const x = `${article.dataset.at}%`;
  $("#now").setAttribute("x1", x);
  $("#now").setAttribute("x2", x);
  showPlan(at + 1);
  showVersions(at + 1);
  $("#told").textContent = `Step ${at + 1} of ${articles.length}: ${titleOf(at)}`;
  tell();
  $("#back").disabled = step(-1) === at;
  $("#on").disabled = step(1) === at;
  if (address) history.replaceState(null, "", `#step-${at + 1}`);
  if (scroll) toReader();
  if (found.length) markAll();
}

const titleOf = (place) => $(".title", rows[place]).textContent;

// Scroll the list only, never the page.
function reveal(row) {
  const list = $(".list");
  const box = row.getBoundingClientRect();
  const frame = list.getBoundingClientRect();
  if (box.top < frame.top + 30) list.scrollTop += box.top - frame.top - frame.height / 3;
  else if (box.bottom > frame.bottom - 30) list.scrollTop += box.bottom - frame.bottom + frame.height / 3;
}

// Show the beginning of the step, if one has scrolled past it or it lies below the fold.
function toReader() {
  const top = $("#reader").getBoundingClientRect().top;
  const bar = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--top")) || 0;
  if (top < bar || top > innerHeight * 0.7) scrollBy(0, top - bar);
}

// The nearest step before or behind that fits, or the open one.
function step(by, from = at) {
  for (let place = from + by; place >= 0 && place < rows.length; place += by) {
    if (fits[place]) return place;
  }
  return from;
}

function fromAddress(options) {
  const named = /^#step-(\d+)$/.exec(location.hash);
  if (named) walkTo(Number(named[1]) - 1, { address: false, ...options });
  return Boolean(named);
}

// ---- The plan and the files as they stood

function showPlan(index) {
  const items = new Map();
  let total = 0;
  for (const [changedAt, count, changed] of planChanges) {
    if (changedAt > index) break;
    total = count;
    for (const item of changed) items.set(item[0], item);
  }
  const lines = [...items.values()].filter((item) => item[0] <= total).map(([, text, state, reason]) => {
    const line = document.createElement("li");
    line.dataset.state = state;
    const word = line.appendChild(document.createElement("span"));
    word.className = "unseen";
    word.textContent = state;
    const [label, ...rest] = text.split(" — ");
    const said = line.appendChild(document.createElement("span"));
    said.appendChild(document.createElement("b")).textContent = label;
    if (rest.length) said.append(` — ${rest.join(" — ")}`);
    if (reason) {
      const why = line.appendChild(document.createElement("span"));
      why.className = "reason";
      why.textContent = reason;
    }
    return line;
  });
  $("#plan").replaceChildren(...lines);
  $("#planned").textContent = `after step ${index}`;
  $("#unplanned").hidden = lines.length > 0;
}

function showVersions(index) {
  const last = new Map(); // of each table, the version that stood
  for (const row of versions) {
    const isLater = Number(row.dataset.step) > index;
    row.classList.toggle("later", isLater);
    row.classList.remove("here");
    if (!isLater) last.set(row.parentNode, row);
  }
  for (const row of last.values()) row.classList.add("here");
}

// ---- Filters

const form = $(".tools");
const choices = $$("select", form);
const switches = $$('input[type="checkbox"]', form);

function filter() {
  const wanted = choices.filter((choice) => choice.value);
  const only = switches.filter((box) => box.checked);
  for (const choice of choices) choice.classList.toggle("set", Boolean(choice.value));
  fits = rows.map((row, place) =>
    wanted.every((choice) => row.dataset[choice.name] === choice.value)
    && only.every((box) => box.name in row.dataset)
    && (!found.length || found[place] > 0));
  rows.forEach((row, place) => {
    row.hidden = !fits[place];
    articles[place].classList.toggle("off", !fits[place]);
  });
  for (const bar of bars) bar.classList.toggle("off", !fits[bar.dataset.step - 1]);
  for (const group of $$(".list .group")) {
    let next = group.nextElementSibling;
    while (next && next.hidden) next = next.nextElementSibling;
    group.hidden = !next || next.classList.contains("group");
  }
  const count = fits.filter(Boolean).length;
  const isNarrowed = Boolean(wanted.length || only.length);
  $("#fitting").textContent = `${count} of ${rows.length} steps`;
  $(".fit").hidden = !isNarrowed && !found.length;
  $("#none").hidden = count > 0 || !rows.length;
  if (count && !fits[at]) {
    const behind = step(1);
    walkTo(behind === at ? step(-1) : behind, { scroll: false });
  } else if (rows.length) {
    $("#back").disabled = step(-1) === at;
    $("#on").disabled = step(1) === at;
  }
  tellMatches();
}

function showEvery() {
  for (const choice of choices) choice.value = "";
  for (const box of switches) box.checked = false;
  $("#search").value = "";
  search();
}

// ---- Search: in each run of text, so that what is counted is what can be marked

let texts = null; // of each step, its text nodes; gathered when first needed
let pattern = null;

function textNodes(article) {
  const walk = document.createTreeWalker(article, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest("h3 .title, pre, .hashes, .warnings, .items, .names, .badge, code, strong, ul.bad")
      ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT);
  const nodes = [];
  while (walk.nextNode()) nodes.push(walk.currentNode);
  return nodes;
}

let later = 0; // the timer of a search that waits for the next letter

function searchLater() {
  clearTimeout(later);
  later = setTimeout(search, 120);
}

function search() {
  later = 0;
  const words = $("#search").value;
  unmark();
  found = [];
  pattern = words.trim() ? new RegExp(words.trim().replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu") : null;
  if (pattern) {
    texts ??= articles.map((article) => textNodes(article).map((node) => node.data));
    found = texts.map((pieces) => pieces.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0));
  }
  filter();
  if (found.length && fits[at]) markAll();
}

function markAll() {
  unmark();
  let left = MOST_MARKS;
  for (const node of textNodes(articles[at])) {
    const matches = [...node.data.matchAll(pattern)].slice(0, left);
    left -= matches.length;
    for (const match of matches.reverse()) { // from the end: what lies before keeps its place
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      range.surroundContents(document.createElement("mark"));
    }
  }
  marks = $$("mark", articles[at]);
  tellMatches();
}

function unmark() {
  for (const made of marks) {
    const parent = made.parentNode;
    made.replaceWith(made.firstChild);
    parent.normalize();
  }
  marks = [];
  mark = -1;
}

function tellMatches() {
  const counts = found.map((count, place) => (fits[place] ? count : 0));
  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
  const total = sum(counts);
  const before = sum(counts.slice(0, at));
  let told = "";
  if (pattern) {
    const steps = counts.filter(Boolean).length;
    told = !total ? "not found"
      : mark >= 0 ? `${before + mark + 1} of ${total}`
        : `${total} in ${steps} ${steps === 1 ? "step" : "steps"}`;
  }
  $("#matches").textContent = told;
  $("#next").disabled = $("#before").disabled = !total;
}

// What was typed a moment ago is searched now: no one is led through the matches of half a word.
function searchNow() {
  if (!later) return;
  clearTimeout(later);
  search();
}

function toMatch(by) {
  searchNow();
  if (!found.some((count, place) => count && fits[place])) return;
  if (!marks.length) markAll();
  if (mark >= 0) marks[mark].classList.remove("here");
  let next = mark < 0 && by < 0 ? marks.length - 1 : mark + by;
  if (next < 0 || next >= marks.length) {
    let place = step(by);
    if (place === at) place = by > 0 ? fits.indexOf(true) : fits.lastIndexOf(true);
    walkTo(place);
    next = by > 0 ? 0 : marks.length - 1;
  }
  if (!marks.length) return; // an address opened a step that does not fit
  mark = next;
  const here = marks[mark];
  here.classList.add("here");
  for (let box = here.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  here.scrollIntoView({ block: "center" });
  tellMatches();
}

// ---- The timeline

const readout = $("#readout");

function tell(bar) {
  readout.textContent = bar
    ? `${bar.getAttribute("aria-label")} — ${titleOf(bar.dataset.step - 1)}`
    : rows.length ? `Step ${at + 1} of ${rows.length} — ${titleOf(at)}` : "";
}

function alongTimeline(bar, key) {
  const row = bars.filter((other) => other.parentNode === bar.parentNode);
  const next = row[row.indexOf(bar) + (key === "ArrowRight" ? 1 : -1)];
  if (next) focusBar(next);
}

function acrossTimeline(bar, key) {
  const strips = $$("#graph > svg");
  const strip = strips[strips.indexOf(bar.parentNode) + (key === "ArrowDown" ? 1 : -1)];
  if (!strip) return;
  const middle = bar.getBoundingClientRect().x;
  const near = (other) => Math.abs(other.getBoundingClientRect().x - middle);
  focusBar($$("a", strip).reduce((best, other) => (near(other) < near(best) ? other : best)));
}

function focusBar(bar) {
  for (const other of bars) other.setAttribute("tabindex", "-1");
  bar.setAttribute("tabindex", "0");
  bar.focus();
}

let zoom = 1;

function zoomBy(factor) {
  zoom = Math.min(Math.max(zoom * factor, 1), 64);
  const graph = $("#graph");
  graph.style.width = `${100 * zoom}%`;
  const x = graph.clientWidth * (articles[at]?.dataset.at ?? 0) / 100;
  graph.parentElement.scrollLeft = x - graph.parentElement.clientWidth / 2;
  $("#out").disabled = zoom === 1;
}

// ---- Keys

const KEYS = {
  j: () => walkTo(step(1)),
  k: () => walkTo(step(-1)),
  g: () => walkTo(fits.indexOf(true)),
  G: () => walkTo(fits.lastIndexOf(true)),
  n: () => toMatch(1),
  N: () => toMatch(-1),
  f: () => flip("failed"),
  c: () => flip("changed"),
  x: showAll,
  "/": () => { $("#search").focus(); $("#search").select(); },
  "?": () => $("#help").showModal(),
  Escape: showEvery,
};

function flip(name) {
  const box = switches.find((other) => other.name === name);
  if (!box.disabled) box.click();
}

function showAll() {
  const boxes = $$("details", articles[at]);
  const isShut = boxes.some((box) => !box.open);
  for (const box of boxes) box.open = isShut;
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("#help").open) return;
  const target = event.target;
  if (target.id === "search") {
    if (event.key === "Enter") toMatch(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") target.blur();
    else return;
  } else if (target.closest("input, select, textarea")) {
    return;
  } else if (target.closest("#graph a") && event.key.startsWith("Arrow")) {
    const isAlong = event.key === "ArrowLeft" || event.key === "ArrowRight";
    (isAlong ? alongTimeline : acrossTimeline)(target.closest("a"), event.key);
  } else if (target.closest(".list") && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    walkTo(step(event.key === "ArrowDown" ? 1 : -1), { scroll: false });
    $("a", rows[at]).focus({ preventScroll: true });
  } else if (Object.hasOwn(KEYS, event.key) && rows.length) {
    KEYS[event.key]();
  } else {
    return;
  }
  event.preventDefault();
}

// ---- Beginning

$("#search").addEventListener("input", searchLater);
$("#next").addEventListener("click", () => toMatch(1));
$("#before").addEventListener("click", () => toMatch(-1));
$("#back").addEventListener("click", () => walkTo(step(-1)));
$("#on").addEventListener("click", () => walkTo(step(1)));
$("#in").addEventListener("click", () => zoomBy(2));
$("#out").addEventListener("click", () => zoomBy(0.5));
$("#clear").addEventListener("click", showEvery);
form.addEventListener("change", (event) => { if (event.target.id !== "search") filter(); });
form.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", pressed);
addEventListener("hashchange", () => fromAddress());
$("#graph").addEventListener("mouseover", (event) => tell(event.target.closest("a")));
$("#graph").addEventListener("mouseleave", () => tell());
$("#graph").addEventListener("focusin", (event) => tell(event.target.closest("a")));
$("#graph").addEventListener("focusout", () => tell());
bars[0]?.setAttribute("tabindex", "0");

// The columns stand below the search, however high that is.
const bar = $(".tools");
const below = () => document.documentElement.style.setProperty(
  "--top", getComputedStyle(bar).position === "sticky" ? `${bar.offsetHeight}px` : "0px");
new ResizeObserver(below).observe(bar);
below();

search();
if (!fromAddress({ scroll: true })) walkTo(0, { scroll: false, address: false });
