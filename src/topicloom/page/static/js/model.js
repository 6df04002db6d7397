/* The overlay, and what follows from it: which topics need a link, what falls apart when brokers fail, trees and hops. */
import { coordinates, flags, lists, numbers, pairs } from "./bytes.js";

export function readOverlay(raw) {
  const nodes = raw.nodes,
    topics = raw.topics,
    n = nodes.length,
    t = topics.length;
  const { a, b } = pairs(raw.links),
    m = a.length;
  const wants = lists(raw.wants, n);
  const linkTopics = sharedTopics(wants, a, b);
  const o = {
    n,
    m,
    t,
    nodes,
    topics,
    a,
    b,
    wants,
    linkTopics,
    subscribers: turned(wants, t),
    topicLinks: turned(linkTopics, t, true),
    incident: incidence(n, a, b),
    place: coordinates(raw.place),
    tree: raw.tree === null ? null : flags(raw.tree, linkTopics.items.length),
    weak: weakNodes(raw.weak, n),
    group: raw.group ? numbers(raw.group) : new Int32Array(n),
    groups: raw.groups || [],
    before: raw.before ? pairs(raw.before) : null,
  };
  o.degree = new Int32Array(n);
  for (let v = 0; v < n; v++) o.degree[v] = o.incident.start[v + 1] - o.incident.start[v];
  return o;
}

/* Topics that both ends of a link want: two ascending lists, merged. They are not stored in the page. */
function sharedTopics(wants, a, b) {
  const { start, items } = wants,
    out = [],
    from = new Int32Array(a.length + 1);
  for (let l = 0; l < a.length; l++) {
    let i = start[a[l]],
      j = start[b[l]];
    const iEnd = start[a[l] + 1],
      jEnd = start[b[l] + 1];
    while (i < iEnd && j < jEnd) {
      if (items[i] === items[j]) {
        out.push(items[i]);
        i++;
        j++;
      } else if (items[i] < items[j]) i++;
      else j++;
    }
    from[l + 1] = out.length;
  }
  return { start: from, items: Int32Array.from(out) };
}

/* Lists by row -> lists by column; with positions, where in the rows each came from. */
function turned(rows, columns, positions = false) {
  const { start, items } = rows,
    out = new Int32Array(items.length),
    from = new Int32Array(columns + 1);
  const at = positions ? new Int32Array(items.length) : null;
  for (const c of items) from[c + 1]++;
  for (let c = 0; c < columns; c++) from[c + 1] += from[c];
  const next = from.slice(0, columns);
  for (let r = 0; r + 1 < start.length; r++)
    for (let i = start[r]; i < start[r + 1]; i++) {
      const k = next[items[i]]++;
      out[k] = r;
      if (at) at[k] = i;
    }
  return { start: from, items: out, at };
}

function incidence(n, a, b) {
  const start = new Int32Array(n + 1),
    items = new Int32Array(2 * a.length);
  for (let l = 0; l < a.length; l++) {
    start[a[l] + 1]++;
    start[b[l] + 1]++;
  }
  for (let v = 0; v < n; v++) start[v + 1] += start[v];
  const next = start.slice(0, n);
  for (let l = 0; l < a.length; l++) {
    items[next[a[l]]++] = l;
    items[next[b[l]]++] = l;
  }
  return { start, items };
}

function weakNodes(raw, n) {
  const all = numbers(raw),
    order = [],
    cut = new Int32Array(n),
    lost = new Float64Array(n);
  for (let i = 0; i < all.length; i += 3) {
    order.push(all[i]);
    cut[all[i]] = all[i + 1];
    lost[all[i]] = all[i + 2];
  }
  return { order, cut, lost };
}

export const row = (lists, i) => lists.items.subarray(lists.start[i], lists.start[i + 1]);

/* Components of a topic's subscribers over its links, failed nodes left out. Union-find with halving. */
const scratch = { local: new Int32Array(0), parent: new Int32Array(0) };
function components(o, topic, failed, down) {
  const members = row(o.subscribers, topic),
    size = members.length;
  if (scratch.local.length < o.n) scratch.local = new Int32Array(o.n);
  if (scratch.parent.length < size) scratch.parent = new Int32Array(Math.max(size, 1024));
  const { local, parent } = scratch;
  for (let i = 0; i < size; i++) {
    local[members[i]] = i;
    parent[i] = i;
  }
  const find = (v) => {
    while (parent[v] !== v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const l of row(o.topicLinks, topic)) {
    const u = o.a[l],
      v = o.b[l];
    if ((failed && (failed[u] || failed[v])) || (down && down[l])) continue;
    const i = find(local[u]),
      j = find(local[v]);
    if (i < j) parent[j] = i;
    else parent[i] = j;
  }
  return { members, root: find };
}

const choose2 = (s) => (s * (s - 1)) / 2;
function sizesOf(o, topic, failed, down, broken) {
  const { members, root } = components(o, topic, broken ? failed : null, broken ? down : null),
    count = new Map();
  for (let i = 0; i < members.length; i++)
    if (!failed[members[i]]) {
      const r = root(i);
      count.set(r, (count.get(r) || 0) + 1);
    }
  return [...count.values()].sort((x, y) => y - x);
}

/* The rule of tl.drill: a topic is cut if survivors that could reach each other no longer can. */
export function drill(o, failed, down = null) {
  const hit = new Set(),
    cut = [];
  for (let v = 0; v < o.n; v++) if (failed[v]) for (const topic of row(o.wants, v)) hit.add(topic);
  if (down) for (let l = 0; l < o.m; l++) if (down[l]) for (const topic of row(o.linkTopics, l)) hit.add(topic);
  let lost = 0;
  for (const topic of [...hit].sort((x, y) => x - y)) {
    const after = sizesOf(o, topic, failed, down, true),
      before = sizesOf(o, topic, failed, down, false);
    const gone = before.reduce((s, c) => s + choose2(c), 0) - after.reduce((s, c) => s + choose2(c), 0);
    if (gone > 0) {
      cut.push({ topic, pieces: after, lost: gone });
      lost += gone;
    }
  }
  return { cut, lost, holding: hit.size - cut.length, untouched: o.t - hit.size };
}

/* Who is left with whom: lists of nodes, the largest first. */
export function pieces(o, topic, failed, down = null) {
  const { members, root } = components(o, topic, failed, down),
    by = new Map();
  for (let i = 0; i < members.length; i++) {
    if (failed && failed[members[i]]) continue;
    const r = root(i);
    if (!by.has(r)) by.set(r, []);
    by.get(r).push(members[i]);
  }
  return [...by.values()].sort((x, y) => y.length - x.length || x[0] - y[0]);
}

/* The links of a topic, split into those of its tree and the others; without a plan, a shortest-path tree is taken. */
export function topicTree(o, topic) {
  const { start, items, at } = o.topicLinks,
    inside = [],
    outside = [];
  if (o.tree) {
    for (let i = start[topic]; i < start[topic + 1]; i++) (o.tree[at[i]] ? inside : outside).push(items[i]);
    return { inside, outside };
  }
  const all = row(o.topicLinks, topic),
    members = row(o.subscribers, topic);
  const near = neighbours(o, all),
    seen = new Set(),
    used = new Set();
  const middle = centre(members, near);
  for (const root of [middle, ...members]) {
    if (seen.has(root)) continue;
    seen.add(root);
    for (const queue = [root]; queue.length;) {
      const v = queue.shift();
      for (const [w, l] of near.get(v) || [])
        if (!seen.has(w)) {
          seen.add(w);
          used.add(l);
          queue.push(w);
        }
    }
  }
  for (const l of all) (used.has(l) ? inside : outside).push(l);
  return { inside, outside };
}

export function neighbours(o, links) {
  const near = new Map();
  const add = (u, v, l) => {
    if (!near.has(u)) near.set(u, []);
    near.get(u).push([v, l]);
  };
  for (const l of links) {
    add(o.a[l], o.b[l], l);
    add(o.b[l], o.a[l], l);
  }
  return near;
}

/* Hops from one node over the given links, and the way back. */
export function hops(near, from) {
  const distance = new Map([[from, 0]]),
    back = new Map();
  for (let queue = [from], i = 0; i < queue.length; i++)
    for (const [w, l] of near.get(queue[i]) || [])
      if (!distance.has(w)) {
        distance.set(w, distance.get(queue[i]) + 1);
        back.set(w, [queue[i], l]);
        queue.push(w);
      }
  return { distance, back };
}

const farthest = ({ distance }) => {
  let best = null,
    most = -1;
  for (const [v, d] of distance)
    if (d > most) {
      most = d;
      best = v;
    }
  return [best, most];
};

/* The middle of a longest way (two sweeps; exact in a tree). */
export function centre(members, near) {
  if (!members.length) return -1;
  const [u] = farthest(hops(near, members[0])),
    there = hops(near, u);
  const [end, far] = farthest(there);
  let v = end;
  for (let k = far >> 1; k > 0; k--) v = there.back.get(v)[0];
  return v;
}

/* A tree drawn as a tree: rings are hops from the root, wedges are as wide as their leaves. */
export function radial(o, members, links, root) {
  const near = neighbours(o, links),
    children = new Map(),
    order = [],
    seen = new Set();
  const roots = [];
  for (const r of [root, ...members]) {
    if (seen.has(r)) continue;
    seen.add(r);
    roots.push(r);
    for (let queue = [r], i = 0; i < queue.length; i++) {
      const v = queue[i];
      order.push(v);
      children.set(v, []);
      for (const [w] of near.get(v) || [])
        if (!seen.has(w)) {
          seen.add(w);
          children.get(v).push(w);
          queue.push(w);
        }
    }
  }
  const leaves = new Map();
  for (let i = order.length - 1; i >= 0; i--) {
    const c = children.get(order[i]);
    leaves.set(order[i], c.length ? c.reduce((s, w) => s + leaves.get(w), 0) : 1);
  }
  const all = roots.reduce((s, r) => s + leaves.get(r), 0),
    place = new Map();
  let depth = 0,
    at = -Math.PI / 2;
  const put = (v, from, width, ring) => {
    depth = Math.max(depth, ring);
    const angle = from + width / 2;
    place.set(v, [ring * Math.cos(angle), ring * Math.sin(angle)]);
    for (const w of children
      .get(v)
      .slice()
      .sort((p, q) => leaves.get(q) - leaves.get(p) || p - q)) {
      const part = (width * leaves.get(w)) / leaves.get(v);
      put(w, from, part, ring + 1);
      from += part;
    }
  };
  for (const r of roots) {
    const width = (2 * Math.PI * leaves.get(r)) / all;
    put(r, at, width, roots.length > 1 ? 1 : 0);
    at += width;
  }
  return { place, depth };
}

/* Topics that a node passes on: it has at least two links of their trees. */
export function forwards(o, node) {
  const count = new Map(),
    out = [];
  for (const l of row(o.incident, node))
    for (let i = o.linkTopics.start[l]; i < o.linkTopics.start[l + 1]; i++)
      if (!o.tree || o.tree[i]) count.set(o.linkTopics.items[i], (count.get(o.linkTopics.items[i]) || 0) + 1);
  for (const [topic, links] of count) if (links > 1) out.push(topic);
  return out.sort((x, y) => x - y);
}

/* Nodes and links that are down, as flags; of links, null where none is. */
export function downFlags(o, nodes, links = []) {
  const failed = new Uint8Array(o.n),
    down = links.length ? new Uint8Array(o.m) : null;
  for (const v of nodes) failed[v] = 1;
  for (const l of links) down[l] = 1;
  return { failed, down };
}
