import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Session, Task, WireValue } from '../../../engine/index.ts';
import { makeStrict, impossible as skip } from '../../support/agents/strict.ts';
import { hostile } from '../../support/hostile.ts';
import { requireLocalPath } from '../../support/workspaces/local-path.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const PROFILES = skip === null ? (['lite', 'strict'] as const) : (['lite'] as const);

/** Runs `work` in a workspace of each profile that this machine supports. */
async function inEach(t: TestContext, work: (here: Here, profile: string) => Promise<void>): Promise<void> {
  for (const profile of PROFILES) {
    const ws = profile === 'lite' ? await makeWorkspace() : await makeStrict();
    t.after(() => ws.close());
    await work(openHere(ws), profile);
  }
}

type Here = ReturnType<typeof openHere>;

function openHere(ws: TestWorkspace) {
  const call = async (...words: string[]) => {
    const ran = await ws.svc([...words, '--json']);
    assert.equal(ran.code, 0, `${words.join(' ')}: ${ran.stderr}${ran.stdout}`);
    return ran;
  };
  return {
    ...ws,
    /** Runs a worker that executes the lines of a script and commits nothing; returns its session. */
    async run(lines: readonly string[]): Promise<WireValue<Session>> {
      const prompt = [...lines.map((line) => `#agent: run ${line}`), '#agent: no-change'].join('\n');
      const { task } = (await call('task', 'add', '-p', prompt, '--run', '-f')).json<{
        task: WireValue<Task>;
      }>();
      const shown = await call('worker', 'show', task.session_id ?? assert.fail());
      return shown.json<WireValue<Session>>();
    },
    show: (session: string, file: string) => ws.repository.git('show', `svc/${session}:${file}`),
    /** Prunes; returns what remains, with reasons. */
    prune: async () => (await call('worktree', 'prune')).stdout,
    call,
  };
}

hostile(
  {
    attacker: 'worker',
    tries: 'hide its changes by marks in its index, so that they are lost with its worktree',
    lite: 'committed with the rest',
    strict: 'committed with the rest',
  },
  (t) =>
    inEach(t, async (here) => {
      for (const mark of ['--skip-worktree', '--assume-unchanged']) {
        const { session_id, head_commit, base_commit } = await here.run([
          `git update-index ${mark} README.md app/main.txt`,
          'echo work > README.md',
          'rm app/main.txt && ln -s ../README.md app/main.txt',
        ]);
        assert.notEqual(head_commit, base_commit);
        assert.equal(here.show(session_id, 'README.md'), 'work');
        assert.equal(here.show(session_id, 'app/main.txt'), '../README.md');
        await here.call('worktree', 'discard', session_id);
        await here.call('worktree', 'restore', session_id);
        assert.equal(here.show(session_id, 'README.md'), 'work');
      }
    }),
);

hostile(
  {
    attacker: 'worker',
    tries: 'hide its new files by its own ignore rules',
    lite: 'kept with the worktree, and reported',
    strict: 'kept with the worktree, and reported',
  },
  (t) =>
    inEach(t, async (here, profile) => {
      const ways = ["echo '*' > .gitignore", "mkdir src && echo '*' > src/.gitignore"];
      if (profile === 'lite') ways.push('echo src >> "$(git rev-parse --git-path info/exclude)"');
      for (const way of ways) {
        const { session_id, worktree } = await here.run([way, 'mkdir -p src && echo work > src/new.js']);
        const prunes = await here.prune();
        assert.match(prunes, /hidden only by its own ignore rules/);
        assert.equal(readFileSync(join(requireLocalPath(worktree), 'src/new.js'), 'utf8'), 'work\n');
        const events = await (await here.connect()).call('event.list', { limit: 500 });
        const alerts = events.filter((each) => each.kind === 'alert' && each.session_id === session_id);
        assert.match(JSON.stringify(alerts), /hide.*src\/new\.js/);
        await here.call('worktree', 'discard', session_id);
        assert.equal(existsSync(requireLocalPath(worktree)), false);
        await here.call('worktree', 'restore', session_id, '--worktree');
        assert.equal(readFileSync(join(requireLocalPath(worktree), 'src/new.js'), 'utf8'), 'work\n');
      }
    }),
);

hostile(
  {
    attacker: 'worker',
    tries: 'hide its changes by git settings for times, case, modes and untracked files',
    lite: 'committed with the rest',
    strict: 'committed with the rest: configurations are read-only',
  },
  (t) =>
    inEach(t, async (here) => {
      const settings = {
        'core.trustctime': 'false',
        'core.checkStat': 'minimal',
        'core.ignoreStat': 'true',
        'core.ignoreCase': 'true',
        'core.fileMode': 'false',
        'core.untrackedCache': 'true',
        'core.excludesFile': '/tmp/all',
        'status.showUntrackedFiles': 'no',
        'diff.ignoreSubmodules': 'all',
      };
      const { session_id } = await here.run([
        ...Object.entries(settings).map(([name, value]) => `git config ${name} ${value} || true`),
        'touch -r README.md stamp && printf "ONE\\ntwo\\nthree\\n" > README.md && touch -r stamp README.md && rm stamp',
        'echo work > readme.MD && echo work > new.txt && chmod +x app/main.txt',
      ]);
      assert.equal(here.show(session_id, 'README.md').split('\n')[0], 'ONE');
      assert.equal(here.show(session_id, 'readme.MD'), 'work');
      assert.equal(here.show(session_id, 'new.txt'), 'work');
      assert.match(here.repository.git('ls-tree', `svc/${session_id}`, 'app/main.txt'), /^100755/);
    }),
);
