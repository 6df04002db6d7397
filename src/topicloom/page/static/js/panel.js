/* The panel beside the picture: what is chosen, in words, numbers and lists. */
import { $, button, h, label } from "./dom.js";
import { downFlags, drill, forwards, hops, neighbours, pieces, row, topicTree } from "./model.js";
import { count, plural, shown } from "./names.js";
import { PIECES } from "./scene.js";

export function createPanel(o, facts, go) {
  const sampled = new Set(facts.sampled);
  const node = (v, properties = {}) =>
    h(
      "button",
      { type: "button", class: "name", on: { click: () => go({ node: v }) }, ...properties },
      label(o.nodes[v]),
    );
  const topic = (t, properties = {}) =>
    h(
      "button",
      { type: "button", class: "name", on: { click: () => go({ topic: t }) }, ...properties },
      label(o.topics[t]),
    );
  const bar = (share, kind = "") =>
    h(
      "span",
      { class: "bar " + kind, "aria-hidden": "true" },
      h("i", { style: { width: `${Math.max(1.5, 100 * share)}%` } }),
    );
  const figure = (value, words) => h("div", { class: "figure" }, h("b", {}, value), h("span", {}, words));
  const back = () => button("← Overview", () => go({}), { class: "back" });
  const list = (items, first, render) => {
    const ul = h("ul", { class: "list" }, items.slice(0, first).map(render));
    const rest = items.length - first;
    if (rest > 0) {
      const more = button(
        `Show ${count(Math.min(rest, 400))} more`,
        () => {
          ul.append(...items.slice(first, first + 400).map(render));
          more.remove();
        },
        { class: "more" },
      );
      return [ul, more];
    }
    return ul;
  };

  const named = (nodes, most) => [
    nodes
      .slice(0, most)
      .map((v, i) => [
        h(
          "span",
          { class: "item" },
          node(v, { class: "name inline" }),
          i + 1 < Math.min(most, nodes.length) ? "," : "",
        ),
        " ",
      ]),
    nodes.length > most && `and ${count(nodes.length - most)} more`,
  ];

  let carried = null;
  function forwarded() {
    // topics that each broker passes on
    if (carried) return carried;
    carried = new Int32Array(o.n);
    for (let v = 0; v < o.n; v++) carried[v] = o.degree[v] > 1 ? forwards(o, v).length : 0;
    return carried;
  }

  function overview() {
    const worst = o.weak.order,
      most = worst.length ? o.weak.cut[worst[0]] : 1;
    const deep = facts.deep.slice(0, 5),
      busy = Int32Array.from(forwarded().keys())
        .sort((p, q) => carried[q] - carried[p] || p - q)
        .slice(0, 5);
    return [
      h("h2", {}, "If one broker fails"),
      worst.length
        ? [
            h(
              "p",
              { class: "note" },
              `${count(worst.length)} of ${plural(o.n, "broker")} would cut topics alone. Click one to see who loses whom.`,
            ),
            list(Array.from(worst), 7, (v) =>
              h(
                "li",
                { class: "row" },
                h(
                  "button",
                  {
                    type: "button",
                    class: "hot",
                    "data-node": v,
                    on: {
                      click: () => go({ failed: [v] }),
                      mouseenter: () => go.point(v),
                      mouseleave: () => go.point(-1),
                      focus: () => go.point(v),
                      blur: () => go.point(-1),
                    },
                  },
                  h(
                    "span",
                    { class: "line" },
                    label(o.nodes[v]),
                    h("span", { class: "num" }, `cuts ${plural(o.weak.cut[v], "topic")}`),
                  ),
                  bar(o.weak.cut[v] / most, "warn"),
                ),
              ),
            ),
          ]
        : h("p", { class: "note good" }, "Nothing is cut: every topic survives the failure of any one broker."),
      h("h2", {}, "Longest ways"),
      h("p", { class: "note" }, "Links that a message takes between its two farthest subscribers."),
      h(
        "ul",
        { class: "list" },
        deep.map(([t, d]) =>
          h(
            "li",
            { class: "row" },
            h(
              "span",
              { class: "line" },
              topic(t),
              h("span", { class: "num" }, d < 0 ? "in pieces" : (sampled.has(t) ? "≥ " : "") + plural(d, "hop")),
            ),
          ),
        ),
      ),
      h("h2", {}, "Who passes most on"),
      h(
        "p",
        { class: "note" },
        "Topics that a broker hands from one neighbour to another. It wants all of them itself.",
      ),
      h(
        "ul",
        { class: "list" },
        Array.from(busy)
          .filter((v) => carried[v])
          .map((v) =>
            h(
              "li",
              { class: "row" },
              h("span", { class: "line" }, node(v), h("span", { class: "num" }, plural(carried[v], "topic"))),
            ),
          ),
      ),
    ];
  }

  function ofNode(v) {
    const links = Array.from(row(o.incident, v))
      .map((l) => [l, o.a[l] === v ? o.b[l] : o.a[l], Array.from(row(o.linkTopics, l))])
      .sort((p, q) => q[2].length - p[2].length || p[1] - q[1]);
    const wants = row(o.wants, v),
      carries = forwards(o, v);
    return [
      back(),
      h("p", { class: "kind" }, "Broker"),
      h("h2", { class: "big" }, label(o.nodes[v])),
      h(
        "div",
        { class: "figures" },
        figure(count(o.degree[v]), o.degree[v] === 1 ? "link" : "links"),
        figure(count(wants.length), "topics wanted"),
        figure(count(carries.length), "passed on"),
      ),
      o.weak.cut[v]
        ? h(
            "p",
            { class: "note warn" },
            `Alone, its failure cuts ${plural(o.weak.cut[v], "topic")}: ${plural(o.weak.lost[v], "pair")} of subscribers lose each other.`,
          )
        : h("p", { class: "note good" }, "No topic is cut if it fails alone."),
      button("Fail this broker", () => go({ failed: [v] }), { class: "do" }),
      h("h3", {}, "Its links, and why each is there"),
      links.length
        ? list(links, 12, ([l, u, shared]) =>
            h(
              "li",
              { class: "row" },
              h(
                "details",
                {},
                h(
                  "summary",
                  {},
                  h(
                    "span",
                    { class: "line" },
                    label(o.nodes[u]),
                    h("span", { class: "num" }, shared.length ? `for ${plural(shared.length, "topic")}` : "idle"),
                  ),
                ),
                h(
                  "div",
                  { class: "why" },
                  node(u, { class: "name go" }),
                  button("Fail this link", () => go({ failed: [], failedLinks: [l] }), { class: "plain" }),
                  list(shared, 12, (t) => h("li", {}, topic(t))),
                ),
              ),
            ),
          )
        : h("p", { class: "note" }, "It has none: nobody else wants its topics."),
      h("h3", {}, `Topics it wants (${count(wants.length)})`),
      list(Array.from(wants), 8, (t) =>
        h(
          "li",
          { class: "row" },
          h(
            "span",
            { class: "line" },
            topic(t),
            h("span", { class: "num" }, plural(row(o.subscribers, t).length, "subscriber")),
          ),
        ),
      ),
    ];
  }

  function ofTopic(t, state) {
    const members = Array.from(row(o.subscribers, t)),
      { inside, outside } = topicTree(o, t),
      near = neighbours(o, inside);
    const from = state.from ?? null,
      there = from === null ? null : hops(near, from).distance;
    let longest = 0,
      sum = 0,
      ways = 0;
    if (members.length <= 600)
      for (const v of members)
        for (const d of hops(near, v).distance.values()) {
          longest = Math.max(longest, d);
          sum += d;
          ways += d > 0;
        }
    const sorted = members
      .slice()
      .sort(
        (p, q) =>
          (there ? there.get(p) - there.get(q) : (near.get(q)?.length || 0) - (near.get(p)?.length || 0)) || p - q,
      );
    const critical =
      members.length <= 300
        ? members.filter((v) => {
            const failed = new Uint8Array(o.n);
            failed[v] = 1;
            return pieces(o, t, failed).length > 1;
          })
        : null;
    const select = h(
      "select",
      {
        id: "from",
        on: { change: (e) => go({ topic: t, from: e.target.value === "" ? null : +e.target.value, tree: state.tree }) },
      },
      h("option", { value: "" }, "any subscriber"),
      members.slice(0, 2000).map((v) => h("option", { value: v, selected: v === from }, shown(o.nodes[v], 60))),
    );
    return [
      back(),
      h("p", { class: "kind" }, "Topic"),
      h("h2", { class: "big" }, label(o.topics[t])),
      h(
        "div",
        { class: "figures" },
        figure(count(members.length), members.length === 1 ? "subscriber" : "subscribers"),
        figure(count(inside.length), "links on its route"),
        figure(ways ? count(longest) : "–", "hops at most"),
        figure(ways ? (sum / ways).toFixed(1) : "–", "hops on average"),
      ),
      members.length > 2 &&
        h(
          "div",
          { class: "seg", role: "group", "aria-label": "How to draw the topic" },
          button("On the map", () => go({ topic: t, from, tree: false }), { "aria-pressed": String(!state.tree) }),
          button("As a tree", () => go({ topic: t, from, tree: true }), { "aria-pressed": String(!!state.tree) }),
        ),
      h(
        "p",
        { class: "key" },
        h("i", { class: "k route" }),
        "its route",
        o.tree ? "" : " (shortest ways; no plan given)",
        outside.length > 0 && [
          h("i", { class: "k side" }),
          `${plural(outside.length, "link")} more between its subscribers, not used`,
        ],
      ),
      members.length > 1 && h("label", { class: "from", for: "from" }, "Published at ", select),
      critical &&
        members.length > 2 &&
        h(
          "p",
          { class: critical.length ? "note warn" : "note good" },
          critical.length
            ? `Cut if ${critical.length === 1 ? "this broker fails" : "any one of these fails"}: `
            : "Survives the failure of any one of its subscribers.",
          named(critical, 8),
        ),
      h("h3", {}, "Subscribers"),
      list(sorted, 14, (v) =>
        h(
          "li",
          { class: "row" },
          h(
            "span",
            { class: "line" },
            node(v),
            h(
              "span",
              { class: "num" },
              there
                ? v === from
                  ? "publishes"
                  : plural(there.get(v), "hop")
                : plural(near.get(v)?.length || 0, "link"),
            ),
          ),
        ),
      ),
    ];
  }

  function ofDrill(state) {
    const nodes = [...state.failed].sort((p, q) => p - q),
      links = [...(state.failedLinks ?? [])].sort((p, q) => p - q);
    const { failed, down } = downFlags(o, nodes, links);
    const r = drill(o, failed, down);
    const cut = r.cut.slice().sort((p, q) => q.lost - p.lost || p.topic - q.topic);
    const chosen = state.cutTopic ?? null;
    const split = (c) => {
      const all = c.pieces.reduce((s, p) => s + p, 0);
      return h(
        "span",
        { class: "split", "aria-hidden": "true" },
        c.pieces
          .slice(0, 12)
          .map((p, i) => h("i", { class: `p${Math.min(i, PIECES - 1)}`, style: { "flex-grow": p / all } })),
      );
    };
    return [
      back(),
      h("p", { class: "kind" }, "What breaks"),
      h(
        "h2",
        { class: "big" },
        nodes.length + links.length === 0
          ? "Click brokers to fail them"
          : [nodes.length && plural(nodes.length, "broker"), links.length && plural(links.length, "link")]
              .filter(Boolean)
              .join(" and ") + " down",
      ),
      h(
        "div",
        { class: "chips" },
        nodes.map((v) =>
          h(
            "span",
            { class: "chip" },
            h("bdi", {}, shown(o.nodes[v], 40)),
            button("×", () => go({ ...state, failed: nodes.filter((u) => u !== v), cutTopic: null }), {
              "aria-label": `Repair ${shown(o.nodes[v], 60)}`,
            }),
          ),
        ),
        links.map((l) =>
          h(
            "span",
            { class: "chip" },
            h("bdi", {}, shown(o.nodes[o.a[l]], 30)),
            " – ",
            h("bdi", {}, shown(o.nodes[o.b[l]], 30)),
            button("×", () => go({ ...state, failedLinks: links.filter((m) => m !== l), cutTopic: null }), {
              "aria-label": `Repair the link ${shown(o.nodes[o.a[l]], 40)} – ${shown(o.nodes[o.b[l]], 40)}`,
            }),
          ),
        ),
        nodes.length + links.length > 1 && button("Repair all", () => go({ failed: [] }), { class: "plain" }),
      ),
      nodes.length + links.length > 0 && [
        h(
          "div",
          { class: "figures" },
          figure(count(r.cut.length), r.cut.length === 1 ? "topic falls apart" : "topics fall apart"),
          figure(count(r.lost), "pairs lose each other"),
          figure(count(r.holding), "hit, and hold"),
          figure(count(r.untouched), "untouched"),
        ),
        r.cut.length === 0
          ? h("p", { class: "note good" }, "Everybody who is still up reaches everybody, in every topic.")
          : [
              h("h3", {}, "Topics that fall apart"),
              h(
                "p",
                { class: "note" },
                "Parts by number of subscribers still up. Click a topic to see who is left with whom.",
              ),
              list(cut, 10, (c) =>
                h(
                  "li",
                  { class: "row" + (chosen === c.topic ? " on" : "") },
                  h(
                    "button",
                    {
                      type: "button",
                      class: "hot",
                      "aria-pressed": String(chosen === c.topic),
                      on: { click: () => go({ ...state, cutTopic: chosen === c.topic ? null : c.topic }) },
                    },
                    h(
                      "span",
                      { class: "line" },
                      label(o.topics[c.topic]),
                      h(
                        "span",
                        { class: "num" },
                        c.pieces.length > 4
                          ? `${c.pieces.slice(0, 3).join(" + ")} + … (${c.pieces.length} parts)`
                          : c.pieces.join(" + "),
                      ),
                    ),
                    split(c),
                  ),
                  chosen === c.topic &&
                    h(
                      "div",
                      { class: "parts" },
                      pieces(o, c.topic, failed, down)
                        .slice(0, 12)
                        .map((part, i) =>
                          h(
                            "p",
                            {},
                            h("i", { class: `k p${Math.min(i, PIECES - 1)}` }),
                            `${plural(part.length, "subscriber")}: `,
                            named(part, 6),
                          ),
                        ),
                    ),
                ),
              ),
            ],
        h(
          "p",
          { class: "note" },
          "The same answer as ",
          h("code", {}, "topicloom drill"),
          ": a topic falls apart when subscribers that are up could reach each other before, and no longer can.",
        ),
      ],
    ];
  }

  function ofChanges() {
    const key = (a, b) => a * o.n + b,
      now = new Set(),
      then = new Set(),
      old = new Int32Array(o.n),
      { a, b } = o.before;
    for (let l = 0; l < o.m; l++) now.add(key(o.a[l], o.b[l]));
    for (let i = 0; i < a.length; i++) {
      then.add(key(a[i], b[i]));
      old[a[i]]++;
      old[b[i]]++;
    }
    const gone = Array.from(a.keys()).filter((i) => !now.has(key(a[i], b[i]))),
      come = Array.from({ length: o.m }, (_, l) => l).filter((l) => !then.has(key(o.a[l], o.b[l])));
    const moved = Array.from(o.degree.keys())
      .filter((v) => old[v] !== o.degree[v])
      .sort((p, q) => Math.abs(o.degree[q] - old[q]) - Math.abs(o.degree[p] - old[p]) || p - q);
    const most = Math.max(...old, ...o.degree),
      pair = (u, v) =>
        h("li", { class: "row" }, node(u, { class: "name inline" }), " – ", node(v, { class: "name inline" }));
    return [
      back(),
      h("p", { class: "kind" }, "Before and after"),
      h("h2", { class: "big" }, `${count(a.length)} links → ${count(o.m)}`),
      h(
        "div",
        { class: "figures" },
        figure(count(gone.length), "links go"),
        figure(count(come.length), "links come"),
        figure(count(o.m - come.length), "stay"),
      ),
      h(
        "p",
        { class: "key" },
        h("i", { class: "k gone" }),
        "goes ",
        h("i", { class: "k come" }),
        "comes ",
        h("i", { class: "k stays" }),
        "stays",
      ),
      h("h3", {}, "Links per broker, before and after"),
      list(moved, 8, (v) =>
        h(
          "li",
          { class: "row" },
          h("span", { class: "line" }, node(v), h("span", { class: "num" }, `${old[v]} → ${o.degree[v]}`)),
          bar(old[v] / most, "old"),
          bar(o.degree[v] / most, "new"),
        ),
      ),
      come.length > 0 && [h("h3", {}, "Links that come"), list(come, 8, (l) => pair(o.a[l], o.b[l]))],
      gone.length > 0 && [h("h3", {}, "Links that go"), list(gone, 8, (i) => pair(a[i], b[i]))],
    ];
  }

  function ofGroup(g) {
    const members = Array.from(o.group.keys()).filter((v) => o.group[v] === g);
    const inside = new Uint8Array(o.n);
    for (const v of members) inside[v] = 1;
    let within = 0,
      across = 0;
    for (let l = 0; l < o.m; l++) {
      within += inside[o.a[l]] && inside[o.b[l]];
      across += inside[o.a[l]] !== inside[o.b[l]];
    }
    return [
      back(),
      h("p", { class: "kind" }, facts.groupWord),
      h("h2", { class: "big" }, label(o.groups[g])),
      h(
        "div",
        { class: "figures" },
        figure(count(members.length), members.length === 1 ? "broker" : "brokers"),
        figure(count(within), "links inside"),
        figure(count(across), "links to others"),
      ),
      button("Fail all of them", () => go({ failed: members }), { class: "do" }),
      h("h3", {}, "Brokers"),
      list(members, 14, (v) =>
        h(
          "li",
          { class: "row" },
          h("span", { class: "line" }, node(v), h("span", { class: "num" }, plural(o.degree[v], "link"))),
        ),
      ),
    ];
  }

  return function show(state) {
    const parts = state.failed
      ? ofDrill(state)
      : state.topic !== undefined
        ? ofTopic(state.topic, state)
        : state.node !== undefined
          ? ofNode(state.node)
          : state.changes
            ? ofChanges()
            : state.group !== undefined
              ? ofGroup(state.group)
              : overview();
    const body = $("panel");
    body.replaceChildren(...[parts].flat(Infinity).filter(Boolean));
    body.scrollTop = 0;
  };
}
