/* The picture: a canvas with pan, zoom, hover and labels. It knows places and looks, nothing of topics. */
import { briefs } from "./names.js";
import { DOWN, FAINT, HIDDEN, PLAIN, SIDE, STRONG } from "./scene.js";

const TAU = 2 * Math.PI,
  BATCH = 256;

export function createPicture(box, o, events) {
  const base = box.querySelector("canvas.base"),
    top = box.querySelector("canvas.top");
  const draw = base.getContext("2d"),
    over = top.getContext("2d");
  const home = o.place,
    x = home.x.slice(),
    y = home.y.slice();
  const camera = { k: 1, x: 0, y: 0 };
  const radius = new Float32Array(o.n),
    byDegree = Int32Array.from(o.degree.keys()).sort((p, q) => o.degree[q] - o.degree[p] || p - q);
  const thin = o.n > 2000,
    [least, grow] = o.n <= 300 ? [3.4, 1.65] : o.n > 20000 ? [0.5, 0.12] : thin ? [0.9, 0.32] : [2.2, 1.1];
  for (let v = 0; v < o.n; v++) radius[v] = least + grow * Math.sqrt(o.degree[v]);
  const widths = new Map(),
    short = briefs(o.nodes);
  let w = 0,
    hgt = 0,
    dpr = 1,
    k0 = 1,
    colours = null,
    scene = null,
    hovered = -1,
    queued = 0,
    moving = null,
    lastCost = 0,
    shot = null,
    settle = 0;

  const scale = () => Math.min(3, Math.max(0.75, Math.pow(camera.k / k0, thin ? 0.55 : 0.4)));
  const sx = (v) => x[v] * camera.k + camera.x,
    sy = (v) => y[v] * camera.k + camera.y;

  function bounds(nodes) {
    let l = Infinity,
      r = -Infinity,
      t = Infinity,
      b = -Infinity;
    for (const v of nodes) {
      l = Math.min(l, x[v]);
      r = Math.max(r, x[v]);
      t = Math.min(t, y[v]);
      b = Math.max(b, y[v]);
    }
    return l > r ? [0, 1, 0, 1] : [l, r, t, b];
  }
  const everyone = {
    *[Symbol.iterator]() {
      for (let v = 0; v < o.n; v++) yield v;
    },
  };
  const framing = (nodes, side) => framed(bounds(nodes), side);
  function framed([l, r, t, b], side = 46) {
    const k = Math.min(
      (w - 2 * side) / Math.max(r - l, 1e-3),
      (hgt - 2 * side) / Math.max(b - t, 1e-3),
      k0 * 12 || Infinity,
    );
    return { k, x: w / 2 - ((l + r) / 2) * k, y: hgt / 2 - ((t + b) / 2) * k };
  }

  function resize() {
    const first = !w;
    dpr = Math.min(window.devicePixelRatio || 1, 2);
    w = box.clientWidth;
    hgt = box.clientHeight;
    for (const c of [base, top]) {
      c.width = Math.round(w * dpr);
      c.height = Math.round(hgt * dpr);
    }
    if (!w || !hgt) return;
    k0 = Infinity;
    const fitted = framing(everyone);
    k0 = fitted.k;
    if (first) Object.assign(camera, fitted);
    request();
  }

  function request() {
    if (!queued)
      queued = requestAnimationFrame(() => {
        queued = 0;
        paint();
      });
  }

  /* A full drawing. Links go in batches: of 1, 64, 400, 1,000 and all in a path, a few hundred took the least time. */
  function paint() {
    if (!scene || !w) return;
    const started = performance.now();
    render(draw, dpr);
    lastCost = performance.now() - started;
    hover(hovered);
    events.painted?.(lastCost);
  }

  function render(ctx, ratio) {
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = colours.ground;
    ctx.fillRect(0, 0, w, hgt);
    ctx.lineCap = "round";
    if (scene.rings) rings(ctx);
    const plain = o.m > 8000 ? 0.16 : o.m > 1500 ? 0.3 : o.m > 350 ? 0.42 : 0.75;
    links(ctx, FAINT, colours.link, plain * 0.3, 1);
    links(ctx, PLAIN, colours.link, plain, null);
    if (scene.extra) extra(ctx);
    ctx.setLineDash([3, 4]);
    links(ctx, SIDE, colours.accent, 0.75, 1.2);
    ctx.setLineDash([]);
    ctx.setLineDash([2, 4]);
    links(ctx, DOWN, colours.bad, 0.8, 1.2);
    ctx.setLineDash([]);
    strong(ctx);
    dots(ctx);
    const taken = scene.captions ? captions(ctx) : [];
    labels(ctx, taken);
  }

  function outside(u, v) {
    const x1 = sx(u),
      x2 = sx(v),
      y1 = sy(u),
      y2 = sy(v);
    return (x1 < 0 && x2 < 0) || (y1 < 0 && y2 < 0) || (x1 > w && x2 > w) || (y1 > hgt && y2 > hgt);
  }

  function links(ctx, look, colour, alpha, width) {
    ctx.strokeStyle = colour;
    ctx.globalAlpha = alpha;
    const looks = scene.link,
      weights = width === null && o.m <= 1500 ? [1, 1.7, 2.6] : [0];
    for (let step = 0; step < weights.length; step++) {
      ctx.lineWidth = width ?? (weights[step] || (thin ? 0.7 : 1));
      for (let l = 0; l < o.m;) {
        ctx.beginPath();
        let some = 0;
        for (; l < o.m && some < BATCH; l++) {
          if (looks[l] !== look || (weights.length > 1 && weightOf(l) !== step)) continue;
          const u = o.a[l],
            v = o.b[l];
          if (outside(u, v)) continue;
          ctx.moveTo(sx(u), sy(u));
          ctx.lineTo(sx(v), sy(v));
          some++;
        }
        if (some) ctx.stroke();
      }
    }
    ctx.globalAlpha = 1;
  }
  const weightOf = (l) => {
    const shared = o.linkTopics.start[l + 1] - o.linkTopics.start[l];
    return shared > 24 ? 2 : shared > 5 ? 1 : 0;
  };

  function strong(ctx) {
    ctx.lineWidth = o.n > 2000 ? 1.6 : 2.4;
    for (let l = 0; l < o.m; l++) {
      if (scene.link[l] !== STRONG) continue;
      const u = o.a[l],
        v = o.b[l];
      if (outside(u, v)) continue;
      ctx.strokeStyle = scene.linkPaint ? scene.linkPaint(l) : colours.accent;
      ctx.beginPath();
      ctx.moveTo(sx(u), sy(u));
      ctx.lineTo(sx(v), sy(v));
      ctx.stroke();
    }
  }

  function extra(ctx) {
    for (const { a, b, colour, dash } of scene.extra) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = 2;
      ctx.setLineDash(dash || []);
      ctx.beginPath();
      ctx.moveTo(sx(a), sy(a));
      ctx.lineTo(sx(b), sy(b));
      ctx.stroke();
    }
    ctx.setLineDash([]);
  }

  function rings(ctx) {
    const { x: cx, y: cy, step, depth } = scene.rings;
    ctx.strokeStyle = colours.ring;
    ctx.lineWidth = 1;
    ctx.fillStyle = colours.quiet;
    ctx.font = font(10.5);
    ctx.textAlign = "center";
    for (let d = 1; d <= depth; d++) {
      const r = d * step * camera.k;
      ctx.beginPath();
      ctx.arc(cx * camera.k + camera.x, cy * camera.k + camera.y, r, 0, TAU);
      ctx.stroke();
      if (d === 1 || d === depth || depth <= 6)
        ctx.fillText(d === 1 ? "1 hop" : d + " hops", cx * camera.k + camera.x, cy * camera.k + camera.y - r - 5);
    }
  }

  function dots(ctx) {
    const z = scale(),
      looks = scene.node,
      edge = !thin;
    for (const look of [FAINT, PLAIN, DOWN, STRONG]) {
      for (let i = o.n - 1; i >= 0; i--) {
        const v = byDegree[i]; // small ones first would hide hubs: large first, so that small ones stay visible
        if (looks[v] !== look) continue;
        const px = sx(v),
          py = sy(v);
        if (px < -40 || py < -40 || px > w + 40 || py > hgt + 40) continue;
        disc(
          ctx,
          v,
          px,
          py,
          radius[v] * z * (look === STRONG && thin ? 1.8 : look === FAINT ? 0.75 : 1),
          look,
          edge || look === STRONG,
        );
      }
    }
    ctx.globalAlpha = 1;
  }

  function disc(ctx, v, px, py, r, look, edge) {
    ctx.globalAlpha = 1;
    if (scene.halo && look !== FAINT && scene.halo(v) > 0.15) {
      ctx.beginPath();
      ctx.arc(px, py, r + (thin ? 1 : 2) + (thin ? 5 : 8) * scene.halo(v), 0, TAU);
      ctx.fillStyle = colours.warn;
      ctx.globalAlpha = 0.22 + 0.2 * scene.halo(v);
      ctx.fill();
      ctx.globalAlpha = 1;
    }
    ctx.beginPath();
    ctx.arc(px, py, r, 0, TAU);
    if (look === DOWN) {
      ctx.fillStyle = colours.ground;
      ctx.fill();
      ctx.strokeStyle = colours.bad;
      ctx.lineWidth = 2;
      ctx.stroke();
      const c = r * 0.5 + 1;
      ctx.beginPath();
      ctx.moveTo(px - c, py - c);
      ctx.lineTo(px + c, py + c);
      ctx.moveTo(px + c, py - c);
      ctx.lineTo(px - c, py + c);
      ctx.stroke();
      return;
    }
    ctx.fillStyle = look === FAINT ? colours.faint : scene.paint(v);
    ctx.fill();
    if (edge && look !== FAINT) {
      ctx.strokeStyle = colours.ground;
      ctx.lineWidth = 1.4;
      ctx.stroke();
    }
    if (scene.chosen === v) {
      ctx.beginPath();
      ctx.arc(px, py, r + 4, 0, TAU);
      ctx.strokeStyle = colours.text;
      ctx.lineWidth = 2;
      ctx.stroke();
    }
  }

  const font = (size, weight = 500) => `${weight} ${size}px ${colours.font}`;

  /* The name of a group over its nodes. */
  function captions(ctx) {
    const placed = [];
    ctx.font = font(12.5, 650);
    ctx.textAlign = "center";
    ctx.lineJoin = "round";
    for (const { text, colour, nodes } of scene.captions) {
      const tx = nodes.reduce((s, v) => s + sx(v), 0) / nodes.length,
        ys = nodes.map(sy).sort((p, q) => p - q),
        wide = ctx.measureText(text).width;
      let ty = ys[Math.floor(ys.length * 0.12)] - 20;
      const taken = () =>
        placed.some((q) => q[0] < tx + wide / 2 && q[2] > tx - wide / 2 && q[1] < ty + 4 && q[3] > ty - 13);
      for (let i = 0; i < 2 && taken(); i++) ty -= 18;
      if (tx < 0 || tx > w || ty < 12 || ty > hgt || taken()) continue;
      ctx.strokeStyle = colours.ground;
      ctx.lineWidth = 4;
      ctx.strokeText(text, tx, ty);
      ctx.fillStyle = colour;
      ctx.fillText(text, tx, ty);
      placed.push([tx - wide / 2 - 4, ty - 13, tx + wide / 2 + 4, ty + 4]);
    }
    return placed;
  }

  /* Labels where there is room: the scene's own first, then by degree. */
  function labels(ctx, placed) {
    const z = scale(),
      most =
        scene.labels.length > 60
          ? 40
          : Math.max(scene.labels.length, thin ? 12 : 26) + Math.round(12 * Math.max(0, camera.k / k0 - 1));
    for (let i = 0; i < Math.min(o.n, 400); i++) {
      const v = byDegree[i];
      if (scene.node[v] >= PLAIN && (o.n <= 400 || radius[v] * z > 6))
        placed.push([sx(v) - radius[v] * z, sy(v) - radius[v] * z, sx(v) + radius[v] * z, sy(v) + radius[v] * z]);
    }
    ctx.font = font(11.5);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.lineJoin = "round";
    let done = 0;
    const seen = new Set(),
      size = 14;
    const attempt = (v, force) => {
      if (seen.has(v) || (scene.node[v] < PLAIN && !force)) return;
      seen.add(v);
      const px = sx(v),
        py = sy(v);
      if (px < 0 || py < 0 || px > w || py > hgt) return;
      const text = short[v];
      if (!widths.has(text)) widths.set(text, ctx.measureText(text).width);
      const wide = widths.get(text),
        r = radius[v] * z + 4;
      for (const [dx, dy] of [
        [r, 0],
        [-r - wide, 0],
        [-wide / 2, r + 7],
        [-wide / 2, -r - 7],
      ]) {
        const box4 = [px + dx - 2, py + dy - size / 2, px + dx + wide + 2, py + dy + size / 2];
        if (
          box4[0] < 2 ||
          box4[2] > w - 2 ||
          placed.some((q) => q[0] < box4[2] && q[2] > box4[0] && q[1] < box4[3] && q[3] > box4[1])
        )
          continue;
        placed.push(box4);
        ctx.strokeStyle = colours.ground;
        ctx.lineWidth = 3.5;
        ctx.strokeText(text, px + dx, py + dy);
        ctx.fillStyle =
          scene.node[v] === DOWN ? colours.bad : scene.labels.length && !force ? colours.quiet : colours.text;
        ctx.fillText(text, px + dx, py + dy);
        done++;
        return;
      }
    };
    for (const v of scene.labels) {
      if (done >= most) break;
      attempt(v, true);
    }
    if (!scene.labels.length || camera.k > 1.6 * k0)
      for (const v of byDegree) {
        if (done >= most || seen.size > 4 * most + 40) break;
        attempt(v, !scene.labels.length);
      }
    ctx.textBaseline = "alphabetic";
  }

  function hover(v) {
    hovered = v;
    over.setTransform(dpr, 0, 0, dpr, 0, 0);
    over.clearRect(0, 0, w, hgt);
    if (v < 0 || scene.node[v] === HIDDEN) return;
    over.strokeStyle = colours.text;
    over.lineWidth = 1.5;
    over.globalAlpha = 0.75;
    over.beginPath();
    for (let i = o.incident.start[v]; i < o.incident.start[v + 1]; i++) {
      const l = o.incident.items[i];
      if (scene.link[l] === HIDDEN) continue;
      over.moveTo(sx(o.a[l]), sy(o.a[l]));
      over.lineTo(sx(o.b[l]), sy(o.b[l]));
    }
    over.stroke();
    over.globalAlpha = 1;
    const z = scale();
    for (let i = o.incident.start[v]; i < o.incident.start[v + 1]; i++) {
      const l = o.incident.items[i],
        u = o.a[l] === v ? o.b[l] : o.a[l];
      if (scene.node[u] !== HIDDEN)
        disc(over, u, sx(u), sy(u), radius[u] * z, scene.node[u] === FAINT ? PLAIN : scene.node[u], true);
    }
    disc(over, v, sx(v), sy(v), radius[v] * z + 1.5, scene.node[v] === FAINT ? PLAIN : scene.node[v], true);
    over.strokeStyle = colours.text;
    over.lineWidth = 2;
    over.beginPath();
    over.arc(sx(v), sy(v), radius[v] * z + 4, 0, TAU);
    over.stroke();
  }

  function at(px, py) {
    let best = -1,
      near = Infinity;
    const z = scale();
    for (let v = 0; v < o.n; v++) {
      if (scene.node[v] === HIDDEN) continue;
      const dx = x[v] * camera.k + camera.x - px,
        dy = y[v] * camera.k + camera.y - py,
        r = Math.max(radius[v] * z + 3, 8),
        d = dx * dx + dy * dy;
      if (d < r * r && d - (scene.node[v] > FAINT ? 30 : 0) < near) {
        near = d;
        best = v;
      }
    }
    return best;
  }

  /* While a large picture is moved, the last drawing is moved; it is drawn again when the hand rests. */
  function glide(change) {
    const from = { ...camera };
    change(camera);
    if (lastCost < 8) return request();
    if (!shot) {
      shot = { canvas: document.createElement("canvas"), camera: from };
      shot.canvas.width = base.width;
      shot.canvas.height = base.height;
      shot.canvas.getContext("2d").drawImage(base, 0, 0);
    }
    if (!queued)
      queued = requestAnimationFrame(() => {
        queued = 0;
        if (!shot) return paint();
        const f = camera.k / shot.camera.k;
        draw.setTransform(1, 0, 0, 1, 0, 0);
        draw.fillStyle = colours.ground;
        draw.fillRect(0, 0, base.width, base.height);
        draw.drawImage(
          shot.canvas,
          (camera.x - shot.camera.x * f) * dpr,
          (camera.y - shot.camera.y * f) * dpr,
          base.width * f,
          base.height * f,
        );
        over.clearRect(0, 0, top.width, top.height);
      });
    clearTimeout(settle);
    settle = setTimeout(() => {
      shot = null;
      request();
    }, 140);
  }

  function zoom(factor, px = w / 2, py = hgt / 2) {
    glide((c) => {
      const k = Math.min(Math.max(c.k * factor, k0 * 0.4), k0 * 60),
        f = k / c.k;
      c.x = px - (px - c.x) * f;
      c.y = py - (py - c.y) * f;
      c.k = k;
    });
  }
  const pan = (dx, dy) =>
    glide((c) => {
      c.x += dx;
      c.y += dy;
    });

  /* To new places and a new frame, in 420 ms or at once where motion is not wanted. */
  function move(place, nodes, frame = null) {
    const tx = x.slice(),
      ty = y.slice(),
      fx = x.slice(),
      fy = y.slice(),
      from = { ...camera };
    for (let v = 0; v < o.n; v++) {
      const p = place?.get(v);
      tx[v] = p ? p[0] : home.x[v];
      ty[v] = p ? p[1] : home.y[v];
    }
    x.set(tx);
    y.set(ty);
    const to = frame ? framed(frame) : framing(nodes || everyone);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches || o.n > 20000;
    if (moving) cancelAnimationFrame(moving);
    if (still) {
      Object.assign(camera, to);
      return request();
    }
    x.set(fx);
    y.set(fy);
    const began = performance.now();
    const step = (now) => {
      const p = Math.min(1, Math.max(0, (now - began) / 420)),
        e = 1 - Math.pow(1 - p, 3);
      for (let v = 0; v < o.n; v++) {
        x[v] = fx[v] + (tx[v] - fx[v]) * e;
        y[v] = fy[v] + (ty[v] - fy[v]) * e;
      }
      camera.k = from.k * Math.pow(to.k / from.k, e);
      camera.x = from.x + (to.x - from.x) * e;
      camera.y = from.y + (to.y - from.y) * e;
      if (p === 1) Object.assign(camera, to);
      paint();
      moving = p < 1 ? requestAnimationFrame(step) : null;
    };
    moving = requestAnimationFrame(step);
  }

  listen();
  function listen() {
    let held = null;
    const where = (e) => {
      const r = top.getBoundingClientRect();
      return [e.clientX - r.left, e.clientY - r.top];
    };
    top.addEventListener("pointerdown", (e) => {
      const [px, py] = where(e);
      held = { px, py, far: 0 };
      top.setPointerCapture(e.pointerId);
    });
    top.addEventListener("pointermove", (e) => {
      const [px, py] = where(e);
      if (held) {
        held.far += Math.abs(px - held.px) + Math.abs(py - held.py);
        if (held.far > 4) {
          pan(px - held.px, py - held.py);
          top.classList.add("held");
        }
        held.px = px;
        held.py = py;
        return;
      }
      const v = at(px, py);
      top.classList.toggle("pointing", v >= 0);
      if (v !== hovered) hover(v);
      events.hover(v, px, py);
    });
    top.addEventListener("pointerup", (e) => {
      const [px, py] = where(e);
      if (held && held.far <= 4) events.click(at(px, py), e);
      held = null;
      top.classList.remove("held");
    });
    top.addEventListener("pointercancel", () => {
      held = null;
    });
    top.addEventListener("pointerleave", () => {
      if (!held) {
        hover(-1);
        events.hover(-1);
      }
    });
    top.addEventListener(
      "wheel",
      (e) => {
        e.preventDefault();
        const [px, py] = where(e);
        zoom(Math.pow(1.0018, -e.deltaY * (e.deltaMode ? 30 : 1)), px, py);
      },
      { passive: false },
    );
    top.addEventListener("dblclick", (e) => {
      const [px, py] = where(e);
      zoom(1.8, px, py);
    });
    top.addEventListener("keydown", (e) => {
      const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
      if (steps[e.key]) pan(...steps[e.key]);
      else if (e.key === "+" || e.key === "=") zoom(1.3);
      else if (e.key === "-") zoom(1 / 1.3);
      else if (e.key === "0") move(null);
      else return;
      e.preventDefault();
    });
    new ResizeObserver(resize).observe(box);
  }

  return {
    camera,
    radius,
    zoom,
    pan,
    move,
    hover,
    request,
    paint,
    at,
    x,
    y,
    show(next) {
      scene = next;
      shot = null;
      request();
    },
    theme(next) {
      colours = next;
      widths.clear();
      request();
    },
    fit: (nodes) => move(null, nodes),
    screen: (v) => [sx(v), sy(v)],
    /* The same picture, three times as fine; the answer undoes it. */
    print() {
      base.width = w * 3;
      base.height = hgt * 3;
      render(draw, 3);
      return resize;
    },
  };
}
