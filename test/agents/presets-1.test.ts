import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type Model, type Script, type Step, startModel } from '../../fixtures/model/model.ts';
import { type BareRun, type BareWish, presetOf, runPreset } from '../support/agents/agent-run.ts';
import { missing } from '../support/agents/agents.ts';
import { outcomeOf } from '../support/agents/streams.ts';
import { makeRepository, type TestRepository } from '../support/workspaces/git.ts';

const COMMIT = 'git add -A && git commit -qm "Say hello"';
const HOSTILE = `--help "quotes" 'more' $(touch pwned) \`touch pwned\` \${HOME} \\n %s -- 日本 🎉\nsecond line\n\n- third`;
/** All lines differ, so missing or repeated pieces show. */
const LONG = `${HOSTILE}\n${Array.from({ length: 8000 }, (_, line) => `${line} ${HOSTILE.slice(0, 40)}`).join('\n')}`;

interface Agent {
  /** Steps with the agent's own tools, whose names and arguments differ. */
  edit(file: string): Step;
  shell(command: string): Step;
  /** Settings that make it give up soon. */
  impatient?: Record<string, string>;
  codes: Partial<Record<number, string>>;
}

const AGENTS: Record<string, Agent> = {
  claude: {
    edit: (file) => ({ call: 'Write', arguments: { file_path: file, content: 'hello\n' } }),
    shell: (command) => ({ call: 'Bash', arguments: { command, description: 'Shell' } }),
    impatient: { CLAUDE_CODE_MAX_RETRIES: '1' },
    codes: { 400: 'model_error', 401: 'auth_failed', 429: 'rate_limited' },
  },
  gemini: {
    edit: (file) => ({ call: 'write_file', arguments: { file_path: file, content: 'hello\n' } }),
    shell: (command) => ({ call: 'run_shell_command', arguments: { command, description: 'Shell' } }),
    codes: { 400: 'model_error', 401: 'auth_failed' },
  },
  qwen: {
    edit: (file) => ({ call: 'write_file', arguments: { file_path: file, content: 'hello\n' } }),
    shell: (command) => ({ call: 'run_shell_command', arguments: { command, is_background: false } }),
    codes: { 401: 'auth_failed', 429: 'rate_limited' },
  },
  kimi: {
    edit: (path) => ({ call: 'Write', arguments: { path, content: 'hello\n' } }),
    shell: (command) => ({ call: 'Bash', arguments: { command, description: 'Shell' } }),
    codes: { 400: 'trouble:model_error', 401: 'trouble:auth_failed' },
  },
};

/** Finds the text in a request: agents add their own words, in the same text or in another. */
const arrived = (model: Model, text: string): boolean =>
  model.requests.some(({ body }) => JSON.stringify(body ?? null).includes(JSON.stringify(text).slice(1, -1)));

// The agents wait for each other's start most of the time.
describe('real agent programs by their presets alone', { concurrency: 2 }, () => {
  for (const [name, agent] of Object.entries(AGENTS)) {
    describe(name, {
      concurrency: 1,
      skip: missing(name),
    }, () => {
      let repository: TestRepository;
      let worktree: string;
      before(() => {
        repository = makeRepository();
        worktree = join(repository.folder, 'worktree');
        repository.git('worktree', 'add', '-q', worktree, '-b', 'work');
      });
      after(() => repository.remove());

      async function play(
        t: TestContext,
        script: Script,
        wish: Partial<BareWish> = {},
      ): Promise<{ model: Model; run: BareRun }> {
        const model = await startModel({ script, authorize: (key) => key === 'vk-test' });
        t.after(() => model.close());
        const run = await runPreset(name, {
          prompt: 'Say hello.',
          gateway: { url: model.url, key: 'vk-test' },
          cwd: worktree,
          folder: repository.folder,
          ...wish,
          ...(agent.impatient ? { env: { ...agent.impatient, ...wish.env } } : {}),
        });
        assert.deepEqual(model.failures, []);
        assert.deepEqual(run.survivors, []);
        return { model, run };
      }

      test('the agent edits and commits in a worktree, reports it, and resumes its session', async (t) => {
        const steps: Step[] = [
          agent.edit(join(worktree, 'hello.txt')),
          agent.shell(COMMIT),
          { say: 'It is done.' },
        ];
        const { model, run } = await play(t, { steps }, { prompt: HOSTILE });
        assert.equal(run.code, 0, run.lines.join('\n'));
        assert.deepEqual([run.facts.end, run.facts.toolCalls], [{ ok: true }, 2], run.lines.join('\n'));
        assert.equal(run.facts.activity, `run ${COMMIT}`);
        assert.match(run.text, /It is done\./);
        assert.equal(repository.git('show', 'work:hello.txt'), 'hello');
        assert.equal(repository.gitIn(worktree, 'status', '--porcelain'), '');
        assert.ok(arrived(model, HOSTILE), 'the prompt arrived unchanged');

        assert.ok(run.facts.agentSession);
        const next = await play(
          t,
          { steps: [{ say: 'Again.' }] },
          {
            prompt: 'And again.',
            resume: run.facts.agentSession,
          },
        );
        assert.deepEqual(next.run.facts.end, { ok: true }, next.run.lines.join('\n'));
        assert.ok(arrived(next.model, HOSTILE), 'it remembers the earlier messages');
        assert.equal(next.run.facts.agentSession, run.facts.agentSession);
      });

      test('a long prompt arrives byte for byte', {
        skip: presetOf(name).headlessLong === null && 'it reads a long prompt from its file',
      }, async (t) => {
        assert.ok(Buffer.byteLength(LONG) > 300_000);
        const { model, run } = await play(t, { steps: [{ say: 'Read.' }] }, { prompt: LONG });
        assert.deepEqual(run.facts.end, { ok: true }, run.lines.join('\n').slice(0, 2000));
        assert.ok(arrived(model, LONG));
      });

      for (const [status, code] of Object.entries(agent.codes)) {
        test(`an answer with status ${status} fails the run with ${code}`, async (t) => {
          const { run } = await play(t, { steps: [{ fail: { status: Number(status), retryAfterSec: 1 } }] });
          assert.equal(outcomeOf(run.facts), code, run.lines.join('\n'));
          assert.notEqual(run.code, 0);
        });
      }

      if (name === 'claude') {
        test("the person's settings file cannot choose another provider", async (t) => {
          const path = join(repository.folder, 'home', '.claude', 'settings.json');
          const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_AUTH_TOKEN: 'of the person' };
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, JSON.stringify({ env }));
          t.after(() => rmSync(path));
          const { model, run } = await play(t, { steps: [{ say: 'Hello.' }] });
          assert.deepEqual(run.facts.end, { ok: true }, run.lines.join('\n'));
          assert.ok(!JSON.stringify(model.requests).includes('of the person'));
        });
      }

      test('a stopped run leaves no process behind', async (t) => {
        const started = join(worktree, '..', 'started');
        const steps: Step[] = [agent.shell(`tail -f /dev/null & touch '${started}'; tail -f /dev/null`)];
        const { run } = await play(t, { steps }, { stopWhen: () => existsSync(started) });
        assert.deepEqual(run.leftBehind, []);
        assert.equal(run.facts.end, null);
      });
    });
  }
});
