(function () {
  "use strict";
  var frames = JSON.parse(document.getElementById("frames").textContent);
  var stage = document.getElementById("stage");
  var marked = stage.querySelectorAll("[data-rank]");
  var fields = stage.querySelectorAll("[data-of]");
  var readings = stage.querySelectorAll("[data-reading]");
  var where = document.getElementById("where");
  var play = document.getElementById("play");
  var caption = document.getElementById("caption");
  var speed = document.getElementById("speed");
  var calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  var last = frames.length - 1;
  var step = 0;
  var timer = null;

  function show(wanted) {
    step = Math.max(0, Math.min(last, wanted));
    var frame = frames[step];
    marked.forEach(function (each) {
      var rank = Number(each.dataset.rank);
      each.classList.toggle("on", rank <= frame.rank);
      each.classList.toggle("now", rank === frame.rank && !frame.finished);
    });
    fields.forEach(function (field) {
      var text = String(frame[field.dataset.of]);
      field.textContent = field.dataset.of === "rank" && step === 0 ? "–" : text;
    });
    readings.forEach(function (field, at) { field.textContent = frame.readings[at]; });
    caption.textContent = frame.caption;
    where.value = step;
    where.setAttribute("aria-valuetext", frame.finished ? "the end" : step === 0 ? "the start" : "rank " + frame.rank);
  }

  function pause() {
    clearTimeout(timer);
    timer = null;
    play.textContent = "▶ Play";
    play.setAttribute("aria-label", "Play");
    caption.setAttribute("aria-live", "polite");
  }

  function tick() {
    if (step >= last) { pause(); return; }
    show(step + 1);
    timer = setTimeout(tick, Number(speed.value));
  }

  function start() {
    if (step >= last) { show(0); }
    play.textContent = "Pause";
    play.setAttribute("aria-label", "Pause");
    caption.setAttribute("aria-live", "off");
    timer = setTimeout(tick, Number(speed.value) / 2);
  }

  function toggle() { if (timer === null) { start(); } else { pause(); } }
  function go(to) { pause(); show(to); }

  play.addEventListener("click", toggle);
  document.getElementById("start").addEventListener("click", function () { go(0); });
  document.getElementById("back").addEventListener("click", function () { go(step - 1); });
  document.getElementById("next").addEventListener("click", function () { go(step + 1); });
  document.getElementById("end").addEventListener("click", function () { go(last); });
  where.addEventListener("input", function () { go(Number(where.value)); });
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    var tag = event.target.tagName;
    if (tag === "SELECT" || (tag === "INPUT" && event.key !== " ")) { return; }
    if (event.key === " " && tag === "BUTTON") { return; }
    var moves = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: last };
    if (event.key === " ") { toggle(); }
    else if (event.key in moves) { go(moves[event.key]); }
    else { return; }
    event.preventDefault();
  });

  stage.classList.add("live");
  document.getElementById("controls").hidden = false;
  document.querySelector(".keys").hidden = false;
  var asked = /^#step=(\d+)$/.exec(window.location.hash);
  show(asked ? Number(asked[1]) : calm ? last : 0);
  if (!asked && !calm) { start(); }
})();
