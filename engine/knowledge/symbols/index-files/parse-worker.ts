import { parentPort } from 'node:worker_threads';
import { createSourceParser } from '../../sources/parse.ts';
import { type ReadFacts, readBatch, type WantedFile } from './read-facts.ts';

/** Files to parse, and their results, in the same order. */
export interface ParseOrder {
  root: string;
  files: readonly WantedFile[];
}

export type ParseResult = { results: (ReadFacts | 'same')[] } | { failed: string };

const port = parentPort!;
const opening = createSourceParser();

port.on('message', async ({ root, files }: ParseOrder) => {
  try {
    const parser = await opening;
    await parser.load(files.map(({ language }) => language));
    const results: (ReadFacts | 'same')[] = [];
    readBatch(parser, root, files, (_, read) => results.push(read));
    const buffers = results.flatMap((each) =>
      each === 'same' || each.facts === null
        ? []
        : [each.facts.facts.buffer as ArrayBuffer, each.facts.refs.buffer as ArrayBuffer],
    );
    port.postMessage({ results } satisfies ParseResult, buffers);
  } catch (error) {
    port.postMessage({ failed: String(error) } satisfies ParseResult);
  }
});
