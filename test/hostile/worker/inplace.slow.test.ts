import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { ended, logOf, makeStrict, impossible as skip, started } from '../../support/agents/strict.ts';
import { hostile } from '../../support/hostile.ts';
import { until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { SVC } from '../../support/workspaces/workspace.ts';

const RUN = 'in place\n#agent: run sh attack.sh\n#agent: no-change';
const YAML = 'projects: [{ id: api, path: services/api, kind: service }]\n';

let ws: Awaited<ReturnType<typeof makeStrict>>;
let here: EngineHere;
before(async () => {
  ws = await makeStrict(YAML);
  ws.repository.commit({ 'services/api/main.txt': 'main\n' }, 'a project below the top');
  here = await engineHere(ws, { svc: [process.execPath, SVC], graceMs: 500 });
});
after(async () => {
  await here?.end();
  await ws?.close();
});

const api = (): string => join(ws.root, 'services', 'api');
const marker = (): string => join(api(), 'ran');

/** A hand-made repository whose configuration makes git run a program; creating it needs no git. */
const repository = (folder: string): string => `
mkdir -p ${folder}/objects ${folder}/refs/heads
echo 'ref: refs/heads/main' > ${folder}/HEAD
printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tfsmonitor = "touch ${marker()}"\\n[filter "x"]\\n\\tclean = "touch ${marker()}; cat"\\n\\tsmudge = "touch ${marker()}; cat"\\n' > ${folder}/config
echo '* filter=x' > .gitattributes`;

/** Runs a shell script in place in the project; returns the final report of the session's task. */
async function runInPlace(script: string): Promise<{ session: string; alerts: string }> {
  ws.repository.write(join(ws.root, 'services', 'api', 'attack.sh'), script);
  const session = await started(here, RUN, { inplace: true }, { project: 'api' });
  assert.equal((await ended(here, session)).failure, null, logOf(ws, session));
  const folder = join(ws.root, '.svc', 'agents', session);
  const told = join(folder, 'set-aside.txt');
  return { session, alerts: existsSync(told) ? readFileSync(told, 'utf8') : '' };
}

/** Does all that the engine does with the project: another worker in a separate worktree, and inspections. */
async function workInProject(): Promise<void> {
  const session = await started(here, 'after it\n#agent: edit after.txt x', {}, { project: 'api' });
  assert.equal((await ended(here, session)).failure, null);
  await here.call('worktree.status', {});
  await here.call('worktree.prune', { dry_run: true });
}

const WAYS: Record<string, () => string> = {
  'a folder': () => repository('.git'),
  'a folder in other letters': () => `${repository('.GIT')}`,
  'a file that names a repository': () => `${repository('hidden')}\necho 'gitdir: hidden' > .git`,
  'a link to a repository': () => `${repository('hidden')}\nln -s hidden .git`,
  'a repository without a checkout': () => repository('.'),
  'one deeper down': () => `mkdir -p lib/deep && cd lib/deep && ${repository('.git')}`,
  'another place for a repository that was there': () =>
    `${repository('hidden')}\n[ ! -e known/.git ] || echo 'gitdir: ../hidden' > known/.git`,
  'one by a process that stays': () =>
    `(trap '' TERM; sleep 0.2; ${repository('.git')}; sleep 60) > /dev/null 2>&1 &\nuntil [ -e .git/config ]; do sleep 0.05; done`,
};

hostile(
  {
    attacker: 'worker',
    tries: 'create a repository below the project, in place, for the engine’s next git call',
    lite: 'not stopped',
    strict: 'set aside and reported',
  },
  async () => {
    await workInProject();
    for (const [what, script] of Object.entries(WAYS)) {
      ws.repository.write(join(api(), 'known', '.git'), 'gitdir: ../../elsewhere\n');
      const { session, alerts } = await runInPlace(script());
      assert.match(alerts, /appeared during the run/, what);
      for (const name of ['.git', '.GIT', 'HEAD', 'lib/deep/.git'])
        assert.equal(existsSync(join(api(), name)), false, `${what}: ${name}`);
      assert.ok(existsSync(join(ws.root, '.svc', 'agents', session, 'set-aside')), what);
      await workInProject();
      assert.equal(existsSync(marker()), false, what);
      ws.repository.git('clean', '-dfqx', 'services');
      ws.repository.git('checkout', '-q', '--', 'services');
    }
  },
  { skip },
);

hostile(
  {
    attacker: 'worker',
    tries: 'have the engine call git in its own repository while it runs in place',
    lite: 'refused where the project was used before',
    strict: 'refused',
  },
  async () => {
    ws.repository.write(
      join(api(), 'attack.sh'),
      `${repository('.git')}\ntouch ready; until [ -e go ]; do sleep 0.05; done; rm -rf .git`,
    );
    const session = await started(here, RUN, { inplace: true }, { project: 'api' });
    await until(() => existsSync(join(api(), 'ready')));
    const refused = await started(here, 'refused\n#agent: edit x.txt x', {}, { project: 'api' });
    const { failure } = await ended(here, refused);
    assert.equal(failure?.code, 'worktree_unsafe');
    assert.match(
      failure?.text ?? '',
      /was in the repository .* but is now in .*services\/api.*svc project repin/,
    );
    assert.equal(existsSync(marker()), false);
    ws.repository.write(join(api(), 'go'), '');
    assert.equal((await ended(here, session)).failure, null);
    await workInProject();
    // A person who wants it passes the option.
    mkdirSync(join(api(), '.git'));
    await assert.rejects(here.call('worktree.status', { project: 'api' }), { code: 'worktree_unsafe' });
    const { repository: top } = await here.call('project.repin', { id: 'api' });
    assert.equal(top, api());
  },
  { skip },
);
