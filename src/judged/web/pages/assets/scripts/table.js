// Long tables: only the rows in sight are in the page. A table has data-rows (the address that gives
// more of them, as the fragment "rows", with &from=), data-count (how many there are) and data-size
// (how many come at once); the page brings the first ones. What is out of sight becomes a spacer of
// the same height.
import { announce, fragment, parsed, Refused } from "./swap.js";

const KEPT = 24; // pieces that are kept for the way back

class Rows {
  constructor(table) {
    this.table = table;
    this.body = table.tBodies[0];
    this.count = Number(table.dataset.count);
    this.size = Number(table.dataset.size);
    this.pieces = new Map([[0, [...this.body.rows]]]); // number of a piece -> its rows
    this.heights = new Map(); // number of a piece -> its height in pixels, once it was seen
    this.asked = new Map(); // number of a piece -> its request
    this.row = 0; // the height of a row, as last seen
    this.shown = "0";
    this.last = Math.ceil(this.count / this.size) - 1;
  }

  height(piece) {
    const rows = piece === this.last ? this.count - this.last * this.size : this.size;
    return this.heights.get(piece) ?? rows * this.row;
  }

  measure() {
    for (const [piece, rows] of this.pieces) {
      if (!rows[0]?.isConnected) continue;
      const top = rows[0].getBoundingClientRect().top;
      const height = rows.at(-1).getBoundingClientRect().bottom - top;
      this.heights.set(piece, height);
      this.row = height / rows.length;
    }
  }

  /** The pieces that are in sight or close to it, and the one with the focus. */
  wanted() {
    const margin = innerHeight / 2;
    const found = new Set();
    let top = this.body.getBoundingClientRect().top;
    for (let piece = 0; piece <= this.last; piece += 1) {
      const bottom = top + this.height(piece);
      if (bottom > -margin && top < innerHeight + margin) found.add(piece);
      top = bottom;
    }
    const focused = document.activeElement?.closest("tr");
    for (const [piece, rows] of this.pieces) {
      if (focused && rows.includes(focused)) found.add(piece);
    }
    return found;
  }

  update() {
    if (!this.body.isConnected) return;
    this.measure();
    const wanted = this.wanted();
    for (const [piece, request] of this.asked) {
      if (!wanted.has(piece)) request.abort();
    }
    for (const piece of wanted) {
      if (!this.pieces.has(piece) && !this.asked.has(piece)) this.ask(piece);
    }
    this.show([...wanted].filter((piece) => this.pieces.has(piece)));
  }

  /** Put the rows of some pieces into the table, and spacers for all others. */
  show(pieces) {
    const key = pieces.join();
    if (key === this.shown) return;
    this.shown = key;
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    const children = [];
    let gap = 0;
    for (let piece = 0; piece <= this.last; piece += 1) {
      if (!pieces.includes(piece)) {
        gap += this.height(piece);
        continue;
      }
      if (gap) children.push(this.spacer(gap));
      gap = 0;
      children.push(...this.pieces.get(piece));
    }
    if (gap) children.push(this.spacer(gap));
    this.body.replaceChildren(...children);
    focused?.focus({ preventScroll: true });
    for (const old of this.pieces.keys()) {
      if (this.pieces.size <= KEPT) break;
      if (old && !pieces.includes(old)) this.pieces.delete(old);
    }
  }

  spacer(height) {
    const row = document.createElement("tr");
    row.className = "spacer";
    row.setAttribute("aria-hidden", "true");
    const cell = row.insertCell();
    cell.colSpan = this.table.tHead?.rows[0].cells.length ?? 1;
    row.style.height = `${height}px`;
    return row;
  }

  async ask(piece) {
    const request = new AbortController();
    this.asked.set(piece, request);
    this.table.setAttribute("aria-busy", "true");
    try {
      const url = new URL(this.table.dataset.rows, location.href);
      url.searchParams.set("from", String(piece * this.size));
      const answer = await fragment(url, "rows", { signal: request.signal });
      const rows = [...parsed(await answer.text()).querySelectorAll("tr")];
      if (rows.length) this.pieces.set(piece, rows);
    } catch (error) {
      if (error.name !== "AbortError") {
        announce(error instanceof Refused ? error.message : "More rows could not be loaded.");
        await new Promise((later) => setTimeout(later, 2000));
      }
    } finally {
      this.asked.delete(piece);
      if (!this.asked.size) this.table.removeAttribute("aria-busy");
    }
    soon();
  }
}

let tables = [];
let waiting = false;

function soon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    tables = tables.filter((each) => each.table.isConnected);
    for (const each of tables) each.update();
  });
}

addEventListener("scroll", soon, { passive: true, capture: true });
addEventListener("resize", () => {
  for (const each of tables) each.heights.clear();
  soon();
});

export function start(root) {
  const found = [...root.querySelectorAll("table[data-rows]")];
  if (root instanceof Element && root.matches("table[data-rows]")) found.push(root);
  for (const table of found) {
    if (Number(table.dataset.count) > table.tBodies[0].rows.length) tables.push(new Rows(table));
  }
  soon();
}
