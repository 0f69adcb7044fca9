import { join } from 'node:path';
import { type Clock, systemClock } from '../../../engine/core/base/clock.ts';
import { TELEMETRY_SCHEMA, type TelemetryDay } from '../../../engine/core/link-protocol/telemetry-day.ts';
import type { CallRow } from '../../../engine/gateway/books/schema.ts';
import { openBooks } from '../../../engine/gateway/server/books.ts';
import { type LinkedWorkspace, linkWorkspace } from '../server/linked-workspace.ts';
import { until } from '../wait.ts';
import { makeCallRow } from './call-row.ts';
import { AGENT, type TestWorkspace, type WorkspaceOptions } from './workspace.ts';

const HOUR = 3600_000;
export const DAY = 24 * HOUR;
/** The scripted agent under a name that svc knows. */
export const CLAUDE = `'${process.execPath}' '${AGENT}' -- {{prompt}}`;

/**
 * A settable clock; each change makes periodic checks due. It starts at noon UTC so that no test crosses the end of a
 * day.
 */
export function settableClock(daysAhead: number): Clock & { move(ms: number): void } {
  const begun = systemClock.now();
  let shift = Math.floor(begun / DAY) * DAY + DAY / 2 - begun + daysAhead * DAY;
  let passed = 0;
  return {
    now: () => systemClock.now() + shift,
    monotonic: () => systemClock.monotonic() + passed,
    move(ms) {
      shift += ms;
      passed += HOUR;
    },
  };
}

export interface Counted extends LinkedWorkspace {
  clock: ReturnType<typeof settableClock>;
  /** The server's records, oldest first. */
  told(): Promise<TelemetryDay[]>;
  /** Makes the workspace check for data to send; resolves when that is done. */
  look(): Promise<void>;
}

/** Repeats the check until something is found: the data arrives some time after the check. */
export const lookUntil = <T>(
  look: () => Promise<void>,
  find: () => Promise<T>,
): ReturnType<typeof until<T>> =>
  until(async () => {
    await look();
    return find();
  });

/** Creates a linked workspace whose clock is two days behind, so that its days can end. */
export async function countedWorkspace({
  daysAhead = -2,
  workspace = {},
  isSeen = true,
}: {
  daysAhead?: number;
  workspace?: WorkspaceOptions;
  isSeen?: boolean;
} = {}): Promise<Counted> {
  const clock = settableClock(daysAhead);
  const linked = (await linkWorkspace({ engine: { clock }, workspace })) as Counted;
  if (isSeen) await linked.here.call('telemetry.agree', { schema: TELEMETRY_SCHEMA });
  return Object.assign(linked, {
    clock,
    async told() {
      const { db } = linked.server.parts;
      const rows = await db.selectFrom('usage_days').select('body').orderBy('day').execute();
      return rows.map(({ body }) => JSON.parse(body) as TelemetryDay);
    },
    async look() {
      clock.move(0);
      const { people, plans, db } = linked.server.parts;
      const [home] = await people.listAccounts();
      // A changed plan ends the poll immediately, so the workspace fetches its lease.
      await plans.assign(home!, home!.plan === 'team' ? 'professional' : 'team', 'a test');
      await until(
        async () =>
          (await db.selectFrom('commands').select('id').where('outcome', 'is', null).execute()).length === 0,
        'the answer to a command',
      );
    },
  });
}

export async function runToEnd(
  { here }: Pick<LinkedWorkspace, 'here'>,
  body: string,
  agent?: string,
): Promise<void> {
  const { task_id: id } = await here.call('task.add', { body, ...(agent === undefined ? {} : { agent }) });
  await here.call('task.run', { id });
  await until(async () => ['done', 'failed'].includes((await here.call('task.show', { id })).task.status));
}

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Writes calls to the database as the gateway does. */
export function noteCalls(
  { root }: TestWorkspace,
  calls: readonly (Partial<CallRow> & { at: number })[],
): void {
  const books = openBooks(join(root, '.svc'), { now: Date.now, isAlone: true });
  for (const { at, ...more } of calls)
    books.note(
      makeCallRow({
        id: books.nextId(),
        started_at: at,
        ended_at: at + 5,
        day: dayOf(at),
        person: 'ada',
        provider: 'my-paid',
        model: 'my-model',
        ...more,
      }),
    );
  books.save();
  books.close();
}
