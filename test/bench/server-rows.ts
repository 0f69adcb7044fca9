import type { Log } from '../../engine/core/base/log.ts';
import type { PendingDecision } from '../../engine/core/link-protocol/messages.ts';
import { type RunningServer, readServerSettings, startServer } from '../../engine/linked-server/index.ts';
import { hashToken } from '../../engine/linked-server/secrets.ts';
import { makeTargetRow } from '../support/server/target-row.ts';

/** Starts a server on a folder, within this process. */
export const openFilledServer = (folder: string, env: NodeJS.ProcessEnv, log: Log): Promise<RunningServer> =>
  startServer(
    { folder, env, log, passwordCost: { logN: 8, r: 8, p: 1 } },
    readServerSettings({ addr: '127.0.0.1:0', allowRemote: false, trustProxy: [], allowTarget: [] }),
  );

const ROWS_AT_ONCE = 200;

/** Adds an account with a signed-in person and the requested number of rows to a new server. */
export async function fillServer(
  { parts: { db, people, plans, clock } }: RunningServer,
  {
    workspaces = 0,
    deliveries = 0,
    decisions = 0,
  }: { workspaces?: number; deliveries?: number; decisions?: number },
): Promise<{ account: string; cookie: string; tokens: string[]; workspace: string }> {
  const now = clock.now();
  const account = await people.addAccount('home', 'bench');
  await plans.assign(account, 'team', 'bench');
  const ann = await people.add(
    { name: 'ann', account: account.id, role: 'admin', isOperator: true, password: 'correct horse battery' },
    'bench',
  );
  const cookie = await people.signIn(ann, { address: '127.0.0.1', browser: 'bench' });
  await db
    .insertInto('machines')
    .values({
      id: 'm_bench',
      account_id: account.id,
      person_id: ann.id,
      name: 'laptop',
      token_hash: hashToken('svcm_bench'),
      svc_version: '1.0.0',
      system: 'linux',
      created_at: now,
      seen_at: now,
    })
    .execute();
  const tokens = Array.from({ length: workspaces }, (_, index) => `svcw_${index}`.padEnd(40, 'x'));
  await inSlices(
    workspaces,
    (index) =>
      Array.from(index, (at) => ({
        id: `w_bench${at}`,
        account_id: account.id,
        machine_id: 'm_bench',
        key: `bench-${at}`,
        name: `workspace ${at}`,
        svc_version: '1.0.0',
        token_hash: hashToken(tokens[at] ?? ''),
        next_token_hash: null,
        created_at: now,
        last_seen_at: now,
        revoked_at: null,
        command_seq: 0,
        channels: 'page',
        more_decisions: 0,
      })),
    (rows) => db.insertInto('workspaces').values(rows).execute(),
  );
  await db
    .insertInto('targets')
    .values({ ...makeTargetRow({ id: 't_bench', account: account.id, createdAt: now }), events: '["alert"]' })
    .execute();
  await inSlices(
    deliveries,
    (index) =>
      Array.from(index, (at) => ({
        id: at + 1,
        target_id: 't_bench',
        account_id: account.id,
        workspace_id: 'w_bench0',
        workspace: 'workspace 0',
        event: 'sealed',
        message_id: `bench-${at}`,
        body: JSON.stringify({
          id: `bench-${at}`,
          event: 'sealed',
          title: 'Look into the order',
          task_id: `t-${at}`,
        }),
        // Pending deliveries pile up only for a paused target.
        state: at % 2 === 0 ? ('waiting' as const) : ('delivered' as const),
        tries: 1,
        created_at: now - at,
        first_at: now - at,
        next_at: now + at,
        tried_at: now,
        last_status: 204,
        last_ms: 12,
        last_error: null,
      })),
    (rows) => db.insertInto('deliveries').values(rows).execute(),
  );
  await inSlices(
    decisions,
    (index) =>
      Array.from(index, (at) => {
        const decision: PendingDecision = {
          decision_id: `d-${at + 1}`,
          task_id: `t-${at + 1}`,
          hash: at.toString(16).padStart(64, '0'),
          agent: 'claude',
          project: null,
          title: `Look into order ${at} and write down what you find`,
          source: 'task',
          author: null,
          author_role: null,
          reference: null,
          url: null,
          prompt_length: 4212,
          why: 'unknown author',
          since: new Date(now - at * 1000).toISOString(),
          approval: 'yes',
        };
        return {
          account_id: account.id,
          workspace_id: 'w_bench0',
          decision_id: decision.decision_id,
          position: at,
          since: Date.parse(decision.since),
          hash: decision.hash,
          approval: decision.approval,
          body: JSON.stringify(decision),
        };
      }),
    (rows) => db.insertInto('pending_decisions').values(rows).execute(),
  );
  return { account: account.id, cookie: `svc=${cookie}`, tokens, workspace: 'w_bench0' };
}

/** Writes this many rows, a few hundred per statement. */
async function inSlices<Row>(
  count: number,
  make: (indexes: Iterable<number> & ArrayLike<number>) => Row[],
  write: (rows: Row[]) => Promise<unknown>,
): Promise<void> {
  for (let first = 0; first < count; first += ROWS_AT_ONCE) {
    const indexes = Array.from({ length: Math.min(ROWS_AT_ONCE, count - first) }, (_, at) => first + at);
    await write(make(indexes));
  }
}

/** Headers of a workspace's calls. */
export const authorizeLink = (token: string) => ({ authorization: `Bearer ${token}`, 'svc-protocol': '1' });

/** A usual event of a workspace. */
export const buildServerEvent = (id: string) => ({
  id,
  event: 'sealed',
  at: new Date().toISOString(),
  project: null,
  task_id: 't-42',
  decision_id: 'd-17',
  session_id: 's-9',
  agent: 'claude',
  status: 'done',
  title: 'Look into the order and write down what you find',
  reason: null,
});
