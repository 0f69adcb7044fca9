import { statfsSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { type Heartbeat, heartbeatAnswer } from '../messages.ts';
import type { BoardLink } from './board-link.ts';
import { type Lease, readUptimeMs } from './lease.ts';

/** The time between two heartbeats, ms; each is up to a tenth earlier or later. */
const EVERY_MS = 10_000;

/** Reads how busy this machine is. */
function readMachineLoad(folder: string): Pick<Heartbeat, 'diskFreeBytes' | 'load'> {
  const load = {
    diskFreeBytes: null as number | null,
    load: (loadavg()[0] ?? 0) / Math.max(1, cpus().length),
  };
  try {
    const { bavail, bsize } = statfsSync(folder);
    return { ...load, diskFreeBytes: bavail * bsize };
  } catch {
    return load;
  }
}

/** Reports to the board that this machine works, and renews its lease with each answer. */
export function startHeartbeats({
  board,
  lease,
  folder,
  listAgents,
  everyMs = EVERY_MS,
}: {
  board: Pick<BoardLink, 'call' | 'onAttach'>;
  lease: Lease;
  /** On the file system of the runs. */
  folder: string;
  listAgents(): Heartbeat['agents'];
  everyMs?: number;
}): { close(): void } {
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  async function send(): Promise<void> {
    const sentAt = readUptimeMs();
    const report: Heartbeat = { ...readMachineLoad(folder), agents: listAgents(), leaseMs: lease.read() };
    const answer = await board.call('heartbeat', report);
    const { success, data } = heartbeatAnswer.safeParse(answer);
    if (!success) return;
    const before = lease.read();
    lease.renew(data.leaseMs, sentAt);
    // The board counts on a lease only once it knows that it has arrived.
    if (data.leaseMs !== before) await send();
  }

  function schedule(): void {
    if (timer !== null) clearTimeout(timer);
    if (isClosed) return;
    timer = setTimeout(beat, everyMs * (0.9 + Math.random() * 0.2)).unref();
  }

  function beat(): void {
    // Without an answer the lease runs on, and a lost connection is opened again by the board.
    send().catch(() => undefined);
    schedule();
  }

  board.onAttach(beat);
  return {
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
