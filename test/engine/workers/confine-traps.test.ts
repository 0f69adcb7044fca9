import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createGit } from '../../../engine/workers/worktrees/git.ts';
import { type EngineHere, engineHere } from '../../support/engine.ts';
import { makeRepository } from '../../support/git.ts';
import { attempts, ended, impossible, logOf, makeStrict, said, started } from '../../support/strict.ts';
import { SVC } from '../../support/workspace.ts';

/** A link in the place of every folder of objects that is not there yet. */
const LINK_ALL = `
for (let at = 0; at < 256; at += 1)
  try { require("fs").symlinkSync(process.argv[1], at.toString(16).padStart(2, "0")) } catch {}`;

/** Pipes and links for git, where a strict worker may write in the repository. */
const TRAPS = (home: string): string => `
own=$(git rev-parse --absolute-git-dir)
common=$(git rev-parse --path-format=absolute --git-common-dir)
mkdir "$own/rebase-merge"
rm "$own/index" "$own/logs/HEAD"
for file in index MERGE_HEAD locked rebase-merge/head-name; do mkfifo "$own/$file"; done
ln -s ${home}/notes.txt "$own/logs/HEAD"
mkfifo "$common/refs/heads/svc/trap"
mkdir -p "$common/objects/pack"
mkfifo "$common/objects/pack/multi-pack-index"
cd "$common/objects" && node -e '${LINK_ALL}' ${home}/.ssh; cd -
echo x > work.txt
`;

describe('what a strict worker leaves for whoever comes next', { skip: impossible ?? false }, () => {
  let ws: Awaited<ReturnType<typeof makeStrict>>;
  let here: EngineHere;

  before(async () => {
    ws = await makeStrict();
    here = await engineHere(ws, { svc: [process.execPath, SVC], graceMs: 500 });
  });
  after(async () => {
    await here?.call('engine.stop', { stop_workers: true });
    await here?.close();
    await ws?.close();
  });

  test('git neither waits at its pipes nor writes through its links', { timeout: 30_000 }, async () => {
    const lock = '"$(git rev-parse --git-common-dir)/refs/heads/svc/confined.lock"';
    const tries = attempts({ 'replace what we open': `rm -f ${lock} && mkfifo ${lock}` });
    ws.repository.commit({ 'traps.sh': `${tries}\n${TRAPS(ws.home)}` }, 'traps');
    const inHome = readdirSync(ws.home, { recursive: true }).sort();
    const id = await started(here, 'traps\n#agent: run sh traps.sh\n#agent: no-change\n#agent: fail 7');
    assert.equal((await ended(here, id)).failure?.code, 'exit_code');
    assert.deepEqual(said(logOf(ws, id), 'CANNOT'), ['replace what we open']);
    assert.equal(ws.repository.git('show', `svc/${id}:work.txt`), 'x');
    await here.call('worktree.list', {});
    const { session_id: next } = await here.call<{ session_id: string }>('worker.resume', { session: id });
    assert.equal((await ended(here, next)).failure?.code, 'exit_code');
    const other = await started(here, 'other\n#agent: edit a.txt b');
    assert.equal((await ended(here, other)).failure, null);
    assert.deepEqual(readdirSync(ws.home, { recursive: true }).sort(), inHome);
  });
});

test('a call of git that waits at a pipe of a worker is ended, and says so', {
  timeout: 30_000,
}, async (t) => {
  const repository = makeRepository();
  t.after(repository.remove);
  const git = createGit(process.env, { patienceMs: 50 });
  const mkfifo = (path: string): void => void execFileSync('mkfifo', [path]);
  const look = () => git.text(repository.root, ['diff', 'HEAD']);
  mkdirSync(join(repository.root, 'below'));
  repository.commit({ 'below/one.txt': 'x' }, 'one');
  writeFileSync(join(repository.root, 'below', 'one.txt'), 'y');
  mkfifo(join(repository.root, 'below', '.gitattributes'));
  await assert.rejects(look(), { code: 'git_failed', message: /waited at a pipe.*below\/\.gitattributes/ });
  rmSync(join(repository.root, 'below', '.gitattributes'));
  mkfifo(join(repository.root, '.git', 'refs', 'heads', 'trap'));
  await assert.rejects(git.text(repository.root, ['for-each-ref']), { message: /refs\/heads\/trap/ });
  // What is in git's own folders is gone.
  assert.match(await git.text(repository.root, ['for-each-ref']), /refs\/heads/);
  assert.match(await look(), /^\+y$/m);
});
