import { type Clock, rfc3339 } from '../base/clock.ts';
import { formatCount } from '../base/text.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import { findFailure } from './failures.ts';

/** So many failures of its own, one after the other, and an agent is given no more work. */
export const FAILURES = 3;
const FIRST_PAUSE_MS = 5 * 60_000;
const LONGEST_PAUSE_MS = 60 * 60_000;

/** An agent that is given no work. Times are RFC 3339 UTC. */
export interface Circuit {
  agent: string;
  failures: number;
  /** Of the last failure. */
  code: string;
  text: string;
  openedAt: string;
  /** From then on one session at a time may try. */
  reopenAt: string;
}

interface Row {
  agent: string;
  failures: number;
  code: string;
  text: string;
  opened_at: number | null;
  reopen_at: number | null;
}

/**
 * Knows which agents fail again and again for reasons of their own, so that a queue is not burnt on a login that has
 * run out. After a while one session may try; its end opens or closes the way.
 */
export interface Circuits {
  /** Inside `storage.write`, at every end: `failure` null for work that was done. */
  recordEnd(agent: string, failure: { code: string; text: string } | null): void;
  /** How many sessions of an agent may run at once now: 0, or 1 for a trial. Without an entry there is no limit. */
  listLimits(): Map<string, number>;
  findCircuit(agent: string): Circuit | null;
  listCircuits(): Circuit[];
  /** Inside `storage.write`: a person says that it is in order again. False when nothing was open. */
  resetCircuit(agent: string, by: { actor: string; via: string }): boolean;
  /** When the next one may be tried that may not at `now`, Unix ms; Infinity when there is none. */
  findNextTrial(now: number): number;
}

export function createCircuits({
  storage,
  events,
  clock,
}: {
  storage: Storage;
  events: EventLog;
  clock: Clock;
}): Circuits {
  const { db } = storage;
  const one = db.prepare<unknown[], Row>('SELECT * FROM circuit WHERE agent = ?');
  const open = db.prepare<unknown[], Row>('SELECT * FROM circuit WHERE opened_at IS NOT NULL ORDER BY agent');
  const put = db.prepare(`INSERT INTO circuit (agent, failures, code, text, opened_at, reopen_at)
    VALUES (@agent, @failures, @code, @text, @opened_at, @reopen_at)
    ON CONFLICT (agent) DO UPDATE SET failures = @failures, code = @code, text = @text, opened_at = @opened_at,
    reopen_at = @reopen_at`);
  const remove = db.prepare('DELETE FROM circuit WHERE agent = ?');
  const toCircuit = (row: Row): Circuit => ({
    agent: row.agent,
    failures: row.failures,
    code: row.code,
    text: row.text,
    openedAt: rfc3339(row.opened_at ?? 0),
    reopenAt: rfc3339(row.reopen_at ?? 0),
  });

  return {
    recordEnd(agent, failure) {
      // What was stopped, or failed in its task, says nothing of the agent.
      if (failure === null) remove.run(agent);
      if (failure === null || !findFailure(failure.code)?.isOfAgent) return;
      const before = one.get(agent);
      const failures = (before?.failures ?? 0) + 1;
      const isOpen = failures >= FAILURES;
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, failures - FAILURES), LONGEST_PAUSE_MS);
      const now = clock.now();
      put.run({
        agent,
        failures,
        ...failure,
        opened_at: isOpen ? (before?.opened_at ?? now) : null,
        reopen_at: isOpen ? now + pauseMs : null,
      });
      if (!isOpen || before?.opened_at != null) return;
      const reason = `${agent} is given no more work: it failed ${formatCount(failures, 'time')} in a row (${failure.code})`;
      events.append({
        kind: 'alert',
        via: 'engine',
        data: {
          agent,
          code: 'circuit_open',
          reason,
          detail: `${failure.text}; svc agents reset ${agent} lets it go on`,
        },
      });
    },
    listLimits() {
      const now = clock.now();
      return new Map(open.all().map((row) => [row.agent, (row.reopen_at ?? 0) > now ? 0 : 1]));
    },
    findCircuit(agent) {
      const row = one.get(agent);
      return row === undefined || row.opened_at === null ? null : toCircuit(row);
    },
    listCircuits: () => open.all().map(toCircuit),
    resetCircuit(agent, by) {
      if (remove.run(agent).changes === 0) return false;
      events.append({ kind: 'circuit_reset', ...by, data: { agent } });
      return true;
    },
    findNextTrial: (now) =>
      Math.min(...open.all().flatMap(({ reopen_at: at }) => (at !== null && at > now ? [at] : []))),
  };
}
