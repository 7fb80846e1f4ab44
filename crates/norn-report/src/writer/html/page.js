"use strict";
// Shows one finding at a time. All texts are set as text, never as markup.

const ROW = 28, PLACE = 104, LANE = 200, CHUNK = 50, KEEP = 3, LONG = 8;
// How many rows above and below the visible ones have their lines drawn.
const MARGIN = 40;
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);

/** An element with properties and children; strings become text. */
function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== undefined && child !== null && child !== "") element.append(child);
  }
  return element;
}

function s(tag, properties) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  return element;
}

const groups = { harmful: "Harmful", unreproducible: "Not reproducible", harmless: "Without visible harm", undecided: "Not confirmed" };
let shown = -1;
let view = null;

// The list and its filters.

function list() {
  let group = "";
  for (const [at, entry] of data.entries.entries()) {
    if (entry.severity !== group) {
      group = entry.severity;
      $("list").append(h("li", { class: "group", "data-group": group }, groups[group]));
    }
    const number = entry.number ? h("b", {}, entry.number + ". ") : "";
    const times = entry.times > 1 ? ` (${entry.times} times)` : "";
    const link = h("a", { href: "#" + (at + 1) }, number, quoted(entry.title), times, h("span", { class: "at" }, entry.at || ""));
    entry.item = h("li", { class: entry.severity }, link);
    entry.search = [entry.title, entry.headline, entry.at, ...entry.files, ...entry.names].join("\n").toLowerCase();
    $("list").append(entry.item);
  }
  fill($("kind"), "all kinds", data.entries.map((it) => it.kind));
  fill($("file"), "all files", data.entries.flatMap((it) => it.files));
  fill($("thread"), "all threads", data.entries.flatMap((it) => it.threads));
  for (const id of ["text", "kind", "file", "thread"]) $(id).addEventListener("input", filter);
  filter();
}

function fill(select, all, values) {
  select.append(h("option", { value: "" }, all));
  for (const value of [...new Set(values)].sort()) select.append(h("option", { value }, value));
}

function filter() {
  const text = $("text").value.toLowerCase(), kind = $("kind").value, file = $("file").value, thread = $("thread").value;
  const alive = new Set();
  let count = 0;
  for (const entry of data.entries) {
    const fits = entry.search.includes(text) && (!kind || entry.kind === kind)
      && (!file || entry.files.includes(file)) && (!thread || entry.threads.includes(thread));
    entry.item.hidden = !fits;
    if (fits) { count += 1; alive.add(entry.severity); }
  }
  for (const it of $("list").querySelectorAll(".group")) it.hidden = !alive.has(it.dataset.group);
  $("count").textContent = `${count} of ${data.entries.length} findings`;
}

// One finding.

function show(at) {
  if (at === shown || !data.entries[at]) return;
  if (shown >= 0) data.entries[shown].item.firstChild.removeAttribute("aria-current");
  shown = at;
  const entry = data.entries[at];
  entry.item.firstChild.setAttribute("aria-current", "true");
  entry.item.scrollIntoView({ block: "nearest" });
  const main = $("main");
  main.replaceChildren(...head(entry), ...accesses(entry), ...orders(entry), ...sources(entry), ...rest(entry));
  main.scrollTop = 0;
  if (view) { layOut(); choose(Math.max(0, view.first)); }
}

function head(entry) {
  const badges = [h("span", { class: "badge " + entry.severity }, entry.badge)];
  const parts = [
    h("div", { class: "kicker" }, h("span", {}, (entry.number ? `Bug ${entry.number} · ` : "") + entry.name), badges, h("span", {}, entry.found || "")),
    h("h2", { tabindex: -1, id: "headline" }, quoted(entry.title)),
  ];
  if (entry.consequence) parts.push(h("p", { class: "led" }, entry.consequence));
  if (entry.replay) {
    const button = h("button", { id: "copy", onclick: () => copy(entry.replay, button) }, "Copy");
    parts.push(h("div", { class: "replay" }, h("code", { id: "replay" }, entry.replay), button));
  }
  if (entry.fix) {
    const [fix, ...notes] = entry.fix;
    parts.push(h("div", { class: "fix" }, h("p", {}, h("b", {}, "Possible fix: "), quoted(fix)), h("ul", {}, notes.map((it) => h("li", {}, quoted(it))))));
  }
  if (entry.why.length) parts.push(h("div", { class: "why" }, entry.why.map((it) => h("p", {}, it))));
  return parts;
}

/** A text whose parts in backticks are code. */
function quoted(text) {
  return text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));
}

async function copy(text, button) {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    const range = document.createRange();
    range.selectNodeContents($("replay"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    done = document.execCommand("copy");
  }
  button.textContent = done ? "Copied" : "Press Ctrl+C";
  say(done ? "copied" : "press Control C to copy");
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

function accesses(entry) {
  if (!entry.accesses.length) return [];
  const card = (it, at) => h("div", { class: "access" },
    h("div", {}, entry.steps ? h("span", { class: "step" }, String(at + 1)) : "", h("span", { class: "thread" }, it.thread)),
    h("div", { class: "what" }, it.text),
    it.locks.length ? h("div", { class: "locks" }, "holding " + it.locks.join(", ")) : "",
    it.frames.length ? h("ol", { "aria-label": "call stack" }, it.frames.map((frame) => h("li", {}, frame))) : "",
    it.calls ? h("details", {}, h("summary", {}, `all ${it.calls.length} calls`), h("ol", {}, it.calls.map((frame) => h("li", {}, frame)))) : "");
  return [h("h3", {}, entry.steps ? "The accesses" : "The threads"), h("div", { class: "accesses" }, entry.accesses.map(card))];
}

// The orders: lanes, rows and lines.

function orders(entry) {
  view = null;
  if (!entry.failing.rows.length) return [];
  const both = [["failing", entry.recorded || entry.steps ? "Failing order" : "The last events", entry.failing]];
  if (entry.recorded) both.push(["recorded", "Recorded order", entry.recorded]);
  view = { entry, at: -1, first: 0, panels: both.map(([name, title, order]) => panel(name, title, order, entry.lanes)) };
  const first = view.panels[0];
  view.first = first.items.findIndex((it) => first.order.rows[it.from].step !== undefined);
  const button = (text, label, step) => h("button", { "aria-label": label, id: label.split(" ")[0], onclick: step }, text);
  const legend = [["switch", "switch of threads"], ["read", "reads from"], ["hand", "lock hand-over"], ["lock", "lock held"]];
  const bar = h("div", { class: "toolbar" },
    button("◀ Back", "back one event", () => step(-1)), button("Step ▶", "forward one event", () => step(1)),
    h("span", { class: "position" }, h("span", { id: "position" })),
    h("span", { class: "notes" }, h("kbd", {}, "←"), " ", h("kbd", {}, "→"), " step, ", h("kbd", {}, "n"), " ", h("kbd", {}, "p"), " next and previous finding, ", h("kbd", {}, "/"), " filter"),
    h("div", { class: "legend", "aria-hidden": "true" }, legend.map(([name, text]) => h("span", { class: name }, h("i"), text))));
  return [h("h3", {}, "The order of events"), bar, h("div", { class: "orders" }, view.panels.map((it) => it.element))];
}

function panel(name, title, order, lanes) {
  const rows = h("ol", { class: "rows", role: "listbox", tabindex: 0, "aria-label": title, id: "rows-" + name });
  const heads = h("div", { class: "heads", "aria-hidden": "true" }, h("span", { class: "place" }, "place"), lanes.map((it) => h("span", {}, it)));
  const svg = s("svg", { "aria-hidden": "true" });
  const inner = h("div", { class: "lanes" }, heads, rows, svg);
  const scroll = h("div", { class: "scroll" }, inner);
  const element = h("section", { class: "order " + name, "aria-label": title }, h("h4", {}, title), scroll);
  const it = { name, order, lanes, rows, heads, svg, inner, scroll, element, open: new Set(), items: [] };
  fold(it);
  scroll.addEventListener("scroll", () => {
    it.top = scroll.scrollTop;
    lines(it);
  });
  rows.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    const at = Number(row.dataset.at), item = it.items[at];
    if (item.to > item.from) unfold(it, at);
    else if (it === view.panels[0]) choose(at);
    else follow(it, at);
  });
  return it;
}

/** Long stretches without an event of the finding become one item. */
function fold(panel) {
  const rows = panel.order.rows, near = new Array(rows.length).fill(false);
  rows.forEach((row, at) => {
    if (row.step === undefined) return;
    for (let it = Math.max(0, at - KEEP); it <= Math.min(rows.length - 1, at + KEEP); it += 1) near[it] = true;
  });
  if (!near.includes(true)) rows.forEach((_, at) => { near[at] = at >= rows.length - 60; });
  panel.items = [];
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (end < rows.length && !near[end]) end += 1;
    if (end - at >= LONG && !panel.open.has(at)) panel.items.push({ from: at, to: end - 1 });
    else for (let it = at; it < end; it += 1) panel.items.push({ from: it, to: it });
    if (end < rows.length) panel.items.push({ from: end, to: end });
    at = end + 1;
  }
  panel.itemOf = new Int32Array(rows.length);
  panel.items.forEach((item, at) => panel.itemOf.fill(at, item.from, item.to + 1));
}

function unfold(panel, at) {
  panel.open.add(panel.items[at].from);
  const chosen = view.panels[0].items[view.at].from;
  fold(panel);
  draw(panel);
  choose(view.panels[0].itemOf[chosen]);
}

function layOut() {
  for (const it of view.panels) draw(it);
}

function draw(panel) {
  const width = Math.max(LANE, (panel.scroll.clientWidth - PLACE - 2) / panel.lanes.length);
  panel.width = width;
  panel.height = panel.scroll.clientHeight || innerHeight;
  panel.top = panel.scroll.scrollTop;
  panel.drawn = null;
  panel.inner.style.width = PLACE + width * panel.lanes.length + "px";
  [...panel.heads.children].forEach((it, at) => { it.style.width = (at ? width : PLACE) + "px"; });
  panel.elements = [];
  const chunks = [];
  for (let from = 0; from < panel.items.length; from += CHUNK) {
    const part = panel.items.slice(from, from + CHUNK);
    const chunk = h("div", { class: "chunk", role: "presentation" }, part.map((item, at) => rowOf(panel, item, from + at)));
    chunk.style.height = part.length * ROW + "px";
    chunks.push(chunk);
  }
  panel.rows.replaceChildren(...chunks);
  lines(panel);
}

function rowOf(panel, item, at) {
  const row = panel.order.rows[item.from];
  const element = h("li", { class: "row", role: "option", id: `${panel.name}-${at}`, "data-at": at, "aria-selected": "false" });
  panel.elements.push(element);
  const colon = (row.place || "").lastIndexOf(":");
  const parts = colon < 0 ? [row.place || "", ""] : [row.place.slice(0, colon), row.place.slice(colon)];
  const place = h("span", { class: "place", title: row.place }, h("span", {}, parts[0]), h("span", { class: "at" }, parts[1]));
  place.style.width = PLACE + "px";
  if (item.to > item.from) {
    element.classList.add("fold");
    const threads = new Set(panel.order.rows.slice(item.from, item.to + 1).map((it) => panel.lanes[it.lane]));
    const cell = h("span", { class: "cell" }, `… ${item.to - item.from + 1} events of ${[...threads].join(", ")}: show`);
    place.replaceChildren();
    element.append(place, cell);
    return element;
  }
  const cell = h("span", { class: "cell", title: words(row) }, h("span", { class: "hidden" }, panel.lanes[row.lane] + " "));
  if (row.step !== undefined) {
    element.classList.add("marked");
    cell.append(h("span", { class: "step" }, String(row.step + 1)));
  }
  cell.append(h("span", { class: "is" }, row.text + " "), h("span", { class: "text" }, row.object ? h("span", { class: "object" }, h("bdi", {}, row.object)) : ""));
  if (row.value !== undefined) cell.append(h("span", { class: "is" }, " = "), h("span", { class: row.other === undefined ? "value" : "value differs" }, row.value));
  if (row.other !== undefined) cell.append(h("s", { class: "was", title: "value in the recorded order" }, row.other));
  if (row.times > 1) cell.append(h("span", { class: "was" }, ` ${row.times} times`));
  if (row.switch !== undefined) cell.append(h("span", { class: "why-switch", title: row.switch }, row.switch));
  cell.style.marginLeft = row.lane * panel.width + "px";
  // A row has one event, so that it may be as wide as all lanes to the right.
  cell.style.width = (panel.lanes.length - row.lane) * panel.width + "px";
  element.append(place, cell);
  return element;
}

/** What an event does to what. */
function words(row) {
  return row.object ? `${row.text} ${row.object}` : row.text;
}

/** Draws the lines of the rows that are visible, and of some around them: to paint those of thousands of rows takes longer than a step may. */
function lines(panel, all) {
  const { order, items, itemOf, width } = panel;
  const first = all ? 0 : Math.max(0, Math.floor(panel.top / ROW)), shown = all ? items.length : Math.ceil(panel.height / ROW) + 1;
  if (panel.drawn && panel.drawn.from <= first && Math.min(items.length, first + shown) <= panel.drawn.to) return;
  const from = Math.max(0, first - MARGIN), to = Math.min(items.length, first + shown + MARGIN);
  panel.drawn = { from, to };
  const x = (at) => PLACE + order.rows[items[at].to].lane * width + 18;
  const y = (at) => (at - from) * ROW + ROW / 2;
  const clip = (at) => Math.min(to, Math.max(from - 1, at));
  const paths = { run: "", switch: "", read: "", hand: "", "read-head": "", "hand-head": "", dot: "", "dot-step": "" };
  const held = [];
  const depth = new Map();
  for (const [lane, begin, stop, lock] of order.held) {
    const one = itemOf[begin], two = stop < order.rows.length ? itemOf[stop] : items.length;
    if (two < from || one >= to) continue;
    const top = y(clip(one)), end = y(clip(two));
    const used = depth.get(lane) || [];
    let column = used.findIndex((it) => it <= top);
    if (column < 0) column = used.length;
    used[column] = end;
    depth.set(lane, used);
    const left = PLACE + lane * width + 8 - Math.min(column, 1) * 5;
    held.push(s("rect", { class: `held held-${lock % 4}`, x: left, y: top - 6, width: 4, height: Math.max(12, end - top + 12), rx: 2 }));
  }
  for (let at = from; at < to; at += 1) {
    const kind = order.rows[items[at].from].step === undefined ? "dot" : "dot-step", r = kind === "dot" ? 3 : 4.5;
    paths[kind] += `M${x(at) - r} ${y(at)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
    if (at === 0) continue;
    if (x(at) === x(at - 1)) paths.run += `M${x(at)} ${y(at - 1)}V${y(at)}`;
    else paths.switch += `M${x(at - 1)} ${y(at - 1)}C${x(at - 1)} ${y(at) - 4} ${x(at)} ${y(at - 1) + 4} ${x(at)} ${y(at)}`;
  }
  for (const [begin, stop, kind] of order.links) {
    const [one, two] = [itemOf[begin], itemOf[stop]];
    if (one === two || two < from || one >= to) continue;
    const bend = Math.min(60, 14 + (two - one) * 3), left = Math.min(x(one), x(two)) - 8;
    const end = x(two) - 6;
    paths[kind] += `M${x(one)} ${y(one)}C${left - bend / 3} ${y(one) + ROW * 0.6} ${left - bend / 3} ${y(two) - ROW * 0.3} ${end - 4} ${y(two)}`;
    paths[kind + "-head"] += `M${end} ${y(two)}l-7 -4v8z`;
  }
  const shapes = Object.entries(paths).filter((it) => it[1]).map(([name, d]) => s("path", { class: name, d }));
  panel.svg.replaceChildren(...held, ...shapes);
  panel.svg.setAttribute("width", PLACE + width * panel.lanes.length);
  panel.svg.setAttribute("height", (to - from) * ROW);
  panel.svg.style.marginTop = from * ROW + "px";
}

// Stepping.

function step(by) {
  if (!view) return;
  choose(Math.min(view.panels[0].items.length - 1, Math.max(0, view.at + by)));
}

function choose(at) {
  const [failing, recorded] = view.panels;
  view.at = at;
  const row = failing.order.rows[failing.items[at].from];
  // What is measured comes before what changes: otherwise the browser lays the page out twice.
  const scroll = place(row);
  mark(failing, at, "chosen");
  if (recorded) mark(recorded, row.twin === undefined ? -1 : recorded.itemOf[row.twin], "twin");
  $("position").textContent = `event ${at + 1} of ${failing.items.length}`;
  const item = failing.items[at];
  const folded = item.to > item.from ? `, ${item.to - item.from + 1} events are folded` : "";
  say(`${failing.lanes[row.lane]} ${words(row)}${row.value === undefined ? "" : " = " + row.value}${row.other === undefined ? "" : ", recorded " + row.other}, ${row.place || ""}${row.switch === undefined ? "" : ", " + row.switch}${folded}`);
  source(row, scroll);
}

/** A row of the recorded order was chosen: the source follows. */
function follow(panel, at) {
  const row = panel.order.rows[panel.items[at].from], scroll = place(row);
  mark(panel, at, "twin");
  source(row, scroll);
}

function mark(panel, at, name) {
  if (panel.now) { panel.now.classList.remove("chosen", "twin"); panel.now.setAttribute("aria-selected", "false"); }
  panel.now = panel.elements[at];
  if (!panel.now) { panel.rows.removeAttribute("aria-activedescendant"); return; }
  panel.now.classList.add(name);
  panel.now.setAttribute("aria-selected", "true");
  panel.rows.setAttribute("aria-activedescendant", panel.now.id);
  const top = at * ROW;
  if (top >= panel.top && top + 3 * ROW <= panel.top + panel.height) return;
  panel.top = Math.max(0, top - panel.height / 2);
  panel.scroll.scrollTop = panel.top;
  lines(panel);
}

// Sources.

function sources(entry) {
  entry.lines = new Map();
  const places = new Map();
  const want = (file, line, text, marked) => {
    if (file === undefined || line === undefined) return;
    const lines = places.get(file) || places.set(file, new Map()).get(file);
    const notes = lines.get(line) || lines.set(line, { marked: false, notes: new Set() }).get(line);
    notes.marked = notes.marked || marked;
    if (marked && text) notes.notes.add(text);
  };
  for (const row of entry.failing.rows) want(row.file, row.line, "", false);
  if (entry.recorded) for (const row of entry.recorded.rows) want(row.file, row.line, "", false);
  entry.accesses.forEach((it, at) => want(it.file, it.line, (entry.steps ? `${at + 1} ` : "") + `${it.thread} ${it.text}`, true));
  if (!places.size) return [];
  const blocks = [...places].map(([file, lines]) => block(entry, file, lines));
  return [h("h3", {}, "The source"), h("div", { class: "sources" }, blocks)];
}

function block(entry, file, lines) {
  const { name, missing, parts } = data.sources[file];
  const box = h("section", { class: "source", "aria-label": name }, h("h4", {}, name));
  if (missing) {
    box.append(h("div", { class: "missing" }, `The text of this file is not in the report: ${missing}.`));
    return box;
  }
  const code = h("div", { class: "code", tabindex: 0 });
  const wanted = [...lines.keys()].sort((a, b) => a - b);
  const near = (line) => wanted.some((it) => Math.abs(it - line) <= 8);
  let last = 0;
  for (const [start, texts] of parts) {
    texts.forEach((text, at) => {
      const number = start + at, notes = lines.get(number);
      if (!near(number)) return;
      if (last && number > last + 1) code.append(h("div", { class: "gap" }, "⋯"));
      last = number;
      const line = h("div", { class: notes && notes.marked ? "marked" : "" }, h("span", { class: "number" }, String(number)), h("span", { class: "text" }, text || " "));
      if (notes && notes.notes.size) line.append(h("span", { class: "note" }, "← " + [...notes.notes].join("; ")));
      if (notes) entry.lines.set(file + ":" + number, line);
      code.append(line);
    });
  }
  box.append(code);
  return box;
}

/** Where the source of a row must be scrolled to, if it is not visible. */
function place(row) {
  const line = view.entry.lines.get(row.file + ":" + row.line);
  if (!line || line === view.line) return undefined;
  const code = line.parentNode, top = line.offsetTop - code.offsetTop;
  const visible = top >= code.scrollTop && top + 20 <= code.scrollTop + code.clientHeight;
  return visible ? undefined : top - code.clientHeight / 2;
}

function source(row, scroll) {
  if (view.line) view.line.classList.remove("now");
  view.line = view.entry.lines.get(row.file + ":" + row.line);
  if (!view.line) return;
  view.line.classList.add("now");
  if (scroll !== undefined) view.line.parentNode.scrollTop = scroll;
}

function rest(entry) {
  const parts = [];
  if (entry.story) parts.push(h("h3", {}, "As text"), h("pre", { class: "story" }, entry.story));
  parts.push(h("footer", {}, data.summary));
  return parts;
}

// The page.

function say(text) {
  $("live").textContent = text;
}

function go(by) {
  const open = data.entries.map((it, at) => at).filter((at) => !data.entries[at].item.hidden);
  const next = open[Math.min(open.length - 1, Math.max(0, open.indexOf(shown) + by))];
  if (next !== undefined) location.hash = String(next + 1);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|SELECT)$/.test(event.target.tagName)) {
    if (event.key !== "Escape") return;
    // A browser may clear the field without telling.
    if (event.target === $("text")) { event.target.value = ""; filter(); }
    event.target.blur();
    return;
  }
  const keys = {
    ArrowRight: () => step(1), ArrowLeft: () => step(-1), j: () => step(1), k: () => step(-1),
    n: () => go(1), p: () => go(-1), c: () => $("copy") && $("copy").click(), "/": () => $("text").focus(),
  };
  const inRows = event.target.classList.contains("rows");
  if (inRows) {
    keys.ArrowDown = keys.ArrowRight;
    keys.ArrowUp = keys.ArrowLeft;
    keys.Home = () => choose(0);
    keys.End = () => choose(view.panels[0].items.length - 1);
    keys.Enter = () => { const it = view.panels[0], item = it.items[view.at]; if (item.to > item.from) unfold(it, view.at); };
  }
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
}

let pending = 0;
addEventListener("resize", () => {
  clearTimeout(pending);
  pending = setTimeout(() => { if (view) { const at = view.at; layOut(); choose(at); } }, 100);
});
addEventListener("beforeprint", () => { if (view) view.panels.forEach((it) => { it.drawn = null; lines(it, true); }); });
addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1));
$("theme").addEventListener("click", theme);
list();
if (data.entries.length) show(Math.max(0, (Number(location.hash.slice(1)) || 1) - 1));
else $("main").append(h("h2", {}, "Nothing was found"), h("footer", {}, data.summary));
