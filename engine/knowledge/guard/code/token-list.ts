import type { CodeTokens } from './tokens.ts';

type TokenArrays = Pick<CodeTokens, 'count' | 'kinds' | 'texts' | 'starts' | 'ends' | 'lines'>;

/** Tokens that are being read, in arrays that grow. */
export interface TokenList extends TokenArrays {
  push(kind: number, hash: number, from: number, to: number, line: number): void;
}

const widen = <T extends Uint8Array | Uint32Array>(old: T, wide: T): T => {
  wide.set(old);
  return wide;
};

/** @param length the length of the text */
export function createTokenList(length: number): TokenList {
  let room = Math.max(64, length >> 2);
  const list: TokenList = {
    count: 0,
    kinds: new Uint8Array(room),
    texts: new Uint32Array(room),
    starts: new Uint32Array(room),
    ends: new Uint32Array(room),
    lines: new Uint32Array(room),
    push(kind, hash, from, to, line) {
      if (list.count === room) grow();
      const at = list.count;
      list.kinds[at] = kind;
      list.texts[at] = hash;
      list.starts[at] = from;
      list.ends[at] = to;
      list.lines[at] = line;
      list.count += 1;
    },
  };
  function grow(): void {
    room *= 2;
    list.kinds = widen(list.kinds, new Uint8Array(room));
    list.texts = widen(list.texts, new Uint32Array(room));
    list.starts = widen(list.starts, new Uint32Array(room));
    list.ends = widen(list.ends, new Uint32Array(room));
    list.lines = widen(list.lines, new Uint32Array(room));
  }
  return list;
}
