// Steps through the frames of a walk; a classic script, so that it runs from a file on disk.
(() => {
  "use strict";
  const held = document.getElementById("frames");
  const stage = document.querySelector("[data-walk]");
  if (!held || !stage) return;
  const frames = JSON.parse(held.textContent);
  const marked = stage.querySelectorAll("[data-rank]");
  const readings = stage.querySelectorAll("[data-reading]");
  const rank = stage.querySelector('[data-of="rank"]');
  const score = stage.querySelector('[data-of="score"]');
  const caption = stage.querySelector("[data-caption]");
  const where = stage.querySelector("[data-where]");
  const speed = stage.querySelector("[data-speed]");
  const play = stage.querySelector('[data-go="play"]');
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const last = frames.length - 1;
  let step = 0;
  let timer = null;

  const show = (wanted) => {
    step = Math.max(0, Math.min(last, wanted));
    const frame = frames[step];
    for (const each of marked) {
      const own = Number(each.dataset.rank);
      each.classList.toggle("on", own <= frame.rank);
      each.classList.toggle("now", own === frame.rank && !frame.finished);
    }
    readings.forEach((field, at) => { field.textContent = frame.readings[at]; });
    rank.textContent = frame.rank || "–";
    if (score) score.textContent = frame.score;
    caption.textContent = frame.caption;
    where.value = step;
    const said = frame.finished ? "the end" : step === 0 ? "the start" : `rank ${frame.rank}`;
    where.setAttribute("aria-valuetext", said);
  };

  const pause = () => {
    clearTimeout(timer);
    timer = null;
    play.textContent = "▶ Play";
    caption.setAttribute("aria-live", "polite");
  };

  const tick = () => {
    if (step >= last) {
      pause();
      return;
    }
    show(step + 1);
    timer = setTimeout(tick, Number(speed.value));
  };

  const start = () => {
    if (step >= last) show(0);
    play.textContent = "Pause";
    caption.setAttribute("aria-live", "off");
    timer = setTimeout(tick, Number(speed.value) / 2);
  };

  const go = (to) => {
    pause();
    show(to);
  };
  const places = { start: () => 0, back: () => step - 1, next: () => step + 1, end: () => last };
  const toggle = () => (timer === null ? start() : pause());

  stage.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-go]") : null;
    if (!button) return;
    if (button === play) toggle();
    else go(places[button.dataset.go]());
  });
  where.addEventListener("input", () => go(Number(where.value)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const tag = event.target.tagName;
    if (tag === "SELECT" || tag === "SUMMARY" || (tag === "INPUT" && event.key !== " ")) return;
    if (event.key === " " && tag === "BUTTON") return;
    const keys = { ArrowRight: "next", ArrowLeft: "back", Home: "start", End: "end" };
    if (event.key === " ") toggle();
    else if (Object.hasOwn(keys, event.key)) go(places[keys[event.key]]());
    else return;
    event.preventDefault();
  });
  addEventListener("beforeprint", () => go(last));

  stage.classList.add("live");
  const asked = /^#step=(\d+)$/.exec(location.hash);
  show(asked ? Number(asked[1]) : calm ? last : 0);
  if (!asked && !calm) start();
})();
