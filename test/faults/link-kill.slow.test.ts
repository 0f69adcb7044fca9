import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { report } from '../support/processes/faults.ts';
import { type LinkProxy, type Step, startLinkProxy } from '../support/server/link-proxy.ts';
import { type Browser, logMachineIn, setUpServer } from '../support/server/linked-server.ts';
import { type ServerProgram, startServerProgram } from '../support/server/server-program.ts';
import { until } from '../support/wait.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

type Victim = 'server' | 'engine';

/** The requests between a workspace and its server for one decision. */
const STEPS: readonly [name: string, request: RegExp][] = [
  ['an event', /^POST \/v1\/events$/],
  ['what waits', /^PUT \/v1\/decisions$/],
  ['a command', /^GET \/v1\/commands\?/],
  ['an outcome', /^POST \/v1\/commands\/k_/],
];

/** The events of a decision and its run, as a target receives them. */
const TOLD = ['needs_approval', 'approved', 'dispatched', 'sealed'];

interface Delivered {
  id: string;
  event: string;
  task_id: string;
}

describe('kill -9 of the server or the engine at each step of a decision from outside', () => {
  const folder = temporaryFolder('server-');
  let ws: TestWorkspace;
  let proxy: LinkProxy;
  let program: ServerProgram;
  let ann: Browser;
  let catcher: Server;
  let id = '';
  let rounds = 0;
  const delivered: Delivered[] = [];
  /** Called for each delivery before it is answered. */
  let onDelivery: ((event: Delivered) => Promise<void>) | null = null;
  /** Browsers and terminals reach the server by its public name, on any port. */
  const place = {
    codes: [] as string[],
    get url() {
      return proxy.url;
    },
    get port() {
      return program.port;
    },
  };

  async function startServer(): Promise<void> {
    program = await startServerProgram(folder, {
      publicUrl: proxy.url,
      args: ['--allow-target', '127.0.0.1/32'],
    });
    proxy.upstream = program.port;
  }

  async function kill(victim: Victim): Promise<void> {
    if (victim === 'engine') return ws.killDaemon();
    proxy.upstream = null;
    await program.kill();
  }

  const revive = async (victim: Victim): Promise<void> =>
    victim === 'engine' ? void (await ws.connect()) : startServer();

  before(async () => {
    proxy = await startLinkProxy();
    ws = await makeWorkspace();
    catcher = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', async () => {
        const event = JSON.parse(Buffer.concat(parts).toString('utf8')) as Delivered;
        delivered.push(event);
        await onDelivery?.(event);
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => catcher.listen(0, '127.0.0.1', resolve));
    await startServer();
    place.codes.push(program.setupCode ?? '');
    ann = await setUpServer(place);
    const planned = await ws.svc(['server', 'account', 'plan', 'home', 'team', '--data', folder]);
    assert.equal(planned.code, 0, planned.stderr);
    const url = `http://127.0.0.1:${(catcher.address() as AddressInfo).port}/`;
    const fields = { kind: 'webhook', name: 'a target', url };
    const added = await ann.post('/app/settings/targets', [
      ...Object.entries(fields),
      ...TOLD.map((event): [string, string] => ['events[]', event]),
    ]);
    assert.equal(added.status, 200, added.text);
    const client = await ws.connect();
    await client.call('link.start', { server: proxy.url, token: await logMachineIn(place, ann) });
    await client.call('config.set', { key: 'server.decide', value: '{"ann":["page"]}' });
    await until(async () => (await client.call('link.status', {})).state === 'connected', 'the link');
    id = /\/app\/workspaces\/(w_[\w-]+)"/.exec((await ann.get('/app/workspaces')).text)?.[1] ?? '';
  });
  after(async () => {
    await ws.svc(['down', '--stop-workers']);
    await proxy.close();
    await program.stop();
    await new Promise((resolve) => catcher.close(resolve));
    await ws.close();
  });

  /** Approves on the page as a person does, and presses again if the server died under the first press. */
  async function approve(decision: string): Promise<void> {
    const page = `/app/decisions/${id}/${decision}`;
    let seen = '';
    const approved = async (): Promise<boolean> => {
      const shown = await ann.get(page).catch(() => null);
      seen = shown?.text ?? seen;
      if (shown?.status !== 200) return false;
      // The second answer shows that the first press arrived.
      if (/Approved by ann on the web|already approved by ann@page/.test(shown.text)) return true;
      const hash = /name="hash" value="([0-9a-f]{64})"/.exec(shown.text)?.[1];
      if (hash !== undefined) await ann.post(`${page}/approve`, { hash }).catch(() => null);
      return false;
    };
    // Both sides wait longer after each failure, and starting takes time.
    await until(approved, `the approval of ${decision}`, 180_000).catch(async (error: Error) => {
      const status = await (await ws.connect()).call('link.status', {});
      throw new Error(`${error.message}; the link: ${JSON.stringify(status)}; the page: ${seen}`);
    });
  }

  /** Checks everything that must hold at the end, wherever the victim died. */
  async function expectDoneOnce(prompt: (count: string) => string, whenPosted: (task: string) => void) {
    rounds += 1;
    const count = join(ws.repository.folder, `count-${rounds}`);
    const { status, body } = await ws.post(prompt(count));
    assert.equal(status, 201);
    whenPosted(body.task_id);
    await approve(body.decision_id);
    const { task_id: task } = body;
    const ofTask = (): Delivered[] => delivered.filter((each) => each.task_id === task);
    await until(
      () => TOLD.every((event) => ofTask().some((each) => each.event === event)),
      `what is told of ${task}`,
    );
    for (const event of TOLD) {
      const ids = ofTask().filter((each) => each.event === event);
      assert.equal(new Set(ids.map((each) => each.id)).size, 1, `${event} of ${task} has exactly one id`);
    }
    assert.equal(readFileSync(count, 'utf8').trim().split('\n').length, 1, 'the agent ran exactly once');
    const client = await ws.connect();
    const { sessions } = await client.call('task.show', { id: task });
    assert.equal(sessions.length, 1);
    await until(() => ws.survivors().length === 0, 'no process of it');
  }
  const prompt = (count: string): string => `#agent: count ${count}\n#agent: edit made-${rounds}.txt made`;

  for (const victim of ['server', 'engine'] as const)
    for (const [name, request] of STEPS)
      for (const step of ['request', 'answer'] as const satisfies readonly Step[]) {
        const when = step === 'request' ? 'before it reached the server' : 'before its answer was read';
        test(`the ${victim}, with ${name} ${when}`, async () => {
          let killed: Promise<void> | null = null;
          await expectDoneOnce(prompt, () => {
            proxy.allow = async (path, at) => {
              if (killed !== null || at !== step || !request.test(path)) return true;
              proxy.allow = null;
              killed = kill(victim).then(() => revive(victim));
              await killed;
              return false;
            };
          });
          assert.notEqual(killed, null, 'nothing was killed');
          await killed;
          report(
            `kill -9 of the ${victim}, with ${name} ${when}`,
            'the agent ran once, every event arrived under one id, no process is left',
          );
        });
      }

  for (const isAnswered of [false, true])
    test(`the server, with a delivery ${isAnswered ? 'just answered' : 'not yet answered'}`, async () => {
      let killed: Promise<void> | null = null;
      await expectDoneOnce(prompt, (task) => {
        onDelivery = async (event) => {
          if (killed !== null || event.task_id !== task || event.event !== 'sealed') return;
          const killing = async (): Promise<void> => {
            await kill('server');
            await revive('server');
          };
          killed = isAnswered ? new Promise(setImmediate).then(killing) : killing();
          if (!isAnswered) await killed;
        };
      });
      await until(() => killed !== null, 'the kill');
      await killed;
      onDelivery = null;
      report(
        `kill -9 of the server with a delivery ${isAnswered ? 'just answered' : 'not yet answered'}`,
        'it was delivered at least once, under one id',
      );
    });

  test('nothing is left pending on either side', async () => {
    const client = await ws.connect();
    await until(async () => (await client.call('link.status', {})).waiting_events === 0, 'the queue');
    await until(async () => /No decisions are waiting/.test((await ann.get('/app')).text), 'the page');
  });
});
