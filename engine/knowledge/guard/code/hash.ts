// FNV-1a, 32 bits: among a few million hashes about one lookup in a thousand is wrong, and each match is compared afterwards.

const SEED = 0x811c9dc5;
const PRIME = 0x01000193;

/** Returns the hash of a part of a text, 32 bits, unsigned. */
export function hashText(text: string, from: number, to: number): number {
  let hash = SEED;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return hash >>> 0;
}

/** Spreads a hash over all of its bits, so that the smallest of several is a random one. */
export function mixHash(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
