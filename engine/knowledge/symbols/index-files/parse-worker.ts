import { parentPort } from 'node:worker_threads';
import type { Language } from '../../sources/index.ts';
import { createSourceParser } from '../../sources/parse.ts';
import { type ReadFacts, readFacts } from './read-facts.ts';

/** Files to parse, and what came of them, in the same order. */
export interface ParseOrder {
  root: string;
  files: { path: string; language: Language; knownHash: string | null }[];
}

export type ParseResult = { results: (ReadFacts | 'same')[] } | { failed: string };

const port = parentPort!;
const parser = await createSourceParser();

port.on('message', async ({ root, files }: ParseOrder) => {
  try {
    await parser.load(files.map(({ language }) => language));
    const results = files.map((file) => readFacts(parser, root, file));
    port.postMessage({ results } satisfies ParseResult);
  } catch (error) {
    port.postMessage({ failed: String(error) } satisfies ParseResult);
  }
});
port.postMessage({ results: [] } satisfies ParseResult);
