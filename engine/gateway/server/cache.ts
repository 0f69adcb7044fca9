import { createHash } from 'node:crypto';
import { KEY_PREFIX } from '../keys/virtual-key.ts';
import type { GatewayCall } from './call.ts';

/** An answer as its client received it. */
export interface CachedAnswer {
  type: string;
  bytes: Buffer;
}

/** Caches whole answers for identical requests. */
export interface AnswerCache {
  find(key: string): CachedAnswer | null;
  keep(key: string, answer: CachedAnswer): void;
  configure(limits: { ttlSec: number; entries: number }): void;
  isOn(): boolean;
  /** Forgets everything: different providers may answer differently. */
  clear(): void;
}

const MOST_BYTES = 64 * 1024 ** 2;
/** Larger answers are not cached. */
export const MOST_ANSWER_BYTES = 4 * 1024 ** 2;
/** Headers that change the answer, and headers by which a service identifies a client with its own account. */
const MATTER = [
  'anthropic-beta',
  'anthropic-version',
  'openai-beta',
  'accept',
  'openai-organization',
  'openai-project',
  'authorization',
  'x-api-key',
  'x-goog-api-key',
];

/** Returns hash of everything that affects the answer: the whole request, not its last message. */
export function keyOfCall({ body, request, credentials, route, asked, isStream }: GatewayCall): string {
  // All virtual keys give the same access.
  const headers = MATTER.map((name) => String(request.headers[name] ?? '')).map((value) =>
    value.includes(KEY_PREFIX) ? '' : value,
  );
  return createHash('sha256')
    .update(
      JSON.stringify([
        route.protocol,
        route.kind,
        asked,
        isStream,
        credentials.path,
        credentials.query,
        headers,
      ]),
    )
    .update(body)
    .digest('base64url');
}

/** Forgets expired entries, and the least recently used. */
export function createAnswerCache(now: () => number): AnswerCache {
  const kept = new Map<string, CachedAnswer & { until: number }>();
  let bytes = 0;
  let ttlMs = 0;
  let most = 0;

  function drop(key: string): void {
    bytes -= kept.get(key)?.bytes.length ?? 0;
    kept.delete(key);
  }

  function trim(): void {
    for (const key of kept.keys()) {
      if (kept.size <= most && bytes <= MOST_BYTES) return;
      drop(key);
    }
  }

  return {
    isOn: () => ttlMs > 0,
    clear() {
      kept.clear();
      bytes = 0;
    },
    find(key) {
      const found = kept.get(key);
      if (found === undefined) return null;
      kept.delete(key);
      if (found.until <= now()) {
        bytes -= found.bytes.length;
        return null;
      }
      kept.set(key, found);
      return found;
    },
    keep(key, answer) {
      if (ttlMs === 0 || answer.bytes.length > MOST_ANSWER_BYTES) return;
      drop(key);
      kept.set(key, { ...answer, until: now() + ttlMs });
      bytes += answer.bytes.length;
      trim();
    },
    configure({ ttlSec, entries }) {
      ttlMs = ttlSec * 1000;
      most = ttlSec === 0 ? 0 : entries;
      trim();
    },
  };
}
