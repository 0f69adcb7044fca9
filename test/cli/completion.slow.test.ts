import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FIRST_WORDS } from '../../cli/catalogue.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;
// Commands that people do not type are not proposed.
const HIDDEN = ['__complete', 'acp'];
const first = FIRST_WORDS.filter((word) => !HIDDEN.includes(word));

/** The completions of each typed line; its last word is incomplete. */
const CASES: [typed: string, proposed: readonly string[]][] = [
  ['svc ', [...first, 'help']],
  ['svc ta', ['task']],
  ['svc decision ', ['list', 'show', 'approve', 'deny', 'edit']],
  ['svc task list --st', ['--status']],
  ['svc task list --status ', ['open', 'assigned', 'running', 'done', 'failed']],
  ['svc task list -s d', ['done']],
  ['svc task show ', ['t-2', 't-1']],
  ['svc task show --json t', ['t-2', 't-1']],
  ['svc task assign t-1 cl', ['claude']],
  ['svc task add --agent co', ['codex', 'copilot']],
  ['svc task add --prompt ', []],
  ['svc tool call ask_', ['ask_answer', 'ask_list']],
  ['svc ask answer ', ['1']],
  ['svc msg show ', ['1']],
  ['svc config get agents.ti', ['agents.timeout_sec']],
  ['svc completion ', ['bash', 'zsh', 'fish']],
  ['svc config set guard.profile s', ['strict', 'shared']],
  ['svc config set webhook.require_approval ', ['true', 'false']],
  ['svc help integ', ['integrate']],
  ['svc help --a', ['--all']],
];

describe('shell completion', () => {
  let workspace: TestWorkspace;
  let bin: string;
  before(async () => {
    workspace = await makeWorkspace();
    bin = join(workspace.repository.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'svc'), `#!/bin/sh\nexec '${process.execPath}' '${SVC}' "$@"\n`, { mode: 0o755 });
    await workspace.svc(['task', 'add', 'one', '--agent', 'scripted']);
    await workspace.svc(['task', 'add', 'two', '--agent', 'scripted']);
    await workspace.svc(['ask', 'open', 'which?', '--no-wait']);
  });
  after(() => workspace.close());

  const inShell = (shell: string, script: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const env = { ...workspace.env, PATH: [bin, workspace.env.PATH].join(delimiter) };
      execFile(shell, ['-c', script], { cwd: workspace.root, env }, (error, stdout, stderr) =>
        error === null && stderr === '' ? resolve(stdout) : reject(error ?? new Error(stderr)),
      );
    });

  const sorted = (words: readonly string[]): string[] => [...words].sort();

  it('bash proposes commands, flags, choices, ids, agents and keys', { skip: !has('bash') }, async () => {
    for (const [typed, proposed] of CASES) {
      const words = typed.split(' ').map((word) => `'${word}'`);
      const out = await inShell(
        'bash',
        `source <(svc completion bash); COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}
         _svc svc ${words.at(-1)} ${words.at(-2)}; printf '%s\\n' "\${COMPREPLY[@]}"`,
      );
      assert.deepEqual(sorted(out.split('\n').filter(Boolean)), sorted(proposed), typed);
    }
  });

  it('bash splits --flag=value', { skip: !has('bash') }, async () => {
    const out = await inShell(
      'bash',
      `source <(svc completion bash); COMP_WORDS=(svc task list --status = r); COMP_CWORD=5
       _svc svc r =; echo "\${COMPREPLY[*]}"`,
    );
    assert.equal(out.trim(), 'running');
  });

  it('fish proposes the same', { skip: !has('fish') }, async () => {
    for (const [typed, proposed] of CASES) {
      const out = await inShell('fish', `svc completion fish | source; complete -C '${typed}'`);
      const words = out.split('\n').map((line) => line.split('\t')[0] ?? '');
      assert.deepEqual(sorted(words.filter(Boolean)), sorted(proposed), typed);
    }
  });

  it('zsh reads its script without an error', { skip: !has('zsh') }, async () => {
    await inShell(
      'zsh',
      'autoload -Uz compinit; compinit -u -D; source <(svc completion zsh); (( $+functions[_svc] ))',
    );
  });

  it('an unknown shell is an error that names the known ones', async () => {
    const { code, stderr } = await workspace.svc(['completion', 'tcsh']);
    assert.equal(code, 2);
    assert.match(stderr, /bash, zsh, fish/);
  });

  describe('the queries of shell scripts while typing', () => {
    it('the query answers with ids by their prefix', async () => {
      assert.equal((await workspace.svc(['__complete', 'task', 't-2'])).stdout, 't-2\n');
      assert.equal((await workspace.svc(['__complete', 'task', 'd-'])).stdout, '');
    });

    it('the query answers with usable targets of the command, and shows any that exist', async () => {
      const proposed = async (kind: string) =>
        (await workspace.svc(['__complete', kind])).stdout.split('\n').filter(Boolean);
      const denied = (await workspace.post('one')).body;
      await workspace.svc(['decision', 'deny', denied.decision_id, 'not now']);
      const waits = (await workspace.post('two')).body;
      await workspace.svc(['ask', 'answer', '1', 'this one']);
      assert.deepEqual(await proposed('decision'), [waits.decision_id, denied.decision_id]);
      assert.deepEqual(await proposed('decision:pending'), [waits.decision_id]);
      assert.deepEqual(await proposed('task:failed'), [denied.task_id]);
      assert.deepEqual(await proposed('task:idle'), [waits.task_id, 't-2', 't-1']);
      assert.deepEqual(await proposed('question'), ['1']);
      assert.deepEqual(await proposed('question:open'), []);
      assert.deepEqual(await proposed('message:unread'), []);
      assert.deepEqual(await proposed('session:live'), []);
      assert.ok((await proposed('project')).length > 0);
    });

    it('every command of the catalogue declares its query', async () => {
      const { stdout } = await workspace.svc(['completion', 'bash']);
      for (const [command, kind] of [
        ['decision show', 'decision'],
        ['decision approve', 'decision:pending'],
        ['decision deny', 'decision:pending'],
        ['decision edit', 'decision:pending'],
        ['task retry', 'task:failed'],
        ['worker kill', 'session:live'],
        ['ask answer', 'question:open'],
        ['msg ack', 'message:unread'],
        ['project trust', 'project'],
      ])
        assert.ok(stdout.includes(`'${command} 0') _svc_ask ${kind} ;;`), command);
    });

    it('the query command is hidden from help', async () => {
      assert.doesNotMatch((await workspace.svc(['help'])).stdout, /__complete/);
      assert.doesNotMatch((await workspace.svc(['completion', 'bash'])).stdout, /'[^']*__complete[^']*'/);
    });

    it('the query prints nothing and succeeds outside a workspace and for unknown commands', async () => {
      const folder = temporaryFolder();
      for (const args of [['task', ''], ['decision'], ['nonsense', 'x'], []]) {
        const { code, stdout, stderr } = await workspace.svc(['__complete', ...args], { cwd: folder });
        assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '' }, args.join(' '));
      }
      rmSync(folder, { recursive: true });
    });

    it('the query proposes the built-in agents where svc.yaml is broken', async () => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, 'svc.yaml'), 'agents: [');
      const { stdout, stderr } = await workspace.svc(['__complete', 'agent', 'cl'], { cwd: folder });
      rmSync(folder, { recursive: true });
      assert.equal(stdout, 'claude\n');
      assert.equal(stderr, '');
    });

    it('the query never waits for an engine that hangs', async () => {
      const pid = workspace.daemonPid();
      assert.ok(pid);
      process.kill(pid, 'SIGSTOP');
      try {
        const { code, stdout, stderr } = await workspace.svc(['__complete', 'task', '']);
        assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '' });
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    });

    it('the query starts no engine', async () => {
      await workspace.svc(['down', '--stop-workers']);
      const { code, stdout } = await workspace.svc(['__complete', 'task', '']);
      assert.deepEqual({ code, stdout }, { code: 0, stdout: '' });
      assert.equal(workspace.daemonPid(), null);
    });
  });
});
