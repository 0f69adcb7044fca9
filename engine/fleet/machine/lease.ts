import { uptime } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { readPrivate, replacePrivate } from '../../core/base/private-files.ts';
import { platform } from '../../core/platform/index.ts';

/** How much earlier than the board this machine gives its runs up, besides the time that they need to end, ms. */
const MARGIN_MS = 10_000;

const record = z.object({
  /** How long the runs may continue without the board, ms; null without a limit. */
  leaseMs: z.number().min(0).nullable(),
  /** When the last answered heartbeat was sent, by the uptime of the machine, ms. */
  sentAt: z.number(),
  /** Changes with each start of the machine. */
  boot: z.string().max(100),
});

/** The time that the runs of this machine may continue without the board, which starts them elsewhere after that. */
export interface Lease {
  /** Records an answer of the board. @param sentAt when the heartbeat was sent, by `readUptimeMs` */
  renew(leaseMs: number | null, sentAt: number): void;
  /** Returns how long the runs may continue without the board, ms; null for ever. */
  read(): number | null;
  /** True once the runs have to end. */
  isOver(): boolean;
}

/** Returns the time since the machine was started, ms. It counts while the machine sleeps, and no one can set it. */
export const readUptimeMs = (): number => uptime() * 1000;

/**
 * Opens the lease of this machine, which outlives its runner.
 * @param graceMs the time that a run has to end
 */
export function openLease(
  data: string,
  graceMs: number,
  {
    readUptime = readUptimeMs,
    boot = platform.readBootId() ?? '',
  }: { readUptime?: () => number; boot?: string } = {},
): Lease {
  const file = join(data, 'lease.json');
  let current = readRecord(file);
  // No run has outlived that start.
  if (current?.boot !== boot) current = null;

  return {
    renew(leaseMs, sentAt) {
      const isNone = (each: typeof current): boolean => (each?.leaseMs ?? null) === null;
      const next = { leaseMs, sentAt, boot };
      if (!isNone(current) || leaseMs !== null) replacePrivate(file, JSON.stringify(next));
      current = next;
    },
    read: () => current?.leaseMs ?? null,
    isOver() {
      if (current === null || current.leaseMs === null) return false;
      return readUptime() - current.sentAt >= Math.max(0, current.leaseMs - MARGIN_MS - graceMs);
    },
  };
}

function readRecord(file: string): z.infer<typeof record> | null {
  try {
    return record.parse(JSON.parse(readPrivate(file, 4096) ?? 'null'));
  } catch {
    return null;
  }
}
