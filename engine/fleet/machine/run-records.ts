import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readPrivate, replacePrivate } from '../../core/base/private-files.ts';
import type { RunName } from '../../workers/runner/runs/index.ts';

/** The facts about a run that a restarted runner needs. */
const record = z.object({
  profile: z.string().max(40).nullable(),
  /** The loopback port at which its agent finds the gateway; null for none. */
  gatewayPort: z.int().min(1).max(65_535).nullable(),
  /** When this machine ends it by itself, by its uptime, ms; null for never. */
  limitAt: z.number().nullable().default(null),
  /** Why this machine has ended it without an order; null if it has not. */
  endedBy: z.enum(['lease', 'timeout']).nullable().default(null),
});

export type RunRecord = z.infer<typeof record>;

const RUN_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const recordFile = (agentsDir: string, { sessionId, runId }: RunName): string =>
  join(agentsDir, sessionId, runId, 'run.json');

/** Writes the record of a prepared run. */
export const writeRunRecord = (agentsDir: string, run: RunName, facts: RunRecord): void =>
  replacePrivate(recordFile(agentsDir, run), JSON.stringify(facts));

/** Reads the record of a run; null if there is none. */
export function readRunRecord(agentsDir: string, run: RunName): RunRecord | null {
  try {
    return record.parse(JSON.parse(readPrivate(recordFile(agentsDir, run), 4096) ?? 'null'));
  } catch {
    return null;
  }
}

/** Lists the runs of a session that were started here and not discarded. */
export function listRunsOf(agentsDir: string, sessionId: string): RunName[] {
  const folder = join(agentsDir, sessionId);
  return (existsSync(folder) ? readdirSync(folder) : [])
    .map((runId) => ({ sessionId, runId }))
    .filter((run) => RUN_ID.test(run.runId) && existsSync(recordFile(agentsDir, run)));
}

/** Lists the runs of all sessions; see `listRunsOf`. */
export function listRecordedRuns(agentsDir: string): RunName[] {
  const sessions = existsSync(agentsDir) ? readdirSync(agentsDir) : [];
  return sessions
    .filter((name) => /^s-\d+$/.test(name))
    .flatMap((sessionId) => listRunsOf(agentsDir, sessionId));
}
