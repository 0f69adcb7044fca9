import { mixHash } from '../code/hash.ts';

/** The number of tokens of a fingerprint, and the shortest run that is sure to share one. */
export interface FingerprintSampling {
  /** Tokens in the rolling hash. */
  window: number;
  /** Any common run of this many tokens gives two texts a common fingerprint. */
  guaranteed: number;
}

const BASE = 0x2c1b3c6d;

/** Returns the hash of every run of `window` tokens, by its start. */
export function hashRuns(shapes: Uint32Array, window: number): Uint32Array {
  const runs = Math.max(0, shapes.length - window + 1);
  const hashes = new Uint32Array(runs);
  let leaving = 1;
  for (let at = 1; at < window; at += 1) leaving = Math.imul(leaving, BASE);
  let hash = 0;
  for (let at = 0; at < shapes.length; at += 1) {
    if (at >= window) hash = (hash - Math.imul(shapes[at - window] as number, leaving)) | 0;
    hash = (Math.imul(hash, BASE) + (shapes[at] as number)) | 0;
    if (at >= window - 1) hashes[at - window + 1] = mixHash(hash);
  }
  return hashes;
}

/**
 * Selects fingerprints by winnowing (Schleimer, Wilkerson, Aiken 2003): of every `guaranteed - window + 1` adjacent
 * runs the smallest hash, the last of equal ones. Sorted and unique.
 */
export function takeFingerprints(
  shapes: Uint32Array,
  { window, guaranteed }: FingerprintSampling,
): Uint32Array {
  const hashes = hashRuns(shapes, window);
  const span = Math.max(1, guaranteed - window + 1);
  const taken = new Set<number>();
  if (hashes.length <= span) {
    if (hashes.length > 0) taken.add(hashes.reduce((least, hash) => Math.min(least, hash)));
    return Uint32Array.from(taken);
  }
  let least = -1;
  for (let end = span - 1; end < hashes.length; end += 1) {
    const begin = end - span + 1;
    if (least < begin) {
      least = begin;
      for (let at = begin + 1; at <= end; at += 1)
        if ((hashes[at] as number) <= (hashes[least] as number)) least = at;
    } else if ((hashes[end] as number) <= (hashes[least] as number)) {
      least = end;
    } else continue;
    taken.add(hashes[least] as number);
  }
  return Uint32Array.from(taken).sort();
}
