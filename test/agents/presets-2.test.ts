import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type Script, startModel } from '../../fixtures/model/model.ts';
import { type BareRun, type BareWish, runPreset } from '../support/agents/agent-run.ts';
import { missing } from '../support/agents/agents.ts';
import { makeRepository } from '../support/workspaces/git.ts';

interface Agent {
  /** The agent's own tool for commands, and a call of it. */
  shell(command: string): { call: string; arguments: Record<string, unknown> };
  /** The agent's own tool for new files, which a hook may refuse. */
  write(file: string): { call: string; arguments: Record<string, unknown> };
  env?: Record<string, string>;
  /** A failure that it retries for longer than a test may take. */
  waitsOn?: readonly number[];
}

const AGENTS: Record<string, Agent> = {
  codex: {
    shell: (cmd) => ({ call: 'exec_command', arguments: { cmd } }),
    write: (file) => ({
      call: 'exec_command',
      arguments: { cmd: `apply_patch <<'E'\n*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch\nE` },
    }),
  },
  opencode: {
    shell: (command) => ({ call: 'bash', arguments: { command, description: 'Work' } }),
    write: (filePath) => ({ call: 'write', arguments: { filePath, content: 'x' } }),
    // In a new home it first fetches the types of its plugins, which are not needed.
    env: { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' },
    // It tries five times with growing delays, and no setting changes that.
    waitsOn: [503],
  },
  copilot: {
    shell: (command) => ({ call: 'bash', arguments: { command, description: 'Work' } }),
    write: (path) => ({ call: 'create', arguments: { path, file_text: 'x' } }),
    waitsOn: [503],
  },
};

/** Written as the person's own settings: with an unknown model, codex offers its basic tools. */
const CODEX_SETTINGS = `model = "stand-in"
[model_providers.svc]
name = "svc"
request_max_retries = 0
stream_max_retries = 0
`;

const HOSTILE = '--help "quoted" \'single\' $(touch oops) `touch oops` \\ %s\n\n{{name}} é 漢字 🙂\tend';

/**
 * Real agent programs, installed by .ci/agents.sh, configured and parsed by their presets; only the model is fake.
 */
for (const [agent, own] of Object.entries(AGENTS)) {
  describe(`${agent} by its preset`, { concurrency: 1 }, () => {
    async function within(
      t: TestContext,
      script: Script,
      work: (
        run: (wish?: Partial<BareWish>) => Promise<BareRun>,
        place: { git(...args: string[]): string; root: string; said(): string },
      ) => Promise<void>,
    ): Promise<void> {
      const why = missing(agent);
      if (why) return t.skip(why);
      const repository = makeRepository();
      const model = await startModel({ script });
      const folder = join(repository.folder, 'session');
      mkdirSync(join(folder, 'home', '.codex'), { recursive: true });
      writeFileSync(join(folder, 'home', '.codex', 'config.toml'), CODEX_SETTINGS);
      const worktree = join(repository.folder, 'worktree');
      repository.git('worktree', 'add', '-q', '-b', 'work', worktree);
      try {
        await work(
          (wish) =>
            runPreset(agent, {
              prompt: 'Say hello.',
              gateway: { url: model.url, key: 'key-of-this-run-1' },
              cwd: worktree,
              folder,
              ...(own.env === undefined ? {} : { env: own.env }),
              ...wish,
            }),
          {
            root: worktree,
            git: (...args) => repository.git('-C', worktree, ...args),
            said: () => model.requests.map(({ body }) => JSON.stringify(body)).join('\n'),
          },
        );
        assert.deepEqual(model.failures, []);
        assert.ok(model.requests.every(({ key }) => key === null || key === 'key-of-this-run-1'));
      } finally {
        await model.close();
        repository.remove();
      }
    }

    test('the agent edits and commits in a worktree, and resumes its session', {
      timeout: 120_000,
    }, async (t) => {
      const command = "printf 'hello\\n' > hello.txt && git add hello.txt && git commit -qm Hello";
      await within(
        t,
        { steps: [own.shell(command), { say: 'It is committed.' }] },
        async (run, { git, said }) => {
          const first = await run();
          assert.deepEqual(first.facts.end, { ok: true }, first.lines.join('\n'));
          assert.equal(git('log', '-1', '--format=%s'), 'Hello');
          assert.equal(first.facts.toolCalls, 1);
          assert.match(first.facts.activity ?? '', /^run printf/);
          assert.match(first.text, /→ run printf[\s\S]*It is committed\./);
          assert.deepEqual(first.survivors, []);

          const session = first.facts.agentSession;
          assert.ok(session);
          const second = await run({ prompt: '--now something else', resume: session });
          assert.deepEqual(second.facts.end, { ok: true }, second.lines.join('\n'));
          assert.equal(second.facts.agentSession, session);
          const last = said().split('\n').at(-1) ?? '';
          assert.match(last, /Say hello\./);
          assert.match(last, /--now something else/);
        },
      );
    });

    for (const [name, prompt] of [
      ['a hostile prompt', HOSTILE],
      ['a prompt of 300 KB', `${HOSTILE}\n${'a line of words\n'.repeat(19_200)}end`],
    ] as const) {
      test(`${name} arrives byte for byte`, { timeout: 120_000 }, async (t) => {
        await within(t, { steps: [{ say: 'Read.' }] }, async (run, { said, git }) => {
          const ran = await run({ prompt });
          assert.deepEqual(ran.facts.end, { ok: true }, ran.lines.join('\n').slice(0, 2000));
          assert.ok(said().includes(JSON.stringify(prompt).slice(1, -1)), 'the prompt arrived unchanged');
          assert.equal(git('status', '--porcelain'), '');
        });
      });
    }

    for (const [status, code] of [
      [400, 'model_error'],
      [401, 'auth_failed'],
      [429, 'rate_limited'],
      [503, 'rate_limited'],
    ] as const) {
      const skip = own.waitsOn?.includes(status)
        ? `${agent} has no setting for how often it tries again after ${status}`
        : false;
      test(`an answer with status ${status} is reported as ${code}`, {
        timeout: 120_000,
        skip,
      }, async (t) => {
        const fail = { status, ...(status === 429 ? { retryAfterSec: 1 } : {}) };
        await within(t, { steps: [{ fail }] }, async (run) => {
          const { facts, lines } = await run();
          assert.equal(facts.end?.ok === false && facts.end.code, code, lines.join('\n').slice(0, 2000));
        });
      });
    }

    test('a hook refuses a write, and the model reads the reason', { timeout: 120_000 }, async (t) => {
      const refused = { ...own.write('locked.txt'), isRefused: true };
      await within(t, { steps: [refused, { say: 'It is locked.' }] }, async (run, { git, said }) => {
        const deny = {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'w-2 holds "locked.txt"',
        };
        const script = `console.log(${JSON.stringify(JSON.stringify({ hookSpecificOutput: deny }))})`;
        const nothing = { command: process.execPath, args: ['-e', ''] };
        const { facts, lines } = await run({
          hooks: {
            'pre-write': { command: process.execPath, args: ['-e', script] },
            'post-tool': nothing,
            'pre-compact': nothing,
            'session-start': nothing,
          },
        });
        assert.deepEqual(facts.end, { ok: true }, lines.join('\n').slice(0, 2000));
        assert.match(said(), /w-2 holds/);
        assert.equal(git('status', '--porcelain'), '');
      });
    });

    test('a stopped run leaves nothing behind', { timeout: 120_000 }, async (t) => {
      await within(t, { steps: [own.shell('touch begun; sleep 300')] }, async (run, { git }) => {
        // Its own final report is ignored then: some let the model answer after the tool was stopped.
        const { survivors } = await run({ stopWhen: () => git('status', '--porcelain') !== '' });
        assert.deepEqual(survivors, []);
      });
    });
  });
}

test('opencode reports that it would wait hours for a limit', { timeout: 120_000 }, async (t) => {
  const why = missing('opencode');
  if (why) return t.skip(why);
  const { root, folder, remove } = makeRepository();
  const model = await startModel({ script: { steps: [{ fail: { status: 429, retryAfterSec: 7200 } }] } });
  let asked = 0;
  try {
    const { facts } = await runPreset('opencode', {
      prompt: 'Say hello.',
      gateway: { url: model.url, key: 'key-of-this-run-1' },
      cwd: root,
      folder: join(folder, 'session'),
      env: AGENTS.opencode!.env!,
      // The line arrives with the answer to the conversation's first request, followed by a few log lines.
      stopWhen: () => {
        asked += model.requests.some(({ failed }) => failed === 429) ? 1 : 0;
        return asked > 100;
      },
    });
    assert.equal(facts.end?.ok, false);
    assert.ok(facts.end?.ok === false && (facts.end.resetAt ?? 0) > Date.now() + 3_600_000);
  } finally {
    await model.close();
    remove();
  }
});
