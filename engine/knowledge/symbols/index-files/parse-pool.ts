import { Worker } from 'node:worker_threads';
import { SvcError } from '../../../base/errors.ts';
import type { SourceParser } from '../../sources/parse.ts';
import type { ParseOrder, ParseResult } from './parse-worker.ts';
import { type ReadFacts, readFacts } from './read-facts.ts';

type Wanted = ParseOrder['files'][number];

export interface ParsePool {
  /** Parses files, and passes each batch on as it is done, in any order. */
  parseFiles(
    root: string,
    files: readonly Wanted[],
    done: (file: Wanted, read: ReadFacts | 'same') => void,
  ): Promise<void>;
  /** Ends the threads; the parser of single files stays. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

interface ParseThread {
  parse(order: ParseOrder): Promise<(ReadFacts | 'same')[]>;
  end(): Promise<unknown>;
}

/** From this many files on, threads are worth their start. */
const WORTH_THREADS = 40;
const THREADS = 2;
const BATCH = 16;
/** Of one thread, without what the parser itself takes. */
const MOST_MB = 128;

/** Parses few files here and many in two threads, which are there only meanwhile. */
export function createParsePool(): ParsePool {
  let here: Promise<SourceParser> | undefined;
  let threads: ParseThread[] = [];

  async function parseHere(
    root: string,
    files: readonly Wanted[],
    done: Parameters<ParsePool['parseFiles']>[2],
  ) {
    here ??= import('../../sources/parse.ts').then(({ createSourceParser }) => createSourceParser());
    const parser = await here;
    await parser.load(files.map(({ language }) => language));
    for (const file of files) done(file, readFacts(parser, root, file));
  }

  /** Starts a thread, and waits until it is ready. */
  async function startThread(): Promise<ParseThread> {
    const worker = new Worker(new URL('./parse-worker.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MOST_MB, maxYoungGenerationSizeMb: 16, stackSizeMb: 8 },
    });
    let waiting: ((result: ParseResult) => void) | null = null;
    let ended: string | null = null;
    const end = (why: string): void => {
      ended ??= why;
      waiting?.({ failed: ended });
    };
    worker.on('message', (result: ParseResult) => waiting?.(result));
    worker.on('error', (error) => end(String(error)));
    worker.on('exit', () => end('the thread ended'));
    const wait = async (): Promise<(ReadFacts | 'same')[]> => {
      const result = await new Promise<ParseResult>((done) => {
        if (ended === null) waiting = done;
        else done({ failed: ended });
      });
      if ('failed' in result) throw new SvcError('internal', `a parser failed: ${result.failed}`);
      return result.results;
    };
    await wait();
    return {
      parse(order) {
        worker.postMessage(order);
        return wait();
      },
      end: () => worker.terminate(),
    };
  }

  async function rest(): Promise<void> {
    const ending = threads;
    threads = [];
    await Promise.all(ending.map((thread) => thread.end()));
  }

  return {
    rest,
    async parseFiles(root, files, done) {
      if (files.length < WORTH_THREADS) return parseHere(root, files, done);
      if (threads.length === 0) threads = await Promise.all(Array.from({ length: THREADS }, startThread));
      let next = 0;
      await Promise.all(
        threads.map(async (thread) => {
          while (next < files.length) {
            const batch = files.slice(next, next + BATCH);
            next += BATCH;
            const results = await thread.parse({ root, files: batch });
            for (const [at, file] of batch.entries()) done(file, results[at]!);
          }
        }),
      );
    },
    async close() {
      await rest();
      (await here)?.close();
    },
  };
}
