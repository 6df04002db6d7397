/* Reads what encode.py wrote. */
export function bytes(text) {
  const binary = atob(text),
    out = new Uint8Array(binary.length);
  for (let i = 0; i < out.length; i++) out[i] = binary.charCodeAt(i);
  return out;
}

export function numbers(text) {
  const from = bytes(text),
    out = new Int32Array(from.length);
  let count = 0;
  for (let i = 0; i < from.length;) {
    let value = 0,
      shift = 0,
      byte;
    do {
      byte = from[i++];
      value |= (byte & 127) << shift;
      shift += 7;
    } while (byte > 127);
    out[count++] = value;
  }
  return out.subarray(0, count);
}

export function pairs(text) {
  const gaps = numbers(text),
    m = gaps.length >> 1,
    a = new Int32Array(m),
    b = new Int32Array(m);
  for (let i = 0, u = 0, v = 0; i < m; i++) {
    const gap = gaps[2 * i];
    u += gap;
    v = i && !gap ? v + gaps[2 * i + 1] : u + gaps[2 * i + 1];
    a[i] = u;
    b[i] = v;
  }
  return { a, b };
}

export function lists(text, count) {
  const gaps = numbers(text),
    start = new Int32Array(count + 1),
    items = gaps.slice(count);
  for (let i = 0, at = 0; i < count; i++) {
    const end = at + gaps[i];
    for (let last = 0; at < end; at++) items[at] = last += items[at];
    start[i + 1] = end;
  }
  return { start, items };
}

export function flags(text, count) {
  const from = bytes(text),
    out = new Uint8Array(count);
  for (let i = 0; i < count; i++) out[i] = (from[i >> 3] >> (i & 7)) & 1;
  return out;
}

export function coordinates(text) {
  const from = bytes(text),
    n = from.length >> 2,
    x = new Float32Array(n),
    y = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    x[i] = (from[4 * i] | (from[4 * i + 1] << 8)) / 65535;
    y[i] = (from[4 * i + 2] | (from[4 * i + 3] << 8)) / 65535;
  }
  return { x, y };
}
