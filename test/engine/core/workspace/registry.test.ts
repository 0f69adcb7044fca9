import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { claimDataFolder } from '../../../../engine/core/workspace/data-folder.ts';
import {
  findGone,
  type RegisteredWorkspace,
  readRegistry,
  registerWorkspace,
} from '../../../../engine/core/workspace/registry.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

describe('the workspaces of a machine', () => {
  const folder = temporaryFolder();
  const env = { SVC_HOME: join(folder, 'home') };
  const entries = join(env.SVC_HOME, 'workspaces');
  beforeEach(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  function makeWorkspaceFolder(name: string): RegisteredWorkspace {
    const root = join(folder, name);
    mkdirSync(root);
    writeFileSync(join(root, 'svc.yaml'), '');
    const data = join(root, '.svc');
    const id = claimDataFolder({ root, data }, env);
    return { id, name, root, file: join(root, 'svc.yaml'), data, startedAt: '2026-03-01T12:00:00.000Z' };
  }
  function register(name: string): RegisteredWorkspace {
    const workspace = makeWorkspaceFolder(name);
    registerWorkspace(env, workspace);
    return workspace;
  }
  const listNames = (): string[] => readRegistry(env).workspaces.map(({ name }) => name);
  const writeEntry = (id: string, text: string): void => writeFileSync(join(entries, `${id}.json`), text);

  test('the list is empty before an engine was started', () => {
    assert.deepEqual(readRegistry(env), { workspaces: [], faults: [] });
    assert.ok(!existsSync(env.SVC_HOME), 'reading writes nothing');
  });

  test('workspaces are listed by name, each once, in files of this user alone', () => {
    const ten = register('app 10');
    const two = register('app 2');
    registerWorkspace(env, two);
    assert.deepEqual(readRegistry(env), { workspaces: [two, ten], faults: [] });
    assert.equal(statSync(entries).mode & 0o777, 0o700);
    assert.equal(statSync(join(entries, `${two.id}.json`)).mode & 0o777, 0o600);
  });

  test('workspaces that are gone, moved or replaced are marked, and removed when another starts', () => {
    const [deleted, moved, emptied, renewed] = [
      register('a'),
      register('b'),
      register('c'),
      register('d'),
    ] as const;
    const kept = register('e');
    rmSync(deleted.root, { recursive: true });
    renameSync(moved.root, join(folder, 'elsewhere'));
    rmSync(emptied.data, { recursive: true });
    rmSync(renewed.data, { recursive: true });
    claimDataFolder({ root: renewed.root, data: renewed.data }, env);
    assert.match(findGone(deleted) ?? '', /a\/svc\.yaml no longer exists/);
    assert.match(findGone(moved) ?? '', /b\/svc\.yaml no longer exists/);
    assert.match(findGone(emptied) ?? '', /c\/\.svc no longer exists/);
    assert.match(findGone(renewed) ?? '', /d\/\.svc was replaced/);
    assert.equal(findGone(kept), null);
    assert.deepEqual(listNames(), ['a', 'b', 'c', 'd', 'e'], 'reading removes nothing');
    registerWorkspace(env, kept);
    assert.deepEqual(listNames(), ['e']);
  });

  test('unreadable workspaces are not taken for gone', { skip: process.getuid?.() === 0 }, () => {
    const hidden = register('hidden');
    chmodSync(hidden.data, 0);
    assert.equal(findGone(hidden), null);
    chmodSync(hidden.data, 0o700);
  });

  test('a name may have any characters, and is cut where it is long', () => {
    const workspace = makeWorkspaceFolder('plain');
    const name = `"\u001b[31m\n../../x\u0000${'n'.repeat(500)}`;
    registerWorkspace(env, { ...workspace, name });
    assert.deepEqual(readRegistry(env).workspaces, [{ ...workspace, name: name.slice(0, 200) }]);
  });

  test('damaged, linked, oversized and foreign entries are skipped', () => {
    const kept = register('kept');
    const id = (digit: string): string => digit.repeat(32);
    writeEntry(id('1'), '{"id":');
    writeEntry(id('2'), 'null');
    writeEntry(id('3'), JSON.stringify({ ...kept, id: id('4') }));
    writeEntry(id('5'), JSON.stringify({ ...kept, id: id('5'), root: 'relative' }));
    writeEntry(id('6'), JSON.stringify({ ...kept, id: id('6'), data: '/a\0b' }));
    writeEntry(id('7'), JSON.stringify({ ...kept, id: id('7'), startedAt: 'once' }));
    writeEntry(id('8'), ' '.repeat(100_000));
    symlinkSync(join(entries, `${kept.id}.json`), join(entries, `${id('9')}.json`));
    mkdirSync(join(entries, `${id('a')}.json`));
    writeEntry(id('b'), '{}');
    linkSync(join(entries, `${id('b')}.json`), join(folder, 'second-name'));
    writeFileSync(join(entries, '../workspaces/.draft.tmp'), 'left over');
    writeFileSync(join(entries, 'readme'), 'not an entry');
    const { workspaces, faults } = readRegistry(env);
    assert.deepEqual(workspaces, [kept]);
    assert.equal(faults.length, 10, JSON.stringify(faults));
    // A start leaves entries of other programs unchanged.
    const before = readdirSync(entries);
    registerWorkspace(env, kept);
    assert.deepEqual(readdirSync(entries), before);
  });

  test('a list that others could have written is refused', () => {
    const kept = register('kept');
    chmodSync(entries, 0o777);
    assert.throws(() => readRegistry(env), { code: 'owner_untrusted' });
    assert.throws(() => registerWorkspace(env, kept), { code: 'owner_untrusted' });
    chmodSync(entries, 0o700);
    renameSync(entries, `${entries}-real`);
    symlinkSync(`${entries}-real`, entries);
    assert.throws(() => readRegistry(env), { code: 'owner_untrusted' });
  });

  test("another user's file is left out", { skip: process.getuid?.() !== 0 }, () => {
    const kept = register('kept');
    const other = register('other');
    chownSync(join(entries, `${other.id}.json`), 12345, 12345);
    const { workspaces, faults } = readRegistry(env);
    assert.deepEqual(workspaces, [kept]);
    assert.match(faults[0]?.why ?? '', /belongs to uid 12345/);
  });
});
