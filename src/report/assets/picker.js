/* The node picker: decodes the graph that graph_json.c wrote and draws the neighbourhood of the
 * chosen node as figure_graph.c does. Uses make(), all() and hideTip() of report.js. */
function bytes(base64) {
  const text = atob(base64), out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

/* Both directions of every edge as compressed rows (see graph_json.c for the format). */
function decode(data) {
  const n = data.nodes, stream = bytes(data.edges), score = data.scores ? bytes(data.scores) : null;
  let at = 0;
  const number = () => {
    let value = 0, scale = 1, byte;
    do { byte = stream[at++]; value += (byte & 127) * scale; scale *= 128; } while (byte > 127);
    return value;
  };
  const from = [], to = [], degree = new Uint32Array(n + 1);
  for (let i = 0; i < n; i++)
    for (let left = number(), other = i; left > 0; left--) {
      other += number();
      from.push(i); to.push(other);
      degree[i]++; degree[other]++;
    }
  const start = new Uint32Array(n + 1), fill = new Uint32Array(n);
  for (let i = 0; i < n; i++) { start[i + 1] = start[i] + degree[i]; fill[i] = start[i]; }
  const col = new Uint32Array(2 * from.length), trust = new Float32Array(2 * from.length);
  for (let e = 0; e < from.length; e++) {
    const value = !score || score[e] === 255 ? NaN : data.low + score[e] / 254 * (data.high - data.low);
    for (const [a, b] of [[from[e], to[e]], [to[e], from[e]]]) { col[fill[a]] = b; trust[fill[a]++] = value; }
  }
  return { ...data, start, col, trust };
}

/* 0 … 1 with the threshold in the middle, and its colour: brown, grey, violet. */
function trustShare(g, score) {
  if (!Number.isFinite(score)) return 0.5;
  const t = g.threshold;
  if (score < t) return g.low < t ? 0.5 * (score - g.low) / (t - g.low) : 0;
  return g.high > t ? 0.5 + 0.5 * (score - t) / (g.high - t) : 1;
}
function trustColour(share) {
  const stops = [[160, 102, 47], [153, 153, 153], [130, 80, 223]], place = Math.min(1, Math.max(0, share)) * 2;
  const below = Math.min(1, Math.floor(place)), t = place - below;
  return `rgb(${stops[below].map((v, i) => Math.round(v + (stops[below + 1][i] - v) * t)).join(",")})`;
}

const MOST_NEAR = 24, MOST_FAR = 48;

/* Who is shown, and where: the layout of figure_graph.c. */
function layout(g, node, x, y) {
  let near = [];
  for (let k = g.start[node]; k < g.start[node + 1]; k++)
    near.push({ node: g.col[k], score: g.trust[k], clear: Math.abs(g.trust[k] - g.threshold) || 0, children: [] });
  const degree = near.length;
  near.sort((a, b) => b.clear - a.clear || a.node - b.node);
  near = near.slice(0, MOST_NEAR);
  near.sort((a, b) => (b.score - a.score) || a.node - b.node);
  const spots = new Map([[node, { node, x, y, radius: 13, ring: 0 }]]);
  near.forEach(s => spots.set(s.node, s));
  const each = near.length ? Math.min(6, Math.max(1, Math.floor(MOST_FAR / near.length))) : 0;
  for (const s of near)
    for (let k = g.start[s.node]; k < g.start[s.node + 1] && s.children.length < each && spots.size < 1 + near.length + MOST_FAR; k++)
      if (!spots.has(g.col[k])) {
        const child = { node: g.col[k], score: g.trust[k], radius: 5, ring: 2 };
        s.children.push(child);
        spots.set(child.node, child);
      }
  const total = near.reduce((sum, s) => sum + Math.max(1, s.children.length), 0);
  let used = -Math.PI / 2;
  for (const s of near) {
    const wedge = Math.max(1, s.children.length) / total * 2 * Math.PI;
    Object.assign(s, { x: x + 96 * Math.cos(used + wedge / 2), y: y + 96 * Math.sin(used + wedge / 2), radius: 9, ring: 1 });
    s.children.forEach((c, i) => {
      const angle = used + wedge * (i + 0.5) / s.children.length;
      Object.assign(c, { x: x + 168 * Math.cos(angle), y: y + 168 * Math.sin(angle) });
    });
    used += wedge;
  }
  return { spots, near, degree };
}

class Picker {
  constructor(place, data) {
    this.g = decode(data);
    this.name = i => this.g.names ? this.g.names[i] : String(i);
    this.className = c => c === undefined || c < 0 ? "unknown" : this.g.class_names ? this.g.class_names[c] : "class " + c;
    this.build(place);
    let best = 0; /* begin with a node that has something to show */
    for (let i = 0; i < this.g.nodes; i++) {
      const size = d => Math.min(12, this.g.start[d + 1] - this.g.start[d]);
      if (size(i) > size(best)) best = i;
    }
    if (this.g.nodes > 0) this.pick(best); else this.chosen.textContent = "The graph has no nodes.";
  }

  build(place) {
    const { g } = this, id = "nodes-" + Math.random().toString(36).slice(2);
    this.input = make("input", { type: "search", list: id, placeholder: "name or number", autocomplete: "off" });
    this.hints = make("datalist", { id });
    this.filter = make("select", { "aria-label": "Filter for the buttons" });
    const kinds = [["all", "all nodes"], ["wrong", "wrong predictions"], ["mixed", "trusted and distrusted edges"]];
    for (const [value, words] of kinds)
      if (value === "all" || (value === "wrong" ? g.predicted && g.label : g.scores))
        this.filter.append(make("option", { value }, words));
    for (let c = 0; c < Math.min(g.classes, 40); c++)
      this.filter.append(make("option", { value: "class " + c }, (g.predicted ? "predicted " : "class ") + this.className(c)));
    const controls = make("div", { class: "controls" }, make("label", {}, "Node", this.input), this.hints);
    for (const [words, step] of [["Previous", -1], ["Next", 1], ["Random", 0]]) {
      const button = make("button", { type: "button" }, words);
      button.addEventListener("click", () => this.visit(step));
      controls.append(button);
    }
    this.filter.addEventListener("change", () => { if (!this.fits(this.node)) this.visit(1); });
    controls.append(this.filter);
    this.chosen = make("p", { class: "chosen", "aria-live": "polite" });
    this.drawing = make("div", { class: "canvas" });
    this.list = make("div", { class: "table neighbours", tabindex: "0", role: "region", "aria-label": "Neighbours" });
    const classes = make("p", { class: "classes" });
    for (let c = 0; c < Math.min(g.classes, 16); c++)
      classes.append(make("span", {}, this.swatch(c), this.className(c)));
    place.replaceChildren(controls, classes, this.chosen, this.drawing, this.list);
    this.input.addEventListener("change", () => this.search());
    this.input.addEventListener("input", () => this.suggest());
    this.input.addEventListener("keydown", event => { if (event.key === "Enter") this.search(); });
  }

  swatch(c) {
    return make("span", { class: "swatch", style: c < 0 ? "color: var(--line)" : `color: var(--s${c % 8})` });
  }

  find(words, most) {
    const { g } = this, found = [];
    const exact = /^\d+$/.test(words) && !g.names && Number(words) < g.nodes ? Number(words) : -1;
    if (exact >= 0) found.push(exact);
    const needle = words.toLowerCase();
    for (let i = 0; i < g.nodes && found.length < most && needle && g.names; i++)
      if (this.name(i).toLowerCase() === needle) found.push(i);
    for (let i = 0; i < g.nodes && found.length < most && needle; i++)
      if (!found.includes(i) && this.name(i).toLowerCase().startsWith(needle)) found.push(i);
    return found;
  }
  suggest() {
    this.hints.replaceChildren(...this.find(this.input.value.trim(), 12).map(i => make("option", { value: this.name(i) })));
  }
  search() {
    const words = this.input.value.trim(), found = this.find(words, 1);
    if (!words) return;
    if (found.length) this.pick(found[0]);
    else this.chosen.textContent = `No node is called “${words}”.`;
  }

  fits(i) {
    const { g } = this, kind = this.filter.value;
    if (kind === "wrong") return g.label[i] >= 0 && g.predicted[i] >= 0 && g.label[i] !== g.predicted[i];
    if (kind.startsWith("class ")) return (g.predicted || g.label)[i] === Number(kind.slice(6));
    if (kind !== "mixed") return true;
    let kept = 0;
    for (let k = g.start[i]; k < g.start[i + 1]; k++) kept += g.trust[k] >= g.threshold;
    return kept > 0 && kept < g.start[i + 1] - g.start[i];
  }
  visit(step) {
    const n = this.g.nodes;
    let at = step ? this.node : Math.floor(Math.random() * n);
    for (let tries = 0; tries < n; tries++) {
      at = (at + (step || 1) + n) % n;
      if (this.fits(at)) { this.pick(at); return; }
    }
    this.chosen.textContent = "No node matches the filter.";
  }

  pick(node) {
    this.node = node;
    this.input.value = this.name(node);
    hideTip();
    const { g } = this, picture = layout(g, node, 280, 190);
    this.drawing.replaceChildren(this.draw(picture));
    this.list.replaceChildren(this.table(node));
    this.chosen.textContent = this.sentence(node, picture);
  }

  sentence(node, picture) {
    const { g } = this, roles = ["", ", training node", ", validation node", ", test node"];
    let kept = 0;
    for (let k = g.start[node]; k < g.start[node + 1]; k++) kept += g.trust[k] >= g.threshold;
    let words = `${this.name(node)}: true class ${this.className(g.label && g.label[node])}`;
    if (g.predicted) words += `, predicted ${this.className(g.predicted[node])}`;
    words += (g.roles ? roles[g.roles[node]] : "") + `. ${picture.degree} neighbours`;
    if (g.scores) words += `, ${kept} of the edges trusted`;
    if (picture.near.length < picture.degree) words += `; the figure shows ${picture.near.length} of them`;
    if (g.degrees && g.degrees[node] > picture.degree) words += ` (${g.degrees[node]} in the whole graph)`;
    if (g.nodes < g.of) words += `. This page contains ${g.nodes} of ${g.of} nodes`;
    return words + ".";
  }

  describe(node) {
    const { g } = this, roles = ["", "\ntraining node", "\nvalidation node", "\ntest node"];
    return this.name(node) + (g.predicted ? "\npredicted: " + this.className(g.predicted[node]) : "") +
      "\ntrue class: " + this.className(g.label && g.label[node]) + (g.roles ? roles[g.roles[node]] : "");
  }

  draw({ spots }) {
    const { g } = this, order = Array.from(spots.values());
    const svg = make("svg", { class: "fig", viewBox: "0 0 560 440", role: "img", tabindex: "0",
      "aria-label": `Neighbourhood of ${this.name(this.node)}` });
    order.forEach((s, i) => { s.index = i; });
    for (const s of order.filter(spot => spot.ring < 2).reverse())
      for (let k = g.start[s.node]; k < g.start[s.node + 1]; k++) {
        const other = spots.get(g.col[k]);
        if (other && other.index > s.index) svg.append(this.edge(s, other, g.trust[k]));
      }
    for (const s of order.reverse()) svg.append(this.dot(s));
    svg.append(...this.legend());
    return svg;
  }

  edge(a, b, score) {
    const { g } = this, share = trustShare(g, score), far = a.ring > 0, known = Number.isFinite(score);
    const line = make("path", { class: far ? "edge far" : "edge", d: `M${a.x} ${a.y}L${b.x} ${b.y}`, stroke: trustColour(share),
      "stroke-width": (far ? 0.6 : 1.2) * (1 + 2 * Math.abs(share - 0.5)) });
    if (known && score < g.threshold) line.setAttribute("stroke-dasharray", "5 4");
    const words = `${this.name(a.node)} – ${this.name(b.node)}` +
      (known ? `\ntrust: ${score.toFixed(2)} (${score >= g.threshold ? "kept" : "dropped"})` : "");
    const hit = make("path", { d: `M${a.x} ${a.y}L${b.x} ${b.y}`, stroke: "transparent", "stroke-width": 9, fill: "none" });
    return make("g", { class: "tip" }, make("title", {}, words), line, far ? "" : hit);
  }

  dot(s) {
    const { g } = this, truth = g.label ? g.label[s.node] : -1, guess = g.predicted ? g.predicted[s.node] : -1;
    const shown = guess >= 0 ? guess : truth, wrong = truth >= 0 && guess >= 0 && truth !== guess, r = s.radius;
    const look = { class: `node ${shown < 0 ? "unknown" : "s" + shown % 8}${wrong ? " wrong" : ""}` };
    const shape = g.roles && g.roles[s.node] === "1"
      ? make("rect", { ...look, x: s.x - r, y: s.y - r, width: 2 * r, height: 2 * r })
      : make("circle", { ...look, cx: s.x, cy: s.y, r });
    const group = make("g", { class: "tip" }, make("title", {}, this.describe(s.node)), shape);
    if (s.ring === 0) return group;
    group.classList.add("node-link");
    group.setAttribute("data-node", s.node);
    group.addEventListener("click", () => this.pick(s.node));
    return group;
  }

  legend() {
    const out = [], { g } = this, words = [];
    if (g.scores) {
      for (let i = 0; i < 40; i++)
        out.push(make("rect", { x: 220 + 3 * i, y: 404, width: 3.3, height: 8, fill: trustColour((i + 0.5) / 40) }));
      out.push(make("text", { class: "tick", x: 214, y: 412, "text-anchor": "end" }, "distrusted"));
      out.push(make("text", { class: "tick", x: 346, y: 412 }, "trusted"));
      words.push(`dashed: score below ${Number(g.threshold.toPrecision(3))}`);
    }
    if (g.roles) words.push("square: training node");
    if (g.predicted && g.label) words.push("outlined: wrong prediction");
    out.push(make("text", { class: "tick", x: 280, y: 430, "text-anchor": "middle" }, words.join(";  ")));
    return out;
  }

  table(node) {
    const { g } = this, most = 200, rows = [];
    for (let k = g.start[node]; k < g.start[node + 1]; k++) rows.push({ node: g.col[k], score: g.trust[k] });
    rows.sort((a, b) => (b.score - a.score) || a.node - b.node);
    const body = make("tbody");
    for (const row of rows.slice(0, most)) {
      const shown = g.predicted && g.predicted[row.node] >= 0 ? g.predicted[row.node] : g.label ? g.label[row.node] : -1;
      const go = make("button", { type: "button" }, this.name(row.node));
      go.addEventListener("click", () => this.pick(row.node));
      const trust = make("td", { class: "number" }, Number.isFinite(row.score) ? row.score.toFixed(2) : "–");
      if (Number.isFinite(row.score)) trust.dataset.value = row.score;
      body.append(make("tr", {}, make("td", { title: this.name(row.node) }, go), make("td", { title: this.className(shown) }, this.swatch(shown), this.className(shown)), trust,
        make("td", {}, Number.isFinite(row.score) ? (row.score >= g.threshold ? "kept" : "dropped") : "")));
    }
    const head = make("tr");
    for (const [words, kind] of [["Neighbour", "words"], [g.predicted ? "Predicted" : "Class", "words"], ["Trust", "number"], ["Edge", "words"]])
      head.append(make("th", { scope: "col", class: kind }, make("button", { type: "button" }, words)));
    const more = rows.length > most ? ` (the first ${most} of ${rows.length})` : "";
    return make("table", { class: "sortable" }, make("caption", {}, make("span", {}, "Neighbours of " + this.name(node) + more)), make("thead", {}, head), body);
  }
}

/* Pickers are built when they come near the screen, so that large graphs do not delay the page. */
function startPicker(box) {
  if (box.dataset.ready) return;
  box.dataset.ready = "yes";
  new Picker(box.querySelector(".picker"), JSON.parse(box.querySelector("script").textContent));
}
const graphs = all(".graph");
if ("IntersectionObserver" in window) {
  const watch = new IntersectionObserver(seen => {
    seen.filter(e => e.isIntersecting).forEach(e => { watch.unobserve(e.target); startPicker(e.target); });
  }, { rootMargin: "600px" });
  graphs.forEach(box => watch.observe(box));
} else {
  graphs.forEach(startPicker);
}
addEventListener("beforeprint", () => graphs.forEach(startPicker));
