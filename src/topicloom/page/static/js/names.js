/* Names of brokers and topics are untrusted text. Everything that shows one goes through `shown`, and only as a text node. */

// Controls, line ends, zero-width and direction marks, private and lone surrogate code units: shown by number, never obeyed.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb]|\p{Cs}|\p{Co}|[\u{e0000}-\u{e007f}]/gu;

export function shown(name, most = 400) {
  const text = name.length > most ? name.slice(0, most / 2) + " … " + name.slice(-most / 2) : name;
  return text.replace(UNSEEN, (c) => `⟨${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/* For the picture: of path-like names the last parts, as many as tell them apart (three at most), cut in the middle where long. */
export function briefs(names, most = 26) {
  const parts = names.map((name) => name.split("/").filter(Boolean)),
    out = new Array(names.length);
  let open = names.map((_, i) => i);
  for (let take = 1; take <= 3 && open.length; take++) {
    const seen = new Map(),
      text = (i) => parts[i].slice(-take).join("/") || names[i];
    for (const i of open) seen.set(text(i), (seen.get(text(i)) || 0) + 1);
    open = open.filter((i) => {
      out[i] = text(i);
      return seen.get(out[i]) > 1;
    });
  }
  return out.map((name) => {
    const text = shown(name, 200);
    return text.length <= most ? text : text.slice(0, most / 2 - 1) + "…" + text.slice(-(most / 2 - 1));
  });
}

const format = new Intl.NumberFormat("en");
export const count = (x) => format.format(x);
export const plural = (x, one, many = one + "s") => `${count(x)} ${x === 1 ? one : many}`;

/* A path-like name in two: where it is, and what it is called. */
export function parted(name, most = 400) {
  const text = shown(name, most),
    cut = text.replace(/\/+$/, "").lastIndexOf("/");
  return cut > 0 ? [text.slice(0, cut + 1), text.slice(cut + 1)] : ["", text];
}
