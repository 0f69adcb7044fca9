import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findPreset } from '../../../../../engine/workers/agents/presets/index.ts';
import {
  confinementOf,
  ended,
  impossible,
  logOf,
  makeStrict,
  started,
} from '../../../../support/agents/strict.ts';
import { type EngineHere, engineHere } from '../../../../support/workspaces/engine.ts';
import { requireLocalPath } from '../../../../support/workspaces/local-path.ts';
import { AGENT, SVC } from '../../../../support/workspaces/workspace.ts';

/** A link in place of every missing object folder. */
const LINK_ALL = `
for (let at = 0; at < 256; at += 1)
  try { require("fs").symlinkSync(process.argv[1], at.toString(16).padStart(2, "0")) } catch {}`;

/** Pipes and links for git, wherever a strict worker may write in the repository. */
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

const says = (line: object): string => `#agent: say ${JSON.stringify(line)}`;
const SAID = says({ type: 'system', subtype: 'init', session_id: 'c-1', model: 'm' });

/** Keeps the conversation in the agent's home; prints whether it runs in the sandbox. */
const CLAUDE = `#!/bin/sh
for last; do :; done
cat "$HOME/.claude/projects/c-1" 2> /dev/null
test -e "$HOME/notes.txt" && echo OUTSIDE || echo INSIDE
case "$*" in *--resume?c-1*) echo RESUMED; exit 7;; esac
mkdir -p "$HOME/.claude/projects"
echo 'what was said' > "$HOME/.claude/projects/c-1"
case " $* " in *' -- '*) exec '${process.execPath}' '${AGENT}' -- "$last";; esac
exec '${process.execPath}' '${AGENT}'
`;

/** Returns what it printed about itself. */
const told = (log: string): string[] =>
  log.split('\n').filter((line) => /^(OUTSIDE|INSIDE|RESUMED|what was said)$/.test(line));

describe('traps that a strict worker leaves behind', { skip: impossible ?? false }, () => {
  let ws: Awaited<ReturnType<typeof makeStrict>>;
  let here: EngineHere;

  before(async () => {
    ws = await makeStrict();
    const bin = join(ws.repository.folder, 'bin');
    for (const folder of [bin, join(ws.home, '.claude')]) mkdirSync(folder);
    writeFileSync(join(bin, 'claude'), CLAUDE, { mode: 0o755 });
    writeFileSync(join(ws.home, '.claude', 'settings.json'), '{}');
    ws.env.PATH = `${bin}:${ws.env.PATH}`;
    here = await engineHere(ws, { svc: [process.execPath, SVC], graceMs: 500 });
  });
  after(async () => {
    await here?.end();
    await ws?.close();
  });

  test('git neither waits at its pipes nor writes through its links', { timeout: 30_000 }, async () => {
    ws.repository.commit({ 'traps.sh': TRAPS(ws.home) }, 'traps');
    const inHome = readdirSync(ws.home, { recursive: true }).sort();
    const id = await started(here, 'traps\n#agent: run sh traps.sh\n#agent: no-change\n#agent: fail 7');
    assert.equal((await ended(here, id)).failure?.code, 'exit_code');
    assert.equal(ws.repository.git('show', `svc/${id}:work.txt`), 'x');
    await here.call('worktree.status', {});
    const { session_id: next } = await here.call('worker.resume', { session: id });
    assert.equal((await ended(here, next)).failure?.code, 'exit_code');
    const other = await started(here, 'other\n#agent: edit a.txt b');
    assert.equal((await ended(here, other)).failure, null);
    assert.deepEqual(readdirSync(ws.home, { recursive: true }).sort(), inHome);
  });

  const resumed = async (session: string, options: object = {}) => {
    const next = await here.call('worker.resume', { session, ...options });
    return ended(here, next.session_id);
  };

  test('a session that continues it has its conversation, with any files in its folder', async () => {
    const elsewhere = join(ws.repository.folder, 'elsewhere');
    mkdirSync(elsewhere);
    const folder = `${ws.root}/.svc/agents/"$SVC_SESSION"/agent`;
    // bubblewrap's name for the outer root, where it creates its mount points.
    const links = `for to in /oldroot${elsewhere} ${elsewhere}; do rm -f ${folder}/home/.claude/skills; ln -s $to/made ${folder}/home/.claude/skills; done`;
    const id = await started(
      here,
      `goes on\n${SAID}\n#agent: run ${links}\n#agent: no-change\n#agent: fail 7`,
      {},
      { agent: 'claude' },
    );
    assert.deepEqual([(await ended(here, id)).agentSession, told(logOf(ws, id))], ['c-1', ['INSIDE']]);
    // Since then the person has these too.
    mkdirSync(join(ws.home, '.claude', 'skills'));
    const next = await resumed(id);
    assert.deepEqual(told(logOf(ws, next.sessionId)), ['what was said', 'INSIDE', 'RESUMED']);
    assert.deepEqual(readdirSync(elsewhere), []);
  });

  test('replacements of a program or of its private home are neither shown nor followed', async () => {
    const id = await started(here, 'links\n#agent: no-change');
    const worktree = requireLocalPath((await ended(here, id)).worktree);
    const [secret, elsewhere] = [join(ws.home, 'tools', 'secret'), join(ws.repository.folder, 'behind')];
    for (const folder of [join(ws.home, 'tools'), elsewhere, join(worktree, 'bin')]) mkdirSync(folder);
    writeFileSync(secret, 'private', { mode: 0o755 });
    for (const name of ['agent', 'bin/tool']) symlinkSync(secret, join(worktree, name));
    const { paths } = here.engine;
    const sessionFolder = join(paths.agents, id);
    const env = { PATH: `${join(worktree, 'bin')}:bin:${ws.env.PATH}`, HOME: ws.home };
    const confinement = confinementOf(ws, here);
    const wrap = (program: string) =>
      confinement.wrap({
        ...{ argv: ['/bin/sh', '-c', `cat ${secret}`], cwd: worktree, env, worktree, sessionFolder },
        programs: [program],
        ...{ seatFolder: null, home: findPreset('opencode')?.home ?? null },
      });
    for (const program of ['./agent', 'tool']) {
      const [bwrap = '', ...words] = await wrap(program);
      const { stdout, stderr } = spawnSync(bwrap, words, { env, encoding: 'utf8' });
      assert.deepEqual([stdout, /No such file/.test(stderr)], ['', true], program);
    }
    // Written as if by the worker, which has write access there.
    for (const name of ['home', 'home/.local']) {
      const place = join(sessionFolder, 'agent', name);
      rmSync(place, { recursive: true, force: true });
      symlinkSync(elsewhere, place);
      await assert.rejects(wrap('/bin/sh'), {
        code: 'confinement_unavailable',
        message: /has created something at/,
      });
      rmSync(place);
      mkdirSync(place);
    }
    assert.deepEqual(readdirSync(elsewhere), []);
  });

  test('the work stays confined under another profile, unless a person says otherwise', async () => {
    const prompt = `stays\n${SAID}\n#agent: no-change\n#agent: fail 7`;
    const id = await started(here, prompt, {}, { agent: 'claude' });
    await ended(here, id);
    await assert.rejects(resumed(id, { outside: true }), {
      code: 'conflict',
      message: /guard.profile is strict/,
    });
    const yaml = join(ws.root, 'svc.yaml');
    writeFileSync(yaml, readFileSync(yaml, 'utf8').replace('profile: strict', 'profile: lite'));
    ws.agree();
    await here.call('engine.reload');
    const inside = await resumed(id);
    assert.equal(inside.profile, 'strict');
    assert.deepEqual(told(logOf(ws, inside.sessionId)), ['what was said', 'INSIDE', 'RESUMED']);
    const outside = await resumed(inside.sessionId, { outside: true });
    assert.equal(outside.profile, 'lite');
    // A new conversation starts, because the private folder is not copied to the home.
    assert.deepEqual(told(logOf(ws, outside.sessionId)), ['OUTSIDE']);
  });
});
