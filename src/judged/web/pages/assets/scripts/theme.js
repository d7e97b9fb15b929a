// Light, dark or as the system has it. A classic script in the head, so that nothing flashes.
(() => {
  "use strict";
  const KEY = "judged-theme";
  const ORDER = ["system", "light", "dark"];
  const root = document.documentElement;
  root.classList.add("scripted");

  const read = () => {
    try {
      const kept = localStorage.getItem(KEY);
      return ORDER.includes(kept) ? kept : "system";
    } catch {
      return "system"; // a browser that keeps nothing
    }
  };
  const keep = (theme) => {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // It holds for this page alone.
    }
  };
  let theme = read();
  const apply = () => {
    if (theme === "system") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", theme);
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      const words = { system: "as the system has it", light: "light", dark: "dark" };
      button.setAttribute("aria-label", `Colours: ${words[theme]}. Change`);
      button.title = `Colours: ${words[theme]}`;
    }
  };
  apply();
  document.addEventListener("DOMContentLoaded", apply);
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (!target?.closest("[data-theme-switch]")) return;
    theme = ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];
    keep(theme);
    apply();
  });
  addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    theme = read();
    apply();
  });
})();
