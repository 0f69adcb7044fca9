import { asSvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import type { MachineRunner, RunName } from '../../workers/runner/runs/index.ts';
import { type Lease, readUptimeMs } from './lease.ts';
import { listRecordedRuns, type RunRecord, readRunRecord, writeRunRecord } from './run-records.ts';

const LOOK_MS = 1000;

/** Ends the runs of this machine that must not continue without the board: all at the end of the lease, and each a minute after its time limit. */
export function watchRuns({
  runner,
  hasEnded,
  agentsDir,
  lease,
  graceMs,
  log,
}: {
  runner: Pick<MachineRunner, 'stop'>;
  /** Reports whether the agent of a run has ended by itself. */
  hasEnded(run: RunName): boolean;
  agentsDir: string;
  lease: Pick<Lease, 'isOver'>;
  graceMs: number;
  log: Log;
}): { look(): void; endAll(grace: number): void; close(): void } {
  const ending = new Set<string>();

  function recordReason(run: RunName, record: RunRecord, reason: NonNullable<RunRecord['endedBy']>): void {
    log.warn({ ...run, reason }, 'the run is ended without the board');
    try {
      // On disk before the first signal: its exit code means nothing.
      writeRunRecord(agentsDir, run, { ...record, endedBy: reason });
    } catch (error) {
      // It has just been discarded, or the disk is full; it ends in any case.
      log.warn({ ...run, error: asSvcError(error).message }, 'the reason of its end was not recorded');
    }
  }

  function endRun(
    run: RunName,
    record: RunRecord,
    reason: NonNullable<RunRecord['endedBy']>,
    grace: number,
  ): void {
    if (ending.has(run.runId)) return;
    ending.add(run.runId);
    // The exit code of one that only waits to be collected counts.
    if (!hasEnded(run)) recordReason(run, record, reason);
    runner.stop(run, grace).catch((error: unknown) => {
      ending.delete(run.runId);
      log.error({ ...run, error: asSvcError(error).message }, 'the run did not end');
    });
  }

  function look(): void {
    const isOver = lease.isOver();
    const now = readUptimeMs();
    for (const run of listRecordedRuns(agentsDir)) {
      const record = readRunRecord(agentsDir, run);
      if (record === null || record.endedBy !== null) continue;
      if (record.limitAt !== null && now >= record.limitAt) endRun(run, record, 'timeout', graceMs);
      else if (isOver) endRun(run, record, 'lease', graceMs);
    }
  }

  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return {
    look,
    /** Ends all runs now: the board has given them up. */
    endAll(grace) {
      for (const run of listRecordedRuns(agentsDir)) {
        const record = readRunRecord(agentsDir, run);
        if (record !== null) endRun(run, record, 'lease', grace);
      }
    },
    close: () => clearInterval(timer),
  };
}
