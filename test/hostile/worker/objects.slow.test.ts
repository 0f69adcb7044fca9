import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { makeSandboxed, type Sandboxed } from '../../support/agents/sandboxed.ts';
import {
  attempts,
  ended,
  logOf,
  makeStrict,
  said,
  impossible as skip,
  started,
} from '../../support/agents/strict.ts';
import { asUsers, hostile, type TestUser } from '../../support/hostile.ts';
import { until } from '../../support/wait.ts';
import { engineHere } from '../../support/workspaces/engine.ts';
import { SVC } from '../../support/workspaces/workspace.ts';

/** Creates packs and loose objects with any content under any name. */
const FORGE = `
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
export const objects = process.env.OBJECTS;
export const TYPES = { commit: 1, tree: 2, blob: 3, delta: 7 };
const sha = (bytes) => createHash('sha1').update(bytes).digest();
export function loose(name, type, body) {
  const folder = objects + '/' + name.slice(0, 2);
  mkdirSync(folder, { recursive: true });
  rmSync(folder + '/' + name.slice(2), { force: true });
  writeFileSync(folder + '/' + name.slice(2), deflateSync(Buffer.concat([Buffer.from(type + ' ' + body.length + '\\0'), body])));
}
const number = (value, first, bits) => {
  const bytes = [first | (value % 2 ** bits)];
  for (let rest = Math.floor(value / 2 ** bits); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1] |= 128;
    bytes.push(rest % 128);
  }
  return Buffer.from(bytes);
};
export const varint = (value) => number(value, 0, 7);
export function pack(entries) {
  const parts = [Buffer.from('PACK'), Buffer.alloc(8)];
  parts[1].writeUInt32BE(2, 0);
  parts[1].writeUInt32BE(entries.length, 4);
  let at = 12;
  const placed = entries.map(({ name, type, body, base }) => {
    const bytes = Buffer.concat([number(body.length, TYPES[type] << 4, 4), ...(base ? [Buffer.from(base, 'hex')] : []), deflateSync(body)]);
    parts.push(bytes);
    const entry = { name: Buffer.from(name, 'hex'), offset: at, crc: crc32(bytes) };
    at += bytes.length;
    return entry;
  });
  const body = Buffer.concat(parts);
  const file = Buffer.concat([body, sha(body)]);
  placed.sort((one, other) => one.name.compare(other.name));
  const u32 = (value) => { const b = Buffer.alloc(4); b.writeUInt32BE(value); return b; };
  const fanout = Array.from({ length: 256 }, (_, n) => u32(placed.filter(({ name }) => name[0] <= n).length));
  const idx = Buffer.concat([Buffer.from('ff744f6300000002', 'hex'), ...fanout, ...placed.map((e) => e.name), ...placed.map((e) => u32(e.crc)), ...placed.map((e) => u32(e.offset)), file.subarray(-20)]);
  const path = objects + '/pack/pack-' + sha(file).toString('hex');
  mkdirSync(objects + '/pack', { recursive: true });
  writeFileSync(path + '.pack', file);
  writeFileSync(path + '.idx', Buffer.concat([idx, sha(idx)]));
}
`;

const START = `set -e
export OBJECTS="$(git rev-parse --path-format=absolute --git-common-dir)/objects"
forge() { "${process.execPath}" --input-type=module -e "import { loose, pack, varint } from './.svc/forge.mjs'; $1"; }
readme=$(git rev-parse main:README.md)
`;

async function made(
  t: TestContext,
  user: TestUser,
): Promise<Sandboxed & { attack(script: string): Promise<string> }> {
  const here = await makeSandboxed(user);
  t.after(here.repository.remove);
  const folder = join(here.worktree, '.svc');
  here.repository.gitIn('/', 'init', '-q', folder);
  writeFileSync(join(folder, 'forge.mjs'), FORGE);
  return { ...here, attack: (script) => here.run(`${START}${script}`) };
}

const [user, ...others] = asUsers();
assert.ok(user);

/** Checks that git returns the person's own objects unchanged. */
function assertUntouched({ git, root }: Sandboxed, main: string): void {
  assert.equal(git('rev-parse', 'main'), main);
  assert.equal(git('cat-file', 'blob', 'main:README.md'), 'one\ntwo\nthree');
  assert.equal(git('fsck', '--full', '--strict', '--no-dangling'), '');
  assert.equal(existsSync(join(root, '.git', 'objects', 'info', 'alternates')), false);
}

for (const who of [user, ...others])
  hostile(
    {
      attacker: 'worker',
      tries: 'store other content under the name of an object of main',
      lite: 'not stopped',
      strict: 'never read outside',
    },
    async (t) => {
      const here = await made(t, who);
      const main = here.git('rev-parse', 'main');
      const log = await here.attack(`
        forge "loose('$readme', 'blob', Buffer.from('evil'))"
        rm -rf "$OBJECTS/pack"
        forge "pack([{ name: '$readme', type: 'blob', body: Buffer.from('evil') }])"
        git cat-file blob main:README.md
        echo work > work.txt && git add work.txt && git commit -qm work`);
      assert.match(log, /evil/, "inside the sandbox the worker's version shows");
      // The patch is the same during the run and at its end.
      assert.match(await here.patch(), /^\+work$/m);
      const end = await here.finish();
      assert.equal(end.unsafe, undefined);
      assert.deepEqual([end.commits, end.wip, end.files], [1, false, 1]);
      assert.equal(here.git('cat-file', 'blob', 'svc/s-1:README.md'), 'one\ntwo\nthree');
      assertUntouched(here, main);
    },
    { skip },
  );

/** Each commits something that refers to an object that is missing or does not match its name. */
const LIES: Record<string, string> = {
  'a blob of its own under another name, by itself': `
    echo good > new.txt && git add new.txt && git commit -qm new
    forge "loose('$(git rev-parse HEAD:new.txt)', 'blob', Buffer.from('evil'))"`,
  'a blob of its own under another name, in a pack': `
    echo good > new.txt && git add new.txt && git commit -qm new
    name=$(git rev-parse HEAD:new.txt)
    rm -f "$OBJECTS/$(echo $name | cut -c1-2)/$(echo $name | cut -c3-)"
    forge "pack([{ name: '$name', type: 'blob', body: Buffer.from('evil') }])"`,
  'a commit under another name': `
    echo good > new.txt && git add new.txt && git commit -qm new
    name=$(git rev-parse HEAD)
    git cat-file commit HEAD | sed s/new/evil/ > .svc/evil
    forge "import('node:fs').then(({ readFileSync }) => loose('$name', 'commit', readFileSync('.svc/evil')))"`,
  'a tree that holds itself': `
    name=${'ab'.repeat(20)}
    forge "loose('$name', 'tree', Buffer.concat([Buffer.from('40000 again\\\\0'), Buffer.from('$name', 'hex')]))"
    git update-ref HEAD $(git commit-tree -p HEAD -m cycle $name)
    echo good > new.txt`,
  'a commit that is its own parent': `
    name=${'cd'.repeat(20)}
    { git cat-file commit HEAD | sed "/^parent/d;s/^author/parent $name\\nauthor/"; } > .svc/evil
    forge "import('node:fs').then(({ readFileSync }) => loose('$name', 'commit', readFileSync('.svc/evil')))"
    echo $name > "$(git rev-parse --git-common-dir)/refs/heads/svc/s-1"
    echo good > new.txt`,
  'a blob that is not there': `
    echo good > new.txt && git add new.txt && git commit -qm new
    name=$(git rev-parse HEAD:new.txt)
    rm -f "$OBJECTS/$(echo $name | cut -c1-2)/$(echo $name | cut -c3-)"`,
  'three gigabytes out of a few bytes': `
    name=${'ef'.repeat(20)}
    base=${'12'.repeat(20)}
    forge "
      const copy = Buffer.from([0x80 | 0x40, 1]);
      const times = 49152;
      const body = Buffer.concat([varint(65536), varint(65536 * times), ...Array(times).fill(Buffer.from([0x80]))]);
      pack([{ name: '$base', type: 'blob', body: Buffer.alloc(65536) }, { name: '$name', type: 'delta', base: '$base', body }])"
    git update-index --add --cacheinfo 100644,$name,huge
    git update-ref HEAD $(git commit-tree -p HEAD -m huge $(git write-tree --missing-ok))
    git rm -q --cached huge
    echo good > new.txt`,
  'a branch that is no commit': `
    echo good > new.txt && git add new.txt && git commit -qm new
    name=$(git rev-parse HEAD:new.txt)
    echo $name > "$(git rev-parse --git-common-dir)/refs/heads/svc/s-1"`,
  'a branch that is a link': `
    echo good > new.txt
    ref="$(git rev-parse --git-common-dir)/refs/heads/svc/s-1"
    rm "$ref"; ln -s /etc/passwd "$ref"`,
  'a branch that is a pipe': `
    echo good > new.txt
    ref="$(git rev-parse --git-common-dir)/refs/heads/svc/s-1"
    rm "$ref"; mkfifo "$ref"`,
};

hostile(
  {
    attacker: 'worker',
    tries: 'hand in a branch with forged, missing, cyclic or oversized objects',
    lite: 'not stopped',
    strict: 'set aside and reported',
  },
  async (t) => {
    for (const [what, script] of Object.entries(LIES)) {
      const here = await made(t, user);
      const main = here.git('rev-parse', 'main');
      await here.attack(script);
      assert.equal(await here.patch(), '', what);
      const end = await here.finish();
      assert.ok(end.unsafe !== undefined, what);
      // The content of its files is still saved, from the worktree.
      assert.equal(here.git('show', 'svc/s-1:new.txt'), 'good', what);
      assert.deepEqual([end.commits, end.wip], [1, true], what);
      assertUntouched(here, main);
      assert.ok(existsSync(join(here.root, '.svc/agents/s-1/git/objects')), what);
      // The next run starts from the trusted state and continues.
      const log = await here.run(
        'git fsck --strict --no-dangling; echo y > y.txt; git add y.txt; git commit -qm y; echo DONE',
      );
      assert.match(log, /^DONE$/m);
      const next = await here.finish();
      assert.deepEqual([next.unsafe, next.commits], [undefined, 2], what);
    }
  },
  { skip },
);

hostile(
  {
    attacker: 'worker',
    tries: 'hand in refs other than its branch',
    lite: 'not stopped',
    strict: 'refused, or set aside and reported',
  },
  async (t) => {
    const here = await made(t, user);
    const { repository, root } = here;
    repository.git('branch', 'svc/s-2');
    repository.git('pack-refs', '--all');
    repository.git('branch', 'svc/s-3');
    const main = repository.git('rev-parse', 'main');
    const log = await here.attack(
      attempts({
        'read another branch': 'git rev-parse svc/s-2 svc/s-3',
        'commit on a branch of another':
          'git checkout -q svc/s-3 && echo x > x && git add x && git commit -qm x',
        'make a branch':
          'git checkout -qb svc/mine && echo z > z && git add z && git commit -qm z && git checkout -q svc/s-1',
        'write packed refs': 'git pack-refs --all',
        'move main': 'git update-ref refs/heads/main HEAD',
        'move main, as a file': 'git rev-parse HEAD > "$OBJECTS/../refs/heads/main"',
        'move a remote': 'git update-ref refs/remotes/origin/main HEAD',
        'make a tag': 'git tag evil',
        'replace an object': 'git replace $readme $(echo evil | git hash-object -w --stdin)',
        'graft a commit': 'git rev-parse HEAD > "$OBJECTS/../info/grafts"',
        'cut the history': 'git rev-parse HEAD > "$OBJECTS/../shallow"',
        'name other objects': 'echo /tmp > "$OBJECTS/info/alternates"',
        'leave a graph of commits': 'git commit-graph write --reachable',
        'write the real objects': 'touch /run/svc-git/objects/x',
        'move what names them': 'mv "$OBJECTS/info" "$OBJECTS/away"',
        'take them away': 'umount "$OBJECTS/info" || umount "$OBJECTS"',
      }),
    );
    assert.deepEqual(
      said(log, 'CAN'),
      ['read another branch', 'commit on a branch of another', 'make a branch'],
      log,
    );
    const end = await here.finish();
    assert.equal(end.unsafe, undefined);
    assert.equal(repository.git('rev-parse', 'svc/s-3'), main);
    assert.equal(repository.git('branch', '--list', 'svc/mine'), '');
    assert.deepEqual(end.savedRefs.map((ref) => ref.replace(/-[0-9a-f]{12}$/, '')).sort(), [
      'refs/svc/s-1/branch-mine',
      'refs/svc/s-1/branch-s-3',
    ]);
    for (const ref of end.savedRefs) repository.git('rev-parse', `${ref}^{commit}`);
    assert.ok(lstatSync(join(root, '.git/refs/heads/svc/confined.lock')).isFile());
    assertUntouched(here, main);
  },
  { skip },
);

hostile(
  {
    attacker: 'worker',
    tries: 'write the refs of others where a repository keeps all in one table',
    lite: 'not stopped',
    strict: 'not run at all',
  },
  async (t) => {
    const here = await makeSandboxed(user);
    t.after(here.repository.remove);
    mkdirSync(join(here.root, '.git', 'reftable'));
    await assert.rejects(here.run('true'), /keeps its refs as reftable/);
  },
  { skip },
);

hostile(
  {
    attacker: 'worker',
    tries: 'hand in a history without its base',
    lite: 'not stopped',
    strict: 'set aside and reported',
  },
  async (t) => {
    for (const script of [
      'git update-ref HEAD $(git commit-tree -m orphan HEAD^{tree})',
      'git checkout -q --orphan svc/other && git commit -qm other && git update-ref refs/heads/svc/s-1 HEAD && git checkout -q svc/s-1',
      'git update-ref refs/heads/svc/s-1 main~1',
    ]) {
      const here = await makeSandboxed(user);
      t.after(here.repository.remove);
      const { repository, worktree, root } = here;
      repository.commit({ 'second.txt': 'x' }, 'second');
      repository.gitIn(worktree, 'merge', '-q', '--ff-only', 'main');
      const main = repository.git('rev-parse', 'main');
      await here.run(script);
      const end = await here.finish();
      assert.match(end.savedRefs[0] ?? '', /^refs\/svc\/s-1\/off-base-/, script);
      assert.equal(repository.git('merge-base', 'svc/s-1', 'main'), main, script);
      assert.equal(readFileSync(join(root, 'README.md'), 'utf8'), 'one\ntwo\nthree\n');
    }
  },
  { skip },
);

hostile(
  {
    attacker: 'worker',
    tries: 'make a repository clean-up fail, or lose its pending work',
    lite: 'n/a',
    strict: 'refused: the repository works, and its work is kept',
  },
  async (t) => {
    const here = await makeSandboxed(user);
    t.after(here.repository.remove);
    const { repository, worktree } = here;
    const gc = () => repository.git('gc', '--quiet', '--prune=now');
    await here.run(`for name in a b c; do echo $name > $name; git add $name; git commit -qm $name; done
      git commit -q --amend -m other && git update-ref refs/worktree/kept HEAD~1
      git update-index --add --cacheinfo 100644,$(echo staged | git hash-object -w --stdin),staged.txt`);
    // After a crash of the engine nothing was imported, and the run continues.
    assert.match(await here.run('git log --format=%s; git fsck --strict --no-dangling'), /^other\nb\na\n/);
    await here.patch();
    // Staged files are not imported before the run ends, so git refuses to clean up.
    assert.throws(gc, /unable to read/);
    await here.run('git reset -q');
    gc();
    const log =
      await here.run(`git checkout -q --detach HEAD~1 && echo d > d && git add d && git commit -qm detached
      git checkout -q svc/s-1 && git rebase -q --onto HEAD~2 HEAD~1 && git log --format=%s
      echo dirty > dirty.txt`);
    assert.match(log, /^other\na\n/m, log);
    const end = await here.finish();
    assert.deepEqual([end.unsafe, end.wip], [undefined, true]);
    assert.equal(repository.git('show', 'svc/s-1:dirty.txt'), 'dirty');
    gc();
    assert.equal(repository.git('fsck', '--full', '--strict', '--no-dangling'), '');
    assert.equal(repository.gitIn(worktree, 'status', '--porcelain'), '');
    // A person commits there, and the next run sees it.
    repository.commit({ 'person.txt': 'x' }, 'of a person', worktree);
    assert.match(await here.run('git log -1 --format=%s'), /^of a person$/m);
  },
  { skip },
);

hostile(
  {
    attacker: 'worker',
    tries: 'have forged objects promoted after a good run',
    lite: 'not stopped',
    strict: 'set aside and reported: the files’ content is promoted',
  },
  async (t) => {
    const ws = await makeStrict();
    t.after(ws.close);
    const here = await engineHere(ws, { svc: [process.execPath, SVC] });
    t.after(here.close);
    const lie = `readme=$(git rev-parse HEAD:README.md)
      objects=$(git rev-parse --path-format=absolute --git-common-dir)/objects
      echo good > new.txt && git add new.txt && git commit -qm new
      evil=$(echo evil | git hash-object -w --stdin)
      for name in $readme $(git rev-parse HEAD:new.txt); do
        file=$objects/$(echo $name | cut -c1-2)/$(echo $name | cut -c3-)
        mkdir -p $(dirname $file) && rm -f $file
        cp $objects/$(echo $evil | cut -c1-2)/$(echo $evil | cut -c3-) $file
      done`;
    ws.repository.commit({ 'lie.sh': lie }, 'a script');
    const session = await started(here, 'lies\n#agent: run sh lie.sh\n#agent: no-change');
    assert.equal((await ended(here, session)).failure, null, logOf(ws, session));
    await until(() => ws.events.some(({ event }) => event === 'alert'));
    ws.repository.git('merge', '--quiet', `svc/${session}`);
    assert.equal(readFileSync(join(ws.root, 'new.txt'), 'utf8'), 'good\n');
    assert.equal(readFileSync(join(ws.root, 'README.md'), 'utf8'), 'one\ntwo\nthree\n');
    assert.equal(ws.repository.git('fsck', '--full', '--strict', '--no-dangling'), '');
    assert.ok(existsSync(join(ws.root, '.svc', 'agents', session, 'git', 'objects')));
  },
  { skip },
);
