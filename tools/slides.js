"use strict";
// A small presenter: keys, steps, a list, the speaker's window, print. The page works without it as a long page.
let slides = [...document.querySelectorAll(".slide")];
const said = document.getElementById("said");
let now = 0, step = 0, speaker = null, started = Date.now();

const stepsOf = (slide) => [...slide.querySelectorAll("[data-step]")];

function show(slide, steps) {
  now = Math.max(0, Math.min(slides.length - 1, slide));
  const parts = stepsOf(slides[now]);
  step = Math.max(0, Math.min(parts.length, steps));
  slides.forEach((other, i) => other.classList.toggle("now", i === now));
  parts.forEach((part, i) => part.classList.toggle("shown", i < step));
  history.replaceState(null, "", `#${now + 1}${step ? "." + step : ""}`);
  slides[now].focus({ preventScroll: true });
  said.textContent = "";
  tellSpeaker();
}

function on() {
  if (step < stepsOf(slides[now]).length) show(now, step + 1);
  else if (now + 1 < slides.length) show(now + 1, 0);
}

function back() {
  if (step > 0) show(now, step - 1);
  else if (now > 0) show(now - 1, Infinity);
}

// The stage keeps its shape and fills the window.
function scale() {
  const by = Math.min(innerWidth / 1280, innerHeight / 720);
  const x = (innerWidth - 1280 * by) / 2, y = (innerHeight - 720 * by) / 2;
  slides.forEach((slide) => { slide.style.transform = `translate(${x}px, ${y}px) scale(${by})`; });
}

// Type is as large as fits, in small steps; a long formula, and in a room long code, gets narrower by itself.
function fit(slide) {
  const body = slide.querySelector(".body"), pair = body.querySelector(".pair");
  const tall = slide.matches(".large") ? 430 : 330;  // pixels that a picture needs
  const fits = (size) => {
    slide.style.setProperty("--fit", size / 100);
    slide.dataset.fit = size;
    slide.querySelectorAll(".large pre, math[display=block]").forEach(narrow);
    const picture = body.querySelector(".figure");
    return !overflows(body) && !(picture && picture.clientHeight < tall);
  };
  const largest = () => {
    for (let size = 121; size >= 70; size -= 3) if (fits(size)) return true;
    return false;
  };
  slide.style.display = "flex";
  if (pair) pair.classList.toggle("stacked", slide.matches(".large"));  // code above its output: both can be larger
  if (!largest() && pair) {
    pair.classList.remove("stacked");
    largest();
  }
  slide.style.display = "";
}

// For a room: what does not fit in large type goes on, on a slide of its own; questions stay whole.
function spread(slide) {
  fit(slide);
  const body = slide.querySelector(".body");
  if (slide.dataset.fit >= 91 || slide.matches(".exercise") || !groups(body)[1]) return [slide];
  const column = body.querySelector(".column");
  if (column) {
    column.replaceWith(...column.children);
    slide.classList.remove("beside");
  }
  const rest = slide.cloneNode(true);
  rest.querySelector(".body").replaceChildren();
  while (slide.dataset.fit < 91 && groups(body)[1]) {
    rest.querySelector(".body").prepend(...groups(body).at(-1));
    fit(slide);
  }
  slide.after(rest);
  const title = rest.querySelector("h2");
  if (title && !title.querySelector(".more")) title.insertAdjacentHTML("beforeend", ' <span class="more">(more)</span>');
  return [slide, ...spread(rest)];
}

function groups(body) {
  const found = [];
  for (const block of body.querySelectorAll(".block")) {
    if (found.length && "joined" in block.dataset) found.at(-1).push(block);
    else found.push([block]);
  }
  return found;
}

const usual = slides.map((slide) => slide.cloneNode(true));

function large(on) {
  const here = slides[now].dataset.of;
  const fresh = usual.map((slide, i) => {
    const copy = slide.cloneNode(true);
    copy.classList.toggle("large", on);
    copy.dataset.of = i;
    return copy;
  });
  document.getElementById("deck").replaceChildren(...fresh);
  slides = on ? fresh.flatMap(spread) : fresh;
  if (!on) slides.forEach(fit);
  slides.forEach((slide, i) => {
    slide.id = `s${i + 1}`;
    slide.setAttribute("aria-label", `slide ${i + 1} of ${slides.length}`);
    slide.querySelector("footer").lastChild.textContent = `${i + 1} / ${slides.length}`;
  });
  document.body.classList.toggle("projector", on);
  document.querySelector("#list ol").replaceChildren();
  scale();
  if (here === undefined) place();
  else show(slides.findIndex((slide) => slide.dataset.of === here), 0);
}

const wide = (box) => box.scrollWidth > box.clientWidth + 1;
const overflows = (body) => body.scrollHeight > body.clientHeight + 1 || wide(body)
  || [...body.querySelectorAll(".column")].some((box) => box.scrollHeight > body.clientHeight + 1)
  || [...body.querySelectorAll(".block, pre > code")].some(wide);

function narrow(part) {
  const box = part.matches("pre") ? part.firstElementChild : part.parentElement;
  for (let size = 100; size >= 60; size -= 4) {
    part.style.setProperty("--narrow", size / 100);
    if (!wide(box)) break;
  }
}

function list() {
  const dialog = document.getElementById("list");
  const rows = dialog.querySelector("ol");
  if (!rows.children.length) {
    slides.forEach((slide, i) => {
      const link = document.createElement("a");
      link.href = `#${i + 1}`;
      link.textContent = slide.querySelector("h1, h2").textContent;
      link.addEventListener("click", () => dialog.close());
      rows.append(document.createElement("li"));
      rows.lastChild.append(link);
    });
  }
  dialog.showModal();
  rows.children[now].firstChild.focus();
}

function notes() {
  speaker = open("", "speaker " + document.title, "width=1000,height=760");
  if (!speaker) {
    said.textContent = "The browser blocked the notes' window: allow pop-ups for this page, then press n again.";
    return;
  }
  const there = speaker.document;
  there.title = "Notes: " + document.title;
  there.documentElement.lang = "en";
  there.head.replaceChildren(there.importNode(document.querySelector("style"), true));
  there.body.className = "speaker";
  there.body.innerHTML = `<header><span class="time" id="clock"></span><span class="time" id="since"></span>
    <button type="button" id="again">Start the time again</button><span id="where" role="status"></span></header>
    <main id="notes"></main><aside aria-label="next slide"><p id="next"></p><div class="preview" inert></div></aside>`;
  there.getElementById("again").onclick = () => { started = Date.now(); tick(); };
  there.onkeydown = key;
  tellSpeaker();
  tick();
}

function tellSpeaker() {
  if (!speaker || speaker.closed) return;
  const there = speaker.document;
  const left = stepsOf(slides[now]).length - step;
  there.getElementById("where").textContent =
    `slide ${now + 1} of ${slides.length}` + (left ? `, ${left} more step${left > 1 ? "s" : ""} on it` : "");
  const told = slides[now].querySelector(".notes").innerHTML;
  const title = there.createElement("h2");
  title.textContent = slides[now].querySelector("h1, h2").textContent;
  there.getElementById("notes").innerHTML = told || "<p>No notes for this slide.</p>";
  there.getElementById("notes").prepend(title);
  const next = slides[now + 1];
  there.getElementById("next").textContent = next ? "Next:" : "This is the last slide.";
  const preview = there.querySelector(".preview");
  preview.replaceChildren(...(next ? [there.importNode(next, true)] : []));
  if (next) preview.firstChild.removeAttribute("id");
  if (next) preview.firstChild.style.transform = "";
}

function tick() {
  if (!speaker || speaker.closed) return;
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  const clock = new Date(), seconds = (Date.now() - started) / 1000;
  speaker.document.getElementById("clock").textContent = `${two(clock.getHours())}:${two(clock.getMinutes())}`;
  speaker.document.getElementById("since").textContent = `${two(seconds / 60)}:${two(seconds % 60)} gone`;
}

function screen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen().catch(() => {});
}

const keys = {
  ArrowRight: on, ArrowDown: on, PageDown: on, " ": on, ArrowLeft: back, ArrowUp: back, PageUp: back,
  Home: () => show(0, 0), End: () => show(slides.length - 1, 0), n: notes, s: notes, o: list, f: screen,
  p: () => large(!document.body.matches(".projector")),
  b: () => document.body.classList.toggle("blank"), "?": () => document.getElementById("keys").showModal(),
};

function key(event) {
  const typed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const inside = event.target.closest && event.target.closest("button, dialog");
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[typed] || (inside && typed === " ")) return;
  if (document.querySelector("dialog[open]")) return;
  event.preventDefault();
  keys[typed]();
}

function place() {
  const [slide, steps] = location.hash.slice(1).split(".").map(Number);
  show((slide || 1) - 1, steps || 0);
}

document.body.classList.add("live");
addEventListener("keydown", key);
addEventListener("resize", scale);
addEventListener("hashchange", place);
document.querySelectorAll("#controls button").forEach((button) => {
  button.addEventListener("click", () => keys[button.dataset.key]());
});
setInterval(tick, 1000);
scale();
place();
// Fonts change the measures, so wait for all of them, also for those that only a hidden slide needs.
Promise.allSettled([...document.fonts].map((font) => font.load())).then(() => {
  large(document.body.matches(".projector"));
  document.body.dataset.ready = "yes";
});
