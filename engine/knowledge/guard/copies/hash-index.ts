/** The texts that have a fingerprint: a hash table of numbers, since two million entries as objects would take 200 MB. */
export interface HashIndex {
  /** Adds a text, by its number, with its fingerprints. */
  add(text: number, hashes: Uint32Array): void;
  /** Calls `visit` for at most `most` texts with the fingerprint, and returns their number. */
  visit(hash: number, most: number, visit: (text: number) => void): number;
  readonly size: number;
  /** All texts have lower numbers. */
  readonly endOfTexts: number;
}

const EMPTY = -1;

export function createHashIndex(): HashIndex {
  let room = 1 << 12;
  let size = 0;
  let endOfTexts = 0;
  let hashes = new Uint32Array(room);
  let texts = new Int32Array(room);
  let next = new Int32Array(room);
  let heads = new Int32Array(room).fill(EMPTY);

  function grow(least: number): void {
    while (room < least) room *= 2;
    const widen = <T extends Uint32Array | Int32Array>(wide: T, old: T): T => {
      wide.set(old);
      return wide;
    };
    hashes = widen(new Uint32Array(room), hashes);
    texts = widen(new Int32Array(room), texts);
    next = new Int32Array(room);
    heads = new Int32Array(room).fill(EMPTY);
    for (let entry = 0; entry < size; entry += 1) link(entry);
  }

  function link(entry: number): void {
    const head = (hashes[entry] as number) & (room - 1);
    next[entry] = heads[head] as number;
    heads[head] = entry;
  }

  return {
    get size() {
      return size;
    },
    get endOfTexts() {
      return endOfTexts;
    },
    add(text, added) {
      endOfTexts = Math.max(endOfTexts, text + 1);
      if (size + added.length > room) grow(size + added.length);
      for (const hash of added) {
        hashes[size] = hash;
        texts[size] = text;
        link(size);
        size += 1;
      }
    },
    visit(hash, most, visit) {
      let count = 0;
      for (
        let at = heads[hash & (room - 1)] as number;
        at !== EMPTY && count < most;
        at = next[at] as number
      ) {
        if (hashes[at] !== hash) continue;
        visit(texts[at] as number);
        count += 1;
      }
      return count;
    },
  };
}
