import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Transform } from 'node:stream';
import { after, beforeEach, describe, it } from 'node:test';
import {
  createTransfers,
  type Transfers,
} from '../../../../../engine/workers/runner/worktrees/transfer/index.ts';
import {
  gitEnvironment,
  makeRepository,
  runGit,
  type TestRepository,
} from '../../../../support/workspaces/git.ts';

describe('transfers between a repository and its mirror on another machine', () => {
  const transfers: Transfers = createTransfers({ env: gitEnvironment(), agentsDir: null });
  let repository: TestRepository;
  /** The mirror, and a worktree of a session in it. */
  let mirror: string;
  let base: string;
  const made: TestRepository[] = [];
  const open = (options?: Parameters<typeof makeRepository>[0]): TestRepository => {
    const one = makeRepository(options);
    made.push(one);
    return one;
  };
  beforeEach(async () => {
    repository = open();
    mirror = join(repository.folder, 'mirror');
    base = repository.git('rev-parse', 'HEAD');
    await transfers.openMirror(mirror, base);
  });
  after(() => {
    transfers.close();
    for (const each of made) each.remove();
  });

  /** Counts what passes. */
  function count(): { through: Transform; bytes(): number } {
    let bytes = 0;
    const through = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        done(null, chunk);
      },
    });
    return { through, bytes: () => bytes };
  }

  /** Sends commits; a reader that has all of them may close first. */
  const sendCommits = (...args: Parameters<Transfers['sendCommits']>): Promise<void> =>
    transfers.sendCommits(...args).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
    });

  /** Sends a commit to a mirror, as `sendBase` does. Returns the number of bytes. */
  async function sendBase(commit: string, from = repository.root, to = mirror): Promise<number> {
    const known = await transfers.selectKnown(from, await transfers.listTips(to));
    const shallow = transfers.listShallow(from);
    const { through, bytes } = count();
    await Promise.all([
      sendCommits(from, { wanted: [commit], known }, through),
      transfers.receiveBase(to, { commit, known, shallow }, through),
    ]);
    return bytes();
  }

  /** Takes over the work of a session, as `fetchWork` does. */
  async function fetchWork(branch: string, from = mirror, to = repository.root, baseCommit = base) {
    const tip = (await transfers.findTip(from, branch)) ?? '';
    const here = await transfers.findTip(to, branch);
    const known = [baseCommit, ...(here === null ? [] : [here])];
    const { through, bytes } = count();
    const [, aside] = await Promise.all([
      sendCommits(from, { wanted: [tip], known: await transfers.selectKnown(from, known) }, through),
      transfers.receiveWork({ repository: to, branch, baseCommit, tip }, through),
    ]);
    return { tip, aside, bytes: bytes() };
  }

  /** Creates the worktree of a session there. */
  function work(branch: string, commit = base, folder = mirror): string {
    const worktree = join(repository.folder, branch.replaceAll('/', '-'));
    runGit(folder, 'worktree', 'add', '--quiet', '-b', branch, worktree, commit);
    return worktree;
  }

  const findObjects = (folder: string): string[] => readdirSync(join(folder, '.git/objects/pack'));

  it('a base arrives whole, and the second time nothing but a few bytes is sent', async () => {
    repository.commit({ 'large.txt': 'x'.repeat(10_000) + Math.random() }, 'large');
    const commit = repository.commit({ 'other.txt': `${Math.random()}\n`.repeat(10_000) }, 'other');
    await sendBase(commit);
    assert.equal(runGit(mirror, 'rev-list', '--count', commit), '3');
    runGit(mirror, 'fsck', '--strict', '--no-dangling');
    assert.ok((await transfers.listTips(mirror)).includes(commit));
    assert.ok((await sendBase(commit)) < 100);
  });

  it('a whole pack is taken in although its connection has not ended yet', async () => {
    const stream = new PassThrough();
    const { through } = count();
    through.on('data', (chunk: Buffer) => stream.write(chunk));
    await transfers.sendCommits(repository.root, { wanted: [base], known: [] }, through);
    await transfers.receiveBase(mirror, { commit: base, known: [], shallow: [] }, stream);
    assert.deepEqual(await transfers.listTips(mirror), [base]);
  });

  it('a later base needs little more than its difference', async () => {
    const lines = Array.from({ length: 20_000 }, () => String(Math.random()));
    const first = repository.commit({ 'large.txt': lines.join('\n') }, 'large');
    const whole = await sendBase(first);
    lines[10_000] = 'changed';
    const second = repository.commit({ 'large.txt': lines.join('\n') }, 'changed');
    const thin = await sendBase(second);
    assert.ok(thin < 2000 && whole > 100_000, `${thin} bytes after ${whole}`);
    assert.equal(runGit(mirror, 'show', `${second}:large.txt`), lines.join('\n'));
  });

  it('work comes back to its branch, and its later commits as a difference', async () => {
    await sendBase(base);
    const worktree = work('svc/s-1');
    assert.equal(await transfers.createBranch(repository.root, 'svc/s-1', base), true);
    const text = Array.from({ length: 20_000 }, () => String(Math.random())).join('\n');
    repository.commit({ 'made.txt': text }, 'made', worktree);
    const first = await fetchWork('svc/s-1');
    assert.equal(first.aside, null);
    const later = repository.commit({ 'made.txt': `${text}\nlater` }, 'later', worktree);
    const second = await fetchWork('svc/s-1');
    assert.equal(repository.git('rev-parse', 'svc/s-1'), later);
    assert.ok(second.bytes < 2000 && first.bytes > 100_000, `${second.bytes} bytes after ${first.bytes}`);
    assert.equal(repository.git('rev-parse', 'main'), base);
    repository.git('fsck', '--strict', '--no-dangling');
  });

  it('two sessions send and receive at the same time', async () => {
    const other = repository.commit({ 'other.txt': 'other' }, 'other');
    await Promise.all([sendBase(base), sendBase(other)]);
    const names = ['svc/s-1', 'svc/s-2'];
    for (const name of names) {
      const worktree = work(name, other);
      await transfers.createBranch(repository.root, name, other);
      repository.commit({ [`${name.slice(4)}.txt`]: name }, name, worktree);
    }
    const all = await Promise.all(names.map((name) => fetchWork(name, mirror, repository.root, other)));
    for (const [at, name] of names.entries()) {
      assert.equal(all[at]?.aside, null);
      assert.equal(repository.git('rev-parse', name), runGit(mirror, 'rev-parse', name));
    }
  });

  it('a mirror that several sessions want at the same time is created once', async () => {
    const folder = join(repository.folder, 'other-mirror');
    await Promise.all([1, 2, 3, 4, 5].map(() => transfers.openMirror(folder, base)));
    assert.equal(runGit(folder, 'rev-parse', '--is-inside-work-tree'), 'true');
  });

  it('a mirror whose creation was killed has no commits, and is created again', async () => {
    const folder = join(repository.folder, 'killed-mirror');
    mkdirSync(join(`${folder}.new`, '.git'), { recursive: true });
    writeFileSync(join(`${folder}.new`, '.git', 'HEAD'), 'ref: refs/heads/svc-none\n');
    mkdirSync(folder);
    assert.deepEqual(await transfers.listTips(folder), []);
    await transfers.openMirror(folder, base);
    assert.deepEqual(await transfers.listTips(folder), []);
    assert.equal(existsSync(`${folder}.new`), false);
  });

  it('a branch that a person has moved here stays, and the work is kept beside it', async () => {
    await sendBase(base);
    const worktree = work('svc/s-1');
    const there = repository.commit({ 'there.txt': 'x' }, 'there', worktree);
    const own = repository.commit({ 'here.txt': 'x' }, 'here');
    repository.git('branch', 'svc/s-1', own);
    const { aside } = await fetchWork('svc/s-1');
    assert.equal(aside, `refs/svc/s-1/there-${there.slice(0, 12)}`);
    assert.equal(repository.git('rev-parse', 'svc/s-1'), own);
    assert.equal(repository.git('rev-parse', aside ?? ''), there);
  });

  describe('a run whose machine was lost', () => {
    const SNAPSHOT = 'refs/svc/s-1/s-1-run-1';
    let worktree: string;
    let committed: string;
    /** A commit of the mirror with an uncommitted file, on no branch. */
    let saved: string;
    beforeEach(async () => {
      await sendBase(base);
      worktree = work('svc/s-1');
      await transfers.createBranch(repository.root, 'svc/s-1', base);
      committed = repository.commit({ 'committed.txt': 'x' }, 'committed', worktree);
      saved = repository.commit({ 'left.txt': 'left' }, 'saved', worktree);
      repository.gitIn(worktree, 'reset', '--quiet', committed);
    });

    const send = (tips: string[], through: Transform) =>
      sendCommits(mirror, { wanted: tips, known: [base] }, through);
    async function receiveSaved(): Promise<void> {
      const { through } = count();
      const snapshot = { commit: saved, ref: SNAPSHOT };
      const arriving = { repository: repository.root, branch: 'svc/s-1', baseCommit: base, tip: committed };
      const [, aside] = await Promise.all([
        send([committed, saved], through),
        transfers.receiveWork({ ...arriving, snapshot }, through),
      ]);
      assert.equal(aside, null);
    }
    const tipHere = (): string => repository.git('rev-parse', 'svc/s-1');
    const restore = () =>
      transfers.restoreSnapshot({ repository: repository.root, branch: 'svc/s-1', ref: SNAPSHOT });

    it('its snapshot has a ref, and its branch moves there when it is restored', async () => {
      await receiveSaved();
      assert.deepEqual([tipHere(), repository.git('rev-parse', SNAPSHOT)], [committed, saved]);
      await restore();
      assert.equal(tipHere(), saved);
      await transfers.removeSnapshot(repository.root, SNAPSHOT);
      assert.throws(() => repository.git('rev-parse', '--verify', '--quiet', SNAPSHOT));
    });

    it('its branch stays if it has more than the snapshot', async () => {
      await receiveSaved();
      const later = repository.commit({ 'later.txt': 'x' }, 'later', worktree);
      await fetchWork('svc/s-1');
      await restore();
      assert.equal(tipHere(), later);
    });

    it('its later work gets another ref, and replaces its own snapshot on the branch', async () => {
      await receiveSaved();
      await restore();
      const late = repository.commit({ 'left.txt': 'left and more' }, 'late', worktree);
      const { through } = count();
      const ref = `${SNAPSHOT}-late`;
      await Promise.all([
        send([late], through),
        transfers.receiveAside({ repository: repository.root, baseCommit: base, commit: late, ref }, through),
      ]);
      assert.deepEqual([tipHere(), repository.git('rev-parse', ref)], [saved, late]);
      const { aside } = await fetchWork('svc/s-1');
      assert.deepEqual([aside, tipHere()], [null, late]);
    });
  });

  it('a session without a commit sends nothing, and its branch stays at the base', async () => {
    await sendBase(base);
    work('svc/s-1');
    await transfers.createBranch(repository.root, 'svc/s-1', base);
    const { aside, bytes } = await fetchWork('svc/s-1');
    assert.equal(aside, null);
    assert.ok(bytes < 100);
    assert.equal(repository.git('rev-parse', 'svc/s-1'), base);
  });

  it('the name of a branch is taken once', async () => {
    const other = repository.commit({ 'a.txt': 'x' }, 'other');
    assert.equal(await transfers.createBranch(repository.root, 'svc/s-1', base), true);
    assert.equal(await transfers.createBranch(repository.root, 'svc/s-1', base), true);
    assert.equal(await transfers.createBranch(repository.root, 'svc/s-1', other), false);
  });

  it('a shallow clone is sent as shallow as it is, and its work comes back', async () => {
    for (let at = 0; at < 5; at += 1) repository.commit({ 'a.txt': String(at) }, `commit ${at}`);
    const shallow = join(repository.folder, 'shallow');
    runGit(repository.folder, 'clone', '--quiet', '--depth=2', `file://${repository.root}`, shallow);
    const tip = runGit(shallow, 'rev-parse', 'HEAD');
    await sendBase(tip, shallow);
    assert.equal(runGit(mirror, 'rev-list', '--count', tip), '2');
    assert.equal(
      await transfers.identifyRepository(shallow, tip),
      await transfers.identifyRepository(mirror, tip),
    );
    const worktree = work('svc/s-1', tip);
    const made = repository.commit({ 'made.txt': 'x' }, 'made', worktree);
    const { aside } = await fetchWork('svc/s-1', mirror, shallow, tip);
    assert.equal(aside, null);
    assert.equal(runGit(shallow, 'rev-parse', 'svc/s-1'), made);
  });

  it('a clone that was deepened later is sent with its whole history', async () => {
    for (let at = 0; at < 5; at += 1) repository.commit({ 'a.txt': String(at) }, `commit ${at}`);
    const clone = join(repository.folder, 'clone');
    runGit(repository.folder, 'clone', '--quiet', '--depth=2', `file://${repository.root}`, clone);
    await sendBase(runGit(clone, 'rev-parse', 'HEAD'), clone);
    runGit(clone, 'fetch', '--quiet', '--unshallow');
    const next = repository.commit({ 'b.txt': 'x' }, 'next', clone);
    await sendBase(next, clone);
    runGit(mirror, 'log', '--format=%s', '-3', next);
    const worktree = work('svc/s-1', next);
    const made = repository.commit({ 'made.txt': 'x' }, 'made', worktree);
    await fetchWork('svc/s-1', mirror, clone, next);
    assert.equal(runGit(clone, 'rev-parse', 'svc/s-1'), made);
  });

  it('files in Git LFS are refused', async () => {
    await transfers.checkSendable(repository.root, base);
    const commit = repository.commit({ 'app/.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' });
    await assert.rejects(transfers.checkSendable(repository.root, commit), { code: 'runner_unsupported' });
  });

  it('a repository is identified by its first commits, from any folder and in all clones', async () => {
    const later = repository.commit({ 'a.txt': 'x' });
    const clone = join(repository.folder, 'clone');
    runGit(repository.folder, 'clone', '--quiet', repository.root, clone);
    const ids = [
      await transfers.identifyRepository(repository.root, base),
      await transfers.identifyRepository(repository.root, later),
      await transfers.identifyRepository(clone, later),
    ];
    assert.equal(new Set(ids).size, 1);
    const other = open({ empty: true });
    const foreign = other.commit({ 'b.txt': 'y' }, 'another first one');
    assert.notEqual(await transfers.identifyRepository(other.root, foreign), ids[0]);
  });

  it('a repository with SHA-256 is sent, and its work comes back', async () => {
    const root = join(repository.folder, 'long');
    mkdirSync(root);
    runGit(root, 'init', '--quiet', '--object-format=sha256', '--initial-branch=main');
    const first = repository.commit({ 'a.txt': 'x' }, 'first', root);
    const far = join(repository.folder, 'long-mirror');
    await transfers.openMirror(far, first);
    await sendBase(first, root, far);
    const worktree = work('svc/s-1', first, far);
    const made = repository.commit({ 'b.txt': 'y' }, 'made', worktree);
    const { aside } = await fetchWork('svc/s-1', far, root, first);
    assert.equal(aside, null);
    assert.equal(runGit(root, 'rev-parse', 'svc/s-1'), made);
  });

  describe('what the other machine sends is refused with bundle_refused, and adds nothing, if', () => {
    const refuse = async (input: Buffer, tip: string): Promise<void> => {
      const before = findObjects(repository.root);
      const stream = new PassThrough();
      stream.end(input);
      const taking = transfers.receiveWork(
        { repository: repository.root, branch: 'svc/s-1', baseCommit: base, tip },
        stream,
      );
      await assert.rejects(taking, { code: 'bundle_refused' });
      assert.deepEqual(findObjects(repository.root), before);
      assert.equal(repository.git('for-each-ref', '--format=%(refname)'), 'refs/heads/main');
      assert.deepEqual(
        existsSync(join(repository.root, '.git/svc')) ? readdirSync(join(repository.root, '.git/svc')) : [],
        [],
      );
    };
    /** Packs what is reachable there and not here. */
    async function pack(wanted: string, known: string[] = [base]): Promise<Buffer> {
      const { through } = count();
      const chunks: Buffer[] = [];
      through.on('data', (chunk: Buffer) => chunks.push(chunk));
      await transfers.sendCommits(mirror, { wanted: [wanted], known }, through);
      return Buffer.concat(chunks);
    }

    it('it is not a pack, or empty', async () => {
      await refuse(Buffer.from('PACK and then nonsense'), base.replace(/./g, 'a'));
      await refuse(Buffer.alloc(0), base.replace(/./g, 'a'));
    });

    it('it is cut', async () => {
      await sendBase(base);
      const worktree = work('svc/s-1');
      const tip = repository.commit({ 'a.txt': 'x'.repeat(5000) }, 'made', worktree);
      const whole = await pack(tip);
      await refuse(whole.subarray(0, whole.length / 2), tip);
      await refuse(whole.subarray(0, -1), tip);
    });

    it('objects are missing in it', async () => {
      await sendBase(base);
      const worktree = work('svc/s-1');
      const first = repository.commit({ 'a.txt': 'one' }, 'one', worktree);
      const second = repository.commit({ 'b.txt': 'two' }, 'two', worktree);
      await refuse(await pack(second, [first]), second);
    });

    it('the tip is not in it', async () => {
      await sendBase(base);
      const worktree = work('svc/s-1');
      const tip = repository.commit({ 'a.txt': 'one' }, 'one', worktree);
      await refuse(await pack(tip), tip.replace(/./g, 'b'));
    });

    it('a tree in it has .git/config', async () => {
      await sendBase(base);
      const blob = runGit(mirror, 'hash-object', '-w', join(repository.root, 'README.md'));
      const raw = (text: string, type: string): string => {
        const file = join(repository.folder, 'raw');
        writeFileSync(file, Buffer.from(text, 'latin1'));
        return runGit(mirror, 'hash-object', '-w', '-t', type, '--literally', file);
      };
      const bytes = (id: string): string => Buffer.from(id, 'hex').toString('latin1');
      const inner = raw(`100644 config\0${bytes(blob)}`, 'tree');
      const tree = raw(`40000 .git\0${bytes(inner)}`, 'tree');
      const tip = runGit(mirror, 'commit-tree', '-p', base, '-m', 'x', tree);
      await refuse(await pack(tip), tip);
    });
  });

  it('work that does not descend from its base is kept aside, and moves no branch', async () => {
    await sendBase(base);
    const orphan = runGit(mirror, 'commit-tree', '-m', 'x', `${base}^{tree}`);
    runGit(mirror, 'branch', 'svc/s-1', orphan);
    await transfers.createBranch(repository.root, 'svc/s-1', base);
    const { aside } = await fetchWork('svc/s-1');
    assert.equal(aside, `refs/svc/s-1/off-base-${orphan.slice(0, 12)}`);
    assert.equal(repository.git('rev-parse', 'svc/s-1'), base);
    assert.equal(repository.git('rev-parse', 'main'), base);
  });
});
