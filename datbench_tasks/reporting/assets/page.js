// The page's behaviour. Everything shown comes from JSON and is set as text: no markup is ever parsed.
"use strict";

(() => {
  const ROW_HEIGHT = 66; // pixels, as in page.css
  const OVERSCAN = 8; // rows drawn above and below the visible ones
  const TYPING_PAUSE = 150; // milliseconds
  const SNIPPET = 160; // characters of a question in the list
  const ALL = "all";
  const STATES_ALWAYS_SHOWN = ["right", "wrong", "pending", "lost_to_formatting", "truncated"];

  const byId = (id) => document.getElementById(id);
  const embedded = (id) => JSON.parse(byId(id).textContent);
  const report = embedded("report");
  const number = new Intl.NumberFormat("en");

  // ---- building elements -------------------------------------------------------------------------------------

  function element(name, attributes = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  function drawing(name, attributes) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  }

  // Controls, direction marks and lone surrogates are shown by name instead of acting on the text around them.
  const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cs}\p{Bidi_Control}\u00ad\u200b\u2028\u2029\u2060-\u2064\ufeff\ufff9-\ufffb]/gu;

  function readable(text) {
    const shown = element("bdi", { dir: "auto" });
    const clean = text.replace(/\r\n?/g, "\n");
    let end = 0;
    for (const match of clean.matchAll(HIDDEN)) {
      const code = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      shown.append(clean.slice(end, match.index), element("span", { class: "mark" }, `U+${code}`));
      end = match.index + match[0].length;
    }
    shown.append(clean.slice(end));
    return shown;
  }

  const startOf = (text) => (typeof text === "string" ? text : text.text);

  const start = (text, length) => [...startOf(text).slice(0, 2 * length)].slice(0, length).join("");

  function cutNote(text) {
    if (typeof text === "string") return [];
    const note = `First ${number.format(report.textLimit)} of ${number.format(text.length)} characters; ` +
      `the whole is in ${report.whole}`;
    return [element("p", { class: "cut" }, readable(note))];
  }

  // ---- summary, pictures, tables -----------------------------------------------------------------------------

  function showSummary() {
    document.title = `${report.title} · DatBench report`;
    byId("title").append(readable(report.title));
    byId("signatures").append(...report.signatures.map(({ label, text }) =>
      element("p", { class: "signature" }, element("span", {}, readable(label)),
        element("code", {}, ...breakable(text)))));
    byId("headline").append(...report.headline.map(({ label, value, note }) =>
      element("div", {},
        element("p", { class: "figure" }, value),
        element("p", { class: "figure-label" }, readable(label)),
        element("p", { class: "figure-note" }, readable(note)))));
    byId("rates").append(...report.rates.map(({ label, value, note }) =>
      element("div", {}, element("dt", {}, label), element("dd", {}, value, element("small", {}, readable(note))))));
    byId("notes").append(
      ...(report.problems.length ? [element("ul", { class: "notice" },
        ...report.problems.map((problem) => element("li", {}, readable(problem))))] : []),
      ...report.notes.map((note) => element("p", { class: "remark" }, readable(note))));
    byId("pictures-and-tables").append(...report.sections.map(showSection));
  }

  // A signature may break after its bars.
  const breakable = (text) => text.split(/(?<=\|)/).flatMap((piece) => [readable(piece), element("wbr")]);

  function showSection({ heading, note, pictures, table }, position) {
    const id = `section-${position}`;
    const section = element("section", { "aria-labelledby": id }, element("h2", { id }, heading),
      element("p", { class: "section-note" }, note));
    if (pictures.length) {
      section.append(element("figure", { "aria-hidden": "true" }, ...pictures.map(draw)));
    }
    section.append(showTable(heading, table));
    return section;
  }

  function draw({ width, height, shapes }, position) {
    const screen = position === 0 ? "broad" : "slim";
    const svg = drawing("svg", { viewBox: `0 0 ${width} ${height}`, class: `picture ${screen}` });
    for (const shape of shapes) {
      if (shape.kind === "line") {
        const { x1, y1, x2, y2 } = shape;
        svg.append(drawing("line", { x1, y1, x2, y2, class: shape.role }));
      } else if (shape.kind === "dot") {
        svg.append(drawing("circle", { cx: shape.x, cy: shape.y, r: shape.radius, class: shape.role }));
      } else {
        const text = drawing("text", {
          x: shape.x, y: shape.y, class: shape.role, "text-anchor": shape.anchor, "dominant-baseline": "central",
        });
        text.append(shape.text);
        svg.append(text);
      }
    }
    return svg;
  }

  function showTable(title, { columns, rows, averages }) {
    const kind = (column) => (columns[column].numeric ? "number" : "words");
    const head = element("tr", {}, ...columns.map(({ label }, column) =>
      element("th", { scope: "col", class: kind(column) }, label)));
    const line = (cells, attributes) => element("tr", attributes, ...cells.map((cell, column) =>
      column === 0 ? element("th", { scope: "row", class: "words" }, readable(cell))
        : element("td", { class: kind(column) }, readable(cell))));
    const body = element("tbody", {}, ...rows.map((cells) => line(cells, {})),
      ...averages.map((cells) => line(cells, { class: "average" })));
    const caption = element("caption", { class: "unseen" }, title);
    const table = element("table", {}, caption, element("thead", {}, head), body);
    return element("div", { class: "table", role: "region", tabindex: "0", "aria-label": `Table: ${title}` }, table);
  }

  // ---- samples: one part per capability, in this page or in the folder beside it ---------------------------------

  const arrivals = new Map(); // part -> what receives its samples
  const parts = new Map(); // part -> promise of its samples
  const images = new Map(); // part -> its thumbnails, where they are in this page

  window.datbenchPart = (part, samples) => arrivals.get(part)?.(samples);

  function loadPart(part) {
    if (!parts.has(part)) {
      parts.set(part, readPart(part).then((samples) => samples.map((sample) => ({ ...sample, part }))));
    }
    return parts.get(part);
  }

  function readPart(part) {
    if (!report.folder) return Promise.resolve(embedded(`part-${part}`));
    return new Promise((resolve, reject) => {
      arrivals.set(part, resolve);
      const script = element("script", { src: `${report.folder.address}/part-${part}.js` });
      script.onload = () => script.remove();
      script.onerror = () => {
        parts.delete(part);
        reject(new Error(`Samples not found: the folder ${report.folder.name} belongs beside this page.`));
      };
      document.head.append(script);
    });
  }

  function thumbnailAddress({ part, thumbnail }) {
    if (report.folder) return `${report.folder.address}/images-${part}/${thumbnail}.webp`;
    if (!images.has(part)) images.set(part, embedded(`images-${part}`));
    return `data:image/webp;base64,${images.get(part)[thumbnail]}`;
  }

  // ---- filters ---------------------------------------------------------------------------------------------------

  const view = { loaded: [], shown: [], active: 0 };
  let opening = 0; // number of the newest request: the answer to an older one is dropped

  function showFilters() {
    const total = report.parts.reduce((sum, part) => sum + part.count, 0);
    const all = report.folder ? `All, loads ${report.megabytes} MB` : "All";
    const options = report.parts.map(({ capability, count }, part) => option(part, capability, count));
    if (options.length !== 1) options.unshift(option(ALL, all, total));
    byId("capability").append(...options);
    if (report.folder) byId("capability").value = "0";
    for (const [state, label] of Object.entries({ [ALL]: "All", ...report.states })) {
      const input = element("input", { type: "radio", name: "state", value: state });
      input.checked = state === ALL;
      byId("states").append(
        element("label", { class: `chip ${state}` }, input, element("span", {}, label, " ", element("b"))));
    }
  }

  const option = (value, label, count) =>
    element("option", { value }, `${readable(label).textContent} (${number.format(count)})`);

  async function openCapability() {
    const mine = ++opening;
    const { value } = byId("capability");
    const wanted = value === ALL ? [...report.parts.keys()] : [Number(value)];
    say("Loading …");
    const found = [];
    try {
      for (const part of wanted) found.push(await loadPart(part));
    } catch (fault) {
      found.length = 0;
      say(fault.message);
    }
    if (mine !== opening) return;
    view.loaded = found.flat();
    offerDatasets();
    if (found.length) filter();
  }

  function offerDatasets() {
    const counts = new Map();
    for (const { dataset } of view.loaded) {
      const name = startOf(dataset);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const before = byId("dataset").value;
    byId("dataset").replaceChildren(option(ALL, "All", view.loaded.length),
      ...[...counts.keys()].sort().map((name) => option(`=${name}`, name, counts.get(name))));
    byId("dataset").value = counts.has(before.slice(1)) ? before : ALL;
  }

  function filter() {
    const dataset = byId("dataset").value;
    const query = byId("query").value.trim().toLowerCase();
    const chosen = view.shown[view.active];
    const found = view.loaded.filter((sample) =>
      (dataset === ALL || `=${startOf(sample.dataset)}` === dataset) && (!query || searchable(sample).includes(query)));
    const state = countStates(found);
    view.shown = state === ALL ? found : found.filter((sample) => sample.states.includes(state));
    say(`${number.format(view.shown.length)} of ${number.format(view.loaded.length)} samples`);
    byId("rows").style.height = `${view.shown.length * ROW_HEIGHT}px`;
    select(Math.max(view.shown.indexOf(chosen), 0));
  }

  const searchable = (sample) => [
    sample.id, sample.dataset, sample.question, sample.output, sample.raw ?? "", sample.extracted ?? "",
    sample.judge?.raw ?? "", ...(sample.references ?? []),
  ].map(startOf).join("\n").toLowerCase();

  // Writes the number of samples on each chip, and returns the state that is picked.
  function countStates(samples) {
    const counts = { [ALL]: samples.length };
    for (const sample of samples) {
      for (const state of sample.states) counts[state] = (counts[state] ?? 0) + 1;
    }
    let picked = ALL;
    for (const chip of byId("states").querySelectorAll("label")) {
      const { value, checked } = chip.querySelector("input");
      if (checked) picked = value;
      chip.querySelector("b").textContent = number.format(counts[value] ?? 0);
      chip.hidden = !counts[value] && !checked && !STATES_ALWAYS_SHOWN.includes(value);
    }
    return picked;
  }

  const say = (text) => { byId("status").textContent = text; };

  // ---- list: only the rows in sight are in the document ----------------------------------------------------------

  function drawRows() {
    const list = byId("list");
    const first = Math.max(Math.floor(list.scrollTop / ROW_HEIGHT) - OVERSCAN, 0);
    const last = Math.min(Math.ceil((list.scrollTop + list.clientHeight) / ROW_HEIGHT) + OVERSCAN, view.shown.length);
    const rows = [];
    for (let position = first; position < last; position++) rows.push(drawRow(position));
    byId("rows").replaceChildren(...rows);
    if (first <= view.active && view.active < last) list.setAttribute("aria-activedescendant", `row-${view.active}`);
    else list.removeAttribute("aria-activedescendant");
  }

  function drawRow(position) {
    const sample = view.shown[position];
    const row = element("div", {
      id: `row-${position}`, role: "option", class: `row ${sample.states[0]}`, "aria-posinset": position + 1,
      "aria-setsize": view.shown.length, "aria-selected": position === view.active,
    },
    element("p", { class: "snippet" }, readable(start(sample.question, SNIPPET))),
    element("p", { class: "about" }, ...states(sample, "also"),
      element("span", {}, readable(start(sample.dataset, SNIPPET))),
      element("span", { class: "id" }, readable(start(sample.id, SNIPPET)))));
    row.style.top = `${position * ROW_HEIGHT}px`;
    row.addEventListener("click", () => { select(position); open(); });
    return row;
  }

  function states(sample, rest) {
    return sample.states.map((state, place) =>
      element("span", { class: place === 0 ? `state ${state}` : rest }, report.states[state]));
  }

  function select(position) {
    view.active = Math.min(Math.max(position, 0), view.shown.length - 1);
    const list = byId("list");
    const top = view.active * ROW_HEIGHT;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW_HEIGHT > list.scrollTop + list.clientHeight) {
      list.scrollTop = top + ROW_HEIGHT - list.clientHeight;
    }
    drawRows();
    showDetail(view.shown[view.active]);
  }

  // ---- one sample ------------------------------------------------------------------------------------------------

  function showDetail(sample) {
    const detail = byId("detail");
    detail.scrollTop = 0;
    if (!sample) {
      detail.replaceChildren(element("p", { class: "nothing" }, "No sample matches these filters."));
      return;
    }
    const answers = element("div", { class: "answers" },
      sample.judge ? block("Judge's verdict", text(sample.judge.verdict ?? "pending", "answer"))
        : block("Extracted answer", text(sample.extracted ?? "", "answer")),
      block("References", ...(sample.references ?? [""]).map((answer) => text(answer, "answer"))));
    detail.replaceChildren(detailHead(sample), ...thumbnail(sample), block("Question", text(sample.question)), answers,
      block("Model answer", text(sample.output)), ...folded("Raw output, reasoning included", sample.raw),
      ...judge(sample.judge), block("Score details", pairs(sample.details ?? [])),
      block("Source", pairs(sample.facts ?? [])));
  }

  function detailHead(sample) {
    const step = (label, by) => {
      const button = element("button", { type: "button", "aria-label": `${label} sample` }, by < 0 ? "↑" : "↓");
      button.disabled = !view.shown[view.active + by];
      button.addEventListener("click", () => {
        select(view.active + by);
        const again = byId("detail").querySelector(`[aria-label="${label} sample"]`);
        (again.disabled ? byId("detail") : again).focus(); // the button pressed is gone with the sample before
      });
      return button;
    };
    const back = element("button", { type: "button", class: "back" }, "← List");
    back.addEventListener("click", close);
    const place = `${number.format(view.active + 1)} of ${number.format(view.shown.length)}`;
    return element("header", {},
      element("div", { class: "steps" }, back, step("Previous", -1), step("Next", 1),
        element("span", { class: "place" }, place)),
      element("h3", {}, readable(startOf(sample.id))),
      element("p", { class: "about" }, ...states(sample, "flag"), ...scores(sample),
        element("span", {}, readable(report.parts[sample.part].capability)),
        element("span", {}, readable(start(sample.dataset, SNIPPET)))));
  }

  function scores({ score, reformatted }) {
    return [
      ...(score === undefined ? [] : [element("span", {}, `score ${decimal(score)}`)]),
      ...(reformatted === undefined ? [] : [element("span", {}, `${decimal(reformatted)} if reformatted`)]),
    ];
  }

  const decimal = (value) => String(Math.round(value * 10000) / 10000);

  function block(title, ...children) {
    return element("section", { class: "block" }, element("h4", {}, title), ...children);
  }

  function text(content, kind = "text") {
    if (!startOf(content)) return element("p", { class: "nothing" }, "none");
    const shown = element("div", { class: kind }, readable(startOf(content)));
    return element("div", {}, shown, ...cutNote(content));
  }

  function folded(title, content) {
    if (content === undefined) return [];
    return [element("details", { class: "block" }, element("summary", {}, title), text(content))];
  }

  function thumbnail(sample) {
    if (sample.thumbnail === undefined) return [];
    return [element("img", { src: thumbnailAddress(sample), alt: "Image of this sample", class: "thumbnail" })];
  }

  function judge(verdict) {
    if (!verdict) return [];
    return [
      ...(verdict.facts ? [block("Judge", pairs(verdict.facts))] : []),
      ...folded("Judge's answer in full", verdict.raw),
      ...folded("Judge prompt", verdict.prompt),
    ];
  }

  function pairs(items) {
    if (!items.length) return element("p", { class: "nothing" }, "none");
    return element("dl", { class: "pairs" }, ...items.flatMap(([key, value]) => [
      element("dt", {}, readable(startOf(key))), element("dd", {}, readable(startOf(value)), ...cutNote(value)),
    ]));
  }

  // ---- moving about ----------------------------------------------------------------------------------------------

  // On a narrow screen the list and the sample take turns.
  function open() {
    byId("samples").dataset.view = "detail";
    byId("detail").focus({ preventScroll: true });
    if (isNarrow()) byId("samples").scrollIntoView();
  }

  function close() {
    byId("samples").dataset.view = "list";
    select(view.active);
    byId("list").focus({ preventScroll: true });
    if (isNarrow()) byId("samples").scrollIntoView();
  }

  const isNarrow = () => getComputedStyle(byId("detail")).getPropertyValue("--narrow").trim() === "1";

  const page = () => Math.max(Math.floor(byId("list").clientHeight / ROW_HEIGHT) - 1, 1);

  const ANYWHERE = {
    j: () => select(view.active + 1),
    k: () => select(view.active - 1),
    "/": () => byId("query").focus(),
    Escape: close,
  };

  const IN_LIST = {
    ArrowDown: ANYWHERE.j,
    ArrowUp: ANYWHERE.k,
    PageDown: () => select(view.active + page()),
    PageUp: () => select(view.active - page()),
    Home: () => select(0),
    End: () => select(view.shown.length - 1),
    Enter: open,
  };

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input, select") && event.key !== "Escape";
    const action = (event.target === byId("list") && IN_LIST[event.key]) || (!typing && ANYWHERE[event.key]);
    if (!action || !view.shown.length) return;
    event.preventDefault();
    action();
  }

  let typing;

  function listen() {
    byId("capability").addEventListener("change", openCapability);
    byId("dataset").addEventListener("change", filter);
    byId("states").addEventListener("change", filter);
    byId("query").addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(filter, TYPING_PAUSE);
    });
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("list").addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
    window.addEventListener("resize", drawRows);
    document.addEventListener("keydown", press);
  }

  showSummary();
  showFilters();
  listen();
  openCapability();
})();
