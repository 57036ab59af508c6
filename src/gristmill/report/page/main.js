// Puts the page together: of one run, or of two side by side (see compare.js).

function navigation(sections) {
  const links = new Map(sections.map((part) => [part.id, el("a", { href: `#${part.id}` }, part.firstChild.textContent.split(",")[0])]));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) {
      links.forEach((link) => link.classList.remove("here"));
      links.get(entry.target.id).classList.add("here");
    }
  }, { rootMargin: "-10% 0px -80% 0px" });
  sections.forEach((part) => watcher.observe(part));
  return el("nav", { "aria-label": "Chapters" }, el("div", null, [...links.values()]));
}

function page(top, sections, version) {
  const there = sections.filter(Boolean);
  document.body.append(top, navigation(there), el("main", null, there), el("footer", null, `Made by Gristmill ${version}. One file, no network.`));
}

const evidence = JSON.parse(document.getElementById("evidence").textContent);
if (evidence.runs) comparePage(evidence);
else page(head(evidence), [
  funnelSection, rulesSection, thresholdSection, samplesSection, languageSection, duplicateSection, mixtureSection, lengthSection, packingSection, timeSection, recipeSection,
].map((make) => make(evidence)), evidence.version);
document.documentElement.dataset.ready = "yes";
