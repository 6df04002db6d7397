/* What is chosen stands in the address after #, by name, so that a state can be passed on and Back works. */

export function createAddress(o) {
  const nodeNumber = new Map(o.nodes.map((name, i) => [name, i])),
    topicNumber = new Map(o.topics.map((name, i) => [name, i]));
  let written = null;

  function linkNumber(u, v) {
    const a = Math.min(u, v),
      b = Math.max(u, v);
    for (const l of o.incident.items.subarray(o.incident.start[a], o.incident.start[a + 1]))
      if (o.a[l] === a && o.b[l] === b) return l;
    return undefined;
  }

  function textOf(state) {
    const query = new URLSearchParams();
    if (state.failed) {
      for (const v of state.failed) query.append("fail", o.nodes[v]);
      for (const l of state.failedLinks ?? []) {
        query.append("cut-from", o.nodes[o.a[l]]);
        query.append("cut-to", o.nodes[o.b[l]]);
      }
      if (!state.failed.length && !state.failedLinks?.length) query.set("fail", "");
    }
    if (state.topic !== undefined) {
      query.set("topic", o.topics[state.topic]);
      if (state.tree) query.set("draw", "tree");
      if (state.from !== undefined && state.from !== null) query.set("from", o.nodes[state.from]);
    }
    if (state.node !== undefined) query.set("broker", o.nodes[state.node]);
    return query.toString();
  }

  function stateOf(text) {
    const query = new URLSearchParams(text),
      known = (names) => names.map((name) => nodeNumber.get(name)).filter((v) => v !== undefined);
    if (query.has("fail") || query.has("cut-from")) {
      const from = query.getAll("cut-from"),
        to = query.getAll("cut-to");
      const links = from.map((name, i) => linkNumber(nodeNumber.get(name), nodeNumber.get(to[i])));
      return { failed: known(query.getAll("fail")), failedLinks: links.filter((l) => l !== undefined) };
    }
    if (topicNumber.has(query.get("topic")))
      return {
        topic: topicNumber.get(query.get("topic")),
        tree: query.get("draw") === "tree",
        from: nodeNumber.get(query.get("from")) ?? null,
      };
    if (nodeNumber.has(query.get("broker"))) return { node: nodeNumber.get(query.get("broker")) };
    return {};
  }

  return {
    write(state) {
      const text = textOf(state);
      if (text === location.hash.slice(1)) return;
      written = text;
      location.hash = text;
    },
    /* The state that the address names, or null where the page wrote it itself. */
    read(first) {
      if (!first && location.hash.slice(1) === written) {
        written = null;
        return null;
      }
      return stateOf(location.hash.slice(1));
    },
  };
}
