/* What the picture shows for a state: how each node and link looks, which names stand there, and where nodes move to. */
import { centre, downFlags, drill, neighbours, pieces, radial, row, topicTree } from "./model.js";
import { shown } from "./names.js";

/* How a node or a link looks. */
export const HIDDEN = 0,
  FAINT = 1,
  PLAIN = 2,
  SIDE = 3,
  STRONG = 4,
  DOWN = 5;
export const PIECES = 6; // colours that tell pieces apart; further pieces share the last one
const CROWD = 2000; // nodes above which halos are kept for the worst

export function sceneOf(o, state, colours) {
  const scene = {
    node: new Uint8Array(o.n).fill(PLAIN),
    link: new Uint8Array(o.m).fill(PLAIN),
    paint: (v) => (o.groups.length ? colours.groups[o.group[v] % 8] : colours.one),
    labels: [],
    chosen: -1,
    halo: null,
    rings: null,
  };
  if (state.failed) showFailures(o, state, colours, scene);
  else if (state.topic !== undefined) showTopic(o, state, scene);
  else if (state.node !== undefined) showNode(o, state.node, scene);
  else showOverview(o, state, colours, scene);
  return scene;
}

function showFailures(o, state, colours, scene) {
  const { node, link } = scene;
  const { failed, down } = downFlags(o, state.failed, state.failedLinks);
  const isDown = (l) => failed[o.a[l]] || failed[o.b[l]] || (down && down[l]);
  for (let l = 0; l < o.m; l++) if (isDown(l)) link[l] = DOWN;
  if (state.cutTopic !== undefined && state.cutTopic !== null) {
    node.fill(FAINT);
    link.fill(FAINT);
    const part = new Map();
    pieces(o, state.cutTopic, failed, down).forEach((nodes, i) => {
      for (const v of nodes) {
        part.set(v, Math.min(i, PIECES - 1));
        node[v] = STRONG;
      }
    });
    for (const l of row(o.topicLinks, state.cutTopic)) link[l] = isDown(l) ? DOWN : STRONG;
    scene.paint = (v) => (part.has(v) ? colours.pieces[part.get(v)] : colours.faint);
    scene.linkPaint = (l) => colours.pieces[part.get(o.a[l]) ?? 0];
    scene.labels = [...state.failed, ...part.keys()];
  } else if (state.failed.length || down) {
    const { cut } = drill(o, failed, down);
    const hit = new Set(cut.flatMap((c) => pieces(o, c.topic, failed, down).slice(1).flat()));
    scene.halo = (v) => (hit.has(v) ? 0.6 : 0);
    scene.labels = [...state.failed];
  }
  for (const v of state.failed) node[v] = DOWN;
}

function showTopic(o, state, scene) {
  const { node, link } = scene;
  const members = row(o.subscribers, state.topic);
  const { inside, outside } = topicTree(o, state.topic);
  node.fill(state.tree ? HIDDEN : FAINT);
  link.fill(state.tree ? HIDDEN : FAINT);
  for (const v of members) node[v] = STRONG;
  for (const l of inside) link[l] = STRONG;
  for (const l of outside) link[l] = SIDE;
  scene.labels = Array.from(members).sort((p, q) => o.degree[q] - o.degree[p]);
  if (state.from !== undefined && state.from !== null) {
    scene.chosen = state.from;
    scene.labels.unshift(state.from);
  }
  if (state.tree) {
    const near = neighbours(o, inside),
      root = state.from ?? centre(members, near);
    const { place, depth } = radial(o, members, inside, root);
    const step = 0.5 / Math.max(1, depth);
    scene.place = new Map([...place].map(([v, [x, y]]) => [v, [0.5 + x * step, 0.5 + y * step]]));
    scene.rings = { x: 0.5, y: 0.5, step, depth };
  }
  scene.frame = members;
}

function showNode(o, chosen, scene) {
  const { node, link } = scene;
  node.fill(FAINT);
  link.fill(FAINT);
  node[chosen] = STRONG;
  scene.chosen = chosen;
  scene.labels = [chosen];
  scene.frame = [chosen];
  for (const l of row(o.incident, chosen)) {
    const other = o.a[l] === chosen ? o.b[l] : o.a[l];
    link[l] = STRONG;
    node[other] = STRONG;
    scene.labels.push(other);
    scene.frame.push(other);
  }
}

function showOverview(o, state, colours, scene) {
  const { node, link } = scene;
  scene.captions = captions(o, colours);
  scene.halo = weakHalo(o);
  if (state.group !== undefined) {
    for (let v = 0; v < o.n; v++) node[v] = o.group[v] === state.group ? STRONG : FAINT;
    for (let l = 0; l < o.m; l++) link[l] = node[o.a[l]] === STRONG && node[o.b[l]] === STRONG ? PLAIN : FAINT;
  }
  if (state.changes && o.before) showChanges(o, colours, scene);
}

function weakHalo(o) {
  const { order, cut } = o.weak;
  if (!order.length || order.length >= o.n / 2) return null;
  const most = cut[order[0]];
  const least = o.n > CROWD ? most / 3 : 0;
  return (v) => (cut[v] > least ? Math.sqrt(cut[v] / most) : 0);
}

/* The names of groups, over their nodes. */
function captions(o, colours) {
  const members = o.groups.map(() => []);
  for (let v = 0; v < o.n; v++) if (o.groups.length && o.degree[v]) members[o.group[v]].push(v);
  return members
    .map((nodes, i) => ({ text: shown(o.groups[i], 40), colour: colours.groups[i % 8], nodes }))
    .filter((c) => c.nodes.length >= 4 && c.text !== "other");
}

/* Links that went, came and stayed. */
function showChanges(o, colours, scene) {
  const key = (a, b) => a * o.n + b,
    now = new Map();
  for (let l = 0; l < o.m; l++) now.set(key(o.a[l], o.b[l]), l);
  scene.link.fill(STRONG);
  scene.halo = null;
  scene.linkPaint = () => colours.pieces[0];
  scene.extra = [];
  for (let i = 0; i < o.before.a.length; i++) {
    const a = o.before.a[i],
      b = o.before.b[i],
      l = now.get(key(a, b));
    if (l === undefined) scene.extra.push({ a, b, colour: colours.bad, dash: [5, 4] });
    else scene.link[l] = PLAIN;
  }
}
