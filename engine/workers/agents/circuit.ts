import { renderWords } from '../../core/api/words.ts';
import { backoffMs } from '../../core/base/backoff.ts';
import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { sentence } from '../../core/base/sentence.ts';
import { formatCount } from '../../core/base/text.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import { findFailure } from './failures.ts';

/** After this many agent failures in a row the circuit opens: the agent gets no more work. */
export const FAILURES = 3;
const PAUSES = { firstMs: 5 * 60_000, longestMs: 60 * 60_000 };

/** An open circuit: the agent gets no work. Times are RFC 3339 UTC. */
export interface OpenCircuit {
  agent: string;
  failures: number;
  /** The code of the last failure. */
  code: string;
  text: string;
  openedAt: string;
  /** From then on one trial session at a time may run. */
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
 * Owns one circuit per agent. It opens after repeated failures of the agent itself, so that the queue is not wasted
 * on an expired login. After a pause one trial session may run; its end closes the circuit or keeps it open.
 */
export interface AgentCircuits {
  /** Inside `storage.write`, at every end of a session; `failure` is null for a success. */
  recordEnd(agent: string, failure: { code: string; text: string } | null): void;
  /**
   * Returns how many sessions of an agent with an open circuit may run now: 0, or 1 for a trial. Agents without an
   * entry have no limit.
   */
  listLimits(): Map<string, number>;
  findCircuit(agent: string): OpenCircuit | null;
  listCircuits(): OpenCircuit[];
  /** Inside `storage.write`: a person closes the circuit. False if none was open. */
  resetCircuit(agent: string, by: { actor: string; via: string }): boolean;
  /** Returns when the next trial becomes possible after `now`, Unix ms; Infinity for never. */
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
}): AgentCircuits {
  const { db } = storage;
  const one = db.prepare<unknown[], Row>('SELECT * FROM circuit WHERE agent = ?');
  const open = db.prepare<unknown[], Row>('SELECT * FROM circuit WHERE opened_at IS NOT NULL ORDER BY agent');
  const put = db.prepare(`INSERT INTO circuit (agent, failures, code, text, opened_at, reopen_at)
    VALUES (@agent, @failures, @code, @text, @opened_at, @reopen_at)
    ON CONFLICT (agent) DO UPDATE SET failures = @failures, code = @code, text = @text, opened_at = @opened_at,
    reopen_at = @reopen_at`);
  const remove = db.prepare('DELETE FROM circuit WHERE agent = ?');
  const toCircuit = (row: Row): OpenCircuit => ({
    agent: row.agent,
    failures: row.failures,
    code: row.code,
    text: row.text,
    openedAt: rfc3339(row.opened_at ?? 0),
    reopenAt: rfc3339(row.reopen_at ?? 0),
  });

  return {
    recordEnd(agent, failure) {
      // A stopped session, or one that failed in its task, says nothing about the agent.
      if (failure === null) remove.run(agent);
      if (failure === null || !findFailure(failure.code)?.isOfAgent) return;
      const before = one.get(agent);
      const failures = (before?.failures ?? 0) + 1;
      const isOpen = failures >= FAILURES;
      const pauseMs = backoffMs(failures - FAILURES + 1, PAUSES);
      const now = clock.now();
      put.run({
        agent,
        failures,
        ...failure,
        opened_at: isOpen ? (before?.opened_at ?? now) : null,
        reopen_at: isOpen ? now + pauseMs : null,
      });
      if (!isOpen || before?.opened_at != null) return;
      const reason = `circuit open: ${agent} failed ${formatCount(failures, 'time')} in a row (${failure.code}) and gets no more work`;
      events.append({
        kind: 'alert',
        via: 'engine',
        data: {
          agent,
          code: 'circuit_open',
          reason,
          detail: renderWords(
            sentence`${failure.text}; {agent.reset ${agent}} lets it work again`,
            'commands',
          ),
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
