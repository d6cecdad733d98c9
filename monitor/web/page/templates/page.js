// What the pages do beyond links and forms: they renew themselves in place, search while one types, and obey keys.
// Nothing here makes HTML from text: it fetches the page that a link or a form leads to, and takes over what differs.
"use strict";

// --- taking over what differs ----------------------------------------------------------------------------------------

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id : "");
const isAlike = (one, other) => one.nodeName === other.nodeName && keyOf(one) === keyOf(other);

// Make `old` like `fresh`. What does not differ is not touched, so that focus, selection and scrolling stay.
// `isLive`: nobody has asked for this, so answers that somebody reads (data-still) stay too.
function patch(old, fresh, isLive) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (isStill(old, isLive) || old.isEqualNode(fresh)) return;
  patchAttributes(old, fresh);
  patchChildren(old, fresh, isLive);
  if (old.matches(QUESTION)) old.reset(); // the address asks something else: a choice is not in attributes
}

// A form that asks about a group: what stands in it is its reader's until he goes to another address.
const QUESTION = "main form[data-still]";

// The dialog and the like are this script's own; an answer and a form are its reader's, until he asks for another.
function isStill(element, isLive) {
  if (!("still" in element.dataset)) return false;
  return isLive || !element.closest("main");
}

function patchAttributes(old, fresh) {
  // Whether details are open is the reader's choice once they are there.
  const isOwn = (name) => name === "open" && old.nodeName === "DETAILS";
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !isOwn(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && !isOwn(name)) old.setAttribute(name, value);
  }
  if (old.nodeName === "INPUT" && old !== document.activeElement && old.value !== fresh.getAttribute("value")) {
    old.value = fresh.getAttribute("value") || "";
  }
}

// Children with a key are found again wherever they stand; the others are taken in their order.
function patchChildren(old, fresh, isLive) {
  const known = keptByKey(old, fresh);
  let place = old.firstChild;
  for (const wanted of fresh.childNodes) {
    const key = keyOf(wanted);
    const found = key ? known.get(key) : place;
    known.delete(key); // a second one of the same key is new
    if (!found || !isAlike(found, wanted)) {
      old.insertBefore(document.importNode(wanted, true), place);
      continue;
    }
    // What is in the way goes rather than what is kept moves: whoever moves loses the focus.
    while (place !== found && place && !keyOf(place)) place = removed(place);
    if (place === found) place = found.nextSibling;
    else old.insertBefore(found, place);
    patch(found, wanted, isLive);
  }
  while (place) place = removed(place);
}

// The children that have a key, without those that are gone.
function keptByKey(old, fresh) {
  const wanted = new Set([...fresh.children].map(keyOf));
  const kept = new Map();
  for (const child of [...old.children]) {
    if (!keyOf(child)) continue;
    if (wanted.has(keyOf(child))) kept.set(keyOf(child), child);
    else child.remove();
  }
  return kept;
}

function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

// A row that moves takes the focus from what is in it; give it back.
function show(fresh, isLive) {
  addLocalTimes(fresh);
  const focused = document.activeElement;
  document.title = fresh.title;
  patch(document.body, fresh.body, isLive);
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
}

// --- local time ------------------------------------------------------------------------------------------------------

// Times are UTC, as in logs and commands. Where the reader's clock differs, its time stands beside them.
function addLocalTimes(page) {
  for (const element of page.querySelectorAll("time")) {
    const at = new Date(element.dateTime);
    if (at.getTimezoneOffset()) element.dataset.local = localTime(at);
  }
}

function localTime(at) {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString();
  const isSameDay = local.slice(0, 10) === at.toISOString().slice(0, 10);
  return isSameDay ? local.slice(11, 19) : `${local.slice(0, 10)} ${local.slice(11, 19)}`;
}

// --- fetching --------------------------------------------------------------------------------------------------------

let asked = 0; // the number of the newest request: the answer to an older one comes too late
let answeredAt = Date.now();
let isAsking = false; // somebody waits for an answer: no time for renewals

async function load(address, isLive) {
  const number = ++asked;
  isAsking = !isLive;
  let fresh = null;
  try {
    const answer = await fetch(address, { headers: { Accept: "text/html" }, signal: AbortSignal.timeout(20000) });
    // Any page of ours tells what is the matter, also one of an error; what a proxy or a login says is no page of ours.
    fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!fresh.getElementById("keys")) throw new Error(isBusy(answer) ? BUSY : `HTTP ${answer.status}`);
  } catch (error) {
    if (number !== asked) return false;
    isAsking = false;
    showAway(error);
    return false;
  }
  if (number !== asked) return false;
  isAsking = false;
  answeredAt = Date.now();
  document.getElementById("away").hidden = true;
  document.body.classList.remove("is-away");
  show(fresh, isLive);
  return true;
}

// A server that has too much to do says so in plain text; a proxy's 503 is a page, of a server that is away.
const BUSY = "busy";
const isBusy = (answer) => answer.status === 503 && (answer.headers.get("Content-Type") || "").startsWith("text/plain");

// What is shown looks as if it were true now. If nobody can say so, the page has to tell.
function showAway(error) {
  const banner = document.getElementById("away");
  const seconds = Math.round((Date.now() - answeredAt) / 1000);
  const since = new Date(answeredAt).toISOString().slice(11, 19);
  banner.textContent = `Stale: groupwatch ${wrongWith(error)}. This page shows the state of ${since} UTC, ${seconds} s ago.`;
  banner.hidden = false;
  document.body.classList.add("is-away");
}

function wrongWith(error) {
  if (error.message === BUSY) return "is busy (503): too many requests at once";
  return `is unreachable. ${error.message.startsWith("HTTP") ? `It responds ${error.message}` : "It does not respond"}`;
}

let shownAddress = withoutHash(location.href).href;

async function go(address, isNew = true) {
  const target = new URL(address, location.href);
  if (target.href !== location.href) history[isNew ? "pushState" : "replaceState"](null, "", target);
  shownAddress = withoutHash(target).href;
  const isShown = await load(withoutHash(target), false);
  const goal = isShown && target.hash && goalOf(target.hash.slice(1));
  if (goal) goal.scrollIntoView({ block: "start" });
  return isShown;
}

// What is no percent-encoding, as "%", names nothing.
function goalOf(fragment) {
  try {
    return document.getElementById(decodeURIComponent(fragment));
  } catch {
    return null;
  }
}

function withoutHash(address) {
  const own = new URL(address);
  own.hash = "";
  return own;
}

// --- live ------------------------------------------------------------------------------------------------------------

// Questions cost the server time and have been answered, so a renewal leaves them out.
function renewalAddress() {
  const address = withoutHash(location.href);
  for (const name of ["explain", "topic", "partition", "what-if", "forecast"]) address.searchParams.delete(name);
  return address;
}

// A page that nobody sees costs nothing, and one that is paused stands still.
async function renew() {
  if (!document.hidden && !isAsking && Number(document.body.dataset.live)) await load(renewalAddress(), true);
}

async function renewForEver() {
  for (;;) {
    const seconds = Number(document.body.dataset.live) || 1;
    await new Promise((wake) => setTimeout(wake, seconds * 1000));
    await renew();
  }
}

// --- links and forms -------------------------------------------------------------------------------------------------

function onClick(event) {
  const link = event.target.closest("a[data-soft]");
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(link.href);
}

// The address that a form leads to, without what was left empty.
function addressOf(form) {
  const address = new URL(form.getAttribute("action"), location.href);
  for (const [name, value] of new FormData(form)) if (value) address.searchParams.append(name, value);
  return address;
}

function onSubmit(event) {
  if (!event.target.matches("form[data-soft-form]")) return;
  event.preventDefault();
  go(addressOf(event.target));
}

function onInput(event) {
  if (event.target.id === "q") go(addressOf(event.target.form), false);
}

// Back and forward: the page is as the address says, also where only the reader's choice differs from it.
async function goBack() {
  if (withoutHash(location.href).href === shownAddress) return; // it was a link within the page
  if (!(await go(location.href))) return;
  for (const form of document.querySelectorAll(QUESTION)) form.reset();
}

// --- keys ------------------------------------------------------------------------------------------------------------

function step(by) {
  const rows = [...document.querySelectorAll("a[data-row]")];
  const here = rows.indexOf(document.activeElement);
  const next = rows[here < 0 ? (by > 0 ? 0 : rows.length - 1) : here + by];
  if (!next) return;
  next.focus({ preventScroll: true });
  next.closest("tr").scrollIntoView({ block: "nearest" });
}

function unfold() {
  const row = document.activeElement.closest("tr");
  const found = row ? [...row.querySelectorAll("details")] : [];
  const isOpen = found.some((each) => each.open);
  for (const each of found) each.open = !isOpen;
}

function emptySearch() {
  const search = document.getElementById("q");
  if (!search || document.activeElement !== search) return;
  if (!search.value) search.blur();
  search.value = "";
  go(addressOf(search.form), false);
}

function toggleProblems() {
  if (location.pathname !== document.querySelector("a.mark").pathname) return;
  const address = new URL(location.href);
  if (address.searchParams.has("problems")) address.searchParams.delete("problems");
  else address.searchParams.set("problems", "1");
  go(address);
}

function toSearch() {
  const search = document.getElementById("q");
  if (!search) return;
  search.focus();
  search.select();
}

const KEYS = {
  "/": toSearch,
  j: () => step(1),
  k: () => step(-1),
  o: unfold,
  p: toggleProblems,
  u: () => document.querySelector(".back a")?.click(),
  "?": () => document.getElementById("keys").showModal(),
};
const ARROWS = { ArrowDown: 1, ArrowUp: -1 }; // they scroll, unless a row has the focus

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("keys").open) return;
  if (event.key === "Escape") emptySearch();
  if (event.target.closest("input, select, textarea")) return;
  const isOnRow = event.target.matches("a[data-row]");
  const act = isOnRow && ARROWS[event.key] ? () => step(ARROWS[event.key]) : KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

document.addEventListener("click", onClick);
document.addEventListener("submit", onSubmit);
document.addEventListener("input", onInput);
document.addEventListener("keydown", onKey);
window.addEventListener("popstate", goBack);
document.addEventListener("visibilitychange", renew);
const keysButton = document.getElementById("show-keys");
keysButton.hidden = false;
keysButton.addEventListener("click", KEYS["?"]);
addLocalTimes(document);
renewForEver();
