import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { connectToEngine, type EngineClient, linkedServer, linking } from '../../../engine/index.ts';
import type { CommandContext } from '../../command.ts';
import { getDaemonCommand } from '../../self.ts';
import { type CatchServer, startCatchServer } from './catch-server.ts';
import { createVisitor, type DemoVisitor } from './demo-visitor.ts';
import { findIn } from './demo-wait.ts';
import { byPage, bySignedRequest, type DemoAccess, type DemoWay } from './demo-ways.ts';
import { DEMO_PROMPT, makeDemoWorkspace, sendSample } from './demo-workspace.ts';

interface LinkedDemo extends DemoAccess {
  env: NodeJS.ProcessEnv;
  automation: CatchServer;
  client: EngineClient;
}

/** Shows the complete linked-server flow in a temporary folder, and leaves no process and no file behind. */
export async function runLinkedDemo(
  context: Pick<CommandContext, 'env' | 'stdout' | 'signal'>,
  isKept: boolean,
): Promise<number> {
  const around = await realpath(await mkdtemp(join(tmpdir(), 'svc-demo-')));
  const printLine = (line: string): void => void context.stdout.write(`${line}\n`);
  const closing: (() => Promise<unknown>)[] = [
    async () => {
      if (isKept) printLine(`kept: ${around}`);
      else await rm(around, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  ];
  try {
    const { server, ann, folder } = await openServer(around, closing, printLine);
    const env = await makeDemoWorkspace(context, join(around, 'demo'), randomBytes(24).toString('hex'), {
      server: { decide: { ann: ['page'], n8n: ['automation'] } },
    });
    await logIn(server, ann, env, context.signal, printLine);
    const { automation, secret } = await openCatchUrl(folder, ann, closing, printLine);
    const client = await connectToEngine({
      cwd: join(around, 'demo'),
      env,
      daemon: getDaemonCommand(),
    });
    closing.push(async () => {
      await client.call('engine.stop', { stop_workers: true }).catch(() => undefined);
      await client.closed;
    });
    printLine('4. the workspace is linked: svc link');
    await client.call('link.start', {});
    const listed = await ann.open('/app/workspaces');
    const workspace = findIn(listed.html, /\/app\/workspaces\/(w_[\w-]+)"/);
    printLine('   decides  ann on the page, n8n by signed requests: server.decide of svc.yaml');
    const demo: LinkedDemo = { env, workspace, ann, automation, secret, client, say: printLine };
    await showWay(demo, byPage, 5);
    await showWay(demo, bySignedRequest, 6);
    printLine('7. the server has never seen the prompt, a file or a diff');
    return 0;
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** Starts a server and sets it up as its first person. */
async function openServer(around: string, closing: (() => Promise<unknown>)[], say: LinkedDemo['say']) {
  const { readServerSettings, startServer } = await linkedServer();
  const folder = join(around, 'server');
  await mkdir(folder, { mode: 0o700 });
  let code = '';
  const settings = readServerSettings({
    addr: '127.0.0.1:0',
    publicUrl: undefined,
    allowRemote: false,
    trustProxy: [],
    allowTarget: ['127.0.0.1/32'],
  });
  const running = await startServer(
    {
      folder,
      env: {},
      log: pino({ enabled: false }),
      tellSetupCode: (offer) => {
        code = offer.code;
      },
    },
    settings,
  );
  closing.push(running.close);
  const { url: server } = running;
  say(`1. your own server: svc server serve, on ${server}`);
  const ann = createVisitor(server);
  const password = randomBytes(12).toString('base64url');
  await ann.send('/setup', { code, name: 'ann', password, account: 'home' });
  say('   set up   with the setup code from its log, by ann');
  return { server, ann, folder };
}

/** `svc login`, and the click of the person who allows it. */
async function logIn(
  server: string,
  ann: DemoVisitor,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  say: LinkedDemo['say'],
): Promise<void> {
  say(`2. the machine logs in: svc login ${server}`);
  let clicked: Promise<unknown> = Promise.resolve();
  const { checkServerUrl, logIn: logMachineIn } = await linking();
  const state = await logMachineIn(checkServerUrl(server), env, {
    signal,
    show({ url, userCode }) {
      say(`   page     ${url} asks for the code ${userCode}; ann types it in and allows it`);
      clicked = ann
        .send('/device', { user_code: userCode })
        .then(() => ann.send('/device/answer', { user_code: userCode, answer: 'allow' }));
      clicked.catch(() => undefined);
    },
  });
  await clicked;
  say(`   token    of ${state.machine.name}, mode ${state.token_mode}; it cannot decide anything`);
}

/** Creates a catch URL of n8n, with a listener. */
async function openCatchUrl(
  folder: string,
  ann: DemoVisitor,
  closing: (() => Promise<unknown>)[],
  say: LinkedDemo['say'],
) {
  let secret = '';
  const automation = await startCatchServer(
    () => secret,
    ({ event, task_id, decision_id, session_id, verified }) => {
      const about = [task_id, decision_id, session_id].filter(Boolean).join(' ');
      say(`   event    ${event.padEnd(14)} ${about}, signature ${verified ? 'verified' : 'WRONG'}`);
    },
  );
  closing.push(automation.close);
  const { askRunningServer } = await linkedServer();
  await askRunningServer(folder, 'account.addon', { name: 'home', addon: 'n8n', on: true });
  const page = await ann.send('/app/settings/targets', [
    ['kind', 'n8n'],
    ['name', 'n8n'],
    ['url', automation.url],
    ...['needs_approval', 'sealed', 'failed'].map((event): [string, string] => ['events[]', event]),
  ]);
  secret = findIn(page.html, /(whsec_[\w+/=]{40,})/);
  say(`3. a catch URL of n8n, as on the page Settings: events to ${automation.url}`);
  return { automation, secret };
}

/** One task: it waits, the automation hears of it, someone approves, and a worker does it. */
async function showWay(demo: LinkedDemo, way: DemoWay, number: number): Promise<void> {
  const { env, automation, client, say } = demo;
  const { receivers } = await client.call('engine.status');
  const [at] = receivers;
  if (!at) throw new SvcError('internal', 'the demo engine has no receiver');
  say(`${number}. a signed request arrives in the workspace, and ${way.title}`);
  const sample = ['--route', 'task', '--agent', 'scripted', `--prompt=${DEMO_PROMPT}`, '--dispatch'];
  const created = await sendSample(env, [...sample, '--addr', `${at.host}:${at.port}`]);
  const { task_id: task, decision_id: decision } = created.body;
  const waiting = await automation.find(
    (event) => event.event === 'needs_approval' && event.decision_id === decision,
  );
  await way.approve(demo, waiting);
  const ended = await automation.find(
    ({ event, task_id }) => task_id === task && (event === 'sealed' || event === 'failed'),
  );
  if (ended.event === 'failed') throw new SvcError('internal', `${task} failed`);
  const { decision: decided } = await client.call('decision.show', { id: String(decision) });
  say(`   decided  ${decision} is ${decided.state}, by ${decided.decided_by}; ${task} is done`);
}
