import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../support/wait.ts';
import {
  AGENT,
  isRunning,
  makeWorkspace,
  SVC,
  type TestWorkspace,
} from '../../../support/workspaces/workspace.ts';

interface Start {
  preset: string;
  argv: string[];
  env: Record<string, string>;
  unset: string[];
  mcp: 'run' | 'installed' | 'none';
}

const agent = `'${process.execPath}' '${AGENT}' -`;
const SAY = '#agent: no-change\n#agent: echo-argv\n#agent: echo-env\n';

describe('svc chair', () => {
  let ws: TestWorkspace;
  let home: string;
  before(async () => {
    const interactive = {
      claude: agent,
      gemini: agent,
      opencode: `${agent} --port {{notify_port}}`,
      mine: agent,
      scripted: agent,
      kiro: 'no-such-program-anywhere',
    };
    // A worker that tries to take the Chair seat.
    const commands = { nested: `env -u SVC_RUN_ID '${process.execPath}' '${SVC}' chair {{prompt}}` };
    ws = await makeWorkspace({ commands });
    await ws.svc(['config', 'set', 'agents.interactive', JSON.stringify(interactive)]);
    home = join(ws.repository.folder, 'person');
    mkdirSync(home);
  });
  after(() => ws.close());

  async function chair(words: readonly string[], env: Record<string, string> = {}, input = SAY) {
    const ran = await ws.program(['chair', ...words], { env: { HOME: home, ...env }, input });
    const lines = ran.stdout.split('\n');
    const parsed = <T>(begin: string): T =>
      JSON.parse(lines.find((line) => line.startsWith(begin)) ?? 'null');
    return { ...ran, argv: parsed<string[]>('['), env: parsed<Record<string, string>>('{') };
  }
  const print = async (...words: string[]): Promise<Start> =>
    (await ws.svc(['chair', ...words, '--print', '--json'], { env: { HOME: home } })).json<Start>();

  test('--print shows what would be started and starts nothing', async () => {
    const start = await print('claude');
    assert.deepEqual([start.preset, start.mcp, start.env], ['claude', 'run', { SVC_AGENT: 'claude' }]);
    assert.deepEqual(start.argv.slice(0, 3), [process.execPath, AGENT, '-']);
    assert.match(start.argv[3] ?? '', /^--mcp-config=\{"mcpServers":\{"svc":/);
    const { stdout } = await ws.svc(['chair', 'mine', '--print'], { env: { SVC_NAME: 'w' } });
    assert.equal(stdout, `env -u SVC_NAME SVC_AGENT=mine ${process.execPath} ${AGENT} -\n`);
    assert.equal(ws.daemonPid(), null);
  });

  test("svc chair starts the agent here with svc's tools, without a worker's variables, and passes on its exit code", async () => {
    const variables = {
      SVC_TASK: 't-1',
      SVC_ROLE: 'worker',
      SVC_NAME: 'n',
      SVC_SESSION_NAME: 'x',
    };
    const { code, argv, env, stderr } = await chair(
      ['claude'],
      { ...variables, SVC_ACTOR: 'me' },
      `${SAY}#agent: fail 7\n`,
    );
    assert.equal(code, 7, stderr);
    assert.equal(argv[0], '-');
    const { svc } = JSON.parse(argv[1]!.slice('--mcp-config='.length)).mcpServers;
    assert.deepEqual([svc.command, svc.args], [process.execPath, [SVC, 'mcp']]);
    assert.deepEqual([env.SVC_AGENT, env.SVC_ACTOR, env.HOME], ['claude', 'me', home]);
    for (const name of Object.keys(variables)) assert.equal(env[name], undefined, name);
    assert.notEqual(ws.daemonPid(), null);
  });

  test('svc chair starts the default preset when none is named', async () => {
    assert.equal((await print()).preset, 'scripted');
    await ws.svc(['config', 'set', 'agents.default_preset', 'nested']);
    const first = await print();
    await ws.svc(['config', 'set', 'agents.default_preset', 'scripted']);
    assert.equal(first.preset, 'claude');
  });

  test('an agent that listens gets a free port, which is printed', async () => {
    const { argv, env } = await chair(['opencode'], {
      OPENCODE_CONFIG_CONTENT: '{"model":"a/b","mcp":{"other":{}}}',
    });
    const port = Number(argv[argv.indexOf('--port') + 1]);
    assert.equal(env.SVC_NOTIFY_URL, `http://127.0.0.1:${port}`);
    const server = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve, reject) => server.once('listening', resolve).once('error', reject));
    server.close();
    const { model, mcp } = JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? '');
    assert.deepEqual([model, Object.keys(mcp), mcp.svc.command.at(-1)], ['a/b', ['other', 'svc'], 'mcp']);
    const broken = await chair(['opencode'], { OPENCODE_CONFIG_CONTENT: '{' });
    assert.deepEqual([broken.code, broken.stdout], [2, '']);
  });

  test('an agent that cannot be configured for one run is explained, until it has the tools', async () => {
    assert.match((await chair(['gemini'])).stderr, /^note: .*svc mcp install gemini adds them$/m);
    const inside = join(ws.root, 'inside');
    mkdirSync(inside);
    const env = { HOME: home };
    const there = await ws.svc(['chair', 'gemini', '--print'], { cwd: inside, env });
    assert.match(there.stderr, /svc mcp install gemini --user adds them$/m);
    await ws.svc(['mcp', 'install', 'gemini', '--user'], { env });
    const { argv, stderr } = await chair(['gemini']);
    assert.deepEqual([argv, stderr], [['-'], '']);
    assert.equal((await print('gemini')).mcp, 'installed');
    writeFileSync(join(home, '.gemini', 'settings.json'), '{');
    assert.equal((await print('gemini')).mcp, 'none');
    assert.match((await chair(['mine'])).stderr, /add svc mcp to its configuration/);
  });

  test('svc chair refuses what it cannot start', async () => {
    const unknown = await ws.svc(['chair', 'gemni', '--json']);
    assert.equal(unknown.json<{ error: { code: string } }>().error.code, 'unknown_agent');
    assert.match(unknown.stderr, /did you mean svc chair gemini/);
    const missing = await ws.svc(['chair', 'kiro', '--json']);
    assert.deepEqual(
      [missing.code, missing.json<{ error: { code: string } }>().error.code],
      [1, 'agent_not_found'],
    );
  });

  test('workers cannot use svc chair, even after clearing their mark', async () => {
    const marked = await ws.svc(['chair', 'claude', '--json'], {
      env: { SVC_RUN_ID: 'of another workspace' },
    });
    assert.deepEqual([marked.code, marked.json<{ error: { code: string } }>().error.code], [3, 'chair_only']);
    const added = await ws.svc(['task', 'add', '-a', 'nested', '-p', 'claude', '--run', '-f', '--json']);
    const { task_id } = added.json<{ task: { task_id: string } }>().task;
    const { stdout } = await ws.svc(['task', 'log', task_id]);
    assert.match(stdout, /svc chair is for the Chair seat/);
    assert.doesNotMatch(stdout, /agent: reading/);
  });

  test('svc chair passes signals on and leaves no process', async () => {
    for (const [signal, expected] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const) {
      const child = spawn(process.execPath, [SVC, 'chair', 'mine'], {
        cwd: ws.root,
        env: { ...ws.env, HOME: home },
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      let said = '';
      child.stdout.on('data', (chunk) => {
        said += chunk;
      });
      child.stdin.end('#agent: no-change\n#agent: echo-env\n#agent: hang\n');
      await until(() => said.includes('agent: hanging'));
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      assert.equal(await ended, expected);
      assert.ok(child.pid !== undefined && !isRunning(child.pid));
    }
  });
});
