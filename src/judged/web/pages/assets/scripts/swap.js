// Controls without a new page: a form or link with data-swap="NAME" fetches its own address as the
// fragment NAME, which takes the place of the element with that id. Elements beside it whose ids
// are in the page take their places too. The server makes and escapes all of the HTML; nothing here
// makes HTML of data.

const asked = new Map(); // name of a fragment -> AbortController of its last request
const loading = new Map(); // place of a chart -> AbortController of its request
const jobs = new Set(); // what the server works at for this page
const PATIENCE = 2000; // milliseconds before the place of a chart says that it is being worked at
export const SILENT = "The server does not answer. Is judged serve still running?";

/** Say something to screen readers, politely. */
export function announce(text) {
  const place = document.getElementById("announcements");
  if (place) place.textContent = text;
}

/** HTML of the server's as nodes; nothing in it runs, and rows need no table around them. */
export function parsed(text) {
  const page = new DOMParser().parseFromString(`<template>${text}</template>`, "text/html");
  return page.querySelector("template").content;
}

/**
 * Ask this server for a fragment, and again for as long as it is working at it. An answer that is an
 * error is thrown as its sentence.
 * @param {(content: DocumentFragment) => void} meanwhile shows what is being worked at
 */
export async function fragment(url, name, { signal, meanwhile = () => {} } = {}) {
  let job = null;
  try {
    for (;;) {
      const headers = { "X-Fragment": name };
      const answer = await fetch(url, { headers, credentials: "same-origin", signal });
      jobs.delete(job);
      if (!answer.ok) throw await refusal(answer);
      if (answer.status !== 202) return answer;
      job = answer.headers.get("X-Working");
      jobs.add(job);
      meanwhile(parsed(await answer.text()));
      await new Promise((later) => setTimeout(later, 300));
    }
  } catch (error) {
    if (jobs.delete(job)) leave(job);
    throw error;
  }
}

/** Tell the server that this page does not wait any more. */
function leave(job) {
  navigator.sendBeacon(`/stop?left=1&job=${job}`);
}

/** Show what is being worked at, above what was there; or that nothing is any more. */
function working(content) {
  const old = document.getElementById("working");
  const band = content?.getElementById("working");
  if (!band) old?.remove();
  else if (!old) document.getElementById("refused")?.before(band);
  else if (old.textContent !== band.textContent) old.replaceWith(band);
}

export class Refused extends Error {
  /** @param {?Element} page the whole of it, where the answer was a page */
  constructor(text, page = null) {
    super(text);
    this.page = page;
  }
}

/** An answer that is an error. */
export async function refusal(answer) {
  const text = await answer.text();
  return new Refused(sentence(answer, text), parsed(text).getElementById("main"));
}

/** The sentence in an answer that is an error: {"error": …}, a page, or plain text. */
function sentence(answer, text) {
  const kind = answer.headers.get("content-type") ?? "";
  if (kind.includes("json")) {
    try {
      return String(JSON.parse(text).error);
    } catch {
      return text;
    }
  }
  if (!kind.includes("html")) return text;
  const page = parsed(text);
  const said = page.querySelector("[data-error]") ?? page.querySelector(".band.refused, main");
  return (said ?? page).textContent.trim().replace(/\s+/g, " ");
}

/** Show what was refused, in the server's words; what was there stays. */
export function refuse(text) {
  const place = document.getElementById("refused");
  if (!place) return;
  const words = document.createElement("div");
  words.textContent = text;
  const band = document.createElement("div");
  band.className = "band refused";
  band.setAttribute("role", "alert");
  band.append(words);
  place.replaceChildren(band);
  place.scrollIntoView({ block: "nearest" });
}

/** Put choices back to what the page shows; typed text stays, and is marked. */
function restore(form) {
  for (const each of form?.elements ?? []) {
    if (each instanceof HTMLSelectElement) {
      for (const option of each.options) option.selected = option.defaultSelected;
    } else if (each.type === "checkbox" || each.type === "radio") {
      each.checked = each.defaultChecked;
    } else if (each instanceof HTMLInputElement && each.value !== each.defaultValue) {
      each.setAttribute("aria-invalid", "true");
    }
  }
}

/** Remember the focus in a way that outlasts a swap. */
function focusKept(element) {
  const active = document.activeElement;
  if (!active || !element.contains(active)) return () => {};
  const { id, name } = active;
  const value = active.getAttribute("value");
  const href = active.getAttribute("href");
  const at = active instanceof HTMLInputElement && active.type === "text" && active.selectionStart;
  return (fresh) => {
    const all = [...fresh.querySelectorAll("a, button, input, select, textarea, summary")];
    const named = name ? all.filter((each) => each.name === name && each.type !== "hidden") : [];
    const found =
      (id && document.getElementById(id)) ||
      named.find((each) => each.getAttribute("value") === value) ||
      named[0] ||
      (href && all.find((each) => each.getAttribute("href") === href));
    if (found) {
      if (active.dataset.live !== undefined && found.value !== active.value) {
        // What was typed while the answer came is not lost, and is asked for in its turn.
        found.value = active.value;
        found.dispatchEvent(new Event("input", { bubbles: true }));
      }
      found.focus({ preventScroll: true });
      if (typeof at === "number") found.setSelectionRange?.(at, at);
    } else {
      fresh.setAttribute("tabindex", "-1");
      fresh.focus({ preventScroll: true });
    }
  };
}

function put(fresh, place) {
  const focus = focusKept(place);
  fresh.classList.add("swapped");
  place.replaceWith(fresh);
  for (const [chart, request] of loading) if (!chart.isConnected) request.abort();
  focus(fresh);
  const detail = { element: fresh, name: fresh.id };
  document.dispatchEvent(new CustomEvent("judged:swapped", { detail }));
}

const page = (url) => url.href.split("#")[0];
let here = page(location);

/**
 * Fetch an address as a fragment and put it where the fragment stands.
 * @param {string|URL} address of this server
 * @param {string} name of the block, which is the id of its element
 * @param {{push?: boolean, form?: HTMLFormElement}} options push: change the browser's address
 * @returns {Promise<Element|null>} what stands there now; null where it was refused or overtaken
 */
export async function swap(address, name, { push = true, form } = {}) {
  const url = new URL(address, location.href);
  if (!document.getElementById(name) || url.origin !== location.origin) {
    location.assign(url);
    return null;
  }
  for (const [other, request] of asked) {
    if (other === name || name === "main") request.abort();
  }
  const mine = new AbortController();
  asked.set(name, mine);
  document.getElementById(name).setAttribute("aria-busy", "true");
  try {
    const answer = await fragment(url, name, { signal: mine.signal, meanwhile: working });
    const content = parsed(await answer.text());
    const fresh = content.getElementById(name) ?? content.firstElementChild;
    const place = document.getElementById(name);
    if (asked.get(name) !== mine || !fresh || !place) return null;
    fresh.id = name;
    const title = answer.headers.get("X-Title");
    if (title) document.title = decodeURIComponent(title);
    const shown = answer.redirected ? new URL(answer.url) : url;
    if (push && shown.href !== location.href) history.pushState(null, "", shown);
    here = page(location);
    for (const other of [...content.children]) {
      const old = other !== fresh && other.id && document.getElementById(other.id);
      if (old) put(other, old);
    }
    put(fresh, place);
    document.getElementById("refused")?.replaceChildren();
    const systems = document.querySelector("[data-systems]");
    if (systems && fresh.dataset.words) systems.textContent = ` · ${fresh.dataset.words}`;
    announce(fresh.dataset.announce ?? document.title);
    return fresh;
  } catch (error) {
    if (asked.get(name) !== mine || error.name === "AbortError") return null;
    const waiting = name === "main" && document.querySelector("[data-waiting]");
    if (waiting && error.page) {
      put(error.page, document.getElementById(name)); // there is nothing yet that could stay
      return null;
    }
    restore(form);
    refuse(error instanceof Refused ? error.message : SILENT);
    return null;
  } finally {
    if (asked.get(name) === mine) {
      working(null);
      asked.delete(name);
      document.getElementById(name)?.removeAttribute("aria-busy");
    }
  }
}

/** The address that a form of method get goes to; fields that hold nothing are left out. */
export function addressOf(form, submitter) {
  const url = new URL(form.getAttribute("action") ?? location.pathname, location.href);
  const texts = [...new FormData(form, submitter)].filter(([, value]) => typeof value === "string");
  url.search = new URLSearchParams(texts.filter(([, value]) => value !== ""));
  return url;
}

/** Fill the place of a chart; data-fit asks for one as wide as the place. */
async function load(place) {
  const url = new URL(place.dataset.load, location.href);
  place.removeAttribute("data-load");
  if (url.origin !== location.origin) return;
  if (place.dataset.fit !== undefined) {
    url.searchParams.set("width", String(Math.max(160, Math.floor(place.clientWidth))));
  }
  place.setAttribute("aria-busy", "true");
  const mine = new AbortController();
  loading.set(place, mine);
  try {
    const begun = performance.now();
    const meanwhile = (content) => {
      if (performance.now() - begun < PATIENCE) return;
      content.getElementById("working")?.removeAttribute("id"); // there may be several
      place.replaceChildren(content);
    };
    const answer = await fragment(url, place.dataset.block ?? "figure", { signal: mine.signal, meanwhile });
    place.replaceChildren(parsed(await answer.text()));
    place.classList.add("swapped");
    place.classList.remove("tall");
    document.dispatchEvent(new CustomEvent("judged:swapped", { detail: { element: place } }));
  } catch (error) {
    place.textContent = error instanceof Refused ? error.message : SILENT;
  } finally {
    loading.delete(place);
    place.removeAttribute("aria-busy");
  }
}

const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      load(entry.target);
    }
  },
  { rootMargin: "400px" },
);

let pause;

function listen() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const name = form.dataset.swap;
    if (!name || form.method !== "get" || event.defaultPrevented) return;
    event.preventDefault();
    clearTimeout(pause);
    swap(addressOf(form, event.submitter), name, { form });
  });
  document.addEventListener("change", (event) => {
    const form = event.target.form;
    // What is asked for while somebody types is not asked for again when the field goes.
    if (event.target.closest("[data-wait], [data-live]")) return;
    if (form?.dataset.swap) form.requestSubmit();
  });
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (!form?.dataset.swap || event.target.dataset.live === undefined) return;
    clearTimeout(pause);
    pause = setTimeout(() => form.requestSubmit(), 250);
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[data-swap]") : null;
    const elsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (!link || elsewhere || event.button !== 0 || event.defaultPrevented) return;
    event.preventDefault();
    swap(link.href, link.dataset.swap);
  });
  // A menu closes when something else is pressed, and by Escape.
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && event.target.closest?.("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  addEventListener("pagehide", () => jobs.forEach(leave));
  addEventListener("popstate", () => {
    if (page(location) === here) return; // another place on the same page
    here = page(location);
    if (document.getElementById("main")) swap(location.href, "main", { push: false });
    else location.reload();
  });
}

let listening = false;

export function start(root) {
  if (!listening) listen();
  listening = true;
  // A page that came while the server was still working at it.
  if (root === document && document.getElementById("working")) {
    swap(location.href, "main", { push: false });
  }
  for (const place of root.querySelectorAll("[data-load]")) near.observe(place);
}
