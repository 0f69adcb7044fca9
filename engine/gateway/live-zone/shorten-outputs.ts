import { locateProgram } from '../../core/base/own-package.ts';
import { settleWithin } from '../../core/base/settle-within.ts';
import { createThreadClient } from '../../core/base/thread-calls.ts';
import type { JsonEdit } from '../json-members.ts';
import type { LiveZoneSettings } from '../settings.ts';
import type { ForwardedTexts, NewForward } from './forwarded.ts';
import type { NewOutput } from './list-edits.ts';

/** An output for the thread, as the bytes of its JSON string. */
export interface ShortenOrder extends Omit<NewForward, 'token' | 'text' | 'bytesIn' | 'bytesOut'> {
  json: Uint8Array;
  settings: Pick<LiveZoneSettings, 'crushes' | 'stores' | 'longBytes' | 'idleMs'>;
}

export interface ShorteningCalls {
  /** Loads the code, so that the first output does not wait for it. */
  prepare: { takes: null; answers: null };
  /** Saves a replacement and returns it; null if the output stays whole. */
  shorten: { takes: ShortenOrder; answers: string | null };
}

/** The `workerData` of the thread. */
export interface ShorteningThreadData {
  data: string;
  /** The path of the module that shortens outputs. */
  shortener: string;
}

/** Shortens new outputs in a thread. */
export interface OutputShortening {
  prepare(): void;
  /**
   * Resolves with the replacements that are ready within the time limit. The thread finishes the others, which apply
   * from the next request of their conversation on.
   */
  shorten(body: Buffer, fresh: readonly NewOutput[], settings: LiveZoneSettings): Promise<JsonEdit[]>;
  /** Forgets which outputs stay whole. */
  reconsider(): void;
  close(): Promise<void>;
}

/** Bytes of outputs that wait for the thread; more pass whole. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;
/** Outputs that are remembered as not worth shortening. */
const MOST_WHOLE = 4096;
const IDLE_MS = 5 * 60_000;

export function createOutputShortening({
  texts,
  budgetMs,
  onFailed,
  ...given
}: ShorteningThreadData & {
  texts: Pick<ForwardedTexts, 'setToken'>;
  /** How long a request waits for its outputs, ms. */
  budgetMs: number;
  onFailed(error: unknown): void;
}): OutputShortening {
  const thread = createThreadClient<ShorteningCalls>({
    program: locateProgram('shortening-thread'),
    name: 'the shortening of outputs',
    idleMs: IDLE_MS,
    closingMs: 1000,
    limits: { maxOldGenerationSizeMb: 256 },
    settings: () => given satisfies ShorteningThreadData,
  });
  const whole = new Set<string>();
  let waitingBytes = 0;

  const nameOutput = ({ conversation, call, hash }: NewOutput): string => `${conversation}\n${call}\n${hash}`;

  function keepWhole(name: string): void {
    whole.add(name);
    const [oldest] = whole;
    if (whole.size > MOST_WHOLE && oldest !== undefined) whole.delete(oldest);
  }

  /** Returns null if the output stays whole. */
  function startShortening(
    body: Buffer,
    output: NewOutput,
    { crushes, stores, longBytes, idleMs }: LiveZoneSettings,
  ): Promise<string | null> | null {
    const name = nameOutput(output);
    const { start, end, running: _, ...place } = output;
    const bytes = end - start;
    if (whole.has(name) || waitingBytes + bytes > MOST_WAITING_BYTES) return null;
    waitingBytes += bytes;
    // A copy: a view would be sent with the whole body behind it.
    const json = new Uint8Array(body.subarray(start, end));
    const run = thread
      .call('shorten', { ...place, bytes, json, settings: { crushes, stores, longBytes, idleMs } })
      .then((token) => {
        if (token === null) keepWhole(name);
        texts.setToken({ ...place, bytes }, token);
        return token;
      })
      .catch((error: unknown) => {
        // A request that ends its thread must not end the next one too.
        keepWhole(name);
        texts.setToken({ ...place, bytes }, null);
        onFailed(error);
        return null;
      })
      .finally(() => {
        waitingBytes -= bytes;
      });
    texts.setToken({ ...place, bytes }, run);
    return run;
  }

  return {
    prepare: () => void thread.call('prepare', null).catch(onFailed),
    async shorten(body, fresh, settings) {
      const edits: JsonEdit[] = [];
      const runs = fresh.map(async (output) => {
        const token = await (output.running ?? startShortening(body, output, settings));
        if (token !== null) edits.push({ start: output.start, end: output.end, bytes: token });
      });
      await settleWithin(budgetMs, Promise.all(runs));
      // A copy: later ones must not be added while the request is changed.
      return [...edits];
    },
    reconsider: () => whole.clear(),
    close: () => thread.close(),
  };
}
