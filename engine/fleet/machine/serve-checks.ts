import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { readPrivate, replacePrivate } from '../../core/base/private-files.ts';
import { createKeyedQueue } from '../../core/base/serial-queue.ts';
import type { CommandEnd, WorkChecks } from '../../workers/runner/checks/index.ts';
import { checkedSession, type orders } from '../messages.ts';
import type { MachineFolders } from './machine-folders.ts';
import { listRunsOf } from './run-records.ts';

export type CheckOrder = z.infer<typeof orders.check>;

const MOST_BYTES = 64 * 1024;

/** Checks work for the board in clean checkouts, as long as the board waits for the answer. */
export interface CheckServer {
  /** Throws as `WorkChecks.check` does. @param order with what this machine's person allows of it */
  check(order: CheckOrder, call: { signal: AbortSignal; report(data: unknown): void }): Promise<CommandEnd[]>;
  /** Counts the checks that run. */
  count(): number;
  /** Ends what a killed runner has left. */
  clearLeft(): Promise<void>;
  close(): Promise<void>;
}

export function createCheckServer({
  checks,
  folders: { data, agents: agentsDir, mirrors },
}: {
  checks: WorkChecks;
  folders: Pick<MachineFolders, 'data' | 'agents' | 'mirrors'>;
}): CheckServer {
  const marks = join(data, 'checks');
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  // A repeated call of a check comes after the end of the first, whose connection was lost.
  const enqueue = createKeyedQueue();
  const placeOf = ({ session, repository }: Pick<CheckOrder, 'session' | 'repository'>) => ({
    session,
    repository: join(mirrors, repository),
  });

  /** Removes what a check has left, and the session's folder if it holds nothing else. */
  function removeTraces(mark: string, sessionId: string): void {
    if (listRunsOf(agentsDir, sessionId).length === 0)
      rmSync(join(agentsDir, sessionId), { recursive: true, force: true });
    rmSync(join(marks, mark), { force: true });
  }

  async function runOrder(
    order: CheckOrder,
    { signal, report }: Parameters<CheckServer['check']>[1],
  ): Promise<CommandEnd[]> {
    const { mark, session, repository, commit, inside, setup, commands, timeoutMs } = order;
    try {
      mkdirSync(marks, { recursive: true, mode: 0o700 });
      // Read by the next runner, should this one be killed.
      replacePrivate(join(marks, mark), JSON.stringify({ session, repository }));
      const { ends } = await checks.check(
        { ...placeOf(order), commit, inside, setup, port: null },
        {
          ...{ commands, mark, timeoutMs },
          signal: AbortSignal.any([signal, closing.signal]),
          progress: (message) => report({ progress: message.slice(0, 1000) }),
          look: async () => null,
        },
      );
      return ends;
    } finally {
      removeTraces(mark, session.sessionId);
    }
  }

  return {
    check(order, call) {
      const run = enqueue(order.session.sessionId, () => runOrder(order, call)).finally(() =>
        running.delete(run),
      );
      running.add(run);
      return run;
    },
    count: () => running.size,
    async clearLeft() {
      mkdirSync(marks, { recursive: true, mode: 0o700 });
      for (const mark of readdirSync(marks)) {
        const found = checkedSession.safeParse(readJson(join(marks, mark)));
        if (found.success) await checks.clear(placeOf(found.data), mark);
        if (found.success) removeTraces(mark, found.data.session.sessionId);
        else rmSync(join(marks, mark), { force: true });
      }
    },
    async close() {
      closing.abort();
      await Promise.allSettled(running);
    },
  };
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readPrivate(file, MOST_BYTES) ?? 'null');
  } catch {
    return null;
  }
}
