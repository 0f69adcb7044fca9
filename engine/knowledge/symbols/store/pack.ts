import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { FileFacts, Reference } from '../facts.ts';

/** What a file says, as it is stored. */
export interface PackedFacts {
  facts: Buffer;
  refs: Buffer;
}

const pack = (value: unknown): Buffer => deflateRawSync(JSON.stringify(value), { level: 1 });
const unpack = <T>(bytes: Buffer): T => JSON.parse(inflateRawSync(bytes).toString('utf8')) as T;

/** Packs facts in two parts: others read what a file declares, and only itself is asked what it refers to. */
export function packFacts({ references, symbols, ...rest }: FileFacts): PackedFacts {
  // What people read is in the table of symbols, and only there.
  const bare = symbols.map(({ signature: _, doc: __, ...symbol }) => ({ ...symbol, signature: '' }));
  return { facts: pack({ ...rest, symbols: bare }), refs: pack(references) };
}

/** Unpacks what a file declares; its references are empty. */
export const unpackFacts = (bytes: Buffer): FileFacts => ({
  ...unpack<Omit<FileFacts, 'references'>>(bytes),
  references: [],
});

export const unpackReferences = (bytes: Buffer): Reference[] => unpack(bytes);
