// Controls without a new page: a form or link with data-swap="NAME" fetches its own address as the
// fragment NAME, which takes the place of the element with that id. The server makes and escapes
// all of the HTML; nothing here makes HTML of data.

const asked = new Map(); // fragment name -> AbortController of its last request

/** Say something to screen readers, politely. */
export function announce(text) {
  const place = document.getElementById("announcements");
  if (place) place.textContent = text;
}

/** The element of a fragment of the server's, made without running anything in it. */
function parsed(text, name) {
  const page = new DOMParser().parseFromString(text, "text/html");
  return page.getElementById(name) ?? page.body.firstElementChild;
}

/** Show what the server refused, in its own words, above what was there. */
function refuse(name, text) {
  const place = document.getElementById("refused");
  if (!place) return;
  const words = document.createElement("b");
  words.textContent = text;
  const inner = document.createElement("div");
  inner.append(words);
  const band = document.createElement("div");
  band.className = "band refused";
  band.setAttribute("role", "alert");
  band.append(inner);
  place.replaceChildren(band);
}

/** The sentence in an answer that is an error: {"error": …}, a page, or plain text. */
async function sentence(answer) {
  const text = await answer.text();
  const kind = answer.headers.get("content-type") ?? "";
  if (kind.includes("json")) {
    try {
      return String(JSON.parse(text).error);
    } catch {
      return text;
    }
  }
  if (!kind.includes("html")) return text;
  const page = new DOMParser().parseFromString(text, "text/html");
  const said = page.querySelector("[data-error], .band.refused, main h1, body");
  return (said?.textContent ?? "").trim().replace(/\s+/g, " ");
}

/** Where the focus is, in a way that outlasts a swap. */
function focusKept(element) {
  const active = document.activeElement;
  if (!active || !element.contains(active)) return () => {};
  const { id, name } = active;
  const value = active.getAttribute("value");
  const selection = "selectionStart" in active ? active.selectionStart : null;
  return (fresh) => {
    const named = name ? [...fresh.querySelectorAll(`[name="${CSS.escape(name)}"]`)] : [];
    const found =
      (id && document.getElementById(id)) ||
      named.find((each) => each.getAttribute("value") === value) ||
      named[0];
    if (!found) {
      fresh.setAttribute("tabindex", "-1");
      fresh.focus({ preventScroll: true });
      return;
    }
    found.focus({ preventScroll: true });
    if (selection !== null && found.type === "text") {
      found.setSelectionRange(selection, selection);
    }
  };
}

/**
 * Fetch an address as a fragment and put it where the fragment stands.
 * @param {string} address of this server
 * @param {string} name of the block, which is the id of its element
 * @param {{push?: boolean, quiet?: boolean}} options push: change the browser's address
 * @returns {Promise<Element|null>} what stands there now; null where it was refused or overtaken
 */
export async function swap(address, name, { push = true, quiet = false } = {}) {
  const old = document.getElementById(name);
  const url = new URL(address, location.href);
  if (!old || url.origin !== location.origin) {
    location.assign(url);
    return null;
  }
  asked.get(name)?.abort();
  const mine = new AbortController();
  asked.set(name, mine);
  old.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(url, {
      headers: { "X-Fragment": name },
      credentials: "same-origin",
      signal: mine.signal,
    });
    if (!answer.ok) {
      refuse(name, await sentence(answer));
      return null;
    }
    const fresh = parsed(await answer.text(), name);
    if (asked.get(name) !== mine || !fresh) return null;
    const place = document.getElementById(name);
    const focus = focusKept(place);
    if (name !== fresh.id) fresh.id = name;
    fresh.classList.add("swapped");
    place.replaceWith(fresh);
    document.getElementById("refused")?.replaceChildren();
    const title = answer.headers.get("X-Title");
    if (title) document.title = decodeURIComponent(title);
    if (push) {
      history.pushState({ fragment: name }, "", answer.redirected ? answer.url : url);
    }
    focus(fresh);
    document.dispatchEvent(new CustomEvent("judged:swapped", { detail: { element: fresh, name } }));
    if (!quiet) announce(fresh.dataset.announce ?? document.title);
    return fresh;
  } catch (error) {
    if (error.name === "AbortError") return null;
    refuse(name, "The server does not answer. Is judged serve still running?");
    return null;
  } finally {
    if (asked.get(name) === mine) {
      asked.delete(name);
      document.getElementById(name)?.removeAttribute("aria-busy");
    }
  }
}

/** The address that a form of method get would go to. */
export function addressOf(form, submitter) {
  const url = new URL(form.getAttribute("action") ?? location.pathname, location.href);
  const data = new FormData(form, submitter);
  url.search = new URLSearchParams([...data].filter(([, value]) => typeof value === "string"));
  return url.href;
}

/** Fill the places of charts, one after the other, once they are near the window. */
async function load(place) {
  const address = place.dataset.load;
  place.removeAttribute("data-load");
  try {
    const url = new URL(address, location.href);
    if (url.origin !== location.origin) return;
    if (place.dataset.fit !== undefined) {
      url.searchParams.set("width", String(Math.floor(place.clientWidth)));
    }
    const answer = await fetch(url, {
      headers: { "X-Fragment": "figure" },
      credentials: "same-origin",
    });
    if (!place.isConnected) return;
    if (!answer.ok) {
      place.textContent = await sentence(answer);
      return;
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    place.replaceChildren(...page.body.childNodes);
    place.classList.add("swapped");
    place.classList.remove("tall");
    document.dispatchEvent(new CustomEvent("judged:swapped", { detail: { element: place } }));
  } catch {
    place.textContent = "This chart could not be loaded.";
  }
}

let watching = false;

function watch() {
  if (watching) return;
  watching = true;
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const name = form.dataset.swap;
    if (!name || form.method !== "get" || event.defaultPrevented) return;
    event.preventDefault();
    swap(addressOf(form, event.submitter), name);
  });
  document.addEventListener("change", (event) => {
    const form = event.target.form;
    if (!form?.dataset.swap || event.target.closest("[data-wait]")) return;
    form.requestSubmit();
  });
  let pause;
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (!form?.dataset.swap || event.target.dataset.live === undefined) return;
    clearTimeout(pause);
    pause = setTimeout(() => form.requestSubmit(), 250);
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[data-swap]") : null;
    const other = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (!link || other || event.button !== 0 || event.defaultPrevented) return;
    event.preventDefault();
    swap(link.href, link.dataset.swap);
  });
  addEventListener("popstate", () => {
    // Whatever block a step changed, the main one holds it.
    if (document.getElementById("main")) swap(location.href, "main", { push: false });
    else location.reload();
  });
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

export function start(root) {
  watch();
  for (const place of root.querySelectorAll("[data-load]")) near.observe(place);
}
