// SPDX-License-Identifier: BSL-1.0
// Search over all pages, in the browser: the index is read when somebody begins to type. Every word has to be in a section. Where it stands decides
// the order (in a heading, in a title, as a word, at the beginning of one, inside one), how often, and what kind of page it is.
"use strict";
(() => {
  const root = document.currentScript.dataset.root;
  const input = document.querySelector(".search input");
  const list = document.querySelector(".search ol");
  let sections = null, chosen = -1;

  const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const pattern = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  function load() {
    if (sections) return;
    sections = [];
    const script = document.createElement("script");
    script.src = `${root}search-index.js`;
    script.onload = () => {
      for (const page of window.onto_pages)
        for (const s of page.s)
          sections.push({
            url: root + page.u + (s.a ? `#${s.a}` : ""), title: page.t, heading: s.a ? s.h : "", text: s.x, weight: page.w,
            inTitle: s.a ? "" : page.t.toLowerCase(), inHeading: s.h.toLowerCase(), inText: `${page.t} ${s.x}`.toLowerCase()
          });
      show();
    };
    document.head.append(script);
  }

  // How well a section answers: 0 where a word is missing.
  function score(section, words) {
    let total = 0;
    for (const word of words) {
      const start = new RegExp(`(^|[^\\w])${pattern(word)}`), whole = new RegExp(`(^|[^\\w])${pattern(word)}($|[^\\w])`);
      let points = Math.min(4, section.inText.split(word).length - 1);
      if (section.inTitle.includes(word)) points += 12;
      if (section.inHeading.includes(word)) points += 10;
      if (whole.test(section.inText)) points += 5;
      else if (start.test(section.inText)) points += 3;
      if (!points) return 0;
      total += points;
    }
    return total * section.weight;
  }

  function excerpt(section, words) {
    const at = Math.max(0, Math.min(...words.map((w) => section.text.toLowerCase().indexOf(w)).filter((k) => k >= 0), Infinity));
    const begin = Number.isFinite(at) ? Math.max(0, at - 30) : 0;
    const text = escape((begin ? "… " : "") + section.text.slice(begin, begin + 160));
    return text.replace(new RegExp(words.map((w) => pattern(escape(w))).join("|"), "gi"), "<mark>$&</mark>");
  }

  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    chosen = -1;
    list.hidden = !words.length;
    if (!words.length || !sections) return;
    const found = sections.map((s) => [score(s, words), s]).filter(([points]) => points).sort((a, b) => b[0] - a[0]).slice(0, 14);
    list.innerHTML = found.map(([, s]) => `<li><a href="${escape(s.url)}"><strong>${escape(s.title)}</strong>${s.heading ? ` › ${escape(s.heading)}` : ""}` +
      `<span>${excerpt(s, words)}</span></a></li>`).join("") || "<li><a>nothing found</a></li>";
  }

  function choose(step) {
    const links = [...list.querySelectorAll("a[href]")];
    if (!links.length) return;
    chosen = (chosen + step + links.length) % links.length;
    links.forEach((link, k) => link.classList.toggle("chosen", k === chosen));
    links[chosen].scrollIntoView({block: "nearest"});
  }

  input.addEventListener("focus", load);
  input.addEventListener("input", () => { load(); show(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") choose(1);
    else if (event.key === "ArrowUp") choose(-1);
    else if (event.key === "Enter") list.querySelectorAll("a[href]")[Math.max(chosen, 0)]?.click();
    else if (event.key === "Escape") { input.value = ""; show(); input.blur(); }
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); input.focus(); }
  });
  document.addEventListener("click", (event) => { if (!event.target.closest(".search")) list.hidden = true; });
})();
