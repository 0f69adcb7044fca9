import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Step } from '../../fixtures/model/model.ts';
import { presetOf } from '../support/agent-run.ts';
import { AGENTS_BIN, isInstalled } from '../support/agents.ts';
import { assertArrived, type Desk, type DeskRun, openDesk } from '../support/matrix.ts';
import { childrenOf } from '../support/processes.ts';
import { until } from '../support/wait.ts';

const COMMIT = 'git add -A && git commit -qm "Say hello"';
const HOSTILE = `--help "quotes" 'more' $(touch pwned) \`touch pwned\` \${HOME} \\n %s -- 日本 🎉\nsecond line\n\n- third`;

const EVIDENCE = { criteria: [], tests: [{ command: 'true', passed: true }], summary: 'a greeting' };

interface Agent {
  /** With its own tools, whose names and arguments differ. */
  write(path: string): Step & { call: string };
  shell(command: string): Step & { call: string };
  /** So that it gives up soon. */
  env?: Record<string, string>;
  home?: Record<string, string>;
  /** Its command without what lets it do everything. */
  careful: string;
  codes: Record<400 | 401 | 429, string>;
  /** What it may not do it does not offer to its model: nobody is denied anything, and nothing can be told. */
  isMuteWhenDenied?: boolean;
  /** It never tells how many tokens it took. */
  isSilentOnUsage?: boolean;
  /** How its model gets at our tools, where they are not simply there. */
  report?: Step[];
}

const described = (call: string, command: string) => ({ call, arguments: { command, description: 'Shell' } });

const AGENTS: Record<string, Agent> = {
  claude: {
    write: (path) => ({ call: 'Write', arguments: { file_path: path, content: 'hello\n' } }),
    shell: (command) => described('Bash', command),
    env: { CLAUDE_CODE_MAX_RETRIES: '1' },
    careful: 'claude -p --output-format stream-json --verbose -- {{prompt}}',
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
  codex: {
    write: (path) => ({
      call: 'exec_command',
      arguments: {
        cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n+hello\n*** End Patch\nEOF`,
      },
    }),
    shell: (cmd) => ({ call: 'exec_command', arguments: { cmd } }),
    home: {
      // Without a model that it knows it has its plain tools.
      '.codex/config.toml':
        'model = "stand-in"\n[model_providers.svc]\nname = "svc"\nrequest_max_retries = 0\nstream_max_retries = 0\n',
    },
    careful: 'codex exec --json --skip-git-repo-check -s read-only -c approval_policy=never -- {{prompt}}',
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
  gemini: {
    write: (path) => ({ call: 'write_file', arguments: { file_path: path, content: 'hello\n' } }),
    shell: (command) => described('run_shell_command', command),
    careful: 'gemini --output-format stream-json --skip-trust --prompt={{prompt}}',
    isMuteWhenDenied: true,
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
  opencode: {
    write: (path) => ({ call: 'write', arguments: { filePath: path, content: 'hello\n' } }),
    shell: (command) => described('bash', command),
    careful: 'opencode run --format json < {{prompt_file}}',
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
  qwen: {
    write: (path) => ({ call: 'write_file', arguments: { file_path: path, content: 'hello\n' } }),
    shell: (command) => ({ call: 'run_shell_command', arguments: { command, is_background: false } }),
    careful: 'qwen --output-format stream-json --approval-mode default --prompt={{prompt}}',
    report: [
      { call: 'tool_search', arguments: { query: 'select:mcp__svc__verify_report' } },
      { call: 'tool_call', arguments: { name: 'mcp__svc__verify_report', arguments: EVIDENCE } },
    ],
    isMuteWhenDenied: true,
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
  copilot: {
    write: (path) => ({ call: 'create', arguments: { path, file_text: 'hello\n' } }),
    shell: (command) => described('bash', command),
    careful: 'copilot --output-format json --no-ask-user --trust-folder --no-auto-update --prompt={{prompt}}',
    isSilentOnUsage: true,
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
};

/** The built-in command, by a program of the same name that stays when the real one has ended. */
function hanging(name: string, program: string): string {
  mkdirSync(dirname(program), { recursive: true });
  const text = `#!/bin/sh\n'${join(AGENTS_BIN, name)}' "$@"\ntail -f /dev/null\n`;
  writeFileSync(program, text, { mode: 0o755 });
  return (presetOf(name).headless ?? '').replace(/^\S+/, `'${program}'`);
}

const REPORT: Step = { call: 'verify_report', arguments: EVIDENCE };

/** All of them take minutes. Without the variable the two that are fastest are run wherever they are installed. */
const isWanted = (name: string): boolean => {
  const wanted = (process.env.SVC_TEST_AGENTS ?? 'claude,codex').split(',');
  return wanted.includes('all') || wanted.includes(name);
};

/** Leaves a process in a session of its own behind, says so, and waits. */
const stuck = (mark: string): string =>
  `setsid tail -f /dev/null >/dev/null 2>&1 </dev/null & touch '${mark}'; echo begun`;

const LONG = `${'a line of words, and of "others"\n'.repeat(9500)}end`;
const NOTE = 'The port is 8790 now.';

/** Real agent programs of .ci/agents.sh as workers, with the stand-in model as the gateway. */
describe('a dispatch of a real agent', { concurrency: 2 }, () => {
  for (const [name, agent] of Object.entries(AGENTS)) {
    const skip = !isInstalled(name)
      ? `${name} is not installed; .ci/agents.sh installs it`
      : !isWanted(name) && `${name} is left out; SVC_TEST_AGENTS=all has all of them`;
    if (skip) console.error(`NOT TESTED: ${skip}`);

    describe(name, { concurrency: 5, skip, timeout: 300_000 }, () => {
      let desk: Desk;
      before(async () => {
        const { careful, home = {}, env = {} } = agent;
        desk = await openDesk({
          agent: name,
          commands: (folder) => ({ careful, hanging: hanging(name, join(folder, 'hanging', name)) }),
          home,
          env,
        });
      });
      // Two that begin at the same time in a new home trip over each other's database.
      before(async () => {
        if (name === 'opencode') await (await desk.run('Come first.', () => [{ say: 'Here.' }])).ended();
      });
      after(() => desk?.close());

      const nothingLeft = (run: DeskRun): void => assert.deepEqual(run.marked(), []);

      test('edits and commits with its own tools, uses ours, hears messages, and is kept from what is locked', async () => {
        await desk.here.call('lock_acquire', { holder: 'lady', path: 'locked.txt' });
        const run = await desk.run(
          HOSTILE,
          (worktree) => [
            { ...agent.write(join(worktree, 'locked.txt')), isRefused: true },
            agent.write(join(worktree, 'hello.txt')),
            agent.shell(COMMIT),
            ...(agent.report ?? [REPORT]),
            { say: 'It is done.' },
          ],
          { begun: ({ session_id }) => desk.here.call('msg_send', { to_session: session_id, body: NOTE }) },
        );
        const ended = await run.ended();
        assert.deepEqual([ended.failure, desk.failures], [null, []], run.log());
        assert.deepEqual(
          [ended.commits, ended.files, ended.auth, ended.transport, ended.profile],
          [1, 1, 'gateway', 'subprocess', 'lite'],
        );
        assert.ok(ended.agent_session);
        if (!agent.isSilentOnUsage) assert.ok((ended.usage?.input ?? 0) > 0, JSON.stringify(ended.usage));
        const { git } = desk.ws.repository;
        assert.equal(git('log', '-1', '--format=%s', ended.branch ?? ''), 'Say hello');
        assert.equal(git('show', `${ended.branch}:hello.txt`), 'hello');
        const { state } = await desk.here.call<{ state: string }>('verify.show', { session: run.id });
        assert.equal(state, 'verified');
        assertArrived(run.requests(), HOSTILE);
        const last = JSON.stringify(run.requests().at(-1)?.body);
        assert.match(last, /locked\.txt is locked: lady/);
        assert.equal(last.split(NOTE).length - 1, 1, last);
        const { text } = await desk.here.call<{ text: string }>('session.log', { session: run.id });
        assert.match(text, /It is done\./);
        nothingLeft(run);
      });

      test('takes a prompt of 300 KB byte for byte', async () => {
        const prompt = `A long one.\n${LONG}`;
        assert.ok(Buffer.byteLength(prompt) > 300_000);
        const run = await desk.run(prompt, () => [{ say: 'Read.' }]);
        assert.equal((await run.ended()).failure, null, run.log().slice(0, 4000));
        assertArrived(run.requests(), prompt);
        nothingLeft(run);
      });

      for (const [status, code] of Object.entries(agent.codes))
        test(`fails with ${code} when its model answers ${status}`, async () => {
          const fail = { status: Number(status), retryAfterSec: 1 };
          const run = await desk.run(`Case ${status}.`, () => [{ fail }]);
          // Where it says until when, that is a pause.
          const { state, failure, pause } = await run.settled();
          assert.equal(failure?.code ?? pause?.code, code, run.log());
          nothingLeft(run);
          if (state !== 'ended') await run.cancel();
        });

      test('fails with permission_denied where its own permissions hold it back', async () => {
        const outside = join(desk.ws.repository.folder, 'outside.txt');
        const run = await desk.run(
          'Be careful.',
          () => [{ ...agent.write(outside), isRefused: true }, { say: 'I could not.' }],
          { agent: 'careful' },
        );
        const ended = await run.ended();
        assert.equal(existsSync(outside), false);
        assert.equal(
          ended.failure?.code,
          agent.isMuteWhenDenied ? undefined : 'permission_denied',
          run.log(),
        );
        nothingLeft(run);
      });

      test('is stopped at its time limit with all that it has started', async () => {
        const mark = join(desk.ws.repository.folder, 'begun-1');
        const run = await desk.run('Time is short.', () => [agent.shell(stuck(mark)), { hang: true }], {
          timeoutSec: 45,
        });
        await until(() => existsSync(mark), 'its tool', 120_000);
        assert.ok(run.marked().some(({ command }) => command.startsWith('tail')));
        const ended = await run.ended();
        assert.equal(ended.failure?.code, 'timeout', run.log());
        nothingLeft(run);
      });

      test('that is killed has failed with killed, and nothing outlives it', async () => {
        const mark = join(desk.ws.repository.folder, 'begun-2');
        const run = await desk.run('Be killed.', () => [agent.shell(stuck(mark)), { hang: true }]);
        await until(() => existsSync(mark), 'its tool', 120_000);
        const { pid } = await run.session();
        // The wrapper's one child is the agent.
        for (const child of childrenOf(pid ?? 0)) process.kill(child.pid, 'SIGKILL');
        const ended = await run.ended();
        assert.equal(ended.failure?.code, 'killed', run.log());
        nothingLeft(run);
      });

      test('that does not exit after its end is sealed all the same', async () => {
        const run = await desk.run('Never exit.', () => [{ say: 'Said.' }], { agent: 'hanging' });
        assert.equal((await run.ended()).failure, null, run.log());
        nothingLeft(run);
      });

      test('waits for the end of a limit and goes on once, with its conversation', async () => {
        const steps: Step[] = [agent.shell('touch half.txt')];
        // Some tell when they were told to come again; of the others the gateway knows.
        const fail = { status: 429, retryAfterSec: 1 };
        const run = await desk.run('Be limited.', () => [...steps, { fail }], {
          begun: async ({ session_id }) => desk.limit({ id: session_id }, Date.now() + 1000),
          again: { when: 'You were interrupted', steps: [...steps, agent.shell(COMMIT), { say: 'Done.' }] },
        });
        const ended = await run.ended();
        assert.deepEqual([ended.failure, ended.runs, ended.commits], [null, 2, 1], run.log());
        assertArrived(run.requests().slice(-1), 'Be limited.');
        assertArrived(run.requests().slice(-1), 'You were interrupted');
        nothingLeft(run);
      });
    });
  }
});
