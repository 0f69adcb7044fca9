import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../../../core/base/errors.ts';
import type { RunningProcess, StartSpec } from './start.ts';
import { isClaimed, readStarted } from './wrapper.ts';

/** How long a wrapper may take to write its pid, ms. */
const CLAIM_MS = 10_000;
const LOOK_MS = 5;

/**
 * Starts a process whose run directory an earlier host may have used, a moment before it was killed: one of the two
 * wrappers runs the agent. Returns that one, running or ended. Throws as `start`, and `conflict` for a run that was
 * given up.
 */
export async function startAgain(
  spec: StartSpec,
  {
    start,
    findStarted,
  }: {
    start(spec: StartSpec): Promise<RunningProcess>;
    findStarted(run: { runDir: string; runId: string }): RunningProcess | null;
  },
): Promise<RunningProcess> {
  const { runDir, runId } = spec;
  const deadline = performance.now() + CLAIM_MS;
  for (;;) {
    const found = findStarted(spec);
    if (found !== null) return found;
    if (isClaimed(runDir))
      throw new SvcError('conflict', `run ${runId} was given up before it started`, { data: { runDir } });
    const running = await start(spec).catch((error: unknown) => {
      // Its pid is just being written.
      const isClaiming = error instanceof SvcError && error.code === 'already_running';
      if (!isClaiming || performance.now() > deadline) throw error;
      return null;
    });
    if (running === null) {
      await delay(LOOK_MS);
      continue;
    }
    let hasEnded = false;
    void running.exited.then(() => {
      hasEnded = true;
    });
    const isOpen = (): boolean => readStarted(runDir) === null && !isClaimed(runDir);
    const isPending = (): boolean => !hasEnded || existsSync(join(runDir, 'started'));
    while (isOpen() && isPending() && performance.now() < deadline) await delay(LOOK_MS);
    if (isOpen() || readStarted(runDir) === running.pid) return running;
  }
}
