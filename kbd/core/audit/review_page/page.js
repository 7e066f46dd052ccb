// The page is whole without this: all changes, file by file. This walks through them, filters them
// and switches the theme. It makes no markup of text.
"use strict";

const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];

const changes = $$(".change");
const files = $$("article.file");
const entries = $$(".list li[data-file]");
const form = $(".tools");
const kinds = $$('input[type="checkbox"]', form);
const choice = $("select", form);

let fits = changes.map(() => true);
let at = -1; // the change that was walked to last
let texts = null; // of each change, in lower case; gathered when first needed

// ---- Walking

function mark(place) {
  for (const old of $$(".here")) old.classList.remove("here");
  at = place;
  if (place < 0) return;
  const change = changes[place];
  change.classList.add("here");
  for (const cell of $$(`[data-of="${change.id}"]`)) cell.classList.add("here");
  tell();
}

function walkTo(place) {
  if (place < 0 || place >= changes.length) return;
  const change = changes[place];
  for (let box = change.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  mark(place);
  change.focus({ preventScroll: true });
  // A change of a grid is read together with it, if both fit.
  const block = change.closest(".block") ?? change;
  const whole = block.getBoundingClientRect().height < innerHeight * 0.7 ? block : change;
  whole.scrollIntoView({ block: whole === change ? "center" : "nearest" });
  if (!isSeen(change)) change.scrollIntoView({ block: "center" });
}

function isSeen(element) {
  const box = element.getBoundingClientRect();
  return box.top >= form.offsetHeight && box.bottom <= innerHeight;
}

function step(by) {
  for (let place = at + by; place >= 0 && place < changes.length; place += by) {
    if (fits[place]) return place;
  }
  return at;
}

const shown = () => files.filter((file) => !file.hidden);

function stepFile(by) {
  const all = shown();
  if (!all.length) return;
  const own = at >= 0 ? all.indexOf(changes[at].closest("article.file")) : -1;
  const current = fileAt ?? (own >= 0 ? all[own] : null);
  const next = all[Math.min(Math.max(all.indexOf(current) + by, 0), all.length - 1)];
  toFile(next);
}

let fileAt = null; // the file that was walked to, until a change is

function toFile(file) {
  const first = changes.findIndex((change, place) => fits[place] && file.contains(change));
  // The next change is the first one of the file, or the first behind it.
  mark(-1);
  at = first >= 0 ? first - 1 : changes.findLastIndex(
    (change) => change.compareDocumentPosition(file) & Node.DOCUMENT_POSITION_FOLLOWING);
  fileAt = file;
  file.scrollIntoView({ block: "start" });
  const heading = $("h2", file);
  heading.setAttribute("tabindex", "-1");
  heading.focus({ preventScroll: true });
  follow(file);
  tell();
}

function follow(file) {
  for (const entry of entries) {
    const is = entry.dataset.file === file?.dataset.file;
    const anchor = $("a", entry);
    if (is) anchor.setAttribute("aria-current", "true");
    else anchor.removeAttribute("aria-current");
  }
}

function tell() {
  const all = fits.filter(Boolean).length;
  const before = fits.slice(0, at + 1).filter(Boolean).length;
  const isAt = at >= 0 && changes[at].classList.contains("here");
  $("#at").textContent = !changes.length ? "no changes"
    : isAt ? `${before} of ${all}` : `${all} ${all === 1 ? "change" : "changes"}`;
  $("#on").disabled = step(1) === at;
  $("#back").disabled = step(-1) === at;
}

// ---- Filters

function textOf(place) {
  texts ??= changes.map((change) => {
    // A line of a text is found by its file, too, as a change in a list is.
    const about = change.closest("article.file").querySelector("h2").textContent;
    return `${change.textContent}\n${about}`.toLowerCase();
  });
  return texts[place];
}

function filter() {
  const wanted = new Set(kinds.filter((box) => box.checked || box.disabled).map((box) => box.name));
  const words = $("#search").value.trim().toLowerCase();
  const file = choice.value;
  fits = changes.map((change, place) => wanted.has(change.dataset.kind)
    && (!file || change.closest("article.file").dataset.file === file)
    && (!words || textOf(place).includes(words)));
  const isNarrowed = Boolean(words || file || kinds.some((box) => !box.checked && !box.disabled));
  const fitting = new Set(changes.filter((change, place) => fits[place]));
  changes.forEach((change, place) => {
    // A line stays where it stands among the others.
    if (change.tagName === "LI") change.hidden = !fits[place];
    change.classList.toggle("off", !fits[place]);
  });
  const has = (box) => $$(".change", box).some((change) => fitting.has(change));
  for (const box of $$(".block, .hunk, .group")) box.hidden = isNarrowed && !has(box);
  for (const each of files) {
    each.hidden = isNarrowed && (file && !words ? each.dataset.file !== file : !has(each));
  }
  entries.forEach((entry, place) => entry.classList.toggle("off", files[place].hidden));
  choice.classList.toggle("set", Boolean(file));
  $("#clear").hidden = !isNarrowed;
  $("#none").hidden = !isNarrowed || shown().length > 0;
  if (at >= 0 && !fits[at]) mark(-1);
  tell();
}

function showAll() {
  for (const box of kinds) box.checked = true;
  choice.value = "";
  $("#search").value = "";
  filter();
}

// ---- Theme

const THEMES = ["system", "light", "dark"];
let theme = "system";

function setTheme(name) {
  theme = name;
  const media = { system: "screen and (prefers-color-scheme: dark)", light: "not all", dark: "screen" };
  $("#dark").media = media[name];
  document.documentElement.style.colorScheme = name === "system" ? "" : name;
  $("#theme").textContent = `Theme: ${name}`;
}

const nextTheme = () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]);

// ---- Keys

const KEYS = {
  j: () => { fileAt = null; walkTo(step(1)); },
  k: () => { fileAt = null; walkTo(step(-1)); },
  n: () => stepFile(1),
  p: () => stepFile(-1),
  t: nextTheme,
  "/": () => { $("#search").focus(); $("#search").select(); },
  "?": () => $("#help").showModal(),
  Escape: showAll,
};
kinds.forEach((box, place) => { KEYS[place + 1] = () => { if (!box.disabled) box.click(); }; });

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("#help").open) return;
  const target = event.target;
  if (target.id === "search") {
    if (event.key === "Enter") KEYS.j();
    else if (event.key === "Escape") target.blur();
    else return;
  } else if (target.closest('select, textarea, input:not([type="checkbox"])')) {
    return;
  } else if (Object.hasOwn(KEYS, event.key)) {
    KEYS[event.key]();
  } else {
    return;
  }
  event.preventDefault();
}

// ---- Beginning

let later = 0;
$("#search").addEventListener("input", () => { clearTimeout(later); later = setTimeout(filter, 120); });
form.addEventListener("change", (event) => { if (event.target.id !== "search") filter(); });
form.addEventListener("submit", (event) => event.preventDefault());
$("#back").addEventListener("click", KEYS.k);
$("#on").addEventListener("click", KEYS.j);
$("#clear").addEventListener("click", showAll);
$("#theme").addEventListener("click", nextTheme);
$("#keys").addEventListener("click", () => $("#help").showModal());
document.addEventListener("keydown", pressed);
document.addEventListener("focusin", (event) => {
  const change = event.target.closest(".change");
  if (change) { fileAt = null; mark(changes.indexOf(change)); follow(change.closest("article.file")); }
});
document.addEventListener("click", (event) => {
  const cell = event.target.closest("[data-of]");
  if (cell) walkTo(changes.findIndex((change) => change.id === cell.dataset.of));
});

// Both versions of a grid are scrolled together.
for (const pair of $$(".pair")) {
  const sides = $$(".scroll", pair);
  for (const side of sides) {
    side.addEventListener("scroll", () => {
      for (const other of sides) if (other !== side && other.scrollLeft !== side.scrollLeft) other.scrollLeft = side.scrollLeft;
    }, { passive: true });
  }
}

// The columns stand below the tools, however high those are.
const below = () => document.documentElement.style.setProperty(
  "--top", getComputedStyle(form).position === "sticky" ? `${form.offsetHeight}px` : "0px");
new ResizeObserver(below).observe(form);
below();

filter();
