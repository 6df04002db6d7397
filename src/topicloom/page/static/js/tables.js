/* Tables that sort, filter and turn pages: all that the picture says, for keyboard and screen reader. */
import { $, button, h } from "./dom.js";
import { row } from "./model.js";
import { count, shown } from "./names.js";

const PAGE = 25;

/* columns: [{ title, text(i), value?(i), cell?(i), number? }] over rows 0 … rows - 1. */
function createTable(box, caption, rows, columns) {
  let order = Int32Array.from({ length: rows }, (_, i) => i),
    sorted = -1,
    down = false,
    page = 0,
    found = order,
    folded = null;
  const body = h("tbody"),
    info = h("span", { class: "info", "aria-live": "polite" });
  const heads = columns.map((c, k) =>
    h(
      "th",
      { scope: "col", class: c.number ? "number" : "", "aria-sort": "none" },
      button(c.title, () => sort(k)),
    ),
  );
  const filter = h("input", {
    type: "search",
    placeholder: "Filter",
    "aria-label": `Filter ${caption}`,
    on: {
      input: () => {
        narrow(filter.value);
      },
    },
  });
  const earlier = button("‹", () => turn(-1), { "aria-label": "Previous page" }),
    later = button("›", () => turn(1), { "aria-label": "Next page" });

  function sort(k) {
    down = sorted === k ? !down : !!columns[k].number;
    sorted = k;
    const key = columns[k].value || columns[k].text,
      keys = Array.from({ length: rows }, (_, i) => key(i)),
      sign = down ? -1 : 1;
    order = Int32Array.from({ length: rows }, (_, i) => i).sort(
      (p, q) => sign * (keys[p] < keys[q] ? -1 : keys[p] > keys[q] ? 1 : 0) || p - q,
    );
    heads.forEach((th, i) => th.setAttribute("aria-sort", i === k ? (down ? "descending" : "ascending") : "none"));
    narrow(filter.value);
  }
  function narrow(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) found = order;
    else {
      folded ||= Array.from({ length: rows }, (_, i) =>
        columns
          .map((c) => (c.number ? "" : c.text(i)))
          .join("\u0000")
          .toLowerCase(),
      );
      found = order.filter((i) => folded[i].includes(wanted));
    }
    page = 0;
    fill();
  }
  function turn(by) {
    page = Math.max(0, Math.min(page + by, Math.ceil(found.length / PAGE) - 1));
    fill();
  }
  function fill() {
    const from = page * PAGE,
      part = Array.from(found.slice(from, from + PAGE));
    body.replaceChildren(
      ...part.map((i) =>
        h(
          "tr",
          {},
          columns.map((c, k) =>
            h(
              k ? "td" : "th",
              { class: c.number ? "number" : "", scope: k ? null : "row" },
              c.cell ? c.cell(i) : c.text(i),
            ),
          ),
        ),
      ),
    );
    info.textContent = found.length
      ? `${count(from + 1)}–${count(from + part.length)} of ${count(found.length)}`
      : "nothing found";
    earlier.disabled = page === 0;
    later.disabled = from + PAGE >= found.length;
  }
  box.append(
    h("div", { class: "bar-top" }, filter, h("span", { class: "turn" }, info, earlier, later)),
    h("div", { class: "scroll" }, h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, heads)), body)),
  );
  fill();
}

/* The tables of the page. Each is made when its section is first opened: 20,000 links cost nothing before. */
export function fillTables(o, facts, go) {
  const sampled = new Set(facts.sampled);
  const name = (text, next) =>
    h(
      "button",
      {
        type: "button",
        class: "name",
        on: {
          click: () => {
            go(next);
            $("picture").scrollIntoView({ behavior: "smooth" });
          },
        },
      },
      h("bdi", {}, shown(text)),
    );
  const fill = {
    brokers: (box) =>
      createTable(box, "Brokers", o.n, [
        { title: "Broker", text: (v) => shown(o.nodes[v]), cell: (v) => name(o.nodes[v], { node: v }) },
        ...(o.groups.length ? [{ title: facts.groupWord, text: (v) => shown(o.groups[o.group[v]]) }] : []),
        { title: "Links", number: true, text: (v) => count(o.degree[v]), value: (v) => o.degree[v] },
        {
          title: "Topics",
          number: true,
          text: (v) => count(row(o.wants, v).length),
          value: (v) => row(o.wants, v).length,
        },
        {
          title: "Topics cut if it fails",
          number: true,
          text: (v) => count(o.weak.cut[v]),
          value: (v) => o.weak.cut[v],
        },
        { title: "Pairs lost", number: true, text: (v) => count(o.weak.lost[v]), value: (v) => o.weak.lost[v] },
      ]),
    topics: (box) =>
      createTable(box, "Topics", o.t, [
        { title: "Topic", text: (t) => shown(o.topics[t]), cell: (t) => name(o.topics[t], { topic: t }) },
        {
          title: "Subscribers",
          number: true,
          text: (t) => count(row(o.subscribers, t).length),
          value: (t) => row(o.subscribers, t).length,
        },
        {
          title: "Links between them",
          number: true,
          text: (t) => count(row(o.topicLinks, t).length),
          value: (t) => row(o.topicLinks, t).length,
        },
        {
          title: "Hops at most",
          number: true,
          text: (t) => (facts.diameter[t] < 0 ? "∞" : (sampled.has(t) ? "≥ " : "") + count(facts.diameter[t])),
          value: (t) => (facts.diameter[t] < 0 ? Infinity : facts.diameter[t]),
        },
      ]),
    links: (box) =>
      createTable(box, "Links", o.m, [
        { title: "From", text: (l) => shown(o.nodes[o.a[l]]), cell: (l) => name(o.nodes[o.a[l]], { node: o.a[l] }) },
        { title: "To", text: (l) => shown(o.nodes[o.b[l]]), cell: (l) => name(o.nodes[o.b[l]], { node: o.b[l] }) },
        {
          title: "Topics that share it",
          number: true,
          text: (l) => count(row(o.linkTopics, l).length),
          value: (l) => row(o.linkTopics, l).length,
        },
        {
          title: "Such as",
          text: (l) =>
            Array.from(row(o.linkTopics, l))
              .slice(0, 3)
              .map((t) => shown(o.topics[t], 60))
              .join(", "),
        },
      ]),
  };
  for (const [id, make] of Object.entries(fill)) {
    const section = $(id);
    section.addEventListener("toggle", () => {
      if (section.open && !section.dataset.made) {
        section.dataset.made = "yes";
        make(section.querySelector(".table"));
      }
    });
  }
}
