import { hash as digest } from 'node:crypto';
import { createRequire } from 'node:module';
import { workerData } from 'node:worker_threads';
import { answerThreadCalls } from '../../core/base/thread-calls.ts';
import { releaseIdleMemory } from '../../core/platform/idle-memory.ts';
import { openForwarded } from './forwarded.ts';
import type { ShorteningCalls, ShorteningThreadData, ShortenOrder } from './shorten-outputs.ts';

// Runs in a thread, because a long output takes milliseconds, in which the gateway would answer no one else.

/** The module that understands program output. */
interface OutputShortener {
  /** Returns the shortened output and its type; null to leave it unchanged. */
  shortenOutput(
    whole: string,
    options: { id: string; crushes: boolean; stores: boolean; idleMs: number },
  ): { text: string; kind: string } | null;
}

const { data, shortener } = workerData as ShorteningThreadData;
const { shortenOutput } = createRequire(import.meta.url)(shortener) as OutputShortener;
const texts = openForwarded(data, Date.now);

/** Returns an id longer than the engine's ids, because the engine learns of texts only here: two outputs never share an id. */
const nameForwarded = (hash: string): string => `c-${hash.slice(0, 16)}`;

async function shorten({ json, settings, ...place }: ShortenOrder): Promise<string | null> {
  const whole = JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString()) as string;
  const bytesIn = Buffer.byteLength(whole);
  if (bytesIn < settings.longBytes) return null;
  const hash = digest('sha256', whole);
  const made = shortenOutput(whole, { ...settings, id: nameForwarded(hash) });
  if (made === null) return null;
  const token = JSON.stringify(made.text);
  texts.save({
    ...place,
    token,
    text: settings.stores ? { whole, hash, kind: made.kind } : null,
    bytesIn,
    bytesOut: Buffer.byteLength(made.text),
  });
  return token;
}

// The gateway does the same for its own heap.
const idleMemory = releaseIdleMemory({ collect: globalThis.gc });

answerThreadCalls<ShorteningCalls>(
  {
    async prepare() {
      return null;
    },
    shorten,
  },
  () => {
    idleMemory.close();
    texts.close();
  },
);
