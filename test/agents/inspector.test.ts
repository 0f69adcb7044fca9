import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isInstalled } from '../support/agents/agents.ts';
import { inspect, type Target } from '../support/agents/inspector.ts';
import { createMcpRecorder, recordHttpRevisions } from '../support/agents/mcp-record.ts';
import { until } from '../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

interface Listed {
  tools: { name: string; description?: string; inputSchema: object }[];
}

interface Called {
  content?: { text: string }[];
  isError?: boolean;
}

const textOf = ({ result }: { result: Called }): string => result.content?.[0]?.text ?? '';

const idIn = (answer: { result: Called }, id: RegExp): string => id.exec(textOf(answer))?.[0] ?? '';

/** The era as its option names it, and the revision that it settles on. */
const ERAS = [
  ['legacy', '2025-11-25'],
  ['modern', '2026-07-28'],
] as const;

/** A third-party client, over both transports and in both eras of the protocol. */
describe('the official inspector', () => {
  let ws: TestWorkspace;
  let why: string | null = null;
  let stdio: Target;
  let http: Target;
  /** Return the revisions of MCP that it has used. */
  let revisions: Record<'svc mcp' | '/mcp', () => string[]>;

  before(async () => {
    if (!isInstalled('mcp-inspector')) {
      why = 'the inspector is not installed; .ci/agents.sh installs it';
      return;
    }
    ws = await makeWorkspace();
    const readRevisions = recordHttpRevisions(ws);
    const recorder = createMcpRecorder(join(ws.repository.folder, 'mcp'));
    revisions = { 'svc mcp': () => recorder.readRevisions(), '/mcp': readRevisions };
    await ws.svc(['up']);
    const record = JSON.parse(readFileSync(join(ws.root, '.svc', 'daemon.json'), 'utf8'));
    stdio = {
      command: [recorder.program, 'mcp'],
      cwd: ws.root,
      env: { SVC_HOME: String(ws.env.SVC_HOME) },
    };
    http = { url: `http://${record.http.host}:${record.http.port}/mcp`, token: record.token };
  });
  after(() => ws?.close());

  const ask = <T>(target: Target, ...words: string[]) => inspect<T>(target, ws.repository.folder, words);
  const call = (target: Target, tool: string, given: object) =>
    ask<Called>(
      target,
      ...['--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(given)],
    );

  const cases = (['svc mcp', '/mcp'] as const).flatMap((way) => ERAS.map((era) => [way, ...era] as const));
  for (const [way, era, revision] of cases) {
    const target = (session?: string): Target => ({ ...(way === '/mcp' ? http : stdio), era, session });

    test(`lists the tools of ${way} with ${era}, in ${revision} and with schemas that fit every client`, async (t) => {
      if (why !== null) return t.skip(why);
      const listed = await ask<Listed>(target(), '--method', 'tools/list', '--strict');
      assert.equal(listed.code, 0, listed.stderr);
      const { tools } = listed.result;
      assert.ok(tools.some(({ name }) => name === 'task_list'));
      for (const { name, description } of tools) assert.ok(description, `${name} has no description`);
      assert.equal(revisions[way]().at(-1), revision);
    });

    test(`a tool of ${way} can be called with ${era}, and its refusal is shown`, async (t) => {
      if (why !== null) return t.skip(why);
      const listed = await call(target(), 'task_list', {});
      assert.equal(listed.code, 0, listed.stderr);
      assert.match(textOf(listed), /^t-\d+ /m);
      // It turns a number that is none into null.
      const refused = await call(target(), 'task_list', { status: 'never' });
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr + JSON.stringify(refused.result), /status/);
    });

    test(`a worker locks, asks, sends and reports through ${way} with ${era}`, async (t) => {
      if (why !== null) return t.skip(why);
      const svc = async <T>(...words: string[]): Promise<T> => (await ws.svc([...words, '--json'])).json<T>();
      const added = await call(stdio, 'task_add', { title: '#agent: hang', agent: 'scripted' });
      const task = idIn(added, /t-\d+/);
      const session = idIn(await call(stdio, 'task_run', { id: task }), /s-\d+/);
      const work = async (tool: string, given: object): Promise<string> => {
        const answer = await call(target(session), tool, given);
        assert.equal(answer.code, 0, answer.stderr + JSON.stringify(answer.result));
        return textOf(answer);
      };
      const lock = await work('lock_acquire', { holder: 'me', path: `${session}.txt` });
      assert.match(lock, new RegExp(`^${session} holds `));
      const asking = work('ask', { question: 'Which colour?', timeout_sec: 600 });
      const [open] = await until(async () => {
        const asks = await svc<{ id: number }[]>('ask', 'list');
        return asks.length > 0 && asks;
      }, 'its ask');
      await svc('ask', 'answer', String(open?.id), 'green');
      assert.match(await asking, /green/);
      await work('msg_send', { to_session: 'chair', body: `${session} is green` });
      const inbox = await call(stdio, 'msg_inbox', {});
      assert.match(JSON.stringify(inbox.result), new RegExp(`${session} is green`));
      await work('verify_report', {
        criteria: [],
        tests: [{ command: 'true', passed: true }],
        summary: 'done',
      });
      assert.equal((await svc<{ state: string }>('verify', 'show', session)).state, 'reported');
      await ws.svc(['task', 'cancel', task]);
    });
  }

  test('a task that the Chair creates through svc mcp exists afterwards', async (t) => {
    if (why !== null) return t.skip(why);
    const added = await call(stdio, 'task_add', { title: 'Say hello', agent: 'scripted' });
    assert.equal(added.code, 0, added.stderr);
    const id = idIn(added, /t-\d+/);
    const { task } = (await ws.svc(['task', 'show', id, '--json'])).json<{ task: { title: string } }>();
    assert.equal(task.title, 'Say hello');
    const missing = await call(stdio, 'task_run', { id: 't-999' });
    assert.equal(missing.code, 5, missing.stderr);
    assert.equal(missing.result.isError, true);
  });
});
