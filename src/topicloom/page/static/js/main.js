/* Wires data, picture, panel, search and tables together. */
import { createAddress } from "./address.js";
import { $, h } from "./dom.js";
import { downFlags, drill, readOverlay, row } from "./model.js";
import { count, plural, shown } from "./names.js";
import { createPanel } from "./panel.js";
import { createPicture } from "./picture.js";
import { PIECES, sceneOf } from "./scene.js";
import { listenToSearch } from "./search.js";
import { fillTables } from "./tables.js";

const raw = JSON.parse($("data").textContent),
  facts = raw.facts,
  o = readOverlay(raw);
const address = createAddress(o);
const picture = createPicture($("stage"), o, { hover: showTip, click: onClick });
const panel = createPanel(o, facts, go);
let state = {},
  colours = null,
  moved = false;

function readColours() {
  const style = getComputedStyle(document.documentElement),
    colour = (name) => style.getPropertyValue(name).trim();
  return {
    ground: colour("--stage"),
    text: colour("--ink"),
    quiet: colour("--quiet"),
    link: colour("--link"),
    faint: colour("--faint"),
    accent: colour("--accent"),
    bad: colour("--bad"),
    warn: colour("--warn"),
    ring: colour("--line"),
    font: colour("--font"),
    groups: Array.from({ length: 8 }, (_, i) => colour(`--g${i}`)),
    pieces: Array.from({ length: PIECES }, (_, i) => colour(`--p${i}`)),
    one: colour("--node"),
  };
}

/* Everything that changes what is shown goes through here. */
function go(next) {
  state = next;
  address.write(state);
  apply();
}
go.point = (v) => picture.hover(v);

function apply(first = false) {
  const scene = sceneOf(o, state, colours);
  picture.show(scene);
  const away = !!scene.place;
  if (away) {
    const { x, y, step, depth } = scene.rings,
      r = step * depth;
    picture.move(scene.place, null, [x - r, x + r, y - r, y + r]);
  } else if (moved) picture.move(null, null);
  else if (scene.frame && !first) reveal(scene.frame);
  moved = away;
  panel(state);
  showTools();
  $("said").textContent = spoken();
}

/* Frame what is chosen only where some of it is out of sight. */
function reveal(nodes) {
  const stage = $("stage");
  const inside = (v) => {
    const [x, y] = picture.screen(v);
    return x > 8 && y > 8 && x < stage.clientWidth - 8 && y < stage.clientHeight - 8;
  };
  for (const v of nodes) if (!inside(v)) return picture.fit(nodes);
  return undefined;
}

/* The state in a sentence, for a screen reader. */
function spoken() {
  if (state.failed) {
    const links = state.failedLinks ?? [];
    if (!state.failed.length && !links.length) return "Failure drill: choose brokers.";
    const { failed, down } = downFlags(o, state.failed, links);
    const { cut, lost } = drill(o, failed, down);
    const what = [
      state.failed.length && plural(state.failed.length, "broker"),
      links.length && plural(links.length, "link"),
    ];
    return `${what.filter(Boolean).join(" and ")} down: ${plural(cut.length, "topic")} cut, ${plural(lost, "pair")} lost.`;
  }
  if (state.topic !== undefined)
    return `Topic ${shown(o.topics[state.topic], 80)}, ${plural(row(o.subscribers, state.topic).length, "subscriber")}.`;
  if (state.node !== undefined)
    return `Broker ${shown(o.nodes[state.node], 80)}, ${plural(o.degree[state.node], "link")}.`;
  return `All ${plural(o.n, "broker")}, ${plural(o.m, "link")}.`;
}

function showTip(v, x, y) {
  const box = $("tip"),
    stage = $("stage");
  box.hidden = v < 0;
  if (v < 0) return;
  const cut = o.weak.cut[v];
  const facts = [plural(o.degree[v], "link"), plural(row(o.wants, v).length, "topic")];
  if (o.groups.length) facts.push(shown(o.groups[o.group[v]]));
  box.replaceChildren(
    h("b", {}, h("bdi", {}, shown(o.nodes[v], 120))),
    h("span", {}, facts.join(" · ")),
    ...(cut > 0 ? [h("span", { class: "warn" }, `alone, its failure cuts ${plural(cut, "topic")}`)] : []),
  );
  const below = y + 18 + box.offsetHeight <= stage.clientHeight;
  box.style.setProperty("left", `${Math.min(x + 14, stage.clientWidth - box.offsetWidth - 8)}px`);
  box.style.setProperty("top", `${below ? y + 18 : y - box.offsetHeight - 10}px`);
}

function onClick(v, event) {
  if (state.failed) {
    if (v < 0) return;
    const failed = new Set(state.failed);
    if (!failed.delete(v)) failed.add(v);
    go({ ...state, failed: [...failed] });
  } else if (event.shiftKey && v >= 0) go({ failed: [v] });
  else if (v >= 0) go({ node: v });
  else if (state.node !== undefined || state.group !== undefined) go({});
}

function showTools() {
  $("fail").setAttribute("aria-pressed", String(!!state.failed));
  $("stage").classList.toggle("failing", !!state.failed);
  $("hint").textContent = state.failed
    ? "Click brokers to fail or repair them"
    : state.topic !== undefined
      ? ""
      : "Click a broker for its links; shift-click fails it";
  for (const group of document.querySelectorAll("#legend button"))
    group.setAttribute("aria-pressed", String(state.group === +group.dataset.group));
  if ($("halo")) $("halo").textContent = state.failed?.length ? "is cut off from somebody" : "cuts topics if it fails";
  if ($("changes")) $("changes").setAttribute("aria-pressed", String(!!state.changes));
}

function fillLegend() {
  const box = $("legend");
  if (o.groups.length > 1) {
    const total = new Int32Array(o.groups.length);
    for (const g of o.group) total[g]++;
    const one = (name, i) =>
      h(
        "button",
        {
          type: "button",
          "data-group": i,
          "aria-pressed": "false",
          on: { click: () => go(state.group === i ? {} : { group: i }) },
        },
        h("i", { class: `dot g${i % 8}` }),
        h("bdi", {}, shown(name, 40)),
        h("span", { class: "num" }, count(total[i])),
      );
    box.append(h("span", { class: "word" }, facts.groupWord), ...o.groups.map(one));
  }
  const alone = o.degree.reduce((sum, d) => sum + (d === 0), 0);
  const fragile = o.weak.order.length > 0 && o.weak.order.length < o.n / 2;
  box.append(
    h(
      "span",
      { class: "last" },
      alone > 0 && h("span", {}, `${plural(alone, "broker")} ${alone === 1 ? "needs" : "need"} no link`),
      fragile && h("span", {}, h("i", { class: "dot halo" }), h("span", { id: "halo" }, "cuts topics if it fails")),
    ),
  );
}

function setTheme() {
  colours = readColours();
  picture.theme(colours);
  picture.show(sceneOf(o, state, colours));
}

function switchTheme() {
  const root = document.documentElement;
  const theme = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.dataset.theme = theme === "dark" ? "light" : "dark";
  setTheme();
}

/* On paper it is light, and the picture is three times as fine. */
function prepareForPrint() {
  const root = document.documentElement,
    theme = root.dataset.theme;
  root.dataset.theme = "light";
  setTheme();
  const back = picture.print();
  addEventListener(
    "afterprint",
    () => {
      if (theme) root.dataset.theme = theme;
      else delete root.dataset.theme;
      back();
      setTheme();
    },
    { once: true },
  );
}

function recall(first = false) {
  const next = address.read(first);
  if (next === null) return;
  state = next;
  apply(first);
}

fillLegend();
listenToSearch(o, go, () => state);
fillTables(o, facts, go);
colours = readColours();
picture.theme(colours);
recall(true);
addEventListener("hashchange", () => recall());
addEventListener("beforeprint", prepareForPrint);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", setTheme);
$("theme").addEventListener("click", switchTheme);
$("fail").addEventListener("click", () =>
  go(state.failed ? {} : { failed: state.node === undefined ? [] : [state.node] }),
);
$("in").addEventListener("click", () => picture.zoom(1.4));
$("out").addEventListener("click", () => picture.zoom(1 / 1.4));
$("whole").addEventListener("click", () => picture.fit(null));
$("changes")?.addEventListener("click", () => go(state.changes ? {} : { changes: true }));
document.documentElement.dataset.ready = "yes";

/* For tests: the numbers behind the picture. */
window.topicloom = {
  o,
  go,
  picture,
  get state() {
    return state;
  },
  shown,
  drill: (nodes, links = []) => {
    const { failed, down } = downFlags(o, nodes, links);
    return drill(o, failed, down);
  },
};
