import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { FileFacts, ReferenceFact, SymbolKind } from '../facts.ts';

/** A symbol as people read it; the columns of its row that depend only on the file. */
export interface SymbolColumns {
  place: number;
  name: string;
  qualified: string;
  kind: SymbolKind;
  parent: number;
  start: number;
  end: number;
  line: number;
  end_line: number;
  signature: string;
  doc: string | null;
  is_exported: number;
}

/** The stored form of a file's facts. */
export interface PackedFacts {
  facts: Uint8Array;
  refs: Uint8Array;
  symbols: SymbolColumns[];
  packageName: string | null;
  errors: number;
}

/** Packs a value with a small window and a separate array instead of a slice: both are created for each file. */
const pack = (value: unknown): Uint8Array =>
  new Uint8Array(
    deflateRawSync(JSON.stringify(value), { level: 1, windowBits: 13, memLevel: 5, chunkSize: 4096 }),
  );
const unpack = <T>(bytes: Uint8Array): T => JSON.parse(inflateRawSync(bytes).toString('utf8')) as T;

/**
 * Packs facts in two parts: others read a file's declarations, while its references only concern itself. Text for
 * people is stored only in the table of symbols.
 */
export function packFacts(all: FileFacts): PackedFacts {
  const { references, ...rest } = all;
  const names = listQualifiedNames(all);
  const symbols = all.symbols.map((fact, place): SymbolColumns => {
    const { signature, doc } = fact;
    fact.signature = '';
    delete fact.doc;
    return {
      place,
      name: fact.name,
      qualified: names[place]!,
      kind: fact.kind,
      parent: fact.parent,
      start: fact.start,
      end: fact.end,
      line: fact.line,
      end_line: fact.endLine,
      signature,
      doc: doc ?? null,
      is_exported: fact.isExported === true ? 1 : 0,
    };
  });
  return {
    facts: pack(rest),
    refs: pack(references),
    symbols,
    packageName: rest.packageName ?? null,
    errors: rest.errors,
  };
}

/** Unpacks the declarations of a file; its references are empty. */
export const unpackFacts = (bytes: Uint8Array): FileFacts => ({
  ...unpack<Omit<FileFacts, 'references'>>(bytes),
  references: [],
});

export const unpackReferences = (bytes: Uint8Array): ReferenceFact[] => unpack(bytes);

/** Returns names of symbols from the outermost to the innermost, as `A.b`; unnamed ones are skipped. */
function listQualifiedNames(facts: FileFacts): string[] {
  const names: string[] = [];
  for (const { name, parent, kind, owner } of facts.symbols) {
    if (kind === 'file') names.push(name);
    else {
      const outer = owner ?? (parent > 0 ? names[parent]! : '');
      names.push(name === '{}' ? outer : outer === '' ? name : `${outer}.${name}`);
    }
  }
  return names;
}
