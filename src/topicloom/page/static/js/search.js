/* Finding a broker or a topic by name, with the keyboard. */
import { $, h } from "./dom.js";
import { shown } from "./names.js";

export function listenToSearch(o, go, current) {
  const input = $("search"),
    listed = $("found");
  const lower = [
    ...o.nodes.map((name, i) => [name.toLowerCase(), i, false]),
    ...o.topics.map((name, i) => [name.toLowerCase(), i, true]),
  ];
  let hits = [],
    at = -1;
  const close = () => {
    listed.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    at = -1;
  };
  const choose = ([, i, isTopic]) => {
    close();
    input.value = "";
    go(isTopic ? { topic: i } : { node: i });
  };
  const mark = (k) => {
    at = k;
    [...listed.children].forEach((li, i) => {
      li.setAttribute("aria-selected", String(i === k));
      if (i === k) {
        input.setAttribute("aria-activedescendant", li.id);
        li.scrollIntoView({ block: "nearest" });
      }
    });
  };
  function find() {
    const wanted = input.value.trim().toLowerCase();
    if (!wanted) return close();
    const rank = (name) => {
      const p = name.indexOf(wanted);
      return p < 0 ? 9 : name === wanted ? 0 : p === 0 ? 1 : /[/._\-: ]/.test(name[p - 1]) ? 2 : 3;
    };
    hits = [];
    for (const entry of lower) {
      const r = rank(entry[0]);
      if (r < 9) hits.push([r, entry]);
      if (hits.length > 3000) break;
    }
    hits = hits
      .sort((p, q) => p[0] - q[0] || p[1][0].length - q[1][0].length)
      .slice(0, 12)
      .map((x) => x[1]);
    listed.replaceChildren(
      ...(hits.length
        ? hits.map(([, i, isTopic], k) =>
            h(
              "li",
              {
                role: "option",
                id: `hit${k}`,
                "aria-selected": "false",
                on: {
                  pointerdown: (e) => {
                    e.preventDefault();
                    choose(hits[k]);
                  },
                },
              },
              h("span", { class: "tag" }, isTopic ? "topic" : "broker"),
              h("bdi", {}, shown(isTopic ? o.topics[i] : o.nodes[i], 90)),
            ),
          )
        : [h("li", { class: "none" }, "Nothing has this name.")]),
    );
    listed.hidden = false;
    input.setAttribute("aria-expanded", "true");
    at = -1;
    if (hits.length) mark(0);
  }
  input.addEventListener("input", find);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (e) => {
    if (e.key === "ArrowDown" && hits.length) {
      mark((at + 1) % hits.length);
      e.preventDefault();
    } else if (e.key === "ArrowUp" && hits.length) {
      mark((at - 1 + hits.length) % hits.length);
      e.preventDefault();
    } else if (e.key === "Enter" && !listed.hidden && hits[at]) choose(hits[at]);
    else if (e.key === "Escape") {
      input.value = "";
      close();
    }
  });
  document.addEventListener("keydown", (e) => {
    if (
      e.key === "/" &&
      document.activeElement !== input &&
      !/INPUT|SELECT|TEXTAREA/.test(document.activeElement?.tagName)
    ) {
      e.preventDefault();
      input.focus();
    }
    if (e.key === "Escape" && document.activeElement !== input) go({});
    if (e.key === "f" && current().node !== undefined && !/INPUT|SELECT/.test(document.activeElement?.tagName))
      go({ failed: [current().node] });
  });
}
