import type { LinkEvent, PendingDecision } from '../../../engine/core/link-protocol/messages.ts';
import type { RunningServer } from '../../../engine/linked-server/index.ts';
import { hashToken } from '../../../engine/linked-server/secrets.ts';
import { makeTargetRow } from './target-row.ts';

/** A list on the server's pages that has many rows: what each row shows, in the list's order. */
export interface LongList {
  path: string;
  rows: string[];
}

/** Gives an account that has one person and one machine this many rows in every list of its pages. */
export async function fillLists(
  { parts: { db, clock } }: Pick<RunningServer, 'parts'>,
  account: string,
  count: number,
): Promise<LongList[]> {
  const now = clock.now();
  /**
   * Three rows of each list have the same time, as happens within a millisecond. No row is old enough to be removed.
   */
  const timeOf = (index: number): number => now - 86_400_000 + Math.floor(index / 3) * 1000;
  /** Later than all other events, but close enough that a person can have been active. */
  const soonOf = (index: number): number => now + 1 + Math.floor(index / 3);
  const indexes = Array.from({ length: count }, (_, index) => index);
  const named = (what: string): string[] =>
    indexes.map((index) => `${what}-${String(index).padStart(4, '0')}`);
  const insert = async (table: Parameters<typeof db.insertInto>[0], rows: object[]): Promise<void> => {
    for (let first = 0; first < rows.length; first += 200)
      await db
        .insertInto(table)
        .values(rows.slice(first, first + 200) as never)
        .execute();
  };
  const person = await db
    .selectFrom('people')
    .select('id')
    .where('account_id', '=', account)
    .executeTakeFirstOrThrow();
  const [accounts, people, machines, workspaces, events, decisions, deliveries, changes, browsers] = [
    'account',
    'person',
    'machine',
    'workspace',
    'event',
    'decision',
    'delivery',
    'change',
    'browser',
  ].map(named) as [string[], ...string[][]] as Record<number, string[]> & [string[]];
  await insert(
    'accounts',
    accounts.map((id) => ({ id, name: id, plan: 'free', created_at: 0 })),
  );
  await insert(
    'people',
    people!.map((id) => ({
      id,
      account_id: account,
      name: id,
      name_key: id,
      role: 'member',
      is_operator: 0,
      password: null,
      created_at: 0,
    })),
  );
  await insert(
    'machines',
    machines!.map((id, index) => ({
      id,
      account_id: account,
      person_id: person.id,
      name: id,
      token_hash: hashToken(id),
      svc_version: '1.0.0',
      system: 'linux',
      created_at: timeOf(index),
      seen_at: null,
    })),
  );
  await insert(
    'workspaces',
    workspaces!.map((name, index) => ({
      id: `w_${name}`,
      account_id: account,
      machine_id: machines![index]!,
      key: name,
      // Several workspaces may share a name.
      name: 'shop',
      svc_version: name,
      token_hash: hashToken(name),
      next_token_hash: null,
      created_at: 0,
      last_seen_at: null,
      revoked_at: null,
      command_seq: 0,
      channels: 'page',
      more_decisions: index === 0 ? 7 : 0,
    })),
  );
  const workspace = `w_${workspaces![0]}`;
  await insert(
    'workspace_events',
    events!.map((id, index) => ({
      workspace_id: workspace,
      id,
      at: timeOf(index),
      body: JSON.stringify(makeEvent(id, timeOf(index))),
    })),
  );
  await insert(
    'pending_decisions',
    decisions!.map((title, index) => {
      const body = makeDecision(title, index, timeOf(index));
      const { decision_id, hash, approval } = body;
      return {
        account_id: account,
        workspace_id: workspace,
        decision_id,
        position: index,
        since: timeOf(index),
        hash,
        approval,
        body: JSON.stringify(body),
      };
    }),
  );
  await insert('targets', [makeTargetRow({ id: 't_long', account, createdAt: 0 })]);
  await insert(
    'deliveries',
    deliveries!.map((name, index) => ({
      // Sorts after all others.
      id: 1_000_000 + index,
      target_id: 't_long',
      account_id: account,
      workspace_id: workspace,
      workspace: name,
      event: 'sealed',
      message_id: name,
      body: '{}',
      state: 'delivered',
      tries: 1,
      created_at: timeOf(index),
      first_at: 0,
      next_at: 0,
      tried_at: 0,
      last_status: 204,
      last_ms: 12,
      last_error: null,
    })),
  );
  await insert(
    'changes',
    changes!.map((id, index) => ({
      id,
      account_id: account,
      at: soonOf(index),
      actor: 'ann',
      what: id,
      detail: '',
    })),
  );
  await insert(
    'browser_sessions',
    browsers!.map((id, index) => ({
      token_hash: hashToken(id),
      id,
      person_id: person.id,
      created_at: 0,
      seen_at: soonOf(index),
      address: '127.0.0.1',
      browser: id,
    })),
  );
  const newestFirst = (rows: string[]): string[] => rows.toReversed();
  return [
    { path: '/app', rows: decisions! },
    { path: '/app/workspaces', rows: workspaces! },
    { path: `/app/workspaces/${workspace}`, rows: newestFirst(events!) },
    { path: '/app/machines', rows: machines! },
    { path: '/app/deliveries', rows: newestFirst(deliveries!) },
    { path: '/app/deliveries?target=t_long', rows: newestFirst(deliveries!) },
    { path: '/app/people', rows: people! },
    { path: '/app/sign-ins', rows: newestFirst(browsers!) },
    { path: '/app/log', rows: newestFirst(changes!) },
    { path: '/operator', rows: accounts },
  ];
}

const makeEvent = (id: string, at: number): LinkEvent => ({
  id,
  event: 'sealed',
  at: new Date(at).toISOString(),
  project: null,
  task_id: 't-42',
  decision_id: null,
  session_id: null,
  agent: 'claude',
  status: 'done',
  title: id,
  reason: null,
});

const makeDecision = (title: string, index: number, since: number): PendingDecision => ({
  // As text, the ids do not sort by number.
  decision_id: `d-${10_000 + index}`,
  task_id: `t-${index + 1}`,
  hash: index.toString(16).padStart(64, '0'),
  agent: 'claude',
  project: null,
  title,
  source: 'task',
  author: null,
  author_role: null,
  reference: null,
  url: null,
  prompt_length: 4212,
  why: 'unknown author',
  since: new Date(since).toISOString(),
  approval: 'yes',
});
