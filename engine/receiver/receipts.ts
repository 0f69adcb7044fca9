import type { Clock } from '../core/base/clock.ts';
import { formatId, parseId } from '../core/base/ids.ts';
import type { Storage } from '../storage/index.ts';

export interface RequestReceipt {
  taskId: string;
  fingerprint: string;
}

/** Remembers which task an external key (an Idempotency-Key, an issue, a comment) created. Call inside `storage.write`. */
export interface RequestReceipts {
  findReceipt(key: string): RequestReceipt | null;
  /** Records a key; with `ttlMs` null it never expires. */
  keepReceipt(key: string, receipt: RequestReceipt, ttlMs: number | null): void;
}

export function createReceipts({ storage, clock }: { storage: Storage; clock: Clock }): RequestReceipts {
  const find = storage.db.prepare<unknown[], { task_id: number; fingerprint: string }>(
    'SELECT task_id, fingerprint FROM receipt WHERE key = ? AND (expires_at IS NULL OR expires_at >= ?)',
  );
  const keep = storage.db.prepare(
    'INSERT OR REPLACE INTO receipt (key, fingerprint, task_id, expires_at) VALUES (?, ?, ?, ?)',
  );
  return {
    findReceipt(key) {
      const row = find.get(key, clock.now());
      return row ? { taskId: formatId('t', row.task_id), fingerprint: row.fingerprint } : null;
    },
    keepReceipt(key, { taskId, fingerprint }, ttlMs) {
      keep.run(key, fingerprint, parseId('t', taskId), ttlMs === null ? null : clock.now() + ttlMs);
    },
  };
}
