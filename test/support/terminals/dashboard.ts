import type { DashboardEffect } from '../../../tui/actions/transition.ts';
import { type DashboardEvent, reduceState } from '../../../tui/reducer.ts';
import type { DataChange } from '../../../tui/state/data.ts';
import { getSubjectStamp } from '../../../tui/state/details.ts';
import type { State } from '../../../tui/state/model.ts';
import type {
  CommentRow,
  ListedAsk,
  ListedEvidence,
  ListedLock,
  ListedMemory,
  ListedMessage,
  ListedPlan,
  ListedTrial,
  ListedUsageDay,
  ListedWork,
  PeerRow,
  RowDetails,
  RunnerRow,
  ShownDecision,
  ShownSession,
  ShownTask,
  StatusRow,
} from '../../../tui/state/rows.ts';
import { createInitialState } from '../../../tui/store.ts';

/** A fixed moment; rows are a few minutes older. */
export const NOW = Date.parse('2026-03-01T12:00:00Z');
const at = (minutesAgo: number): string => new Date(NOW - minutesAgo * 60_000).toISOString();

export const taskRow = (id: number, more: Partial<ShownTask> = {}): ShownTask => ({
  task_id: `t-${id}`,
  title: `Task number ${id}`,
  agent: 'claude',
  project: null,
  template: null,
  status: 'assigned',
  ledger: null,
  source: 'task',
  source_ref: null,
  stranger: null,
  decision_id: null,
  session_id: null,
  race: null,
  priority: 0,
  after: [],
  waits_for: null,
  resume_at: null,
  archived_at: null,
  attempt: 1,
  timeout_sec: null,
  created_at: at(10),
  assigned_at: at(10),
  started_at: null,
  ended_at: null,
  exit_code: null,
  failure: null,
  summary: null,
  waits: false,
  race_ready: false,
  ...more,
});

export const decisionRow = (id: number, more: Partial<ShownDecision> = {}): ShownDecision => ({
  decision_id: `d-${id}`,
  task_id: `t-${id}`,
  kind: 'dispatch',
  state: 'pending',
  agent: 'claude',
  race: null,
  project: null,
  hash: `${id}`.repeat(64).slice(0, 64),
  changes: [],
  unseen: 0,
  stranger: null,
  why: 'the request did not carry one (webhook.require_approval)',
  source: 'task',
  source_ref: null,
  created_at: at(3),
  decided_at: null,
  decided_by: null,
  decided_via: null,
  reason: null,
  consumed_at: null,
  session_id: null,
  title: `Task number ${id}`,
  ...more,
});

export const sessionRow = (id: number, more: Partial<ShownSession> = {}): ShownSession => ({
  session_id: `s-${id}`,
  task_id: `t-${id}`,
  decision_id: `d-${id}`,
  worker_id: `w-${id}`,
  parent: null,
  title: `Task number ${id}`,
  agent: 'claude',
  project: null,
  state: 'ended',
  inplace: false,
  keep_worktree: false,
  base_wanted: null,
  port: null,
  race: null,
  pool: null,
  waits_for: null,
  waits_for_task: null,
  machine: null,
  pull_request: null,
  pull_request_order: null,
  timeout_sec: 3600,
  idle_timeout_sec: 600,
  pid: null,
  runner: null,
  repository: '/repository',
  worktree: `/repository/.svc/worktrees/s-${id}`,
  cwd: null,
  branch: `svc/s-${id}`,
  base: 'main',
  base_commit: 'b'.repeat(40),
  stop_reason: null,
  exit_code: 0,
  exit_signal: null,
  failure: null,
  own_word: null,
  head_commit: 'c'.repeat(40),
  commits: 1,
  files: 1,
  insertions: 2,
  deletions: 1,
  promoted_at: null,
  promoted_by: null,
  branch_state: null,
  priority: 0,
  resume_at: null,
  pause: null,
  runs: 1,
  run_started_at: at(5),
  continues: null,
  transport: 'subprocess',
  auth: 'account',
  profile: 'lite',
  containment: null,
  token_budget: null,
  agent_session: null,
  model: null,
  usage: null,
  tool_calls: null,
  created_at: at(5),
  started_at: at(5),
  ended_at: at(1),
  log_written_at: null,
  last_line: null,
  committed: null,
  activity: null,
  held: null,
  reads_messages: 'never',
  untold: [],
  saved_tokens: 0,
  plan: [],
  ...more,
});

/** An ask from s-1, created five minutes ago, with five minutes left. */
export const askRow = (id: number, more: Partial<ListedAsk> = {}): ListedAsk => ({
  id,
  status: 'open',
  from_session: 's-1',
  task_id: 't-1',
  to_session: 'chair',
  project: null,
  question: `Question number ${id}?`,
  context: null,
  options: ['keep the first', 'keep the second', 'merge both'],
  created_at: at(5),
  expires_at: at(-5),
  answered_at: null,
  answered_by: null,
  answer: null,
  symbol_ref: null,
  ...more,
});

export const messageRow = (id: number, more: Partial<ListedMessage> = {}): ListedMessage => ({
  id,
  kind: 'note',
  body: `Message number ${id}\nwith a second line`,
  payload_path: null,
  from_session: 's-1',
  from_agent: 'claude',
  from_name: null,
  to_session: 'chair',
  to_worker: null,
  to_agent: null,
  parent_id: null,
  task_id: null,
  created_at: at(4),
  acked_at: null,
  acked_by: null,
  delivery: 'delivered',
  attempts: 1,
  delivered_at: at(4),
  last_error: null,
  ...more,
});

export const peerRow = (session: string, more: Partial<PeerRow> = {}): PeerRow => ({
  session_id: session,
  seat: 'worker',
  state: 'live',
  agent: 'claude',
  project: null,
  worker_id: session.replace('s-', 'w-'),
  task_id: session.replace('s-', 't-'),
  title: `Task of ${session}`,
  parent: null,
  notify_base: null,
  since: at(5),
  seen_at: at(1),
  ...more,
});

export const lockRow = (path: string, more: Partial<ListedLock> = {}): ListedLock => ({
  path,
  holder: 's-1',
  fence: 1,
  acquired_at: at(3),
  expires_at: at(-27),
  ...more,
});

/** Another machine, which is connected and idle. */
export const runnerRow = (id: number, more: Partial<RunnerRow> = {}): RunnerRow => ({
  id: `r-${id}`,
  name: `box${id}`,
  transport: 'ssh',
  address: `ada@box${id}.lan`,
  pool: 'default',
  max: 4,
  running: 0,
  agents: [
    { name: 'claude', logged_in: true },
    { name: 'codex', logged_in: false },
  ],
  is_drained: false,
  state: 'ready',
  since: at(30),
  load: 0.42,
  disk_free_bytes: 120 * 1024 ** 3,
  reason: null,
  projects: ['api'],
  ...more,
});

export const memoryRow = (id: number, more: Partial<ListedMemory> = {}): ListedMemory => ({
  id: `m-${String(id).padStart(10, 'a')}`,
  type: 'fact',
  title: `Memory number ${id}`,
  text: `Text of memory ${id}.`,
  text_chars: `Text of memory ${id}.`.length,
  tags: [],
  source: null,
  state: 'active',
  superseded_by: null,
  maybe_replaced_by: null,
  unreviewed: null,
  actor: 'ada',
  seat: 'worker',
  session_id: 's-1',
  task_id: 't-1',
  agent: 'claude',
  created_at: at(9),
  changed_at: at(9),
  ended_at: null,
  kept_by: null,
  kept_at: null,
  is_in_brief: false,
  against: [],
  ...more,
});

/** The status of an idle engine. */
export const engineStatus = (more: Partial<StatusRow> = {}): StatusRow => ({
  pid: 4242,
  version: '0.1.0',
  root: '/repository',
  workspace: 'acme',
  started_at: at(60),
  uptime_sec: 3600,
  memory_bytes: 100_000_000,
  http: null,
  sources: [],
  schedules: [],
  receivers: [],
  tasks: { open: 0, assigned: 0, running: 0, done: 0, failed: 0 },
  asks_open: 0,
  decisions_pending: 0,
  workers: { queued: 0, paused: 0, running: 0, cap: 4 },
  containment: null,
  held_agents: [],
  deliveries: { pending: 0, delivered: 0, dead: 0 },
  delivery_problems: [],
  link: {
    state: 'off',
    server: null,
    account: null,
    person: null,
    linked_at: null,
    since: null,
    problem: null,
    waiting_events: 0,
    clock_offset_ms: null,
    lease: { state: 'none', left_ms: null, problem: null },
    token_file: '/repository/.svc/device.token',
    token_at: null,
    is_telemetry_waiting: false,
  },
  receiver_problem: null,
  supervisor: null,
  secrets: [],
  environment: { path: '/usr/bin', home: '/home/ada' },
  config_problem: null,
  restart_needed: [],
  consent: 'given',
  consent_pending: [],
  warnings: [],
  ...more,
});

/** Complete evidence for the commit at which `sessionRow` and `trial` end. */
export const evidence = (id: number, more: Partial<ListedEvidence> = {}): ListedEvidence => ({
  session_id: `s-${id}`,
  task_id: `t-${id}`,
  state: 'verified',
  reasons: [],
  summary: 'Both work.',
  criteria: [
    { criterion: 'the test passes 200 times', status: 'met', note: null },
    { criterion: 'the timeout stays', status: 'met', note: null },
  ],
  tests: [1, 2, 3].map((each) => ({ command: `npm test -- part${each}`, result: 'passed', note: null })),
  symbols: [],
  head_commit: 'c'.repeat(40),
  reported_at: at(2),
  reported_by: `s-${id}`,
  rerun: { at: at(1), by: 'svc', on: null, head: 'c'.repeat(40), agrees: true, results: [] },
  rerun_state: null,
  rerun_problem: null,
  checks: [],
  rerun_hash: 'e'.repeat(64),
  ...more,
});

export const plan = (id: number, more: Partial<ListedPlan> = {}): ListedPlan => ({
  task_id: `t-${id}`,
  hash: 'f'.repeat(64),
  agent: 'claude',
  command: 'claude -p {{prompt}}',
  race: null,
  pool: null,
  runner: null,
  waits_for: null,
  waits_for_task: null,
  project: null,
  folder: '/repository',
  inplace: false,
  continues: null,
  carries: null,
  repository: '/repository',
  base: 'main',
  base_commit: 'b'.repeat(40),
  transport: 'subprocess',
  auth: 'account',
  profile: 'lite',
  held_back: null,
  key_before_login: null,
  branch_prefix: 'svc/',
  timeout_sec: 3600,
  idle_timeout_sec: 600,
  workers: { running: 1, queued: 0, cap: 4 },
  starts: 'now',
  problem: null,
  ...more,
});

/** A trial merge without conflicts. */
export const trial = (id: number, more: Partial<ListedTrial> = {}): ListedTrial => ({
  session_id: `s-${id}`,
  subject: `Title ${id}`,
  branch: `svc/s-${id}`,
  head: 'c'.repeat(40),
  base: 'main',
  strategy: 'merge',
  refused: null,
  promotable: true,
  already_merged: false,
  conflicts: [],
  sensitive: [],
  checkout: { state: 'clean', path: '/repository', paths: [], reason: null },
  ahead: 1,
  behind: 0,
  ...more,
});

export const work = (id: number, more: Partial<ListedWork> = {}): ListedWork => ({
  branch: `svc/s-${id}`,
  base: 'main',
  head: 'c'.repeat(40),
  commits: [{ id: 'c'.repeat(40), subject: 'Say hello', author: 'Agent', at: at(1) }],
  files: [{ path: 'hello.txt', insertions: 2, deletions: 1 }],
  patch: {
    text: 'diff --git a/hello.txt b/hello.txt\n@@ -1 +1,2 @@\n-old\n+hello\n+world\n',
    truncated: false,
  },
  trial: trial(id),
  tried_at: at(0),
  ...more,
});

/** A comment on the first added line of `work`. */
export const commentRow = (id: number, more: Partial<CommentRow> = {}): CommentRow => ({
  comment_id: id,
  session_id: 's-1',
  path: 'hello.txt',
  side: 'new',
  line: 1,
  text: 'hello',
  body: `Comment number ${id}`,
  head: 'c'.repeat(40),
  actor: 'ada',
  created_at: at(1),
  outdated: false,
  ...more,
});

/** Usage that the gateway has counted. */
export const sessionUsage = (
  more: Partial<NonNullable<ShownSession['usage']>> = {},
): NonNullable<ShownSession['usage']> => ({
  ...{ input: 1000, cached: 0, output: 500, cost_usd: 0.25 },
  ...{ unpriced: 0, estimated_tokens: 0, estimated: false },
  ...more,
});

/** Spend of one session, model, provider or task. */
type UsageSumRow = ListedUsageDay['groups']['session'][number];

export const usageSum = (key: string | null, more: Partial<UsageSumRow> = {}): UsageSumRow => ({
  key,
  label: null,
  calls: 3,
  failed: 0,
  denied: 0,
  input: 10_000,
  output: 2000,
  cache_read: 30_000,
  cache_write: 0,
  cache_write_hour: 0,
  tokens: 42_000,
  estimated_tokens: 0,
  estimated: false,
  cost_usd: 1.25,
  unpriced: 0,
  ...more,
});

export const usageDay = (more: Partial<ListedUsageDay> = {}): ListedUsageDay => ({
  of_session: null,
  day: '2026-03-01',
  resets_at: '2026-03-02T00:00:00.000Z',
  mode: 'live',
  has_providers: true,
  is_running: true,
  address: 'http://127.0.0.1:8788',
  budget_tokens_day: 2_000_000,
  total: usageSum(null),
  spent: sessionUsage({ input: 40_000, cached: 30_000, output: 2000, cost_usd: 1.25 }),
  hours: Array.from({ length: 24 }, (_, hour) => (hour === 9 ? 40_000 : hour === 10 ? 2000 : 0)),
  groups: {
    session: [usageSum('s-1', { label: 'Split store.ts', tokens: 40_000 }), usageSum(null, { tokens: 2000 })],
    model: [usageSum('gpt-5')],
    provider: [usageSum('up', { cost_usd: 1.25, unpriced: 700 })],
    task: [usageSum('t-1', { label: 'Split store.ts' })],
  },
  ...more,
});
/** A dashboard without a terminal or engine: events in, state and effects out. */
export interface Bench {
  state(): State;
  /** Presses keys one after another, far enough apart. */
  keys(...keys: string[]): Bench;
  /** Sends several keys at once. */
  burst(...keys: string[]): Bench;
  send(event: DashboardEvent): Bench;
  data(change: DataChange): Bench;
  /** Lets time pass. */
  wait(ms: number): Bench;
  /** All calls to the engine so far. */
  calls(): { operation: string; input: object }[];
  effects(): DashboardEffect[];
}

export function bench(columns = 80, rows = 24, { plain = false } = {}): Bench {
  let now = NOW;
  let state = createInitialState({ size: { columns, rows }, now, plain });
  const effects: DashboardEffect[] = [];
  const send = (event: DashboardEvent): Bench => {
    const step = reduceState(state, event);
    state = step.state;
    effects.push(...step.effects);
    return self;
  };
  const self: Bench = {
    state: () => state,
    keys(...keys) {
      for (const key of keys) {
        now += 300;
        send({ type: 'keys', keys: [key], at: now });
      }
      return self;
    },
    burst: (...keys) => send({ type: 'keys', keys, at: now }),
    send,
    data: (change) => send({ type: 'data', change, at: now }),
    wait(ms) {
      now += ms;
      return send({ type: 'tick', at: now });
    },
    calls: () =>
      effects
        .flatMap((effect) => (effect.do === 'call' ? [effect] : effect.do === 'calls' ? effect.calls : []))
        .map(({ operation, input }) => ({ operation, input })),
    effects: () => effects,
  };
  send({ type: 'link', link: { phase: 'live', workspace: 'acme', root: '/repository' } });
  return self;
}

/** Delivers the details of a decision, as the engine does. */
export function showDecision(
  self: Bench,
  id: number,
  more: Partial<ListedPlan> = {},
  prompt = `Prompt of task ${id}`,
): Bench {
  const decision = self.state().data.decisions.get(`d-${id}`)!;
  const task: RowDetails['decision']['task'] = {
    ...taskRow(id),
    body: prompt,
    prompt,
    context: null,
    acceptance_criteria: [],
    ...{ source_url: null, author: null, author_role: null },
  };
  const stamp = getSubjectStamp(self.state().data, { kind: 'decision', id: `d-${id}` });
  const detail = { decision, task, plan: plan(id, more), changes: [] };
  return self.send({
    type: 'detail',
    loaded: { kind: 'decision', id: `d-${id}`, stamp, detail, problem: null },
  });
}

export function showTask(self: Bench, id: number, more: Partial<ListedPlan> = {}): Bench {
  const row = self.state().data.tasks.get(`t-${id}`)!;
  const { waits: _waits, ...rest } = row;
  const task = {
    ...rest,
    body: row.title,
    prompt: row.title,
    context: null,
    acceptance_criteria: [],
    source_url: null,
    author: null,
    author_role: null,
  };
  const stamp = getSubjectStamp(self.state().data, { kind: 'task', id: `t-${id}` });
  const detail = { task, decision: null, sessions: [], timeline: [], plan: plan(id, more) };
  return self.send({ type: 'detail', loaded: { kind: 'task', id: `t-${id}`, stamp, detail, problem: null } });
}

export function showWork(self: Bench, id: number, more: Partial<ListedWork> = {}): Bench {
  const stamp = getSubjectStamp(self.state().data, { kind: 'session', id: `s-${id}` });
  return self.send({
    type: 'detail',
    loaded: { kind: 'work', id: `s-${id}`, stamp, detail: work(id, more), problem: null },
  });
}

export function showEvidence(self: Bench, id: number, more: Partial<ListedEvidence> = {}): Bench {
  const stamp = getSubjectStamp(self.state().data, { kind: 'session', id: `s-${id}` });
  return self.send({
    type: 'detail',
    loaded: { kind: 'evidence', id: `s-${id}`, stamp, detail: evidence(id, more), problem: null },
  });
}

/** Delivers the comments on a session's diff, as the engine does. */
export function showComments(self: Bench, id: number, comments: readonly CommentRow[]): Bench {
  const { data } = self.state();
  const stamp = `${getSubjectStamp(data, { kind: 'session', id: `s-${id}` })} ${data.commented}`;
  const loaded = { kind: 'comments', id: `s-${id}`, stamp, detail: comments, problem: null } as const;
  return self.send({ type: 'detail', loaded });
}
