import { Worker } from 'node:worker_threads';
import { SvcError } from '../../../core/base/errors.ts';
import { locateProgram } from '../../../core/base/own-package.ts';
import { platform } from '../../../core/platform/index.ts';
import type { SourceParser } from '../../sources/parse.ts';
import type { ParseOrder, ParseResult } from './parse-worker.ts';
import { type ReadFacts, readBatch, type WantedFile } from './read-facts.ts';

export interface ParsePool {
  /** Parses files, and passes each on when it is done, in any order. */
  parseFiles(
    root: string,
    files: readonly WantedFile[],
    done: (file: WantedFile, read: ReadFacts | 'same') => void,
  ): Promise<void>;
  /** Ends the helper thread and releases its memory; the parser of this thread stays. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

interface ParseThread {
  parse(order: ParseOrder): Promise<(ReadFacts | 'same')[]>;
  end(): Promise<unknown>;
}

/** From this many files on, a second thread is worth its start. */
const WORTH_THREAD = 60;
const BATCH = 16;
/** The other thread works while this one writes. */
const IN_ADVANCE = 2;
/** Memory of the other thread, without the parser's own. */
const MOST_MB = 128;

const takeTurns = (): Promise<void> => new Promise((done) => setImmediate(done));

/** Parses here, and large batches also in a temporary second thread. */
export function createParsePool(): ParsePool {
  let here: Promise<SourceParser> | undefined;
  let thread: ParseThread | null = null;

  function startThread(): ParseThread {
    const worker = new Worker(locateProgram('parse-worker'), {
      resourceLimits: { maxOldGenerationSizeMb: MOST_MB, maxYoungGenerationSizeMb: 8, stackSizeMb: 8 },
    });
    const waiting: ((result: ParseResult) => void)[] = [];
    let ended: string | null = null;
    const endParser = (why: string): void => {
      ended ??= why;
      for (const answer of waiting.splice(0)) answer({ failed: ended });
    };
    worker.on('message', (result: ParseResult) => waiting.shift()?.(result));
    worker.on('error', (error) => endParser(String(error)));
    worker.on('exit', () => endParser('the thread ended'));
    return {
      async parse(order) {
        const result = await new Promise<ParseResult>((answer) => {
          if (ended !== null) return answer({ failed: ended });
          waiting.push(answer);
          worker.postMessage(order);
        });
        if ('failed' in result) throw new SvcError('internal', `a parser failed: ${result.failed}`);
        return result.results;
      },
      end: () => worker.terminate(),
    };
  }

  async function rest(): Promise<void> {
    const ending = thread;
    thread = null;
    if (ending === null) return;
    await ending.end();
    await platform.trimAllocator();
  }

  return {
    rest,
    async parseFiles(root, files, done) {
      let next = 0;
      const takeBatch = (): readonly WantedFile[] => {
        next += BATCH;
        return files.slice(next - BATCH, next);
      };
      async function parseHere(): Promise<void> {
        here ??= import('../../sources/parse.ts').then(({ createSourceParser }) => createSourceParser());
        const parser = await here;
        for (let batch = takeBatch(); batch.length > 0; batch = takeBatch()) {
          await parser.load(batch.map(({ language }) => language));
          readBatch(parser, root, batch, done);
          if (next < files.length) await takeTurns();
        }
      }
      async function parseThere(): Promise<void> {
        for (let batch = takeBatch(); batch.length > 0; batch = takeBatch()) {
          const results = await thread!.parse({ root, files: batch });
          for (const [at, file] of batch.entries()) done(file, results[at]!);
        }
      }
      if (files.length < WORTH_THREAD) return parseHere();
      thread ??= startThread();
      await Promise.all([parseHere(), ...Array.from({ length: IN_ADVANCE }, parseThere)]);
    },
    async close() {
      await rest();
      (await here)?.close();
    },
  };
}
