import { Agent, request } from 'node:http';
import { type EngineClient, samples } from '../../../engine/index.ts';
import { mcpEndpoint } from '../../support/agents/mcp.ts';
import type { SeenEvent } from '../../support/workspaces/events.ts';
import {
  makeWorkspace,
  type Posted,
  SECRET,
  type TestWorkspace,
} from '../../support/workspaces/workspace.ts';
import { openSender, type Sender } from '../tools-sender.ts';
import type { GuardedOperation, GuardedRig } from './operation.ts';

/** More than a page, so that operations that add some do not change the cost of a list. */
const TASKS = 60;
const MESSAGES = 20;
const WORKTREES = 3;
const CODE_FILES = 40;
const LONG_OUTPUT = Array.from({ length: 200 }, (_, at) => `2026-11-21T10:00:00Z INFO served ${at} in 13 ms`);

/** A workspace whose engine is in this process, with its clients. */
export interface BoardRig {
  ws: TestWorkspace;
  engine: EngineClient;
  /** Clients of /mcp: the Chair, and a plain session that asks. */
  chair: Sender;
  asker: Sender;
  /** Resolves with the next such event. */
  next(kind: string, taskId?: string): Promise<SeenEvent>;
  /** Sends a signed request that waits for a decision. */
  post(): Promise<Posted>;
  /** Requests that wait. */
  waiting: Posted[];
  /** Numbers that are used once. */
  count(): number;
}

async function followEvents(engine: EngineClient): Promise<BoardRig['next']> {
  const awaited = new Set<(event: SeenEvent) => void>();
  await engine.subscribe('events.subscribe', { after: 0 }, ({ params }) => {
    for (const look of awaited) look(params.event as SeenEvent);
  });
  return (kind, taskId) =>
    new Promise((resolve) => {
      const look = (event: SeenEvent): void => {
        if (event.kind !== kind || (taskId !== undefined && event.task_id !== taskId)) return;
        awaited.delete(look);
        resolve(event);
      };
      awaited.add(look);
    });
}

async function openPoster(ws: TestWorkspace, count: () => number): Promise<() => Promise<Posted>> {
  const { buildSignedSample } = await samples();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const [host, port] = (await ws.receiver()).split(':');
  return () =>
    new Promise((resolve, reject) => {
      const { path, method, headers, body } = buildSignedSample({
        route: 'task',
        secret: SECRET,
        now: Date.now(),
        agent: 'ends',
        prompt: `Look into order ${count()} and write down what you find.`,
        dispatch: true,
      });
      const sent = request({ host, port, path, method, headers: { ...headers }, agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', () =>
          response.statusCode === 201 ? resolve(JSON.parse(text) as Posted) : reject(new Error(text)),
        );
      });
      sent.on('error', reject).end(body);
    });
}

function writeCode({ repository }: TestWorkspace): void {
  const files: Record<string, string> = { 'LEDGER.md': '- [ ] the first item\n- [ ] the second item\n' };
  for (let at = 0; at < CODE_FILES; at += 1)
    files[`app/module-${at}.ts`] =
      `import { run${at + 1} } from './module-${at + 1}.ts';\nexport function run${at}() { return run${at + 1}(); }\n`;
  repository.commit(files, 'code');
}

async function open(): Promise<BoardRig> {
  // An agent that ends at once, so that the engine's part is what is measured.
  const ws = await makeWorkspace({ hosted: true, events: [], commands: { ends: 'true {{prompt}}' } });
  writeCode(ws);
  const engine = await ws.connect();
  let counted = 0;
  const count = (): number => (counted += 1);
  const { url, token } = mcpEndpoint(ws);
  const rig: BoardRig = {
    ws,
    engine,
    chair: await openSender(url, token),
    asker: await openSender(url, token, { 'x-svc-session': 'ada' }),
    next: await followEvents(engine),
    post: await openPoster(ws, count),
    waiting: [],
    count,
  };
  const add = (at: number) =>
    engine.call('task.add', { title: `task number ${at}`, agent: 'ends', body: 'x' });
  await Promise.all(Array.from({ length: TASKS }, (_, at) => add(at)));
  for (let at = 0; at < MESSAGES; at += 1) {
    await rig.chair.call('memory_remember', { title: `memory ${at}`, text: `The reason of decision ${at}.` });
    await rig.chair.call('msg_send', { to_session: 'chair', body: `message ${at}` });
  }
  for (let at = 0; at < WORKTREES; at += 1) await dispatchWorker(rig);
  return rig;
}

const tool = (
  name: string,
  input: (rig: BoardRig) => object = () => ({}),
  calls = 40,
): GuardedOperation<BoardRig> => ({ calls, call: (rig) => rig.chair.call(name, input(rig)) });

async function waitForDecisions(rig: BoardRig, calls: number): Promise<void> {
  while (rig.waiting.length < calls) rig.waiting.push(await rig.post());
}

/** Approves the oldest waiting request; resolves when its run has ended. */
async function approve(rig: BoardRig): Promise<void> {
  const posted = rig.waiting.shift();
  if (posted === undefined) throw new Error('no request waits');
  const ended = rig.next('sealed', posted.task_id);
  await rig.engine.call('decision.approve', { id: posted.decision_id });
  await ended;
}

async function dispatchWorker(rig: BoardRig): Promise<void> {
  const ended = rig.next('sealed');
  await rig.chair.call('dispatch_worker', { agent: 'ends', prompt: `task ${rig.count()}` });
  await ended;
}

async function askAndAnswer(rig: BoardRig): Promise<void> {
  const opened = rig.next('ask_opened');
  const asked = rig.asker.call('ask', { question: `which of the two, ${rig.count()}?` });
  const { data } = await opened;
  await rig.chair.call('ask_answer', { id: data.ask_id, answer: 'the second' });
  await asked;
}

const pair = ([one, other]: readonly [string, string], input: object): GuardedOperation<BoardRig> => ({
  calls: 20,
  async call({ chair }) {
    await chair.call(one, input);
    await chair.call(other, input);
  },
});

async function close({ ws, chair, asker }: BoardRig): Promise<void> {
  chair.close();
  asker.close();
  await ws.close();
}

/** Whole runs of a worker, apart because each leaves a worktree. */
export const runRig: GuardedRig<BoardRig> = {
  open,
  close,
  operations: {
    'approval, until the run has ended': { calls: 2, prepare: waitForDecisions, call: approve },
    'dispatch_worker, until the run has ended': { calls: 1, call: dispatchWorker },
  },
};

/** The engine's calls: a tool of each group, and a signed request. */
export const boardRig: GuardedRig<BoardRig> = {
  open,
  close,
  operations: {
    'POST /task': { calls: 40, call: (rig) => rig.post() },
    task_list: tool('task_list'),
    task_add: tool('task_add', ({ count }) => ({ title: `added ${count()}` })),
    'task_claim and task_release': pair(['task_claim', 'task_release'], {
      holder: 'me',
      item: 1,
      ledger: 'LEDGER.md',
    }),
    worktree_status: tool('worktree_status', () => ({}), 4),
    'ask and ask_answer': { calls: 20, call: askAndAnswer },
    msg_send: tool('msg_send', ({ count }) => ({ to_session: 'bob', body: `message ${count()}` })),
    msg_inbox: tool('msg_inbox'),
    'lock_acquire and lock_release': pair(['lock_acquire', 'lock_release'], {
      holder: 'me',
      path: 'app/main.txt',
    }),
    memory_recall: tool('memory_recall', () => ({ query: 'reason of a decision' })),
    memory_remember: tool('memory_remember', ({ count }) => ({ text: `A trap is number ${count()}.` })),
    context_crush: tool('context_crush', () => ({ text: LONG_OUTPUT.join('\n') })),
    context_externalize: tool('context_externalize', ({ count }) => ({
      text: `run ${count()}\n${LONG_OUTPUT.join('\n')}`,
    })),
    trace_path: tool('trace_path', () => ({ symbol: 'run5', depth: 3 }), 20),
    verify_status: tool('verify_status', () => ({ session: 's-1' })),
    entitlements_status: tool('entitlements_status'),
    usage_status: tool('usage_status'),
  },
};
