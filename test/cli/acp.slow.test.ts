import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findAgentEnvironment } from '../../cli/acp/agent-quirks.ts';
import { createSecretRemover, describeError } from '../../cli/acp/failure.ts';
import { runAcp } from '../../cli/acp/run.ts';
import type { KeptLink } from '../../cli/link.ts';
import type { Caller } from '../../engine/core/api/operation.ts';
import {
  type AcpLine,
  type Ask,
  type Engine,
  type EngineHost,
  hostEngine,
  openEngine,
  type WireValue,
} from '../../engine/index.ts';
import { createAcpReader } from '../../engine/workers/agents/streams/acp.ts';
import { childrenOf } from '../support/processes/processes.ts';
import { settled, until } from '../support/wait.ts';
import { isRunning, makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

const AGENT = fileURLToPath(new URL('../../fixtures/acp/agent.js', import.meta.url));
const CHAIR: Caller = {
  seat: 'chair',
  actor: 'ada',
  via: 'tui',
  sessionId: null,
  project: null,
  env: {},
};
const WORKER: Caller = { ...CHAIR, seat: 'plain', actor: 'worker', via: 'cli' };

interface Wish {
  /** The agent's start directives. */
  start?: string[];
  resume?: string;
  env?: NodeJS.ProcessEnv;
  argv?: string[];
  call?: KeptLink['call'];
  patienceMs?: number;
}

describe('svc acp run', () => {
  let ws: TestWorkspace;
  let engine: Engine;
  let host: EngineHost;
  const open = async (): Promise<void> => {
    engine = await openEngine({ file: join(ws.root, 'svc.yaml'), env: ws.env, workerCap: 0 });
    host = await hostEngine(engine);
  };
  before(async () => {
    ws = await makeWorkspace();
    await open();
  });
  after(async () => {
    await host?.close();
    await ws.close();
  });

  const asks = async (): Promise<WireValue<Ask>[]> =>
    ((await engine.operations.call('ask.list', {}, CHAIR)) as { asks: WireValue<Ask>[] }).asks;
  const answer = (id: number, text: string) =>
    engine.operations.call('ask.answer', { id, answer: text }, CHAIR);

  /** Runs it in this process, connected to the engine. */
  async function play(directives: string, wish: Wish = {}) {
    const { start = [], resume = null, argv = [process.execPath, AGENT, ...start], patienceMs } = wish;
    const lines: AcpLine[] = [];
    let stderr = '';
    const link: KeptLink = {
      call: (name, input, options) => engine.operations.call(name, input, WORKER, options) as never,
      callTool: (name, input, options) => engine.callTool(name, input, WORKER, options),
      onEvent: () => ({ begun: Promise.resolve(), stop: () => undefined }),
      sessionId: async () => null,
      close: async () => undefined,
      ...(wish.call ? { call: wish.call } : {}),
    };
    const code = await runAcp({
      argv,
      prompt: directives,
      resume,
      cwd: ws.root,
      env: { ...ws.env, SVC_CONFIG: join(ws.root, 'svc.yaml'), ...wish.env },
      stdout: { write: (text) => lines.push(JSON.parse(text)) },
      stderr: { write: (chunk) => (stderr += chunk) },
      signal: new AbortController().signal,
      link,
      mcp: { command: 'svc', args: ['mcp'] },
      ...(patienceMs === undefined ? {} : { patienceMs }),
    });
    const said = lines.flatMap((line) => (line.acp === 'message' ? [line.text] : []));
    const end = lines.at(-1);
    assert.equal(end?.acp, 'end');
    // The engine reads the log in this form.
    const reader = createAcpReader();
    for (const line of lines) reader.readLine(JSON.stringify(line));
    const told = reader.facts().end;
    return { code, lines, said, stderr, end, error: told?.ok === false ? told : null };
  }
  const of = <K extends AcpLine['acp']>(lines: readonly AcpLine[], kind: K) =>
    lines.filter((line): line is Extract<AcpLine, { acp: K }> => line.acp === kind);

  test("svc acp run prints an agent's words and actions in whole lines, and ends as the agent does", async () => {
    const ran = await play(
      '#acp: think about it\n#acp: say two words\n#acp: plan look | edit | test\n#acp: edit new.txt hello\n#acp: usage 30 4\n#acp: write',
      { start: ['notice'] },
    );
    const [session, ...rest] = ran.lines;
    assert.equal(session?.acp, 'session');
    assert.deepEqual(session.agent, { name: 'scripted', version: '1' });
    const call = { acp: 'tool', id: 'call-1', kind: 'edit', title: 'edit new.txt', paths: ['new.txt'] };
    assert.deepEqual(rest, [
      { acp: 'thought', text: 'about it' },
      { acp: 'message', text: 'two words' },
      {
        acp: 'plan',
        entries: [
          { text: 'look', state: 'done' },
          { text: 'edit', state: 'active' },
          { text: 'test', state: 'pending' },
        ],
      },
      { ...call, status: 'pending' },
      { ...call, status: 'completed' },
      // The agent asks for a file method that it was not offered.
      { acp: 'message', text: 'not written: -32601' },
      { acp: 'usage', input: 30, cached: 0, output: 4, cost_usd: null },
      { acp: 'end', stop_reason: 'end_turn', error: null },
    ]);
    assert.equal(ran.code, 0);
    assert.match(ran.stderr, /a line beside the protocol/);
  });

  test("the agent gets the prompt byte for byte, and the worker's tools without its key", async () => {
    const prompt = `#acp: size\n#acp: session\n-- "$(x)" \`y\` \\ \u{1f600}\r\n${'z'.repeat(1_000_000)}\n\n`;
    const { said } = await play(prompt, { env: { SVC_SESSION: 's-9', SVC_VKEY: 'a key of the gateway' } });
    const sum = createHash('sha256').update(prompt).digest('hex');
    assert.equal(said[0], `${Buffer.byteLength(prompt)} ${sum}`);
    const [, how, params = ''] = /^(\w+) (.*)$/.exec(said[1] ?? '') ?? [];
    const { cwd, mcpServers } = JSON.parse(params);
    assert.deepEqual([how, cwd], ['new', ws.root]);
    const [{ name, command, args, env }] = mcpServers;
    assert.deepEqual({ name, command, args }, { name: 'svc', command: 'svc', args: ['mcp'] });
    assert.ok(env.some((each: { name: string; value: string }) => each.value === 's-9'));
    assert.doesNotMatch(params, /a key of the gateway/);
  });

  test('changes inside the worktree need no one; all other requests become asks at the same time', async () => {
    mkdirSync(join(ws.root, 'src'), { recursive: true });
    symlinkSync(ws.repository.folder, join(ws.root, 'out'));
    symlinkSync(join(ws.repository.folder, 'not-there-yet'), join(ws.root, 'dangling'));
    const outside = ['out/x', 'dangling', '../y', '.git/hooks/z', 'svc.yaml'];
    const running = play(
      `#acp: permissions edit src/new.ts ${outside.join(' ')}\n#acp: permission execute make all\n#acp: permission delete`,
    );
    const open = await until(async () => {
      const found = await asks();
      return found.length === outside.length && found;
    }, 'an ask for each of them');
    assert.deepEqual(
      open.map(({ question }) => question).sort(),
      outside.map((path) => `scripted wants to edit: edit ${path}`).sort(),
    );
    assert.deepEqual(open[0]?.options, ['Allow (always)', 'Allow (once)', 'Reject']);
    assert.match(open[0]?.context ?? '', /paths:\n {2}\//);
    for (const [index, { id }] of open.entries()) await answer(id, index === 0 ? 'Allow (always)' : 'Reject');
    const [command] = await until(async () => {
      const found = await asks();
      return found.length === 1 && found;
    });
    assert.equal(command?.question, 'scripted wants to execute: make all');
    assert.match(command.context ?? '', /command:\nmake all/);
    await answer(command.id, 'Allow (once)');
    const [unnamed] = await until(async () => {
      const found = await asks();
      return found.length === 1 && found;
    });
    assert.equal(unnamed?.question, 'scripted wants to delete: delete');
    await answer(unnamed.id, 'Reject');
    const { said, lines } = await running;
    const answered = (path: string) => said.find((line) => line.includes(` ${path} was answered`));
    assert.equal(answered('src/new.ts'), 'edit src/new.ts was answered once');
    const others = outside.map((path) => answered(path)?.split(' ').at(-1)).sort();
    assert.deepEqual(others, ['always', 'no', 'no', 'no', 'no']);
    assert.equal(answered('make all'), 'execute make all was answered once');
    const told = of(lines, 'permission');
    assert.deepEqual(
      told.filter(({ by }) => by === 'policy').map(({ title, outcome }) => [title, outcome]),
      [['edit src/new.ts', 'allow_once']],
    );
    assert.ok(told.every(({ by }) => by === 'policy' || by === 'ada'));
  });

  test('the policy of svc.yaml applies, or without an engine the last known one; silence is never a yes', async () => {
    const seen: string[] = [];
    let policies = 0;
    const ran = await play(
      '#acp: permission edit src/a\n#acp: permission edit b\n#acp: permission execute make\n#acp: permission edit src/b',
      {
        call: (async (name: string) => {
          seen.push(name);
          if (name === 'ask') return { status: 'timeout', answer: null, by: null };
          policies += 1;
          if (policies > 1) return new Promise(() => undefined);
          return { permissions: ['execute', 'edit:src'], folder: null };
        }) as KeptLink['call'],
      },
    );
    assert.deepEqual(ran.said, [
      'edit src/a was answered once',
      'edit b was answered no',
      'execute make was answered once',
      'edit src/b was answered once',
    ]);
    assert.deepEqual(seen, ['worker.permissions', 'worker.permissions', 'ask', 'msg.surface']);
    assert.deepEqual(of(ran.lines, 'permission')[1]?.by, 'nobody');
  });

  test('an agent that exits, breaks the protocol or never speaks it fails with a clear message', async () => {
    const cases: [string, Wish, RegExp][] = [
      [
        '#acp: stderr out of luck\n#acp: crash',
        {},
        /it ended with exit code 3; its last output: out of luck/,
      ],
      ['#acp: garbage', {}, /it sent a message that is not JSON/],
      ['#acp: die-mid-line', {}, /its output ended in the middle of a message/],
      ['#acp: close-output', {}, /it closed its output/],
      ['', { argv: ['/no/such/agent'] }, /it could not be started: .*ENOENT/],
      ['', { argv: [process.execPath, '-e', ''] }, /it ended with exit code 0/],
      ['', { start: ['version'] }, /speaks version 9 of the agent client protocol, not 1/],
      ['', { start: ['mute'], patienceMs: 300 }, /did not answer initialize within/],
    ];
    const ended = await Promise.all(cases.map(([prompt, wish]) => play(prompt, wish)));
    for (const [index, [, , text]] of cases.entries()) {
      const { code, error, lines } = ended[index]!;
      assert.deepEqual([code, error?.code], [1, 'agent_error']);
      assert.match(error?.text ?? '', text);
      assert.equal(of(lines, 'error').length, 1);
    }
  });

  test('a turn that ends abnormally, or with an error, fails with its own code', async () => {
    const [refused, turns, error] = await Promise.all([
      play('#acp: refuse'),
      play('#acp: max-turns'),
      play('#acp: error {"code":-32603,"message":"Internal error: 401 for sk-of-the-tests","data":{"a":1}}', {
        env: { OPENAI_API_KEY: 'sk-of-the-tests' },
      }),
    ]);
    assert.deepEqual([refused.end.stop_reason, refused.error?.code], ['refusal', 'refused']);
    assert.deepEqual([turns.end.stop_reason, turns.error?.code], ['max_turn_requests', 'turn_limit']);
    assert.deepEqual(error.error, { ok: false, code: 'auth_failed', text: '401 for …', resetAt: null });
    assert.doesNotMatch(JSON.stringify(error.lines), /sk-of-the-tests/);
    assert.deepEqual([refused.code, turns.code, error.code], [1, 1, 1]);
  });

  test("an agent's error is shown as it came, shortened, and without half a secret", () => {
    const clean = createSecretRemover({ API_KEY: 'a secret of many words', PATH: '/usr/local/bin' });
    const message = `${'x'.repeat(1990)}a secret of many words`;
    const data = { details: ['a secret of many words at /usr/local/bin'], status: 429 };
    const { at, ...line } = describeError({ code: -32_603, message, data }, clean, 5);
    assert.ok(at > 0);
    assert.deepEqual(line, {
      code: -32_603,
      message: `${'x'.repeat(1990)}…`,
      data: '{"details":["… at /usr/local/bin"],"status":429}',
      reset_at: 5,
    });
    assert.equal(describeError({ code: 1, message: 'y'.repeat(5000) }, clean).message.length, 2000);
  });

  test('a session is resumed where the agent can, and a new one starts where it cannot', async () => {
    const cases: [Wish, RegExp][] = [
      [{ resume: 'acp-1' }, /^resume .*"sessionId":"acp-1"/],
      [{ resume: 'acp-2', start: ['only-load'] }, /^load .*"sessionId":"acp-2"/],
      [{ resume: 'unknown' }, /^new /],
      [{ resume: 'acp-4', start: ['no-resume'] }, /^new /],
    ];
    const ran = await Promise.all(cases.map(([wish]) => play('#acp: session', wish)));
    for (const [index, [, opened]] of cases.entries()) {
      const { said, code, lines } = ran[index]!;
      // Earlier messages are not repeated.
      assert.equal(said.length, 1);
      assert.match(said[0]!, opened);
      assert.equal(code, 0);
      assert.equal(of(lines, 'error').length, index < 2 ? 0 : 1);
    }
    assert.equal(of(ran[0]!.lines, 'session')[0]?.id, 'acp-1');
  });

  test('only an available key is used to log in', async () => {
    const [with_, without] = await Promise.all([
      play('#acp: say in', { start: ['login'], env: { GEMINI_API_KEY: 'a key' } }),
      play('#acp: say in', { start: ['login'], env: { GEMINI_API_KEY: undefined } }),
    ]);
    assert.deepEqual(with_.said, ['in']);
    assert.deepEqual([without.code, without.error?.code], [1, 'auth_failed']);
    assert.match(without.error?.text ?? '', /it offers gemini-api-key/);
  });

  test('opencode is set to ask, and keeps what it is configured to deny', () => {
    const told = (config: object | string) => {
      const text = typeof config === 'string' ? config : JSON.stringify(config);
      const { OPENCODE_CONFIG_CONTENT = '' } = findAgentEnvironment('/opt/opencode', {
        OPENCODE_CONFIG_CONTENT: text,
      });
      return JSON.parse(OPENCODE_CONFIG_CONTENT);
    };
    const asked = { edit: 'ask', bash: 'ask', webfetch: 'ask' };
    assert.deepEqual(told(''), { permission: asked });
    assert.deepEqual(told({ model: 'm', permission: 'allow' }), { model: 'm', permission: asked });
    assert.deepEqual(
      told({ permission: { edit: 'deny', bash: { '*': 'allow', 'rm *': 'deny' }, x: 'allow' } }),
      {
        permission: { ...asked, edit: 'deny', bash: { '*': 'ask', 'rm *': 'deny' }, x: 'allow' },
      },
    );
    assert.throws(() => told('{"permission": my-secret'), {
      code: 'config_invalid',
      message: /^((?!my-secret).)*$/,
    });
    assert.deepEqual(findAgentEnvironment('scripted', {}), {});
  });

  /** Runs the command itself, as the engine starts it. */
  function start(prompt: string, ...words: string[]) {
    const file = join(ws.repository.folder, `prompt-${words.join('-')}.md`);
    writeFileSync(file, prompt);
    const argv = [SVC, 'acp', 'run', '--prompt-file', file, '--', process.execPath, AGENT, ...words];
    const child = spawn(process.execPath, argv, {
      cwd: ws.root,
      env: ws.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    const ended = once(child, 'close').then(([code]) => code as number | null);
    return { child, ended, out: () => out };
  }

  test('an ask survives the end of an engine and the start of the next', async () => {
    const { ended, out } = start('#acp: permission execute make');
    const [open_] = await until(async () => {
      const found = await asks();
      return found.length > 0 && found;
    });
    await host.close();
    await open();
    await answer(open_!.id, 'Allow (once)');
    assert.equal(await settled(ended), 0);
    assert.match(out(), /execute make was answered once/);
  });

  test('SIGTERM cancels the turn and its requests, and leaves no process', async () => {
    const runs = [
      start('#acp: say on\n#acp: hang'),
      start('#acp: permission execute make', 'ignore-eof', 'ignore-term'),
    ];
    const agents = await Promise.all(
      runs.map(({ child, out }) =>
        until(
          () =>
            out().includes(child === runs[0]!.child ? '"on"' : '"acp":"tool"') &&
            childrenOf(child.pid!)[0]?.pid,
        ),
      ),
    );
    await until(async () => (await asks()).length === 1);
    for (const { child } of runs) child.kill('SIGTERM');
    assert.deepEqual(await settled(Promise.all(runs.map(({ ended }) => ended))), [1, 1]);
    for (const { out } of runs) {
      const end = out().trim().split('\n').at(-1);
      assert.match(
        end ?? '',
        /^\{"acp":"end","stop_reason":"cancelled","error":\{"code":"agent_error","text":"cancelled"/,
      );
    }
    assert.match(runs[1]!.out(), /"acp":"permission".*"outcome":"cancelled","by":"svc"/);
    assert.deepEqual(agents.filter(isRunning), []);
  });

  test('svc acp run is hidden from people, and names what it lacks', async () => {
    assert.doesNotMatch((await ws.svc(['help'])).stdout, /acp run/);
    const { code, stderr } = await ws.svc(['acp', 'run', '--', 'x']);
    assert.deepEqual([code, /needs --prompt-file/.test(stderr)], [2, true]);
    assert.match(
      readFileSync(fileURLToPath(new URL('../../../docs/reference/commands.md', import.meta.url)), 'utf8'),
      /svc ask open/,
    );
  });
});
