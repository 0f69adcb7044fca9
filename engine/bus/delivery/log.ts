import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { appendPrivate, makePrivateFolder } from '../../core/base/private-files.ts';

/** One delivery attempt; never the message's text. */
export interface TriedDelivery {
  at: string;
  id: number;
  kind: string;
  from: string | null;
  to: string;
  mode: string;
  ok: boolean;
  error: string | null;
}

/** Owns `log/bus.log`: one JSON line per attempt. Failing to write it never stops a delivery. */
export function createBusLog({ data, maxBytes }: { data: string; maxBytes(): number }): {
  add(tried: TriedDelivery): void;
} {
  const folder = join(data, 'log');
  const file = join(folder, 'bus.log');
  let size: number | null = null;
  return {
    add(tried) {
      const line = `${JSON.stringify(tried)}\n`;
      const length = Buffer.byteLength(line);
      try {
        if (size === null) {
          makePrivateFolder(data, folder);
          size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
        }
        const limit = maxBytes();
        if (limit > 0 && size > 0 && size + length > limit) {
          renameSync(file, `${file}.1`);
          size = 0;
        }
        appendPrivate(file, line);
        size += length;
      } catch {
        // A full disk loses log lines, not messages; it is checked again next time.
        size = null;
      }
    },
  };
}
