// Work that takes a while: a band that says how far it is, until the page can be had.

const PAUSE = 400; // milliseconds between two looks

const pause = () => new Promise((done) => setTimeout(done, PAUSE));

/** Stop a piece of work; whether that was asked for is kept on the band. */
function stoppable(band) {
  band.querySelector("form")?.addEventListener("submit", (event) => {
    event.preventDefault();
    band.dataset.stopped = "";
    fetch(event.target.action, { method: "POST", credentials: "same-origin" });
  });
}

/** Show how far some work is in the place of an element, until it is done; false if stopped. */
async function watch(id, band, parse, signal) {
  let shown = band;
  stoppable(shown);
  for (;;) {
    await pause();
    if (signal?.aborted || !shown.isConnected) return false;
    if (shown.dataset.stopped !== undefined) return false;
    const address = `/working?job=${encodeURIComponent(id)}`;
    const answer = await fetch(address, { credentials: "same-origin", signal });
    if (answer.status !== 200) return true;
    const fresh = parse(await answer.text()).firstElementChild;
    if (!fresh || shown.dataset.stopped !== undefined || shown.contains(document.activeElement)) {
      const [now, old] = [fresh?.querySelector("progress"), shown.querySelector("progress")];
      if (now?.hasAttribute("value")) old.value = now.value;
      continue;
    }
    shown.replaceWith(fresh);
    shown = fresh;
    stoppable(shown);
  }
}

/** Wait for what an answer says is being made; false if somebody stopped it. */
export async function made(answer, parse, signal) {
  const place = document.getElementById("refused");
  const band = parse(await answer.text()).firstElementChild;
  place?.replaceChildren(band);
  const done = await watch(answer.headers.get("X-Working"), band, parse, signal);
  place?.replaceChildren();
  return done;
}

/** A page that is not made yet: load it again once it is. */
export function waiting(root, parse) {
  for (const band of root.querySelectorAll("#main [data-job]")) {
    watch(band.dataset.job, band, parse).then((done) => {
      if (done) location.reload();
      else document.querySelector("#main [data-job] b")?.replaceChildren("Stopped.");
    });
  }
}
