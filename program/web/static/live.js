// What pages do beyond reading. Everything here is extra: each page works without it.
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  document.cookie = `zone=${zone};path=/;max-age=31536000;samesite=lax`;

  // Parts of the page that follow what happens: asked for again on a beat, and at once when the program tells of news.
  const isLive = (element) => element?.matches?.("[data-live]");
  document.addEventListener("htmx:before:request", (event) => {
    const element = event.detail.ctx.sourceElement;
    const isInUse = isLive(element) && element.querySelector(":checked:not(option), input:focus, textarea:focus");
    if (isLive(element) && (document.hidden || isInUse)) event.preventDefault();
  });
  const events = document.querySelector("[data-live]") && document.querySelector("meta[name=events]")?.content;
  const listen = () => {
    let waiting;
    const source = new EventSource(events);
    source.onmessage = () => {
      waiting ??= setTimeout(() => { waiting = undefined; htmx.trigger(document.body, "news"); }, 500);
    };
    addEventListener("pagehide", () => source.close());
  };
  // Whoever only passes through takes no place among the listeners.
  if (events) setTimeout(listen, 2000);

  // Keys: / search, g and a letter for a place, ? for help.
  let last = "";
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const place = last === "g" && document.querySelector(`.place[data-key="${CSS.escape(event.key)}"]`);
    if (place) place.click();
    else if (event.key === "/") { event.preventDefault(); document.querySelector("[type=search]")?.focus(); }
    else if (event.key === "?") document.getElementById("help")?.showModal();
    last = event.key;
  });

  // On a phone the chosen one of a row may stand beyond the edge.
  for (const chosen of document.querySelectorAll(".tabs [aria-current], .chapters [aria-current], .steps [aria-current]")) {
    const row = chosen.parentElement;
    row.scrollLeft = chosen.offsetLeft - row.offsetLeft - (row.clientWidth - chosen.clientWidth) / 2;
  }

  // A menu closes when something else is touched.
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
})();
